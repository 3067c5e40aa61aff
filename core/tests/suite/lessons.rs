//! Every lesson, walked: its opening schedule is replayed and each of its claims is checked.

use deliver_twice_core::design::Chapter;
use deliver_twice_core::explore::Exploration;
use deliver_twice_core::lesson::{About, Asks, Claim, Lesson, lessons};
use deliver_twice_core::property::Verdict;
use deliver_twice_core::run::{Moved, Run};
use deliver_twice_core::scenario::Bounds;
use deliver_twice_core::schedule::Schedule;
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

/// The answer that the state after the opening schedule gives, or the search where no state does.
fn right_answer(lesson: &Lesson) -> u32 {
    let Asks { about, side } = lesson.asks;
    let run = run(lesson, side);
    let end = run.state_after(run.frames.len());
    about
        .count_in(end)
        .unwrap_or_else(|| too_late(lesson, &run, side))
}

/// At which step every future fails.
fn too_late(lesson: &Lesson, run: &Run, side: usize) -> u32 {
    let is_taken = |moved: &Moved| matches!(moved, Moved::Changed(_));
    let taken: Vec<usize> = (0..run.frames.len())
        .filter(|i| is_taken(&run.frames[*i].moved))
        .collect();
    let own = Schedule(taken.iter().map(|index| run.frames[*index].step).collect());
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

#[test]
fn the_right_answers_are_what_their_words_lead_up_to() {
    let answers: Vec<(&str, u32)> = all().iter().map(|l| (l.id, right_answer(l))).collect();
    assert_eq!(
        answers,
        [
            ("same-event-twice", 2),
            ("dangerous-line", 2),
            ("flag-false", 2),
            ("flag-true", 0),
            ("check-loses-a-race", 4),
            ("constraint-decides", 1),
            ("two-commits", 0),
            ("three-effects", 1),
            ("two-versions", 1),
            ("not-every-error", 1),
            ("missing-ticket", 1),
            ("ack-first", 0),
            ("lost-reply", 1),
            ("busy-is-no-error", 0),
            ("crash-before-publish", 0),
            ("ghost-of-a-rollback", 1),
            ("row-that-waits", 1),
            ("sent-is-not-taken", 0),
            ("nowhere-to-go", 0),
            ("claimed-is-not-sent", 0),
            ("relay-that-is-gone", 0),
            ("relay-that-is-late", 2),
            ("confirm-lost-on-the-way", 1),
            ("mail-is-outside", 2),
            ("call-after-commit", 0),
            ("sent-and-not-marked", 1),
            ("key-that-nobody-reads", 2),
            ("ask-before-you-call", 1),
            ("asking-loses-a-race", 2),
        ]
    );
}

/// What the words of single lessons claim, beyond what is asked of all.
#[test]
fn the_words_of_a_lesson_claim_what_its_run_shows() {
    let lessons = all();
    let end = |id: &str, side: usize| {
        let lesson = lessons.iter().find(|lesson| lesson.id == id).unwrap();
        let run = run(lesson, side);
        let end = run.state_after(run.frames.len());
        let rows = end.committed.outbox.iter();
        let rows: Vec<String> = rows.map(|row| row.state.clone()).collect();
        let count = |about: About| about.count_in(end).unwrap();
        let counts = [About::Tasks, About::Published, About::Sent].map(count);
        (end.committed.tickets.len(), rows.join(","), counts)
    };
    let nothing = |tickets, rows: &str| (tickets, rows.to_owned(), [0, 0, 0]);
    assert_eq!(end("crash-before-publish", 0), nothing(1, ""));
    assert_eq!(end("crash-before-publish", 1), nothing(0, ""));
    let published = |tickets, rows: &str, times| (tickets, rows.to_owned(), [0, times, 0]);
    assert_eq!(end("ghost-of-a-rollback", 0), published(0, "", 1));
    assert_eq!(end("ghost-of-a-rollback", 1), nothing(0, ""));
    assert_eq!(end("row-that-waits", 1), published(1, "published", 1));
    assert_eq!(end("sent-is-not-taken", 0), nothing(1, "published"));
    assert_eq!(end("nowhere-to-go", 0), nothing(1, "published"));
    assert_eq!(end("nowhere-to-go", 1), nothing(1, "parked"));
    assert_eq!(end("claimed-is-not-sent", 0), nothing(1, "published"));
    assert_eq!(end("relay-that-is-gone", 0), nothing(1, "leased"));
    assert_eq!(end("relay-that-is-late", 0), published(1, "published", 2));
    assert_eq!(end("relay-that-is-late", 1), published(1, "published", 1));
    // One ticket, one event published twice, one task: and two where nobody keeps a receipt.
    let end_to_end = |tasks| (1, "published".to_owned(), [tasks, 2, 0]);
    assert_eq!(end("confirm-lost-on-the-way", 0), end_to_end(2));
    assert_eq!(end("confirm-lost-on-the-way", 1), end_to_end(1));
    // One row in the database, and outside something else.
    let sent = |id, side| {
        let (_, _, [tasks, _, sent]) = end(id, side);
        (tasks, sent)
    };
    assert_eq!(sent("mail-is-outside", 0), (1, 2));
    assert_eq!(sent("mail-is-outside", 1), (1, 1));
    assert_eq!(sent("call-after-commit", 0), (1, 0));
    assert_eq!(sent("sent-and-not-marked", 0), (1, 2));
    assert_eq!(sent("key-that-nobody-reads", 0), (1, 2));
    assert_eq!(sent("ask-before-you-call", 0), (1, 2));
    assert_eq!(sent("asking-loses-a-race", 1), (1, 1));
}

#[test]
fn the_lessons_of_a_chapter_stand_together_and_every_chapter_has_some() {
    let chapters: Vec<Chapter> = all().iter().map(Lesson::chapter).collect();
    assert!(chapters.is_sorted(), "{chapters:?}");
    for chapter in Chapter::ALL {
        assert!(chapters.contains(&chapter), "{chapter:?}");
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
