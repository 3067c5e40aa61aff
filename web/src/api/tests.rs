//! The programming interface without a browser: what it answers, and what it refuses.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::answers;
use super::given::{Given, STATES_MOST};
use super::lab::{Lab, Search, Unfit};
use super::refusal::{Answered, Why};

/// The declarations of what is answered; `UPDATE_GOLDEN=1 cargo test -p deliver-twice-web api` writes them.
const TYPES: &str = include_str!("../../api/types.d.ts");

/// A value as a program hands it in.
fn given(value: &Value) -> Given {
    match value {
        Value::Null => Given::Nothing,
        Value::Number(number) => Given::Number(number.as_f64().unwrap()),
        Value::String(text) if text.len() > Given::TEXT_MAX as usize => Given::TooLong,
        Value::String(text) => Given::Text(text.clone()),
        Value::Object(fields) => {
            let fields = fields.iter();
            Given::Fields(
                fields
                    .map(|(name, value)| (name.clone(), given(value)))
                    .collect(),
            )
        }
        Value::Bool(_) | Value::Array(_) => Given::Other("something else"),
    }
}

fn open(options: Value) -> Answered<Lab> {
    Lab::open(given(&options))
}

fn text(text: &str) -> Given {
    Given::Text(text.to_owned())
}

/// Held by whoever has searches open: there may be only so many, and tests run beside each other.
static SEARCHES: Mutex<()> = Mutex::new(());

/// Searches to the end.
fn explore(options: Value) -> Answered<answers::Findings> {
    let _alone = SEARCHES.lock();
    let mut search = Search::open(given(&options))?;
    for _ in 0..1_000 {
        if search.advance(Given::Number(1_000.0))?.is_over {
            return search.findings();
        }
    }
    panic!("the search does not end")
}

/// Code, argument, character and step of a refusal.
fn refused<T>(answered: Answered<T>) -> (&'static str, String, Option<u32>, Option<u32>) {
    let Err(refusal) = answered else {
        panic!("it was not refused")
    };
    assert!(!refusal.message.is_empty() && refusal.message.len() < 2_000);
    let position = refusal.position;
    (
        refusal.code.0,
        position.argument,
        position.character,
        position.step,
    )
}

#[test]
fn the_declarations_are_those_of_the_tables() {
    let head = "// Written from the tables in web/src/api/answers.rs; a test holds it to them.\n"
        .to_owned();
    let parts = [vec![head], answers::names(), answers::objects()].concat();
    let written = parts.join("\n");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/api/types.d.ts");
        std::fs::write(path, written).unwrap();
        return;
    }
    assert_eq!(TYPES, written);
}

#[test]
fn a_race_is_carried_out_step_by_step() {
    let mut lab = open(json!({ "design": "check-then-insert" })).unwrap();
    for step in ["dA", "A", "dB", "B", "B", "B", "A"] {
        lab.step(text(step)).unwrap();
    }
    assert_eq!(lab.state().violations, []);
    let step = lab.step(text("A")).unwrap();
    assert_eq!(step.number, 8);
    let [violation] = &step.violations[..] else {
        panic!("{step:?}")
    };
    assert_eq!(violation.verdict.0, "duplicate-effect");
    assert!(violation.cause.contains('A'), "{}", violation.cause);
    assert!(step.statement.unwrap().sql.contains("business_tasks"));
    let state = lab.state();
    assert_eq!((state.at, state.schedule.as_str()), (8, "s1:dA.A.dB.B3.A2"));
    assert_eq!(state.tables.tasks.len(), 2);
    let enabled: Vec<String> = lab.enabled().into_iter().map(|step| step.step).collect();
    assert!(enabled.contains(&"xA".to_owned()), "{enabled:?}");
}

#[test]
fn a_step_back_and_a_replay_come_to_the_same_state() {
    let mut lab = open(json!({ "design": "outbox", "scenario": { "workers": 0 } })).unwrap();
    let end = lab
        .replay(text("s1:P4.R2.xR.e.R2"), Unfit::Refused)
        .unwrap();
    assert_eq!(end.noted[0].verdict.0, "doubled-publication");
    let before = lab.undo().unwrap();
    assert_eq!(before.at, end.at - 1);
    assert_eq!(lab.step(text("R")).unwrap().number, end.at);
    assert_eq!(lab.state(), end);
    assert_eq!(lab.go_to(Given::Number(0.0)).unwrap().at, 0);
    assert_eq!(lab.undo().unwrap().at, 0, "there is no step to take back");
    assert_eq!(
        lab.replay(text(&end.schedule), Unfit::Refused).unwrap(),
        end
    );
}

