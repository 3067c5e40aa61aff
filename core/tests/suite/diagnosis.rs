//! The diagnosis: each symptom is shown by some design, and its query finds it there and nowhere else.

use deliver_twice_core::design::Design;
use deliver_twice_core::diagnosis::{SYMPTOMS, hazard_named};
use deliver_twice_core::disk::ConnectionId;
use deliver_twice_core::matrix::matrix;
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::Schedule;
use deliver_twice_core::system::System;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

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
fn every_symptom_is_shown_by_a_design_and_never_by_the_contract() {
    let cells = matrix().unwrap();
    for symptom in SYMPTOMS {
        let designs: Vec<&str> = symptom.cells(&cells).map(|cell| cell.design).collect();
        assert!(!designs.is_empty(), "{}", symptom.name);
        assert!(
            !designs.contains(&"constraint-arbitration"),
            "{}",
            symptom.name
        );
    }
}

#[test]
fn every_violation_that_people_see_has_a_symptom() {
    for cell in matrix().unwrap() {
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
    let cells = matrix().unwrap();
    for symptom in SYMPTOMS {
        let Some(query) = symptom.query else { continue };
        for cell in symptom.cells(&cells) {
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

#[test]
fn no_query_finds_anything_where_the_contract_was_kept() {
    let schedule: Schedule = "s1:dA.A4.xA.dA.A4".parse().unwrap();
    let scenario = Scenario {
        deliveries: 1,
        workers: 1,
        ..Scenario::default()
    };
    for query in SYMPTOMS.iter().filter_map(|symptom| symptom.query) {
        let rows = rows_after(
            Design::CONTRACT,
            scenario,
            Bounds::BY_HAND,
            &schedule,
            query,
        );
        assert_eq!(rows, 0, "{query}");
    }
}
