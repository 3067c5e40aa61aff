//! The diagnosis: each symptom is shown by some design, and its query finds it there and nowhere else.

use deliver_twice_core::design::{Chapter, Design};
use deliver_twice_core::diagnosis::SYMPTOMS;
use deliver_twice_core::disk::ConnectionId;
use deliver_twice_core::matrix::hazard_named;
use deliver_twice_core::property::Verdict;
use deliver_twice_core::run::Run;
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::Schedule;
use deliver_twice_core::system::System;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::matrix::cells;

/// How many rows a query finds in what is committed after a schedule.
fn rows_after(
    design: Design,
    scenario: Scenario,
    bounds: Bounds,
    schedule: &Schedule,
    query: &str,
) -> usize {
    let mut system = System::new(design, scenario, bounds).unwrap();
    for step in &schedule.0 {
        system.apply(*step).unwrap();
    }
    let eye = system.disk().connect(ConnectionId::OBSERVER).unwrap();
    let mut statement = eye.prepare(query).unwrap();
    let rows = statement.query_map([], |_| Ok(())).unwrap();
    rows.count()
}

#[test]
fn every_symptom_is_shown_by_a_design_of_its_chapter_and_never_by_the_best() {
    for symptom in SYMPTOMS {
        let best = symptom.chapter.best();
        let mut designs: Vec<&str> = symptom.cells(cells()).map(|cell| cell.design).collect();
        assert!(!designs.is_empty(), "{}", symptom.name);
        for design in &designs {
            let design = Design::preset(design).unwrap();
            assert_eq!(design.chapter(), symptom.chapter, "{}", symptom.name);
        }
        // Under one hazard the best is not good enough: the provider breaks his word.
        designs.retain(|design| *design == best);
        let is_forgiven = symptom.verdict == Verdict::SentTwice;
        assert!(
            designs.len() <= usize::from(is_forgiven),
            "{}",
            symptom.name
        );
    }
}

#[test]
fn every_violation_that_people_see_has_a_symptom() {
    for cell in cells() {
        for found in &cell.counterexamples {
            let is_seen = SYMPTOMS
                .iter()
                .filter(|s| s.fits(cell.hazard, found.verdict))
                .count();
            let is_silent = !SYMPTOMS
                .iter()
                .any(|symptom| symptom.verdict == found.verdict);
            assert!(
                is_seen == 1 || is_silent,
                "{cell}: {} fits {is_seen} symptoms",
                found.verdict
            );
        }
    }
}

#[test]
fn a_query_finds_its_symptom_wherever_it_shows() {
    for symptom in SYMPTOMS {
        let Some(query) = symptom.query else { continue };
        for cell in symptom.cells(cells()) {
            let design = Design::preset(cell.design).unwrap();
            let hazard = hazard_named(cell.hazard).unwrap();
            let mut all = cell.counterexamples.iter();
            let found = all
                .find(|found| symptom.fits(cell.hazard, found.verdict))
                .unwrap();
            let rows = rows_after(
                design,
                hazard.scenario,
                hazard.bounds,
                &found.schedule,
                query,
            );
            assert!(
                rows > 0,
                "{} under {}: {}",
                cell.design,
                cell.hazard,
                symptom.name
            );
        }
    }
}

/// A run of each chapter's best design through a fault, until nothing is left to do.
const SOUND: [(Chapter, &str); 3] = [
    (Chapter::Consumer, "s1:dA.A4.xA.dA.A4"),
    (Chapter::Producer, "s1:P4.R2.xR.e.R4.dA.A5.dA.A4"),
    (Chapter::Outside, "s1:dA.A5.N2.xN.N3"),
];

#[test]
fn no_query_finds_anything_where_the_best_design_is_done() {
    let scenario = Scenario {
        deliveries: 1,
        workers: 1,
        ..Scenario::default()
    };
    for symptom in SYMPTOMS {
        let Some(query) = symptom.query else { continue };
        let mut runs = SOUND
            .iter()
            .filter(|(chapter, _)| *chapter == symptom.chapter);
        let schedule: Schedule = runs.next().unwrap().1.parse().unwrap();
        let best = Design::preset(symptom.chapter.best()).unwrap();
        let rows = rows_after(best, scenario, Bounds::BY_HAND, &schedule, query);
        assert_eq!(rows, 0, "{query}");
    }
}

#[test]
fn the_sound_runs_end_where_nothing_is_left_to_do() {
    let scenario = Scenario {
        deliveries: 1,
        workers: 1,
        ..Scenario::default()
    };
    for (chapter, schedule) in SOUND {
        let best = Design::preset(chapter.best()).unwrap();
        let schedule = schedule.parse().unwrap();
        let run = Run::exact(best, scenario, Bounds::BY_HAND, &schedule).unwrap();
        let last = run.frames.last().unwrap();
        assert!(last.state.is_settled() && last.violations.is_empty());
        assert!(!last.enabled.iter().any(|step| step.is_progress()));
    }
}
