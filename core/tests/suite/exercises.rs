//! Every exercise, walked: its search is carried out, and what it asks for can be had.

use deliver_twice_core::axis;
use deliver_twice_core::design::{Design, Outside};
use deliver_twice_core::exercise::{Exercise, Goal, exercises};
use deliver_twice_core::explore::{Count, Coverage, Exploration, Report};
use deliver_twice_core::property::Verdict;
use deliver_twice_core::run::Run;
use deliver_twice_core::schedule::Schedule;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const LANGUAGES: [&str; 2] = ["en", "zh-CN"];

fn all() -> Vec<Exercise> {
    exercises().unwrap()
}

/// The puzzles and the verdict that each asks for.
fn puzzles() -> Vec<(Exercise, Verdict)> {
    let puzzle = |exercise: Exercise| match exercise.goal {
        Goal::Break(verdict) => Some((exercise, verdict)),
        Goal::Repair { .. } => None,
    };
    all().into_iter().filter_map(puzzle).collect()
}

/// The repairs, with one of the designs that hold and the schedule that each opens on.
fn repairs() -> Vec<(Exercise, Design, Schedule)> {
    let repair = |exercise: Exercise| match exercise.goal.clone() {
        Goal::Break(_) => None,
        Goal::Repair {
            repaired, schedule, ..
        } => Some((exercise, repaired, schedule)),
    };
    all().into_iter().filter_map(repair).collect()
}

/// What the search of a design comes to under an exercise, as far as a phone would take it.
fn search(exercise: &Exercise, design: Design) -> Report {
    let Exercise {
        scenario, bounds, ..
    } = exercise;
    let mut exploration = Exploration::new(design, *scenario, *bounds, STATES_MAX).unwrap();
    exploration.run().unwrap();
    exploration.report()
}

/// As many as the page visits.
const STATES_MAX: u64 = 25_000;

/// The steps and the switches of the simplest schedule to the verdict of a puzzle.
fn optimum(puzzle: &Exercise, verdict: Verdict) -> Schedule {
    let report = search(puzzle, puzzle.design);
    assert_eq!(report.coverage, Coverage::Exhausted, "{}", puzzle.id);
    let found = report
        .counterexamples
        .into_iter()
        .find(|found| found.verdict == verdict);
    found
        .unwrap_or_else(|| panic!("{} cannot be solved", puzzle.id))
        .schedule
}

#[test]
fn every_puzzle_can_be_solved_in_as_many_steps_as_the_search_says_and_in_no_fewer() {
    for (puzzle, verdict) in puzzles() {
        let schedule = optimum(&puzzle, verdict);
        let Exercise {
            design,
            scenario,
            bounds,
            ..
        } = puzzle;
        let run = Run::exact(design, scenario, bounds, &schedule).unwrap();
        let reached = run.frames.iter().position(|frame| {
            frame
                .violations
                .iter()
                .any(|violation| violation.verdict() == verdict)
        });
        assert_eq!(
            reached,
            schedule.0.len().checked_sub(1),
            "{} {schedule}",
            puzzle.id
        );
    }
}

#[test]
fn the_optima_are_what_the_order_of_the_puzzles_was_made_by() {
    let optima: Vec<(&str, usize, usize)> = puzzles()
        .iter()
        .map(|(puzzle, verdict)| {
            let schedule = optimum(puzzle, *verdict);
            (puzzle.id, schedule.0.len(), schedule.switches())
        })
        .collect();
    assert_eq!(
        optima,
        [
            ("done-before-begun", 3, 0),
            ("flag-after-crash", 5, 0),
            ("two-look-at-once", 8, 2),
            ("one-receipt-for-two", 9, 0),
            ("receipt-alone", 10, 0),
            ("same-ticket-again", 10, 1),
            ("effect-alone", 11, 0),
            ("two-wait-in-circle", 10, 2),
            ("between-two-systems", 4, 0),
            ("no-ticket-behind-it", 4, 0),
            ("published-it-says", 7, 1),
            ("sent-and-sent-again", 9, 1),
            ("late-to-its-own-row", 10, 4),
        ]
    );
}

#[test]
fn every_repair_opens_on_a_schedule_that_fails() {
    for (repair, _, schedule) in repairs() {
        let Exercise {
            design,
            scenario,
            bounds,
            ..
        } = repair;
        let run = Run::exact(design, scenario, bounds, &schedule)
            .unwrap_or_else(|error| panic!("{}: {error}", repair.id));
        assert!(!run.violations().is_empty(), "{} {schedule}", repair.id);
    }
}

#[test]
fn every_repair_fails_as_it_is_and_can_be_made_to_hold() {
    for (repair, repaired, _) in repairs() {
        let start = search(&repair, repair.design);
        assert!(start.failing > Count::ZERO, "{}", repair.id);
        assert_eq!(start.coverage, Coverage::Exhausted, "{}", repair.id);
        assert!(repair.may_become(&repaired), "{}", repair.id);
        let report = search(&repair, repaired);
        assert!(report.holds(), "{}: {}", repair.id, report.in_words());
    }
}

