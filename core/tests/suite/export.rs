//! Every export of the page's opening run, held to golden files: natively and in wasm, byte for byte.
//!
//! The exported Rust tests are golden files and modules of this suite at once: they compile and run.

use std::collections::BTreeSet;

use deliver_twice_core::design::{Chapter, Design, Outside, PRESETS};
use deliver_twice_core::export::Export;
use deliver_twice_core::lesson::lessons;
use deliver_twice_core::matrix::{Cell, hazard_named};
use deliver_twice_core::run::{Moved, Run};
use deliver_twice_core::scenario::{Bounds, Scenario, TaskRow};
use deliver_twice_core::schedule::Schedule;
use deliver_twice_core::system::System;
use serde_json::Value;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::matrix::cells;

/// The run that the page opens on.
const OPENING: &str = "s1:dA.A.dB.B.A.B.A.B.A.B.A.B2";

/// The two designs that the page opens on, and one for each side of the consumer, with a run of each.
const RUNS: [(&str, &str); 4] = [
    ("check-then-insert", OPENING),
    ("constraint-arbitration", OPENING),
    ("outbox", "s1:P4.R.nR.R4.cR.e.R4.dA.A5.dB.B4"),
    ("pending-row", "s1:dA.A5.N.oN.N2.xN.N3"),
];

/// One golden file.
macro_rules! golden {
    ($design:literal, $file:literal) => {
        (
            $design,
            $file,
            include_str!(concat!("../golden/export/", $file)),
        )
    };
}

/// The design, the file's name and its text, in the order of [`Export::ALL`] for each design.
const GOLDEN: [(&str, &str, &str); 32] = [
    golden!("check-then-insert", "deliver-twice-check-then-insert.mmd"),
    golden!("check-then-insert", "deliver-twice-check-then-insert.puml"),
    golden!("check-then-insert", "deliver-twice-check-then-insert.svg"),
    golden!("check-then-insert", "deliver-twice-check-then-insert.md"),
    golden!("check-then-insert", "deliver-twice-check-then-insert.json"),
    golden!("check-then-insert", "deliver-twice-check-then-insert.sql"),
    golden!(
        "check-then-insert",
        "deliver-twice-check-then-insert.psql.sql"
    ),
    golden!("check-then-insert", "run_check_then_insert.rs"),
    golden!(
        "constraint-arbitration",
        "deliver-twice-constraint-arbitration.mmd"
    ),
    golden!(
        "constraint-arbitration",
        "deliver-twice-constraint-arbitration.puml"
    ),
    golden!(
        "constraint-arbitration",
        "deliver-twice-constraint-arbitration.svg"
    ),
    golden!(
        "constraint-arbitration",
        "deliver-twice-constraint-arbitration.md"
    ),
    golden!(
        "constraint-arbitration",
        "deliver-twice-constraint-arbitration.json"
    ),
    golden!(
        "constraint-arbitration",
        "deliver-twice-constraint-arbitration.sql"
    ),
    golden!(
        "constraint-arbitration",
        "deliver-twice-constraint-arbitration.psql.sql"
    ),
    golden!("constraint-arbitration", "run_constraint_arbitration.rs"),
    golden!("outbox", "deliver-twice-outbox.mmd"),
    golden!("outbox", "deliver-twice-outbox.puml"),
    golden!("outbox", "deliver-twice-outbox.svg"),
    golden!("outbox", "deliver-twice-outbox.md"),
    golden!("outbox", "deliver-twice-outbox.json"),
    golden!("outbox", "deliver-twice-outbox.sql"),
    golden!("outbox", "deliver-twice-outbox.psql.sql"),
    golden!("outbox", "run_outbox.rs"),
    golden!("pending-row", "deliver-twice-pending-row.mmd"),
    golden!("pending-row", "deliver-twice-pending-row.puml"),
    golden!("pending-row", "deliver-twice-pending-row.svg"),
    golden!("pending-row", "deliver-twice-pending-row.md"),
    golden!("pending-row", "deliver-twice-pending-row.json"),
    golden!("pending-row", "deliver-twice-pending-row.sql"),
    golden!("pending-row", "deliver-twice-pending-row.psql.sql"),
    golden!("pending-row", "run_pending_row.rs"),
];

/// A run as the page makes it: a step that the design cannot take is passed over.
fn run(design: Design, scenario: Scenario, schedule: &Schedule) -> (System, Run) {
    let mut system = System::new(design, scenario, Bounds::BY_HAND).unwrap();
    let mut run = Run::started(&system);
    for step in &schedule.0 {
        run.take(&mut system, *step).unwrap();
    }
    (system, run)
}

