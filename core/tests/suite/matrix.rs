//! The matrix of designs and hazards, held to a golden file: natively and in wasm, byte for byte.

use std::sync::LazyLock;

use deliver_twice_core::design::{Chapter, Design};
use deliver_twice_core::matrix::{
    Cell, KEYS_IGNORED, as_markdown, as_text, hazard_named, hazards, matrix,
};
use deliver_twice_core::run::Run;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const GOLDEN: &str = include_str!("../golden/matrix.txt");

/// The matrix, searched once for all tests of it.
pub fn cells() -> &'static [Cell] {
    static CELLS: LazyLock<Vec<Cell>> = LazyLock::new(|| {
        matrix().expect("SQLite refuses nothing that no design is meant to fail at")
    });
    &CELLS
}

/// To renew the file after a change that is meant: `UPDATE_GOLDEN=1 cargo test -p deliver-twice-core`.
#[test]
fn the_matrix_is_the_one_on_file() {
    let text = as_text(cells());
    #[cfg(not(target_family = "wasm"))]
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/matrix.txt");
        std::fs::write(path, &text).expect("the golden file can be written");
        return;
    }
    assert_eq!(text, GOLDEN);
}

#[test]
fn every_counterexample_of_the_matrix_replays() {
    for cell in cells() {
        let hazard = hazard_named(cell.hazard).unwrap();
        let design = Design::preset(cell.design).unwrap();
        let run = |schedule| Run::exact(design, hazard.scenario, hazard.bounds, schedule).unwrap();
        for found in &cell.counterexamples {
            let run = run(&found.schedule);
            let mut ends = run.violations().iter();
            assert!(ends.any(|v| v.verdict() == found.verdict), "{cell}");
        }
        for found in &cell.allowed {
            let run = run(&found.schedule);
            let mut notes = run.frames.last().unwrap().noted.iter();
            assert!(notes.any(|v| v.verdict() == found.verdict), "{cell}");
        }
    }
}

/// Each hazard breaks some design of its chapter and leaves the best one alone: otherwise it would teach
/// nothing.
#[test]
fn every_hazard_breaks_a_design_and_none_breaks_the_best() {
    let cells = cells();
    for chapter in Chapter::ALL {
        for hazard in chapter.hazards() {
            let mut broken = cells
                .iter()
                .filter(|cell| cell.hazard == hazard.name && !cell.counterexamples.is_empty());
            assert!(
                broken.any(|cell| cell.design != chapter.best()),
                "{}",
                hazard.name
            );
        }
        let mut best = cells.iter().filter(|cell| cell.design == chapter.best());
        assert!(best.all(|cell| cell.counterexamples.is_empty() || cell.hazard == KEYS_IGNORED));
    }
}

/// Where the provider does not look at keys, no row in the database is enough: what is left is to ask him
/// first, and to have nobody else ask at the same time.
#[test]
fn a_provider_that_ignores_keys_can_only_be_asked_and_by_one_sender() {
    let cells = cells();
    let holds = |hazard: &str| -> Vec<&str> {
        let cells = cells.iter().filter(|cell| cell.hazard == hazard);
        cells
            .filter(|cell| cell.counterexamples.is_empty())
            .map(|cell| cell.design)
            .collect()
    };
    assert_eq!(holds(KEYS_IGNORED), ["pending-row-reconciled"]);
    let senders: Vec<&str> = holds("two-senders");
    assert!(senders.contains(&"pending-row-with-key"));
    assert!(!senders.contains(&"pending-row-reconciled"));
}

/// Two publications are no fault of an outbox: they are noted, and what they lead to is the consumer's.
#[test]
fn a_doubled_publication_is_noted_and_breaks_nothing() {
    let cells = cells();
    let noted: Vec<&Cell> = cells
        .iter()
        .filter(|cell| !cell.allowed.is_empty())
        .collect();
    assert!(
        noted
            .iter()
            .any(|cell| cell.hazard == "crash-on-the-whole-way")
    );
    for cell in &noted {
        assert!(cell.design.starts_with("outbox"), "{cell}");
    }
    assert!(
        noted
            .iter()
            .any(|cell| cell.design == "outbox" && cell.failing.to_string() == "0")
    );
}

#[test]
fn hazards_have_names_of_their_own() {
    for (index, hazard) in hazards().enumerate() {
        let mut before = hazards().take(index);
        assert!(
            before.all(|other| other.name != hazard.name),
            "{}",
            hazard.name
        );
    }
}

#[test]
fn a_table_has_a_row_for_each_design_and_a_column_for_each_hazard() {
    let cells = cells();
    for chapter in Chapter::ALL {
        let table = as_markdown(chapter, cells);
        assert_eq!(table.lines().count(), 2 + chapter.presets().len());
        let columns = chapter.hazards().len() + 2;
        assert!(
            table
                .lines()
                .all(|line| line.matches('|').count() == columns)
        );
    }
}