#[test]
fn the_repair_that_is_shown_changes_nothing_that_need_not_be_changed() {
    for (repair, repaired, _) in repairs() {
        for axis in axis::between(&repair.design, &repaired) {
            let without = axis.taken_from(&repair.design, repaired);
            let fails = || !search(&repair, without).counterexamples.is_empty();
            assert!(
                without.nonsense().is_some() || fails(),
                "{}: {axis}",
                repair.id
            );
        }
    }
}

#[test]
fn a_repair_leaves_wrong_ways_open() {
    for (repair, _, _) in repairs() {
        let mut others = repair.reachable().filter(|d| *d != repair.design);
        let fails = |design| !search(&repair, design).counterexamples.is_empty();
        assert!(
            others.any(fails),
            "{}: whatever is changed holds",
            repair.id
        );
    }
}

/// What the words of single exercises claim, beyond what is asked of all.
#[test]
fn the_words_of_an_exercise_claim_what_its_search_finds() {
    let named = |id| {
        all()
            .into_iter()
            .find(|exercise| exercise.id == id)
            .unwrap()
    };
    let holds = |exercise: &Exercise, text: &str| search(exercise, text.parse().unwrap()).holds();

    let race = named("lost-race");
    let changes = |design: &Design| axis::between(&race.design, design).count();
    let mut single = race.reachable().filter(|design| changes(design) == 1);
    assert!(single.all(|design| !search(&race, design).holds()));
    let locked =
        "check-then-insert.one-transaction.event-and-effect.target-only.after-commit.immediate";
    assert!(holds(&race, "constraint-arbitration") && holds(&race, locked));

    let halves = named("half-committed");
    let opposite =
        "unique-constraint.effect-first.event-and-effect.target-only.after-commit.deferred";
    assert!(!holds(&halves, opposite));

    let mail = named("mail-that-came-twice");
    assert!(!holds(&mail, "call-in-transaction") && !holds(&mail, "call-after-commit"));
    assert!(!holds(&mail, "pending-row-reconciled"));
    let by_key = |design: Design| design.outside == Outside::PendingRowWithKey;
    assert!(
        mail.reachable()
            .all(|design| search(&mail, design).holds() == by_key(design))
    );

    let event = named("event-that-never-came");
    assert!(!holds(&event, "publish-then-commit") && !holds(&event, "outbox-marked-when-sent"));

    // There is more than one way: two senders, an answer that is lost, or a crash.
    let again = named("sent-and-sent-again");
    for way in ["s1:dA.A4.N2.M2", "s1:dA.A4.N.oN.N2", "s1:dA.A4.N2.xN.N2"] {
        let schedule = way.parse().unwrap();
        let run = Run::exact(again.design, again.scenario, again.bounds, &schedule).unwrap();
        let found = run.violations().first().map(|found| found.verdict());
        assert_eq!(found, Some(Verdict::SentTwice), "{way}");
    }

    let circle = named("two-wait-in-circle");
    let found = search(&circle, circle.design).counterexamples;
    assert!(
        found
            .iter()
            .all(|found| found.verdict != Verdict::DuplicateEffect)
    );
}

#[test]
fn axes_that_a_repair_does_not_open_stay_as_they_are() {
    let exercise = all()
        .into_iter()
        .find(|exercise| exercise.id == "nobody-moves")
        .unwrap();
    let becomes = |name: &str| exercise.may_become(&name.parse().unwrap());
    assert!(becomes(
        "check-then-insert.one-transaction.event-only.any-acked.after-commit.immediate"
    ));
    assert!(!becomes("constraint-arbitration"));
    assert_eq!(exercise.reachable().count(), 3 * 3 * 2);
}

#[test]
fn a_repair_may_not_leave_out_what_it_is_about() {
    let becomes = |id: &str, design: &str| {
        let all = all();
        let exercise = all.iter().find(|exercise| exercise.id == id).unwrap();
        exercise.may_become(&design.parse().unwrap())
    };
    // Where nothing is published, or nothing is sent, nothing goes wrong, and nothing is repaired.
    for id in [
        "event-that-never-came",
        "mail-that-came-twice",
        "from-end-to-end",
    ] {
        assert!(!becomes(id, "constraint-arbitration"), "{id}");
    }
    assert!(becomes("event-that-never-came", "publish-then-commit"));
    assert!(becomes("mail-that-came-twice", "call-after-commit"));
    assert!(becomes("from-end-to-end", "commit-then-publish"));
}

#[test]
fn every_exercise_has_a_name_of_its_own_and_its_words_in_every_language() {
    let all = all();
    for (index, exercise) in all.iter().enumerate() {
        assert!(all[..index].iter().all(|other| other.id != exercise.id));
        for language in LANGUAGES {
            for key in ["title", "text"] {
                let words = exercise.words(key, language);
                assert!(!words.is_empty(), "{} {key}.{language}", exercise.id);
            }
        }
    }
    let first_repair = all
        .iter()
        .position(|exercise| !exercise.is_puzzle())
        .unwrap();
    assert!(
        all[first_repair..]
            .iter()
            .all(|exercise| !exercise.is_puzzle())
    );
    assert!(first_repair >= 5 && all.len() - first_repair >= 4);
}
