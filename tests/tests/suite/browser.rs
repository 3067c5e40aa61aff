//! The built page in a real browser, as a visitor uses it.

use deliver_twice_tests::Page;

use crate::lab::{self, open, wait_address, wait_row, wait_running};

/// A side of the page, by the name that its elements carry.
const LEFT: &str = "left";
const RIGHT: &str = "right";

/// Widths that the page has to fit, in CSS pixels.
const WIDTHS: [u32; 5] = [1440, 1180, 1000, 700, 360];

/// The selector of an element by what tests call it.
fn called(testid: &str) -> String {
    format!("[data-testid=\"{testid}\"]")
}

/// The number of the row that the page stands on.
fn current(page: &Page) -> u64 {
    let number = page.eval(
        "Number(document.querySelector('tr[aria-current]').dataset.testid.replace('row-', ''))",
    );
    number.as_u64().expect("a row has a number")
}

/// Takes steps by their buttons, one after the other, and waits for the row of each.
#[track_caller]
fn take(page: &Page, steps: &str) {
    for step in steps.split('.') {
        let next = current(page) + 1;
        page.click(&format!("{}:enabled", called(&format!("step-{step}"))));
        wait_row(page, next);
    }
}

/// What a side's row says: the statement and its answer.
fn row(page: &Page, number: u64, side: &str) -> String {
    page.text(&format!(
        "{} td.sql.{side}",
        called(&format!("row-{number}"))
    ))
}

/// How many rows of a table a side shows.
fn count(page: &Page, side: &str, table: &str) -> String {
    let table = called(&format!("count-{table}"));
    page.text(&format!("{} {table}", called(&format!("tables-{side}"))))
}

fn tasks(page: &Page) -> [String; 2] {
    [LEFT, RIGHT].map(|side| count(page, side, "business_tasks"))
}

fn receipts(page: &Page) -> [String; 2] {
    [LEFT, RIGHT].map(|side| count(page, side, "effect_receipts"))
}

fn verdict(page: &Page, side: &str) -> String {
    page.text(&called(&format!("verdict-{side}")))
}

/// The page must not complain, show a key instead of words, or leave a value out.
#[track_caller]
fn assert_sound(page: &Page) {
    assert_eq!(page.console_errors(), [""; 0]);
    let gaps = page.eval(
        r"document.querySelector('#lab').innerText.match(/\{[a-z_]+\}|\b(page|scene|scenario|design|preset|axis|choice|nonsense|table|lock|row|answer|means|kind|verdict|cause|control|move|detail|tables|footer|keys|link|error)\.[a-z][a-z.-]+/g) || []",
    );
    assert_eq!(gaps.as_array().map(Vec::len), Some(0), "{gaps}");
}

#[track_caller]
fn assert_fits(page: &Page) {
    page.eval("document.querySelectorAll('details.matrix, details.diagnosis').forEach(d => d.open = true)");
    lab::assert_fits(page, &WIDTHS, "the page");
}

#[test]
fn the_page_opens_on_a_finished_failure_with_a_way_back() {
    let page = open("");
    assert_eq!(current(&page), 8);
    assert!(verdict(&page, LEFT).contains("Duplicate effect: 2 notification tasks"));
    assert!(verdict(&page, LEFT).contains("its check at step 4 ran before A's receipt"));
    assert!(verdict(&page, RIGHT).contains("No property is violated"));
    assert!(verdict(&page, RIGHT).contains("B waits for A"));
    assert_eq!(tasks(&page), ["2", "0"]);
    assert!(
        page.text(&called("engine")).contains("SQLite 3."),
        "SQLite's version"
    );
    page.click(&called("run-back"));
    wait_row(&page, 7);
    assert!(!verdict(&page, LEFT).contains("Duplicate"));
    assert_eq!(tasks(&page), ["1", "0"]);
    page.click(&called("run-forward"));
    wait_row(&page, 8);
    assert!(verdict(&page, LEFT).contains("Duplicate"));
    assert_sound(&page);
    assert_fits(&page);
    page.screenshot("opening");
}

