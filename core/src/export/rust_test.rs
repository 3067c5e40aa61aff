//! A run as a test for this repository: a file for `core/tests/suite`, as rustfmt would leave it.

use crate::design::Design;
use crate::event::EffectName;
use crate::property::Violation;
use crate::scenario::{Bounds, Scenario};
use crate::sql::RefusalKind;

use super::story::Story;

/// A design's name in the letters of a Rust identifier.
pub(super) fn identifier(design: &Design) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    design.to_string().chars().map(letter).collect()
}

pub(super) fn text(story: &Story<'_>) -> String {
    let violations = story.run.violations();
    let ending = match violations {
        [] => "ends_well".to_owned(),
        [first, ..] => format!("ends_in_{}", first.verdict().as_str().replace('-', "_")),
    };
    let verdicts: String = story
        .verdicts()
        .iter()
        .map(|v| format!("//! After the last step: {v}.\n"))
        .collect();
    let body = [
        format!(
            "    let design: Design = \"{}\".parse().unwrap();\n",
            story.design()
        ),
        scenario(story.system.scenario()),
        bounds(&story.run.start.left),
        format!("    let schedule = \"{}\";\n", story.schedule()),
        "    let schedule: Schedule = schedule.parse().unwrap();\n".to_owned(),
        "    let run = Run::exact(design, scenario, bounds, &schedule).unwrap();\n".to_owned(),
        assertion(violations),
    ];
    format!(
        "//! A run of `{}`, as the page gave it away.\n//!\n{verdicts}\n{}\n#[test]\nfn {}_{ending}() {{\n{}}}\n",
        story.design(),
        imports(violations, &story.run.start.left),
        identifier(&story.design()),
        body.concat()
    )
}

/// The imports that the test needs and no others, in the order of rustfmt.
fn imports(violations: &[Violation], bounds: &Bounds) -> String {
    let code = assertion(violations);
    let names = |all: &[&'static str]| -> Vec<&'static str> {
        let used = |name: &&&str| {
            code.contains(&format!("{name}(")) || code.contains(&format!("{name}::"))
        };
        all.iter().filter(used).copied().collect()
    };
    let path = |module: &str, names: &[&str]| match names {
        [] => String::new(),
        [one] => format!("use deliver_twice_core::{module}::{one};\n"),
        many => format!(
            "use deliver_twice_core::{module}::{{{}}};\n",
            many.join(", ")
        ),
    };
    let scenario: &[&str] = if named(bounds).is_some() {
        &["Bounds", "Scenario", "TaskRow", "Ticket"]
    } else {
        &["Bounds", "CrashAt", "Scenario", "TaskRow", "Ticket"]
    };
    [
        path("broker", &names(&["DeliveryId", "EventIndex", "WorkerId"])),
        path("design", &["Design"]),
        path("event", &names(&["EffectName"])),
        path("property", &names(&["Violation"])),
        path("run", &["Run"]),
        path("scenario", scenario),
        path("schedule", &["Schedule"]),
        path("sql", &names(&["RefusalKind"])),
        "#[cfg(target_family = \"wasm\")]\nuse wasm_bindgen_test::wasm_bindgen_test as test;\n"
            .to_owned(),
    ]
    .concat()
}

fn scenario(scenario: &Scenario) -> String {
    let Scenario {
        deliveries,
        workers,
        effects,
        versions,
        ticket,
        task,
    } = scenario;
    format!(
        "    let scenario = Scenario {{
        deliveries: {deliveries},
        workers: {workers},
        effects: {effects},
        versions: {versions},
        ticket: Ticket::{ticket:?},
        task: TaskRow::{task:?},
    }};
"
    )
}

/// The constant that these bounds are, if they are one.
fn named(bounds: &Bounds) -> Option<&'static str> {
    match *bounds {
        Bounds::BY_HAND => Some("Bounds::BY_HAND"),
        Bounds::NONE => Some("Bounds::NONE"),
        _ => None,
    }
}

fn bounds(bounds: &Bounds) -> String {
    if let Some(name) = named(bounds) {
        return format!("    let bounds = {name};\n");
    }
    let Bounds {
        crashes,
        crash_at,
        lost_acks,
        lost_replies,
        published_again,
        given_up,
    } = bounds;
    format!(
        "    let bounds = Bounds {{
        crashes: {crashes},
        crash_at: CrashAt::{crash_at:?},
        lost_acks: {lost_acks},
        lost_replies: {lost_replies},
        published_again: {published_again},
        given_up: {given_up},
    }};
"
    )
}

fn assertion(violations: &[Violation]) -> String {
    let claim = "    assert_eq!(run.violations(), expected);\n";
    match violations {
        [] => "    assert!(run.violations().is_empty(), \"{:?}\", run.violations());\n".to_owned(),
        [one] => format!("    let expected = [{}];\n{claim}", violation(one, "    ")),
        many => {
            let lines = many
                .iter()
                .map(|one| format!("        {},\n", violation(one, "        ")));
            let lines: String = lines.collect();
            format!("    let expected = [\n{lines}    ];\n{claim}")
        }
    }
}

/// A violation as Rust, its fields a step deeper than `indent`.
fn violation(violation: &Violation, indent: &str) -> String {
    let (name, fields) = match violation {
        Violation::DuplicateEffect {
            event,
            effect,
            tasks,
        } => (
            "DuplicateEffect",
            vec![
                format!("event: {event:?}"),
                format!("effect: {}", effect_path(*effect)),
                format!("tasks: {tasks}"),
            ],
        ),
        Violation::LostEffect { event, effect } => (
            "LostEffect",
            vec![
                format!("event: {event:?}"),
                format!("effect: {}", effect_path(*effect)),
            ],
        ),
        Violation::OrphanReceipt { event, effect } => (
            "OrphanReceipt",
            vec![
                format!("event: {event:?}"),
                format!("effect: {}", effect_path(*effect)),
            ],
        ),
        Violation::Stuck { waiting } => ("Stuck", vec![format!("waiting: vec!{waiting:?}")]),
        Violation::SwallowedError {
            event,
            effect,
            kind,
        } => (
            "SwallowedError",
            vec![
                format!("event: {event:?}"),
                format!("effect: {}", option(effect.map(effect_path))),
                format!("kind: {}", option(kind.map(kind_path))),
            ],
        ),
        Violation::FalseSuccess { delivery } => {
            ("FalseSuccess", vec![format!("delivery: {delivery:?}")])
        }
    };
    let fields: String = fields
        .iter()
        .map(|field| format!("{indent}    {field},\n"))
        .collect();
    format!("Violation::{name} {{\n{fields}{indent}}}")
}

fn effect_path(effect: EffectName) -> String {
    format!("EffectName::{effect:?}")
}

fn kind_path(kind: RefusalKind) -> String {
    format!("RefusalKind::{kind:?}")
}

fn option(value: Option<String>) -> String {
    value.map_or_else(|| "None".to_owned(), |value| format!("Some({value})"))
}
