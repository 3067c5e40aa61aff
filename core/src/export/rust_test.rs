//! A run as a test for this repository: a file for `core/tests/suite`, as rustfmt would leave it.

use crate::broker::EventIndex;
use crate::design::Design;
use crate::event::EffectName;
use crate::property::Violation;
use crate::scenario::{Bounds, CrashAt, Scenario};
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
        imports(&body.concat()),
        identifier(&story.design()),
        body.concat()
    )
}

/// The imports that the test needs and no others, in the order of rustfmt.
fn imports(code: &str) -> String {
    let names = |all: &[&'static str]| -> Vec<&'static str> {
        let is_used = |name: &&&str| {
            let uses = [
                format!("{name}("),
                format!("{name}::"),
                format!("{name} {{"),
            ];
            uses.iter().any(|used| code.contains(used))
        };
        all.iter().filter(is_used).copied().collect()
    };
    let path = |module: &str, names: &[&str]| match names {
        [] => String::new(),
        [one] => format!("use deliver_twice_core::{module}::{one};\n"),
        many => format!(
            "use deliver_twice_core::{module}::{{{}}};\n",
            many.join(", ")
        ),
    };
    [
        path("broker", &names(&["DeliveryId", "EventIndex", "WorkerId"])),
        path("design", &["Design"]),
        path("event", &names(&["EffectName"])),
        path("property", &names(&["Violation"])),
        path("run", &["Run"]),
        path(
            "scenario",
            &names(&[
                "Bounds", "CrashAt", "Provider", "Scenario", "TaskRow", "Ticket",
            ]),
        ),
        path("schedule", &["Schedule"]),
        path("sql", &names(&["RefusalKind"])),
        "#[cfg(target_family = \"wasm\")]\nuse wasm_bindgen_test::wasm_bindgen_test as test;\n"
            .to_owned(),
    ]
    .concat()
}

fn scenario(scenario: &Scenario) -> String {
    let usual = Scenario::default();
    let Scenario {
        deliveries,
        workers,
        effects,
        versions,
        ticket,
        task,
        relays,
        senders,
        provider,
    } = *scenario;
    let fields = [
        (
            deliveries != usual.deliveries,
            format!("deliveries: {deliveries}"),
        ),
        (workers != usual.workers, format!("workers: {workers}")),
        (effects != usual.effects, format!("effects: {effects}")),
        (versions != usual.versions, format!("versions: {versions}")),
        (
            ticket != usual.ticket,
            format!("ticket: Ticket::{ticket:?}"),
        ),
        (task != usual.task, format!("task: TaskRow::{task:?}")),
        (relays != usual.relays, format!("relays: {relays}")),
        (senders != usual.senders, format!("senders: {senders}")),
        (
            provider != usual.provider,
            format!("provider: Provider::{provider:?}"),
        ),
    ];
    binding("scenario", "Scenario", &fields, "Scenario::default()")
}

fn bounds(bounds: &Bounds) -> String {
    if *bounds == Bounds::BY_HAND {
        return "    let bounds = Bounds::BY_HAND;\n".to_owned();
    }
    let Bounds {
        crashes,
        crash_at,
        lost_acks,
        lost_replies,
        published_again,
        given_up,
        overruns,
        nacks,
        returns,
        lost_confirms,
        lost_answers,
    } = *bounds;
    let numbers = [
        ("lost_acks", lost_acks),
        ("lost_replies", lost_replies),
        ("published_again", published_again),
        ("given_up", given_up),
        ("overruns", overruns),
        ("nacks", nacks),
        ("returns", returns),
        ("lost_confirms", lost_confirms),
        ("lost_answers", lost_answers),
    ];
    let mut fields = vec![
        (crashes > 0, format!("crashes: {crashes}")),
        (
            crash_at != CrashAt::AnyMoment,
            format!("crash_at: CrashAt::{crash_at:?}"),
        ),
    ];
    fields.extend(numbers.map(|(name, number)| (number > 0, format!("{name}: {number}"))));
    binding("bounds", "Bounds", &fields, "Bounds::NONE")
}

/// A value that is bound to a name: the usual one but for the fields that say otherwise.
fn binding(name: &str, kind: &str, fields: &[(bool, String)], usual: &str) -> String {
    let differing = fields.iter().filter(|(differs, _)| *differs);
    let lines: String = differing
        .map(|(_, field)| format!("        {field},\n"))
        .collect();
    if lines.is_empty() {
        return format!("    let {name} = {usual};\n");
    }
    format!("    let {name} = {kind} {{\n{lines}        ..{usual}\n    }};\n")
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
        Violation::GhostEvent { event } => ("GhostEvent", of_event(*event)),
        Violation::LostEvent { event } => ("LostEvent", of_event(*event)),
        Violation::FalsePublished { event } => ("FalsePublished", of_event(*event)),
        Violation::StuckRow { event } => ("StuckRow", of_event(*event)),
        Violation::StaleWrite { event } => ("StaleWrite", of_event(*event)),
        Violation::NeverSent { event } => ("NeverSent", of_event(*event)),
        Violation::SentInVain { event } => ("SentInVain", of_event(*event)),
        Violation::SentTwice { event, messages } => (
            "SentTwice",
            vec![format!("event: {event:?}"), format!("messages: {messages}")],
        ),
        Violation::DoubledPublication { event, times } => (
            "DoubledPublication",
            vec![format!("event: {event:?}"), format!("times: {times}")],
        ),
    };
    let fields: String = fields
        .iter()
        .map(|field| format!("{indent}    {field},\n"))
        .collect();
    format!("Violation::{name} {{\n{fields}{indent}}}")
}

fn of_event(event: EventIndex) -> Vec<String> {
    vec![format!("event: {event:?}")]
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