#[test]
fn delivered_twice_one_design_writes_two_tasks_and_the_other_one() {
    let page = open("");
    page.click(&called("restart"));
    wait_row(&page, 0);
    assert_eq!(tasks(&page), ["0", "0"]);
    take(&page, "dA.A.dB.B.A.B");
    assert!(row(&page, 6, RIGHT).contains("BUSY 5: waits for A"));
    take(&page, "A");
    // On the right B waits. The same move is still there for the left.
    take(&page, "B");
    assert!(row(&page, 8, LEFT).contains("a second task"));
    assert!(row(&page, 8, RIGHT).contains("still waits for A"));
    take(&page, "A.B.A.B.B");
    assert!(row(&page, 10, RIGHT).contains("UNIQUE 2067: duplicate"));
    assert_eq!(tasks(&page), ["2", "1"]);
    assert_eq!(receipts(&page), ["2", "1"]);
    assert!(verdict(&page, LEFT).contains("Duplicate effect"));
    assert!(verdict(&page, RIGHT).contains("Settled: 1 of 1"));
    assert!(page.text(&called("counts-right")).contains("acked 2"));
    assert_sound(&page);
}

#[test]
fn a_crash_on_the_most_dangerous_line_is_a_duplicate_or_none() {
    let page = open("?left=effect-first&right=constraint-arbitration&seq=s1:&deliveries=1");
    take(&page, "dA.A.A.A.A");
    // The task is committed on both sides, and the ack is not sent yet.
    assert_eq!(tasks(&page), ["1", "1"]);
    assert!(page.text(&called("counts-right")).contains("unacked 1"));
    take(&page, "xA");
    assert!(row(&page, 6, RIGHT).contains("A crashed: connection dropped"));
    assert!(row(&page, 6, RIGHT).contains("redelivered = true"));
    take(&page, "dB");
    assert!(row(&page, 7, RIGHT).contains("attempt 2"));
    take(&page, "B.B");
    assert!(row(&page, 9, RIGHT).contains("UNIQUE 2067: duplicate"));
    take(&page, "B.B");
    assert_eq!(tasks(&page), ["2", "1"]);
    assert!(verdict(&page, LEFT).contains("Duplicate effect"));
    assert!(verdict(&page, RIGHT).contains("Settled: 1 of 1"));
    assert_sound(&page);
    assert_fits(&page);
    page.screenshot("crash");
}

#[test]
fn a_crash_inside_a_transaction_is_rolled_back_by_sqlite() {
    let page = open("?left=check-then-insert&right=constraint-arbitration&seq=s1:");
    take(&page, "dA.A.A.A");
    page.click(&called("view-A"));
    page.wait_text(
        &format!("{} tbody", called("tables-right")),
        "not committed",
    );
    assert_eq!(receipts(&page), ["1", "1"]);
    take(&page, "xA");
    assert!(row(&page, 5, RIGHT).contains("rolled back by SQLite"));
    assert_eq!(receipts(&page), ["1", "0"]);
    assert_sound(&page);
}

#[test]
fn a_reload_keeps_what_is_shown() {
    let page = open("");
    page.choose(&called("preset-left"), "no-guard");
    page.choose(&called("scenario-workers"), "3");
    page.click(&called("restart"));
    wait_row(&page, 0);
    take(&page, "dC.C.xC");
    page.click(&called("run-back"));
    wait_row(&page, 2);
    let address =
        "?left=no-guard&right=constraint-arbitration&seq=s1:dC.C.xC&at=2&workers=3&lang=en";
    wait_address(&page, &format!("address === '{address}'"));
    page.reload();
    wait_running(&page);
    assert_eq!(current(&page), 2);
    assert_eq!(page.count("tbody tr[data-testid^=row-]"), 4);
    assert_eq!(
        page.eval("document.querySelector('[data-testid=preset-left]').value"),
        "no-guard"
    );
    wait_address(&page, &format!("address === '{address}'"));
    assert_sound(&page);
}