fn golden_run(design: &str, schedule: &str) -> (System, Run) {
    let (design, schedule) = (design.parse().unwrap(), schedule.parse().unwrap());
    run(design, Scenario::default(), &schedule)
}

/// Runs with every fault, every kind of step and every lesson's own trouble.
fn runs() -> Vec<(System, Run)> {
    let of_lesson = |lesson: &deliver_twice_core::lesson::Lesson| {
        lesson
            .designs
            .map(|design| run(design, lesson.scenario, &lesson.schedule))
    };
    let mut runs: Vec<(System, Run)> = lessons().unwrap().iter().flat_map(of_lesson).collect();
    let schedule = "s1:p1.dA.A.kA.A3.rA.xA.dA.A.dB.B.gB.xB.t.dC.C9"
        .parse()
        .unwrap();
    for preset in PRESETS {
        for task in TaskRow::ALL {
            let scenario = Scenario {
                workers: 3,
                task,
                ..Scenario::default()
            };
            runs.push(run(preset.design, scenario, &schedule));
        }
    }
    runs.extend(runs_around());
    runs
}

/// Every run that the matrix tells of the producer and of the outside.
fn runs_around() -> impl Iterator<Item = (System, Run)> {
    let around = |cell: &&Cell| {
        let design = Design::preset(cell.design).unwrap();
        design.chapter() != Chapter::Consumer
    };
    cells().iter().filter(around).flat_map(|cell| {
        let design = Design::preset(cell.design).unwrap();
        let scenario = hazard_named(cell.hazard).unwrap().scenario;
        let told = cell.counterexamples.iter().chain(&cell.allowed);
        told.map(move |found| run(design, scenario, &found.schedule))
    })
}

/// The wasm build and the native one bring different versions of SQLite, and the trace says which.
fn without_version(text: &str) -> String {
    text.replace(
        &format!("\"sqlite\": \"{}\"", rusqlite::version()),
        "\"sqlite\": \"…\"",
    )
}

/// To renew the files after a change that is meant: `UPDATE_GOLDEN=1 cargo test -p deliver-twice-core`.
#[test]
fn every_export_of_the_opening_run_is_the_one_on_file() {
    let mut files = GOLDEN.iter();
    for (name, schedule) in RUNS {
        let (system, run) = golden_run(name, schedule);
        for export in Export::ALL {
            let (design, file, golden) = files.next().unwrap();
            let text = without_version(&export.text(&system, &run));
            assert_eq!(export.file_name(&system.plan().design), *file);
            assert_eq!(name, *design);
            #[cfg(not(target_family = "wasm"))]
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/export/");
                std::fs::write(format!("{folder}{file}"), &text).unwrap();
                continue;
            }
            assert_eq!(&text, golden, "{file}");
        }
    }
}

#[test]
fn the_exported_schedule_replays_to_the_same_end() {
    for (system, run) in runs() {
        let trace: Value = serde_json::from_str(&Export::Json.text(&system, &run)).unwrap();
        let schedule: Schedule = trace["schedule"].as_str().unwrap().parse().unwrap();
        let design: Design = trace["design"].as_str().unwrap().parse().unwrap();
        let again = Run::exact(design, *system.scenario(), Bounds::BY_HAND, &schedule).unwrap();
        assert_eq!(again.violations(), run.violations(), "{design} {schedule}");
        let steps = trace["steps"].as_array().unwrap();
        assert_eq!(steps.len(), schedule.0.len());
        let is_taken = |moved: &Moved| matches!(moved, Moved::Changed(_));
        let taken = run.frames.iter().filter(|frame| is_taken(&frame.moved));
        assert_eq!(steps.len(), taken.count());
        if let Some(last) = steps.last() {
            let committed = &run.state_after(run.frames.len()).committed;
            let tasks = last["committed"]["tasks"].as_array().unwrap();
            assert_eq!(tasks.len(), committed.tasks.len());
            let violations = last["violations"].as_array().unwrap();
            assert_eq!(violations.len(), run.violations().len());
        }
    }
}

/// Every field of a trace is in the schema, and every field that the schema requires is in the trace.
#[test]
fn a_trace_has_the_form_of_its_schema() {
    let schema = include_str!("../../../docs/trace.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    for (system, run) in runs() {
        let trace: Value = serde_json::from_str(&Export::Json.text(&system, &run)).unwrap();
        assert_form(&schema, &schema, &trace, "trace");
    }
}

