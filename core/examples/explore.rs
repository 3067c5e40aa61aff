//! Tries every schedule of a design within bounds, and prints what it found.
//!
//! ```sh
//! cargo run --release -p deliver-twice-core --example explore -- --design check-then-insert
//! ```
//!
//! Exit code 0: nothing breaks, and every schedule was tried. 1: something breaks. 2: the arguments were
//! not understood. 3: nothing broke as far as the search came, and it was cut.

use std::io::Write;
use std::process::ExitCode;

use deliver_twice_core::design::{Chapter, Design, Outside};
use deliver_twice_core::explore::{Counterexample, Coverage, Exploration, Report};
use deliver_twice_core::property::Verdict;
use deliver_twice_core::scenario::{Bounds, CrashAt, Provider, Scenario, TaskRow, Ticket};
use serde_json::{Value, json};

/// The first lines of the help. A line for each number of the scenario and of the bounds goes between.
const USAGE: &str = "\
Tries every schedule of a design within bounds.

  --design NAME          a preset, or its choices joined by dots        (needed)
  --ticket WORD          present or missing                             (present)
  --task WORD            sound, unknown-status, no-tenant or second-escalation (sound)
  --provider WORD        honours-keys or ignores-keys                   (honours-keys)
  --crash-at WORD        any-moment, before-ack or between-commits      (any-moment)
  --states-max N         states to visit before the search is cut       (1000000)
  --format WORD          table or json                                  (table)
";

/// What each number of the scenario and of the bounds counts.
const COUNTED: [(&str, &str); 16] = [
    ("deliveries", "copies of each event"),
    ("workers", "consumers"),
    ("effects", "effects of each event"),
    ("versions", "versions of the ticket, or tickets to write"),
    ("relays", "relays of an outbox"),
    ("senders", "senders of pending rows"),
    ("crashes", "workers that crash"),
    ("lost-acks", "acks that get lost"),
    ("lost-replies", "replies to a commit that get lost"),
    ("published-again", "events published once more"),
    ("given-up", "waits that a worker gives up"),
    ("overruns", "leases that expire at work"),
    ("nacks", "messages that the broker refuses"),
    ("returns", "messages that the broker returns"),
    ("lost-confirms", "confirms that get lost"),
    ("lost-answers", "answers of the provider that get lost"),
];

/// What is searched where nothing else is asked for.
const USUAL: (Scenario, Bounds) = (
    Scenario::USUAL,
    Bounds {
        crashes: 1,
        ..Bounds::NONE
    },
);

fn usage() -> String {
    let (scenario, bounds) = USUAL;
    let line = |name: &str, min: u8, max: u8, usual: u8| {
        let counted = COUNTED.iter().find(|(known, _)| *known == name);
        let (_, counted) = counted.expect("every number has words");
        let option = format!("--{name} N");
        let words = format!("{counted}, {min} to {max}");
        format!("  {option:22} {words:46} ({usual})\n")
    };
    let of_scenario = Scenario::NUMBERS
        .iter()
        .map(|number| line(number.name, number.min, number.max, number.of(scenario)));
    let of_bounds = Bounds::NUMBERS
        .iter()
        .map(|number| line(number.name, number.min, number.max, number.of(bounds)));
    let numbers: String = of_scenario.chain(of_bounds).collect();
    format!("{USAGE}{numbers}")
}

/// What was asked for.
struct Request {
    design: Design,
    scenario: Scenario,
    bounds: Bounds,
    states_max: u64,
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Table,
    Json,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments
        .iter()
        .any(|argument| argument == "--help" || argument == "-h")
    {
        print!("{}", usage());
        return ExitCode::SUCCESS;
    }
    let request = match read(&arguments) {
        Ok(request) => request,
        Err(why) => {
            eprint!("explore: {why}\n\n{}", usage());
            return ExitCode::from(2);
        }
    };
    match explore(&request) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("explore: {error}");
            ExitCode::from(2)
        }
    }
}

