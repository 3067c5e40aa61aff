//! The matrix of designs and hazards, held to a golden file: natively and in wasm, byte for byte.

use deliver_twice_core::matrix::{Cell, as_markdown, as_text, matrix};
use deliver_twice_core::run::Run;
use deliver_twice_core::{design::Design, matrix::HAZARDS};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const GOLDEN: &str = include_str!("../golden/matrix.txt");

fn cells() -> Vec<Cell> {
    matrix().expect("SQLite refuses nothing that no design is meant to fail at")
}

/// To renew the file after a change that is meant: `UPDATE_GOLDEN=1 cargo test -p deliver-twice-core`.
#[test]
fn the_matrix_is_the_one_on_file() {
    let text = as_text(&cells());
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
        let hazard = HAZARDS
            .iter()
            .find(|hazard| hazard.name == cell.hazard)
            .unwrap();
        let design = Design::preset(cell.design).unwrap();
        for found in &cell.counterexamples {
            let run = Run::exact(design, hazard.scenario, hazard.bounds, &found.schedule).unwrap();
            let ends = run
                .violations()
                .iter()
                .any(|v| v.verdict() == found.verdict);
            assert!(ends, "{cell}");
        }
    }
}

/// Each hazard breaks some design and leaves the contract alone: otherwise it would teach nothing.
#[test]
fn every_hazard_breaks_a_design_and_none_breaks_the_contract() {
    let cells = cells();
    for hazard in HAZARDS {
        let broken = |cell: &&Cell| cell.hazard == hazard.name && !cell.counterexamples.is_empty();
        assert!(cells.iter().any(|cell| broken(&cell)), "{}", hazard.name);
    }
    for cell in cells
        .iter()
        .filter(|cell| cell.design == "constraint-arbitration")
    {
        assert!(cell.counterexamples.is_empty(), "{cell}");
    }
}

#[test]
fn the_table_has_a_row_for_each_design_and_a_column_for_each_hazard() {
    let table = as_markdown(&cells());
    assert_eq!(table.lines().count(), 2 + 13);
    assert!(
        table
            .lines()
            .all(|line| line.matches('|').count() == HAZARDS.len() + 2)
    );
}