/// Holds a value to the few words of JSON Schema that the file uses.
#[track_caller]
fn assert_form(root: &Value, schema: &Value, value: &Value, at: &str) {
    if let Some(path) = schema["$ref"].as_str() {
        let target = root.pointer(path.trim_start_matches('#')).unwrap();
        return assert_form(root, target, value, at);
    }
    if let Some(kinds) = schema["type"].as_array() {
        let is_null = kinds.contains(&"null".into()) && value.is_null();
        assert!(
            is_null || kinds.iter().any(|kind| is_of(kind, value)),
            "{at}"
        );
        if is_null {
            return;
        }
    } else if schema.get("type").is_some() {
        assert!(is_of(&schema["type"], value), "{at}: {value}");
    }
    if let Some(constant) = schema.get("const") {
        assert_eq!(constant, value, "{at}");
    }
    if let Some(choices) = schema["enum"].as_array() {
        assert!(choices.contains(value), "{at}: {value}");
    }
    if let Some(object) = value.as_object() {
        let required = schema["required"].as_array().into_iter().flatten();
        for name in required {
            assert!(object.contains_key(name.as_str().unwrap()), "{at}.{name}");
        }
        for (name, field) in object {
            let of_field = schema["properties"].get(name);
            let of_field = of_field.or_else(|| schema.get("additionalProperties"));
            let of_field = of_field.unwrap_or_else(|| panic!("{at}.{name} is not in the schema"));
            assert_form(root, of_field, field, &format!("{at}.{name}"));
        }
    }
    for item in value.as_array().into_iter().flatten() {
        assert_form(root, &schema["items"], item, &format!("{at}[]"));
    }
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("`{other}` is a type that the schema was not meant to use"),
    }
}

#[test]
fn the_picture_is_well_formed_and_asks_for_nothing_from_outside() {
    for (system, run) in runs() {
        let text = Export::Svg.text(&system, &run);
        let picture = roxmltree::Document::parse(&text).unwrap();
        let elements = picture.descendants().filter(|node| node.is_element());
        let names: BTreeSet<&str> = elements.map(|node| node.tag_name().name()).collect();
        let known = BTreeSet::from(["svg", "title", "style", "rect", "text"]);
        assert!(names.is_subset(&known), "{names:?}");
        assert!(!text.contains("href") && !text.contains("url("));
    }
}

#[test]
fn every_row_of_the_table_has_as_many_cells_as_its_head() {
    for (system, run) in runs() {
        let text = Export::Markdown.text(&system, &run);
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        let rows: Vec<usize> = text.lines().map(bars).filter(|bars| *bars > 0).collect();
        let design = system.design();
        let more = [design.has_outbox(), design.outside != Outside::None];
        let wanted = 9 + more.iter().filter(|has| **has).count();
        assert!(rows.iter().all(|bars| *bars == wanted), "{text}");
    }
}

/// Mermaid draws a lifeline for whoever is named, so it would not notice a slip.
#[test]
fn whoever_says_something_in_a_diagram_is_declared_and_nobody_else() {
    for (system, run) in runs() {
        let text = Export::Mermaid.text(&system, &run);
        let lines = || text.lines().map(str::trim);
        let declared: BTreeSet<&str> = lines()
            .filter_map(|line| line.strip_prefix("participant "))
            .collect();
        let said = lines().skip(2).filter_map(|line| line.split_once(": "));
        let named: BTreeSet<&str> = said.flat_map(|(head, _)| names_in(head)).collect();
        assert!(named.is_subset(&declared), "{named:?} {declared:?}");
        for kind in ["clock", "provider", "operator"] {
            let is_silent = declared.contains(kind) && !named.contains(kind);
            let is_outside = kind == "provider";
            assert!(!is_silent || is_outside, "{kind}: {text}");
        }
    }
}

/// Who is named before the colon of an arrow or of a note.
fn names_in(head: &str) -> Vec<&str> {
    if let Some(over) = head.strip_prefix("Note over ") {
        return over.split(',').collect();
    }
    ["-->>", "->>", "-x"]
        .iter()
        .find_map(|arrow| head.split_once(arrow))
        .map_or(vec![], |(from, to)| vec![from, to])
}

#[test]
fn a_name_and_a_file_are_told_apart_from_every_other() {
    let design = Design::CONTRACT;
    let names: BTreeSet<String> = Export::ALL.iter().map(|e| e.file_name(&design)).collect();
    assert_eq!(names.len(), Export::ALL.len());
    for export in Export::ALL {
        assert_eq!(Export::named(export.as_str()), Some(export));
    }
    assert_eq!(Export::named("pdf"), None);
}