#[test]
fn the_keyboard_alone_is_enough() {
    let page = open("?seq=s1:");
    let mut number = 0;
    for key in ["d", "1", "d", "2", "1", "2", "1", "2"] {
        page.key(key);
        number += 1;
        wait_row(&page, number);
    }
    assert_eq!(tasks(&page), ["2", "0"]);
    page.key("x");
    page.key("2");
    wait_row(&page, 9);
    assert!(row(&page, 9, RIGHT).contains("B crashed"));
    page.key("Home");
    wait_row(&page, 0);
    page.key("ArrowRight");
    wait_row(&page, 1);
    page.key("End");
    wait_row(&page, 9);
    page.key("ArrowLeft");
    wait_row(&page, 8);
    page.key("?");
    page.wait_text(&called("keys"), "crash that worker");
    page.key("Escape");
    page.wait_until(
        "the list of keys to go",
        "document.querySelector('[data-testid=keys]') === null",
    );
    page.key("Space");
    wait_row(&page, 9);
    page.key("Space");
    // A button that the focus is on is pressed by the keyboard, too.
    page.eval("document.querySelector('[data-testid=run-first]').focus()");
    page.key("Enter");
    wait_row(&page, 0);
    assert_sound(&page);
}

#[test]
fn another_language_keeps_the_run() {
    let page = open("?seq=s1:dA.A.dB.B&at=3");
    assert_eq!(page.eval("document.documentElement.lang"), "en");
    page.click(&called("language"));
    page.wait_text("h1", "投递两次");
    page.wait_until(
        "the document to say which language it is in",
        "document.documentElement.lang === 'zh-CN'",
    );
    assert_eq!(current(&page), 3);
    assert_eq!(page.count("tbody tr[data-testid^=row-]"), 5);
    assert!(page.text(&called("preset-left")).contains("先查后插"));
    assert_sound(&page);
    page.click(&called("language"));
    page.wait_text("h1", "it happens once");
    assert_eq!(current(&page), 3);
}

#[test]
fn a_visitor_is_met_in_the_language_of_the_browser() {
    let page = Page::open_in("zh-CN");
    wait_running(&page);
    assert!(verdict(&page, LEFT).contains("重复效果"));
    assert_sound(&page);
    assert_fits(&page);
    page.screenshot("opening-zh");
}

#[test]
fn acting_in_the_past_keeps_the_future_that_was_left() {
    let page = open("");
    for number in [7, 6, 5, 4] {
        page.click(&called("run-back"));
        wait_row(&page, number);
    }
    take(&page, "B");
    assert_eq!(page.count("tbody tr[data-testid^=row-]"), 6);
    page.click(&called("branch-1"));
    page.wait_until(
        "the run that was left to come back",
        "document.querySelector('[data-testid=row-13]') !== null",
    );
    assert_eq!(current(&page), 4);
    // The other run has taken its place among the branches.
    assert_eq!(page.count(&called("branch-1")), 1);
    assert_sound(&page);
}

#[test]
fn a_row_that_is_clicked_is_shown() {
    let page = open("");
    page.click(&format!("{} td.sql.left", called("row-2")));
    wait_row(&page, 2);
    assert!(page.text(&called("detail-left")).contains("SELECT 1 FROM"));
    assert!(page.text(&called("detail-right")).contains("BEGIN"));
    page.click(&called("run-last"));
    wait_row(&page, 13);
    assert_sound(&page);
}

