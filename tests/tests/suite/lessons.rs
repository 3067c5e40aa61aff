//! The lessons on the built page: asked, answered, gone on with, and linked to.

use deliver_twice_tests::Page;

use crate::lab::open;

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
    assert!(page.text("[data-testid=guess]").contains("your guess: 1"));
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
            .contains("your guess: step 4")
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
fn the_lessons_fit_every_width() {
    let page = open("?lesson=not-every-error");
    for width in [1440, 700, 360] {
        page.set_width(width);
        let found = page.eval("document.documentElement.scrollWidth");
        assert!(
            found.as_u64().is_some_and(|found| found <= width.into()),
            "{found} in {width}"
        );
    }
    page.screenshot("lesson");
}