fn read(arguments: &[String]) -> Result<Request, String> {
    let mut design = None;
    let (mut scenario, mut bounds) = USUAL;
    let mut states_max = Exploration::STATES_MAX;
    let mut format = Format::Table;
    let mut words = arguments.iter();
    while let Some(name) = words.next() {
        let value = words
            .next()
            .ok_or_else(|| format!("`{name}` needs a value"))?;
        let number = |min: u64, max: u64| {
            let number = value
                .parse()
                .ok()
                .filter(|number| (min..=max).contains(number));
            number.ok_or_else(|| format!("`{name}` is `{value}`; expected {min} to {max}"))
        };
        let one_of = |choices: &str| format!("`{name}` is `{value}`; expected one of {choices}");
        match name.as_str() {
            "--design" => {
                design = Some(
                    value
                        .parse()
                        .map_err(|e: deliver_twice_core::Error| e.to_string())?,
                );
            }
            "--ticket" => {
                let names = Ticket::ALL.map(Ticket::as_str).join(", ");
                scenario.ticket = Ticket::named(value).ok_or_else(|| one_of(&names))?;
            }
            "--task" => {
                let names = TaskRow::ALL.map(TaskRow::as_str).join(", ");
                scenario.task = TaskRow::named(value).ok_or_else(|| one_of(&names))?;
            }
            "--provider" => {
                let names = Provider::ALL.map(Provider::as_str).join(", ");
                scenario.provider = Provider::named(value).ok_or_else(|| one_of(&names))?;
            }
            "--crash-at" => {
                let names = CrashAt::ALL.map(CrashAt::as_str).join(", ");
                bounds.crash_at = CrashAt::named(value).ok_or_else(|| one_of(&names))?;
            }
            "--states-max" => states_max = number(1, u64::from(u32::MAX))?,
            "--format" => {
                format = match value.as_str() {
                    "table" => Format::Table,
                    "json" => Format::Json,
                    _ => return Err(one_of("table, json")),
                };
            }
            other => {
                let other = other.strip_prefix("--").unwrap_or(other);
                let of_scenario = Scenario::NUMBERS.iter().find(|n| n.name == other);
                let of_bounds = Bounds::NUMBERS.iter().find(|n| n.name == other);
                match (of_scenario, of_bounds) {
                    (Some(n), _) => {
                        let value = number(n.min.into(), n.max.into())?;
                        scenario = n.set(scenario, value as u8);
                    }
                    (_, Some(n)) => {
                        let value = number(n.min.into(), n.max.into())?;
                        bounds = n.set(bounds, value as u8);
                    }
                    _ => return Err(format!("`{name}` is unknown")),
                }
            }
        }
    }
    let design = design.ok_or("`--design` is needed")?;
    Ok(Request {
        design,
        scenario,
        bounds,
        states_max,
        format,
    })
}

fn explore(request: &Request) -> deliver_twice_core::Result<ExitCode> {
    let Request {
        design,
        scenario,
        bounds,
        states_max,
        format,
    } = *request;
    let mut exploration = Exploration::new(design, scenario, bounds, states_max)?;
    exploration.run()?;
    let report = exploration.report();
    let mut sentences = vec![];
    for found in told(&report) {
        let sentence = exploration.sentence(found.verdict, &found.schedule)?;
        sentences.push(sentence.unwrap_or_default());
    }
    let text = match format {
        Format::Table => as_table(request, &report, &sentences),
        Format::Json => format!("{:#}\n", as_json(request, &report, &sentences)),
    };
    // A reader that has seen enough may close its end.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(match (report.counterexamples.is_empty(), report.coverage) {
        (false, _) => ExitCode::from(1),
        (true, Coverage::Exhausted) => ExitCode::SUCCESS,
        (true, Coverage::Running { .. } | Coverage::Cut { .. }) => ExitCode::from(3),
    })
}