#[test]
fn a_replay_that_cannot_be_carried_out_changes_nothing() {
    let mut lab = open(json!({ "design": "no-guard", "schedule": "s1:dA.A" })).unwrap();
    let before = lab.state();
    let refusal = refused(lab.replay(text("s1:dA.A.dC"), Unfit::Refused));
    assert_eq!(
        refusal,
        ("not-enabled", "schedule".to_owned(), None, Some(3))
    );
    assert_eq!(lab.state(), before);
    let left_out = lab.replay(text("s1:dA.A.dC.dB"), Unfit::LeftOut).unwrap();
    assert_eq!(left_out.schedule, "s1:dA.A.dB");
}

#[test]
fn every_lesson_and_exercise_opens_on_what_is_listed_of_it() {
    for lesson in answers::lessons() {
        for (side, design) in [("left", &lesson.left), ("right", &lesson.right)] {
            let options = json!({ "lesson": lesson.name, "side": side });
            let mut lab = open(options).unwrap();
            let state = lab.replay(text(&lesson.schedule), Unfit::LeftOut).unwrap();
            assert_eq!((&state.design, &state.scenario), (design, &lesson.scenario));
            let spelled_out = open(json!({
                "design": design, "scenario": lesson.scenario, "bounds": lesson.bounds,
                "schedule": state.schedule,
            }));
            assert_eq!(spelled_out.unwrap().state(), state, "{}", lesson.name.0);
        }
    }
    for exercise in answers::exercises() {
        let state = open(json!({ "exercise": exercise.name })).unwrap().state();
        assert_eq!(
            (state.design, state.left),
            (exercise.design, exercise.bounds)
        );
    }
}

#[test]
fn the_search_finds_what_the_page_finds() {
    let found = explore(json!({ "design": "check-then-insert" })).unwrap();
    assert!(!found.holds && found.coverage.0 == "exhausted");
    let duplicate = &found.counterexamples[0];
    assert_eq!(duplicate.verdict.0, "duplicate-effect");
    assert!(!duplicate.cause.is_empty());
    let mut lab = open(json!({ "design": "check-then-insert" })).unwrap();
    let state = lab
        .replay(text(&duplicate.schedule), Unfit::Refused)
        .unwrap();
    assert_eq!(state.violations[0].verdict.0, "duplicate-effect");
    assert_eq!(state.at, duplicate.steps);

    let options = json!({ "design": "constraint-arbitration", "bounds": { "lostAcks": 1 } });
    let holds = explore(options).unwrap();
    assert!(holds.holds && holds.failing == "0" && holds.failing_share == 0.0);
    let cut = explore(json!({ "design": "constraint-arbitration", "statesMax": 9 })).unwrap();
    assert!(!cut.holds && cut.coverage.0 == "cut" && cut.states == 9);
}

