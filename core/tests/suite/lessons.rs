//! Every lesson, walked: its opening schedule is replayed and each of its claims is checked.

use std::rc::Rc;

use deliver_twice_core::explore::Exploration;
use deliver_twice_core::lesson::{Asks, Claim, Lesson, lessons};
use deliver_twice_core::property::Verdict;
use deliver_twice_core::run::{Moved, Run};
use deliver_twice_core::scenario::Bounds;
use deliver_twice_core::schedule::Schedule;
use deliver_twice_core::state::State;
use deliver_twice_core::system::System;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const LANGUAGES: [&str; 2] = ["en", "zh-CN"];

fn all() -> Vec<Lesson> {
    lessons().unwrap()
}

/// Carries the opening schedule out on a side, as the page does: a step that the side cannot take is
/// passed over.
fn run(lesson: &Lesson, side: usize) -> Run {
    let mut system = System::new(lesson.designs[side], lesson.scenario, Bounds::BY_HAND).unwrap();
    let mut run = Run::started(&system);
    for step in &lesson.schedule.0 {
        run.take(&mut system, *step).unwrap();
    }
    run
}

fn search(lesson: &Lesson, side: usize) -> Exploration {
    let (design, scenario, bounds) = (lesson.designs[side], lesson.scenario, lesson.bounds);
    let mut exploration =
        Exploration::new(design, scenario, bounds, Exploration::STATES_MAX).unwrap();
    exploration.run().unwrap();
    exploration
}

fn claim(most_urgent: Option<Verdict>) -> Claim {
    most_urgent.map_or(Claim::Fine, Claim::Breaks)
}

#[test]
fn every_opening_schedule_ends_as_its_lesson_claims() {
    for lesson in all() {
        for side in [0, 1] {
            let run = run(&lesson, side);
            let found = claim(
                run.violations()
                    .first()
                    .map(|violation| violation.verdict()),
            );
            assert_eq!(found, lesson.ends[side], "{} side {side}", lesson.id);
        }
    }
}

#[test]
fn every_step_of_an_opening_schedule_does_something_on_one_side_at_least() {
    for lesson in all() {
        let runs = [0, 1].map(|side| run(&lesson, side));
        for (index, step) in lesson.schedule.0.iter().enumerate() {
            let is_idle = |run: &Run| matches!(run.frames[index].moved, Moved::Nothing(_));
            assert!(
                !runs.iter().all(is_idle),
                "{}: step {} `{step}`",
                lesson.id,
                index + 1
            );
        }
    }
}

#[test]
fn the_search_of_every_schedule_comes_to_what_the_lesson_claims() {
    for lesson in all() {
        for side in [0, 1] {
            let report = search(&lesson, side).report();
            let found = claim(report.counterexamples.first().map(|found| found.verdict));
            assert_eq!(found, lesson.searches[side], "{} side {side}", lesson.id);
            assert_eq!(
                report.holds(),
                found == Claim::Fine,
                "{} side {side}",
                lesson.id
            );
        }
    }
}

fn right_answer(lesson: &Lesson) -> u32 {
    match lesson.asks {
        Asks::Tasks(side) => {
            let run = run(lesson, side);
            let end: &Rc<State> = run.state_after(run.frames.len());
            end.committed.tasks.len() as u32
        }
        Asks::TooLate(side) => {
            let frames = run(lesson, side).frames;
            let is_taken = |moved: &Moved| matches!(moved, Moved::Changed(_));
            let taken: Vec<usize> = (0..frames.len())
                .filter(|i| is_taken(&frames[*i].moved))
                .collect();
            let own = Schedule(taken.iter().map(|index| frames[*index].step).collect());
            let shares = search(lesson, side).shares(&own);
            let certain = |share: &Option<deliver_twice_core::explore::Share>| {
                share.is_some_and(|share| share.failing == share.total)
            };
            let first = shares
                .iter()
                .position(certain)
                .expect("failure becomes certain somewhere");
            taken[first - 1] as u32 + 1
        }
    }
}

#[test]
fn the_right_answer_is_among_those_offered_and_so_are_wrong_ones() {
    for lesson in all() {
        let right = right_answer(&lesson);
        assert!(
            lesson.answers.contains(&right),
            "{}: {right} is right",
            lesson.id
        );
        assert!((2..=4).contains(&lesson.answers.len()), "{}", lesson.id);
    }
}

#[test]
fn every_lesson_has_all_its_words_in_every_language() {
    for lesson in all() {
        for language in LANGUAGES {
            for key in ["title", "text", "omits", "asks"] {
                let words = lesson.words(key, language);
                assert!(!words.is_empty(), "{} {key}.{language}", lesson.id);
            }
        }
    }
}
