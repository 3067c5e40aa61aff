//! The exercises on the built page: solved, given up, begun again, and linked to.

use deliver_twice_tests::Page;

use crate::lab::{self, open, wait_row, wait_running};

const STAND: &str = "[data-testid=stand]";
const WHY: &str = "[data-testid=why]";
const SHOW: &str = "[data-testid=exercise-show]";

/// Takes the steps that the buttons with these names stand for.
#[track_caller]
fn take(page: &Page, steps: &[&str]) {
    for step in steps {
        let before = page.eval("location.search");
        page.click(&format!("[data-testid=step-{step}]"));
        let before = before.as_str().expect("an address is text").to_owned();
        page.wait_until(
            &format!("{step} to be taken"),
            &format!("location.search !== '{before}'"),
        );
    }
}

const BEST: [&str; 8] = ["dA", "A", "dB", "B", "B", "B", "A", "A"];

#[test]
fn a_puzzle_keeps_back_what_gives_it_away_until_it_is_solved() {
    let page = open("?puzzle=two-look-at-once");
    assert!(page.text("[data-testid=task]").contains("duplicate effect"));
    let kept_back = "[data-testid^=search-], [data-testid^=line-], [data-testid^=replay-], \
                     [data-testid=shares], [data-testid=diagnosis], [data-testid=matrix]";
    page.wait_until(
        "the search to have the answer ready",
        &format!("!document.querySelector('{SHOW}').disabled"),
    );
    assert_eq!(page.count(kept_back), 0);
    take(&page, &BEST[..7]);
    assert!(page.text(STAND).contains("Steps so far: 7"));
    assert_eq!(page.count(kept_back), 0);
    take(&page, &BEST[7..]);
    page.wait_text(STAND, "best possible. Steps: 8, switches: 2");
    assert_eq!(page.count(".question--solved"), 1);
    assert_eq!(page.count(SHOW), 0, "there is nothing left to show");
    for shown in ["search-left", "shares", "diagnosis", "matrix"] {
        assert_eq!(page.count(&format!("[data-testid={shown}]")), 1, "{shown}");
    }
    let spoken = page.eval("document.querySelector('[data-testid=spoken]').textContent");
    let spoken = spoken.as_str().expect("text");
    assert!(
        spoken.contains("8. A") && spoken.contains("best possible"),
        "{spoken}"
    );
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn a_puzzle_solved_in_more_steps_says_so_and_can_be_tried_again() {
    let page = open("?puzzle=two-look-at-once");
    take(&page, &["dA", "dB", "A", "B", "A", "B", "A", "B"]);
    page.wait_text(STAND, "fewest steps there are: 8. With fewer switches");
    page.wait_text(STAND, "2 instead of 7");
    page.click("[data-testid=exercise-again]");
    page.wait_text(STAND, "Steps so far: 0");
    assert_eq!(page.count("[data-testid^=branch-]"), 0);
    take(&page, &["dA", "A", "dB", "B", "A", "A", "A"]);
    take(&page, &["B", "B"]);
    page.wait_text(
        STAND,
        "Steps: 9, switches: 3. Best possible: steps 8, switches 2",
    );
    // Stepping back takes nothing away; another way from there does.
    for row in [8, 7, 6] {
        page.key("ArrowLeft");
        wait_row(&page, row);
    }
    assert!(page.text(STAND).contains("Steps: 9"));
    take(&page, &["B"]);
    page.wait_text(STAND, "Steps so far: 7");
}

#[test]
fn who_gives_up_is_shown_the_best_and_it_does_not_count_as_his() {
    let page = open("?puzzle=same-ticket-again");
    take(&page, &["dA"]);
    page.click(SHOW);
    page.wait_text(
        STAND,
        "This is the shortest way, as the search found it. Steps: 10, switches: 1",
    );
    wait_row(&page, 10);
    page.wait_text("[data-testid=verdict-left]", "Lost effect");
    assert_eq!(page.count(".question--solved"), 0, "he did not solve it");
    page.reload();
    wait_running(&page);
    page.wait_text(STAND, "This is the shortest way");
    page.click("[data-testid=restart]");
    take(&page, &["dA", "A", "A", "A", "A", "dB", "B", "B", "B", "B"]);
    page.wait_text(STAND, "This is the shortest way");
    page.click("[data-testid=exercise-again]");
    take(&page, &["dA", "A", "A", "A", "A", "dB", "B", "B", "B", "B"]);
    page.wait_text(STAND, "best possible");
    page.click("[data-testid=exercise-next]");
    page.wait_text("[data-testid=scene]", "Puzzle 7.");
}

#[test]
fn a_puzzle_shows_one_design_and_offers_the_faults_that_its_bounds_allow() {
    let page = open("?puzzle=done-before-begun");
    assert_eq!(
        page.eval("[...document.querySelectorAll('.right')].every(e => !e.offsetParent)"),
        true
    );
    take(&page, &["dA", "A"]);
    assert_eq!(
        page.count("[data-testid=step-kA], [data-testid=step-p1]"),
        0
    );
    take(&page, &["xA"]);
    page.wait_text(STAND, "best possible. Steps: 3, switches: 0");
    assert_eq!(
        page.count("[data-testid^=step-x]"),
        0,
        "one crash is all there is"
    );
    assert_eq!(
        page.count("[data-testid=scenario-workers], [data-testid=bounds-crashes]"),
        0
    );
}

#[test]
fn a_puzzle_can_be_solved_by_the_keyboard_alone_in_either_language() {
    let page = open("?puzzle=two-look-at-once");
    for key in ["d", "1"] {
        page.key(key);
    }
    wait_row(&page, 2);
    page.click("[data-testid=language]");
    page.wait_text(STAND, "已走 2 步");
    for key in ["d", "2", "2", "2", "1", "1"] {
        page.key(key);
    }
    page.wait_text(STAND, "而且是最优：8 步，切换 2 次");
    page.wait_text("[data-testid=scene]", "解谜 3. 都去查，都没查到");
}

#[test]
fn a_repair_is_solved_when_every_schedule_holds_and_says_what_each_change_is_for() {
    let page = open("?repair=lost-race");
    page.wait_text(STAND, "3,228 of 5,594 schedules fail");
    assert_eq!(
        page.count("[data-testid=diagnosis], [data-testid=matrix]"),
        0
    );
    assert_eq!(page.count("[data-testid^=preset-]"), 0);
    page.choose("[data-testid=axis-arbitration-right]", "unique-constraint");
    page.wait_text(STAND, "schedules fail");
    assert_eq!(page.count(WHY), 0);
    page.choose("[data-testid=axis-grouping-right]", "one-transaction");
    page.wait_text(STAND, "Solved: it holds in all 37,140 schedules");
    page.wait_text(WHY, "arbitration back at “SELECT first” → stuck");
    page.wait_text(WHY, "transaction back at “autocommit” → lost effect");
    let spoken = page.eval("document.querySelector('[data-testid=spoken]').textContent");
    assert!(
        spoken
            .as_str()
            .is_some_and(|text| text.contains("Solved: it holds")),
        "{spoken}"
    );
    page.reload();
    wait_running(&page);
    page.wait_text(STAND, "Solved: it holds in all 37,140 schedules");
    // A change that is for nothing is called so.
    page.choose("[data-testid=axis-begin-right]", "immediate");
    page.wait_text(WHY, "begin back at “deferred” → holds as well");
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn a_repair_opens_the_axes_it_is_about_and_shows_an_answer_to_those_who_ask() {
    let page = open("?repair=nobody-moves");
    let closed = |axis: &str, side: &str| {
        let select = format!("[data-testid=axis-{axis}-{side}]:disabled");
        page.count(&select) == 1
    };
    assert!(closed("arbitration", "right") && closed("begin", "left"));
    assert!(!closed("begin", "right") && !closed("errors", "right"));
    page.wait_text(STAND, "schedules fail");
    page.click(SHOW);
    page.wait_text(
        STAND,
        "This is one way to repair it: it holds in all 28,726 schedules",
    );
    page.wait_text(WHY, "begin back at “deferred” → stuck");
    page.reload();
    wait_running(&page);
    page.wait_text(STAND, "This is one way to repair it");
    page.click("[data-testid=exercise-again]");
    page.wait_text(STAND, "schedules fail");
    page.choose("[data-testid=axis-begin-right]", "immediate");
    page.wait_text(STAND, "Solved: it holds");
}

#[test]
fn a_producers_puzzle_is_solved_by_its_own_steps() {
    let page = open("?puzzle=published-it-says");
    page.wait_text("[data-testid=scene]", "Puzzle 11. Published, it says");
    take(&page, &["P", "P", "P", "P", "R", "nR"]);
    page.wait_text(STAND, "Steps so far: 6");
    take(&page, &["R"]);
    page.wait_text(STAND, "best possible. Steps: 7, switches: 1");
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn a_message_that_is_sent_twice_is_repaired_by_a_key_and_not_by_sending_none() {
    let page = open("?repair=mail-that-came-twice");
    page.wait_text(STAND, "schedules fail");
    let outside = "[data-testid=axis-outside-right]";
    assert_eq!(page.count(&format!("{outside} option[value=none]")), 0);
    page.choose(outside, "reconciled");
    page.wait_text(STAND, "schedules fail");
    page.choose(outside, "pending-row-with-key");
    page.wait_text(STAND, "Solved: it holds in all 33,698 schedules");
    page.wait_text(WHY, "outside back at “pending row” → sent twice");
}

#[test]
fn the_whole_way_is_repaired_on_four_axes_each_of_which_it_needs() {
    let page = open("?repair=from-end-to-end");
    page.wait_text(STAND, "7 of 10 schedules fail");
    let publication = "[data-testid=axis-publication-right]";
    assert_eq!(
        page.count(&format!("{publication} option[value=at-start]")),
        0
    );
    for (axis, choice) in [
        ("arbitration", "unique-constraint"),
        ("ack", "after-commit"),
        ("marking", "after-confirm"),
        ("lease", "fenced"),
    ] {
        page.choose(&format!("[data-testid=axis-{axis}-right]"), choice);
    }
    page.wait_text(STAND, "Solved: it holds in all 206,179 schedules");
    page.wait_text(WHY, "→ duplicate effect");
    page.wait_text(WHY, "→ lost effect");
    page.wait_text(WHY, "→ lost event");
    page.wait_text(WHY, "→ stuck row");
}

#[test]
fn exercises_are_chosen_beside_the_lessons() {
    let page = open("");
    page.choose("[data-testid=exercise]", "receipt-alone");
    page.wait_text("[data-testid=scene]", "Puzzle 5. A receipt for nothing");
    page.choose("[data-testid=lesson]", "ack-first");
    page.wait_text("[data-testid=scene]", "Ack first");
    page.choose("[data-testid=exercise]", "half-committed");
    page.wait_text("[data-testid=scene]", "Repair 4. Half of it is committed");
    assert_eq!(page.count("[data-testid=question]"), 0);
    page.choose("[data-testid=exercise]", "");
    page.wait_text("[data-testid=scene]", "Two workers get the same event");
}

#[test]
fn a_link_to_no_exercise_names_those_there_are_and_one_that_changes_it_is_refused() {
    let page = open("?puzzle=<b>no</b>");
    page.wait_text("[data-testid=bad-link]", "two-wait-in-circle");
    assert_eq!(page.count("[data-testid=bad-link] b"), 0);
    page.visit("?puzzle=effect-alone&crashes=2");
    page.wait_text("[data-testid=bad-link]", "crashes");
    page.wait_text(
        "[data-testid=bad-link]",
        "the exercise leaves no choice there",
    );
    page.wait_text("[data-testid=scene]", "Puzzle 7.");
}

#[test]
fn the_exercises_fit_every_width() {
    for (name, query) in [
        (
            "puzzle",
            "?puzzle=two-look-at-once&seq=s1:dA.A.dB.B3.A2&at=8",
        ),
        (
            "puzzle-of-three",
            "?puzzle=late-to-its-own-row&seq=s1:P4.R.nR.R.l.S.R",
        ),
        (
            "repair",
            "?repair=all-wrong-at-once&right=constraint-arbitration",
        ),
    ] {
        let page = open(query);
        page.wait_text(STAND, "Solved");
        lab::assert_fits(&page, &[1440, 1180, 1000, 700, 360], name);
        page.screenshot(name);
    }
}