#[test]
fn whatever_is_wrong_is_refused_with_its_code_and_its_place() {
    let long = "s1:".to_owned() + &"A.".repeat(3_000);
    for (options, code, argument, character) in [
        (json!(null), "missing-field", "options", None),
        (json!("outbox"), "bad-argument", "options", None),
        (json!([]), "bad-argument", "options", None),
        (
            json!({ "design": 7 }),
            "bad-argument",
            "options.design",
            None,
        ),
        (
            json!({ "design": "<b>" }),
            "unknown-name",
            "options.design",
            None,
        ),
        (
            json!({ "design": "none.x" }),
            "bad-design",
            "options.design",
            Some(5),
        ),
        (
            json!({ "lesson": "x" }),
            "unknown-name",
            "options.lesson",
            None,
        ),
        (
            json!({ "exercise": "x" }),
            "unknown-name",
            "options.exercise",
            None,
        ),
        (
            json!({ "design": "outbox", "lesson": "flag-true" }),
            "conflicting-fields",
            "options",
            None,
        ),
        (
            json!({ "design": "outbox", "side": "left" }),
            "conflicting-fields",
            "options.side",
            None,
        ),
        (
            json!({ "lesson": "flag-true", "side": "up" }),
            "unknown-name",
            "options.side",
            None,
        ),
        (
            json!({ "design": "outbox", "crash": 1 }),
            "unknown-field",
            "options.crash",
            None,
        ),
        (
            json!({ "design": "outbox", "scenario": { "workers": 4 } }),
            "out-of-range",
            "options.scenario.workers",
            None,
        ),
        (
            json!({ "design": "outbox", "scenario": { "workers": 1.5 } }),
            "out-of-range",
            "options.scenario.workers",
            None,
        ),
        (
            json!({ "design": "outbox", "scenario": { "lost-acks": 1 } }),
            "unknown-field",
            "options.scenario.lost-acks",
            None,
        ),
        (
            json!({ "design": "outbox", "bounds": { "crashAt": "noon" } }),
            "unknown-name",
            "options.bounds.crashAt",
            None,
        ),
        (
            json!({ "design": "outbox", "bounds": { "lostAcks": -1 } }),
            "out-of-range",
            "options.bounds.lostAcks",
            None,
        ),
        (
            json!({ "design": "outbox", "schedule": "s1:dA.Q" }),
            "bad-schedule",
            "options.schedule",
            Some(6),
        ),
        (
            json!({ "design": "outbox", "schedule": long }),
            "too-long",
            "options.schedule",
            None,
        ),
    ] {
        let (found, at, at_char, _) = refused(open(options.clone()));
        assert_eq!(
            (found, at.as_str(), at_char),
            (code, argument, character),
            "{options}"
        );
    }
    let autocommit =
        "check-then-insert.autocommit.event-and-effect.target-only.after-commit.immediate";
    assert_eq!(
        refused(open(json!({ "design": autocommit }))).0,
        "nonsense-design"
    );
    let longest = deliver_twice_core::design::all().map(|design| design.to_string().len());
    assert!(longest.max() < Some(Given::NAME_MAX));
    let name = "x".repeat(Given::NAME_MAX + 1);
    assert_eq!(refused(open(json!({ "lesson": name }))).0, "too-long");
    let many = json!({ "design": "outbox", "statesMax": STATES_MOST + 1 });
    assert_eq!(refused(Search::open(given(&many))).0, "out-of-range");
    let more = json!({ "design": "outbox", "bounds": { "crashes": 9 } });
    assert_eq!(
        refused(Search::open(given(&more))).1,
        "options.bounds.crashes"
    );
    assert!(open(more).is_ok(), "by hand there may be more faults");

    let mut lab = open(json!({ "design": "no-guard" })).unwrap();
    for (step, code, character) in [
        (text("A"), "not-enabled", None),
        (text("dQ"), "bad-schedule", Some(1)),
        (text(""), "bad-schedule", None),
        (text("A2"), "bad-schedule", None),
        (Given::Number(1.0), "bad-argument", None),
        (Given::TooLong, "too-long", None),
    ] {
        let (found, argument, at, _) = refused(lab.step(step.clone()));
        assert_eq!(
            (found, argument.as_str(), at),
            (code, "step", character),
            "{step:?}"
        );
    }
    assert_eq!(refused(lab.go_to(Given::Number(1.0))).0, "out-of-range");
    assert_eq!(
        refused(lab.go_to(Given::Number(f64::NAN))).0,
        "out-of-range"
    );
    assert_eq!(refused(lab.export(text("docx"))).0, "unknown-name");
}

#[test]
fn no_more_are_open_than_there_is_memory_for() {
    let _alone = SEARCHES.lock();
    let mut open_now = vec![];
    let refusal = loop {
        match Search::open(given(&json!({ "design": "no-guard" }))) {
            Ok(search) => open_now.push(search),
            Err(refusal) => break refusal,
        }
        assert!(open_now.len() <= Search::OPEN_MAX as usize);
    };
    assert_eq!(refusal.code.0, "too-many-open");
    drop(open_now);
}

#[test]
fn every_code_is_documented() {
    let text = include_str!("../../../docs/API.md");
    let of_the_package = ["freed", "aborted", "broken"];
    for code in Why::ALL.map(Why::as_str).into_iter().chain(of_the_package) {
        assert!(text.contains(&format!("| `{code}` |")), "{code}");
    }
}
