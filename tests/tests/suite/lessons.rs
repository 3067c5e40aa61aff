//! The lessons on the built page: asked, answered, gone on with, and linked to.

use deliver_twice_tests::Page;

use crate::lab::{self, open};

const QUESTION: &str = "[data-testid=question]";
const ANSWERED: &str = "[data-testid=answered]";

fn rows(page: &Page) -> u64 {
    page.count("tr[data-testid^=row-]")
}

#[test]
fn a_lesson_shows_nothing_that_answers_its_question_before_it_is_answered() {
    let page = open("?lesson=same-event-twice");
    assert!(page.text(QUESTION).contains("how many tasks"));
    assert_eq!(rows(&page), 1, "only the start");
    assert_eq!(page.count("[data-testid^=search-]"), 0);
    let query = page.eval("location.search");
    assert_eq!(query, "?lesson=same-event-twice&lang=en");
    page.click("[data-testid=answer-1]");
    page.wait_text(ANSWERED, "Your guess was 1. It is 2");
    assert!(
        page.text("[data-testid=guess]")
            .contains("your guess: 1, it is 2")
    );
    assert!(
        page.text("[data-testid=verdict-left]")
            .contains("Duplicate effect")
    );
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn the_step_that_was_guessed_is_flagged_beside_the_one_the_search_finds() {
    let page = open("?lesson=check-loses-a-race");
    page.click("[data-testid=answer-4]");
    page.wait_text(ANSWERED, "Right: step 4");
    assert!(
        page.text("[data-testid=row-4]")
            .contains("your guess: step 4 ✓")
    );
    page.click("[data-testid=shares]");
    page.wait_text("[data-testid=row-4] td.share.left", "100%");
}

#[test]
fn an_expert_goes_on_without_answering() {
    let page = open("?lesson=ack-first");
    page.click("[data-testid=answer-skip]");
    page.wait_text("[data-testid=verdict-left]", "Lost effect");
    assert_eq!(page.count(QUESTION), 0);
    page.click("[data-testid=lesson-next]");
    page.wait_text("[data-testid=scene]", "The commit whose reply was lost");
    page.click("[data-testid=step-dA]");
    page.wait_until(
        "the question to be gone",
        "document.querySelector('[data-testid=question]') === null",
    );
    page.choose("[data-testid=lesson]", "two-versions");
    page.wait_text(QUESTION, "Two events of one ticket");
    page.choose("[data-testid=lesson]", "");
    page.wait_text("[data-testid=scene]", "Two workers get the same event");
}

#[test]
fn another_language_keeps_the_lesson_and_the_guess() {
    let page = open("?lesson=three-effects");
    page.click("[data-testid=answer-3]");
    page.wait_text(ANSWERED, "It is 1");
    page.click("[data-testid=language]");
    page.wait_text(ANSWERED, "实际是 1");
    page.wait_text("[data-testid=scene]", "一个事件，三个效果");
}

#[test]
fn an_unknown_lesson_is_answered_with_the_names_of_those_there_are() {
    let page = open("?lesson=<b>no</b>&lang=en");
    page.wait_text("[data-testid=bad-link]", "two-versions");
    assert!(page.text("[data-testid=bad-link]").contains("<b>no</b>"));
    assert_eq!(page.count("[data-testid=bad-link] b"), 0);
}

#[test]
fn the_lessons_stand_under_their_chapters() {
    let page = open("");
    let under = |chapter: &str, lesson: &str| {
        page.count(&format!(
            "[data-testid=lesson] optgroup[label='{chapter}'] option[value='{lesson}']"
        ))
    };
    assert_eq!(under("Consumer", "same-event-twice"), 1);
    assert_eq!(under("Consumer", "busy-is-no-error"), 1);
    assert_eq!(under("Producer", "crash-before-publish"), 1);
    assert_eq!(under("Producer", "confirm-lost-on-the-way"), 1);
    assert_eq!(under("The world outside", "mail-is-outside"), 1);
    assert_eq!(under("The world outside", "asking-loses-a-race"), 1);
    assert_eq!(page.count("[data-testid=lesson] > option"), 1, "no lesson");
}

#[test]
fn the_lessons_of_the_producer_and_the_outside_are_walked_to_the_last() {
    const LAST: &str = "Asking first loses a race";
    let page = open("?lesson=crash-before-publish");
    for title in [
        "Commit, then publish: the event is lost",
        "Publish, then commit: a ghost event",
        "The outbox: a loss becomes a row that waits",
        "Sent is not taken",
        "Returned: not confirmed, and not to be retried",
        "Claimed is not sent",
        "A relay that is gone, and its lease",
        "A relay that is late, and the fencing token",
        "No answer: published twice, done once",
        "An e-mail is not in the transaction",
        "Call after the commit: nothing goes out",
        "Sent, and not marked: the idempotency key",
        "A key that nobody reads",
        "Reconcile: ask before you call",
        LAST,
    ] {
        page.wait_text("[data-testid=scene]", title);
        page.click("[data-testid=answer-1]");
        page.wait_until(
            "the truth",
            "/Right|It is/.test(document.querySelector('[data-testid=answered]').textContent)",
        );
        page.wait_until(
            "a verdict on the left",
            "document.querySelector('[data-testid=verdict-left]').textContent.includes('⚠')",
        );
        if title != LAST {
            page.click("[data-testid=lesson-next]");
        }
    }
    assert_eq!(page.count("[data-testid=lesson-next]:disabled"), 1);
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn one_ticket_published_twice_is_one_task() {
    let page = open("?lesson=confirm-lost-on-the-way");
    page.click("[data-testid=answer-2]");
    page.wait_text(ANSWERED, "Your guess was 2. It is 1");
    let verdict = |side: &str| page.text(&format!("[data-testid=verdict-{side}]"));
    assert!(verdict("left").contains("2 notification tasks for e1"));
    assert!(verdict("right").contains("Settled: 1 of 1 effects happened"));
    assert!(verdict("right").contains("Published 2 times: e1. That is allowed"));
    page.wait_text(
        "[data-testid=verdict-right]",
        "Holds in all 7,203 schedules",
    );
}

#[test]
fn what_arrived_outside_is_counted_apart_from_what_the_database_holds() {
    let page = open("?lesson=mail-is-outside");
    page.click("[data-testid=answer-1]");
    page.wait_text(ANSWERED, "Your guess was 1. It is 2");
    page.wait_text(
        "[data-testid=outside-is-apart]",
        "Tasks in the database: 1. Messages that arrived outside: 2. The first is no proof",
    );
    assert!(
        page.text("[data-testid=counts-left]")
            .contains("arrived outside: 2")
    );
    page.click("[data-testid=language]");
    page.wait_text("[data-testid=outside-is-apart]", "前者证明不了后者");
    // Whoever leaves the schedule is not told about its end.
    page.click("[data-testid=restart]");
    page.wait_until(
        "the sentence to be gone",
        "!document.querySelector('[data-testid=outside-is-apart]')",
    );
}

#[test]
fn a_scene_with_a_producer_says_what_has_to_come_about() {
    let page = open("?left=commit-then-publish&right=outbox&workers=0&seq=s1:P&lang=en");
    page.wait_text(
        "[data-testid=scene]",
        "A producer writes a ticket, and its event must come to the broker; relays: 1; consumers: 0",
    );
    page.visit("?left=pending-row&right=pending-row&deliveries=1&workers=1&seq=s1:dA&lang=zh-CN");
    page.wait_text(
        "[data-testid=scene]",
        "要有一条消息到达外部 · 1 个消费者 · 1 个发送进程",
    );
}

#[test]
fn the_lessons_fit_every_width() {
    for lesson in ["not-every-error", "relay-that-is-late", "mail-is-outside"] {
        let page = open(&format!("?lesson={lesson}"));
        page.click("[data-testid=answer-1]");
        lab::assert_fits(&page, &[1440, 700, 360], lesson);
        page.screenshot(lesson);
    }
}

#[test]
fn what_postgresql_made_of_a_lesson_stands_beside_what_sqlite_makes_of_it_here() {
    let page = open("?lesson=busy-is-no-error");
    let evidence = "[data-testid=evidence]";
    assert_eq!(page.count(evidence), 0, "it would answer the question");
    page.click("[data-testid=answer-skip]");
    page.wait_text(evidence, "SQLite, live in this page");
    let rows = page.eval(
        "[...document.querySelectorAll('[data-testid=evidence] tbody tr')].map(row => \
            [...row.querySelectorAll('td')].map(cell => cell.innerText))",
    );
    assert_eq!(rows[0][0], "stuck");
    assert_eq!(rows[0][1], "nothing violated");
    let text = |side: usize| rows[1][side].as_str().unwrap_or_default().to_owned();
    assert!(
        text(0).contains("Once everybody has finished: duplicate effect."),
        "{}",
        text(0)
    );
    assert!(
        text(0).contains("At SERIALIZABLE: nothing violated."),
        "{}",
        text(0)
    );
    assert!(
        text(1).contains("after a commit it has met the receipt"),
        "{}",
        text(1)
    );
    lab::assert_fits(
        &page,
        &[360, 700],
        "a lesson with what PostgreSQL made of it",
    );
    // Another schedule was not recorded.
    page.set_width(1440);
    page.click("[data-testid=run-first]");
    page.eval("document.activeElement.blur()");
    page.click("[data-testid=step-dB]");
    page.wait_until(
        "the record to be gone with the schedule",
        "document.querySelector('[data-testid=evidence]') === null",
    );
}

#[test]
fn a_cell_says_what_breaks_on_postgresql_alone() {
    let page = open("?lang=zh-CN");
    page.click("[data-testid=matrix] summary");
    let cell = |name: &str| page.text(&format!("[data-testid=elsewhere-{name}]"));
    assert!(cell("check-in-transaction-race").contains("只在 PG 上：重复效果"));
    assert_eq!(cell("constraint-arbitration-race"), "PG 0/12");
    assert_eq!(
        page.count("[data-testid^=elsewhere-]"),
        page.count("[data-testid^=cell-]")
    );
}