#[test]
fn a_bad_link_is_answered_in_words_and_loses_nothing_else() {
    let bad = "?left=nonsense&seq=s1:dQ&workers=9&right=%3Cb%3Ebold%3C/b%3E&effects=2";
    let page = open(bad);
    let notices = |page: &Page| {
        let all = page
            .eval("[...document.querySelectorAll('[data-testid=bad-link]')].map(n => n.innerText)");
        let all = all.as_array().expect("a list of notices").clone();
        all.iter()
            .map(|notice| notice.as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let unfold = |page: &Page| page.click("[data-testid=bad-link-more] summary");
    unfold(&page);
    let english = notices(&page);
    assert_eq!(english.len(), 4, "{english:?}");
    assert!(english[0].contains("nonsense"), "{english:?}");
    assert!(english[1].contains("Q at character 5"), "{english:?}");
    assert!(english[3].contains("<b>bold</b>"), "{english:?}");
    assert_eq!(page.count("[data-testid=bad-link] b"), 0);
    assert_eq!(
        page.eval("document.querySelector('[data-testid=scenario-effects]').value"),
        "2"
    );
    assert_eq!(tasks(&page), ["0", "0"]);
    assert_sound(&page);
    assert_fits(&page);

    page.visit(&format!("{bad}&lang=zh"));
    wait_running(&page);
    unfold(&page);
    let chinese = notices(&page);
    assert_eq!(chinese.len(), 4, "{chinese:?}");
    assert!(
        chinese.iter().all(|notice| notice.contains("没有采用")),
        "{chinese:?}"
    );
    assert!(
        chinese[1].contains("第 5 个字符") && chinese[1].contains("工作进程"),
        "{chinese:?}"
    );
    assert_sound(&page);
}

#[test]
fn a_link_that_no_longer_fits_shows_the_steps_that_do_and_says_why_no_further() {
    let notice = called("bad-link");
    // A worker too few.
    let page = open("?seq=s1:dA.A2.dB.B&at=5&workers=1");
    assert_eq!(current(&page), 3);
    page.wait_text(&notice, "Step 4 of the link, dB (Deliver to B)");
    assert_eq!(page.count(&notice), 1);
    // A messenger has cut it.
    page.visit("?left=no-guard&seq=s1:dA.A2.x");
    page.wait_text(&notice, "Step 4 of the link, x");
    assert_eq!(current(&page), 3);
    page.visit("?seq=s1:dA.A2.&lang=zh-CN");
    page.wait_text(&notice, "第 4 步之前中断");
    assert_eq!(current(&page), 3);
    page.visit("?seq=s1:dA.A2&at=40");
    page.wait_text(&notice, "it is 40; expected 0 … 3");
    assert_eq!(current(&page), 3);
    assert_sound(&page);
}

#[test]
fn a_link_that_is_put_behind_the_hash_sign_of_the_open_page_is_followed() {
    let page = open("?left=no-guard&seq=s1:dA.A");
    page.eval("location.hash = 'left=effect-first&seq=s1:dA.A2&workers=9'");
    wait_row(&page, 3);
    page.wait_text(&called("bad-link"), "workers");
    wait_address(
        &page,
        "address.startsWith('?left=effect-first&') && location.hash === ''",
    );
    page.eval("location.hash = 'matrix'");
    page.eval("history.back()");
    page.eval("history.back()");
    wait_row(&page, 2);
    assert_eq!(page.count(&called("bad-link")), 0);
    assert_eq!(
        page.eval("document.querySelector('[data-testid=preset-left]').value"),
        "no-guard"
    );
    assert_sound(&page);
}

#[test]
fn a_missing_ticket_leaves_nothing_until_it_is_added() {
    let page = open(
        "?left=swallow-integrity-errors&right=constraint-arbitration&seq=s1:&deliveries=1&ticket=missing",
    );
    take(&page, "dA.A.A.A");
    assert!(row(&page, 4, LEFT).contains("FOREIGN KEY 787: duplicate"));
    assert!(row(&page, 4, RIGHT).contains("FOREIGN KEY 787: an error, so give it back"));
    take(&page, "A.A");
    assert!(verdict(&page, LEFT).contains("Lost effect"));
    assert!(verdict(&page, LEFT).contains("FOREIGN KEY"));
    assert_eq!(tasks(&page), ["0", "0"]);
    assert_eq!(receipts(&page), ["0", "0"]);
    take(&page, "t.dB.B.B.B.B.B");
    assert_eq!(tasks(&page), ["0", "1"]);
    assert_eq!(receipts(&page), ["0", "1"]);
    assert!(verdict(&page, RIGHT).contains("Settled: 1 of 1"));
    assert_sound(&page);
}

#[test]
fn three_workers_share_three_copies_without_a_second_task() {
    let page = open("?seq=s1:&workers=3&deliveries=3&left=no-guard");
    take(&page, "dA.dB.dC.A.B.C.A.A.A.A.B.B.B.C.C.C");
    for _ in 0..12 {
        let next = current(&page) + 1;
        let forward = format!("{}:enabled", called("run-forward"));
        if page.count(&forward) == 0 {
            break;
        }
        page.click(&forward);
        wait_row(&page, next);
    }
    assert_eq!(tasks(&page), ["3", "1"]);
    assert!(verdict(&page, LEFT).contains("3 notification tasks"));
    assert!(verdict(&page, RIGHT).contains("Settled: 1 of 1"));
    assert_sound(&page);
    assert_fits(&page);
    page.screenshot("three-workers");
}

#[test]
fn a_combination_that_makes_no_sense_is_refused_with_the_reason() {
    let page = open("?left=no-guard");
    page.choose(&called("axis-key-left"), "ticket-only");
    page.wait_text(&called("refused-left"), "writes no receipt");
    assert_eq!(
        page.eval("document.querySelector('[data-testid=axis-key-left]').value"),
        "event-and-effect"
    );
    page.choose(&called("axis-ack-left"), "before-processing");
    page.wait_until(
        "the reason to go once a choice is taken",
        "document.querySelector('[data-testid=refused-left]').innerText === ''",
    );
    assert_eq!(page.text(".design.left h3"), "a combination of your own");
    assert_sound(&page);
}

#[test]
fn every_button_that_is_offered_can_be_pressed() {
    for query in [
        "?seq=s1:&workers=3&effects=2&versions=2&ticket=missing&left=check-in-transaction",
        "?seq=s1:&left=receipt-first&right=ack-first&task=second-escalation",
        "?seq=s1:&left=insert-or-ignore&right=trust-redelivered&task=unknown-status&lang=zh",
    ] {
        let page = open(query);
        let mut draw: u64 = 7;
        for number in 1..=30 {
            let steps = page.eval(
                "[...document.querySelectorAll('[data-testid^=step-]:enabled')].map(b => b.dataset.testid)",
            );
            let steps = steps.as_array().expect("a list of buttons").clone();
            if steps.is_empty() {
                break;
            }
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let index = (draw >> 33) as usize % steps.len();
            let step = steps[index].as_str().expect("a button has a name");
            page.click(&called(step));
            wait_row(&page, number);
            assert_sound(&page);
        }
        assert!(current(&page) > 5, "the walk ended early");
        assert_fits(&page);
    }
}

/// A button that is pressed and then gone must not take the keyboard along.
#[test]
fn the_keys_go_on_working_after_a_button_that_goes_away() {
    let page = open("");
    page.eval("document.querySelector('[data-testid=step-xA]').focus()");
    page.key("Enter");
    wait_row(&page, 9);
    page.key("ArrowLeft");
    wait_row(&page, 8);
    assert_sound(&page);
}

/// Nor may a button that can be pressed no more.
#[test]
fn the_keys_go_on_working_after_a_button_that_has_led_to_its_end() {
    let page = open("?seq=s1:dA.A&at=1");
    page.click(&called("run-back"));
    wait_row(&page, 0);
    page.key("ArrowRight");
    wait_row(&page, 1);
    assert_sound(&page);
}