/// The report for people. Of what the chapter of the consumer does without, it tells what was asked for.
fn as_table(request: &Request, report: &Report, sentences: &[String]) -> String {
    let Request {
        design,
        scenario,
        bounds,
        states_max,
        ..
    } = request;
    let is_told = |name: &str, number: u8, usual: u8| {
        design.chapter() != Chapter::Consumer || !AROUND.contains(&name) || number != usual
    };
    let counted = |name: &str, number: u8| format!("{} {number}", name.replace('-', " "));
    let mut of_scenario: Vec<String> = Scenario::NUMBERS
        .iter()
        .filter(|n| is_told(n.name, n.of(*scenario), n.of(USUAL.0)))
        .map(|n| counted(n.name, n.of(*scenario)))
        .collect();
    of_scenario.push(format!("ticket {}", scenario.ticket.as_str()));
    of_scenario.push(format!("task {}", scenario.task.as_str()));
    if scenario.provider != USUAL.0.provider {
        of_scenario.push(format!("provider {}", scenario.provider.as_str()));
    }
    let mut of_bounds: Vec<String> = Bounds::NUMBERS
        .iter()
        .filter(|n| is_told(n.name, n.of(*bounds), n.of(USUAL.1)))
        .map(|n| counted(n.name, n.of(*bounds)))
        .collect();
    if bounds.crash_at != CrashAt::AnyMoment {
        of_bounds.push(format!("crash at {}", bounds.crash_at.as_str()));
    }
    of_bounds.push(format!("states {states_max}"));
    let mut text = format!(
        "design     {design}\n\
         scenario   {}\n\
         bounds     {}\n\
         result     {}\n\
         states     {}\n",
        of_scenario.join(", "),
        of_bounds.join(", "),
        report.in_words(),
        report.states,
    );
    for count in report
        .verdicts
        .iter()
        .filter(|count| can_be(*design, count.verdict))
    {
        text += &format!("{:20}{:>8}\n", count.verdict.as_str(), count.schedules);
    }
    for (found, sentence) in told(report).zip(sentences) {
        let (steps, switches) = (found.schedule.0.len(), found.schedule.switches());
        let allowed = if found.verdict.is_allowed() {
            ", allowed"
        } else {
            ""
        };
        text += &format!(
            "\n{}{allowed}: steps {steps}, switches {switches}\n",
            found.verdict
        );
        text += &format!("  {}\n  {sentence}.\n", found.schedule);
    }
    text
}

/// The numbers that mean nothing to a consumer alone.
const AROUND: [&str; 7] = [
    "relays",
    "senders",
    "overruns",
    "nacks",
    "returns",
    "lost-confirms",
    "lost-answers",
];

/// What was found: what breaks, and behind it what is allowed.
fn told(report: &Report) -> impl Iterator<Item = &Counterexample> {
    report.counterexamples.iter().chain(&report.allowed)
}

/// Whether a verdict is about something that this design has.
fn can_be(design: Design, verdict: Verdict) -> bool {
    match verdict {
        Verdict::GhostEvent | Verdict::LostEvent | Verdict::DoubledPublication => {
            design.has_producer()
        }
        Verdict::FalsePublished | Verdict::StuckRow | Verdict::StaleWrite => design.has_outbox(),
        Verdict::SentTwice | Verdict::NeverSent | Verdict::SentInVain => {
            design.outside != Outside::None
        }
        _ => true,
    }
}

fn as_json(request: &Request, report: &Report, sentences: &[String]) -> Value {
    let Request {
        design,
        scenario,
        bounds,
        ..
    } = request;
    let verdicts: serde_json::Map<String, Value> = report
        .verdicts
        .iter()
        .map(|count| {
            (
                count.verdict.to_string(),
                json!(count.schedules.to_string()),
            )
        })
        .collect();
    let mut found = told(report).zip(sentences).map(|(found, sentence)| {
        json!({
            "verdict": found.verdict.as_str(),
            "schedule": found.schedule.to_string(),
            "steps": found.schedule.0.len(),
            "switches": found.schedule.switches(),
            "sentence": sentence,
        })
    });
    let counterexamples: Vec<Value> = found.by_ref().take(report.counterexamples.len()).collect();
    let allowed: Vec<Value> = found.collect();
    let numbers = Scenario::NUMBERS.iter().map(|n| (n.name, n.of(*scenario)));
    let numbers = numbers.chain(Bounds::NUMBERS.iter().map(|n| (n.name, n.of(*bounds))));
    let numbers = numbers.map(|(name, number)| (name.replace('-', "_"), json!(number)));
    let mut within: serde_json::Map<String, Value> = numbers.collect();
    for (name, word) in [
        ("ticket", scenario.ticket.as_str()),
        ("task", scenario.task.as_str()),
        ("provider", scenario.provider.as_str()),
        ("crash_at", bounds.crash_at.as_str()),
    ] {
        within.insert(name.to_owned(), json!(word));
    }
    within.insert("states_max".to_owned(), json!(request.states_max));
    let (coverage, unexplored) = match report.coverage {
        Coverage::Exhausted => ("exhausted", 0),
        Coverage::Running { unexplored } => ("running", unexplored),
        Coverage::Cut { unexplored, .. } => ("cut", unexplored),
    };
    json!({
        "design": design.to_string(),
        "bounds": within,
        "coverage": coverage,
        "unexplored": unexplored,
        "schedules": report.schedules.to_string(),
        "failing": report.failing.to_string(),
        "states": report.states,
        "verdicts": verdicts,
        "counterexamples": counterexamples,
        "allowed": allowed,
        "passing": report.passing.as_ref().map(|schedule| schedule.to_string()),
    })
}
