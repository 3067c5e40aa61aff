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

use deliver_twice_core::design::Design;
use deliver_twice_core::explore::{Coverage, Exploration, Report};
use deliver_twice_core::scenario::{Bounds, Scenario, TaskRow, Ticket};
use serde_json::{Value, json};

const USAGE: &str = "\
Tries every schedule of a design within bounds.

  --design NAME          a preset, or six choices joined by dots        (needed)
  --deliveries N         copies of each event, 1 to 3                   (2)
  --workers N            1 to 3                                         (2)
  --effects N            effects of each event, 1 to 3                  (1)
  --versions N           versions of the ticket, 1 or 2                 (1)
  --ticket WORD          present or missing                             (present)
  --task WORD            sound, unknown-status, no-tenant or second-escalation (sound)
  --crashes N            workers that crash, 0 to 2                     (1)
  --lost-acks N          acks that get lost, 0 to 2                     (0)
  --lost-replies N       replies to a commit that get lost, 0 to 2      (0)
  --published-again N    events published once more, 0 to 1             (0)
  --given-up N           waits that a worker gives up, 0 to 2           (0)
  --states-max N         states to visit before the search is cut       (1000000)
  --format WORD          table or json                                  (table)";

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
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let request = match read(&arguments) {
        Ok(request) => request,
        Err(why) => {
            eprintln!("explore: {why}\n\n{USAGE}");
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
    let mut scenario = Scenario::default();
    let mut bounds = Bounds {
        crashes: 1,
        ..Bounds::NONE
    };
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
        let small = |min: u8, max: u8| number(min.into(), max.into()).map(|number| number as u8);
        let one_of = |choices: &str| format!("`{name}` is `{value}`; expected one of {choices}");
        match name.as_str() {
            "--design" => {
                design = Some(
                    value
                        .parse()
                        .map_err(|e: deliver_twice_core::Error| e.to_string())?,
                );
            }
            "--deliveries" => scenario.deliveries = small(1, Scenario::DELIVERIES_MAX)?,
            "--workers" => scenario.workers = small(1, Scenario::WORKERS_MAX)?,
            "--effects" => scenario.effects = small(1, 3)?,
            "--versions" => scenario.versions = small(1, Scenario::VERSIONS_MAX)?,
            "--ticket" => {
                scenario.ticket = match value.as_str() {
                    "present" => Ticket::Present,
                    "missing" => Ticket::Missing,
                    _ => return Err(one_of("present, missing")),
                };
            }
            "--task" => {
                let names = TaskRow::ALL.map(TaskRow::as_str).join(", ");
                scenario.task = TaskRow::named(value).ok_or_else(|| one_of(&names))?;
            }
            "--crashes" => bounds.crashes = small(0, Bounds::MOST.crashes)?,
            "--lost-acks" => bounds.lost_acks = small(0, Bounds::MOST.lost_acks)?,
            "--lost-replies" => bounds.lost_replies = small(0, Bounds::MOST.lost_replies)?,
            "--published-again" => bounds.published_again = small(0, Bounds::MOST.published_again)?,
            "--given-up" => bounds.given_up = small(0, Bounds::MOST.given_up)?,
            "--states-max" => states_max = number(1, u64::from(u32::MAX))?,
            "--format" => {
                format = match value.as_str() {
                    "table" => Format::Table,
                    "json" => Format::Json,
                    _ => return Err(one_of("table, json")),
                };
            }
            _ => return Err(format!("`{name}` is unknown")),
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
    for found in &report.counterexamples {
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

/// The report for people.
fn as_table(request: &Request, report: &Report, sentences: &[String]) -> String {
    let Request {
        design,
        scenario,
        bounds,
        states_max,
        ..
    } = request;
    let Scenario {
        deliveries,
        workers,
        effects,
        versions,
        task,
        ..
    } = scenario;
    let Bounds {
        crashes,
        lost_acks,
        lost_replies,
        published_again,
        given_up,
        ..
    } = bounds;
    let (ticket, task) = (ticket_name(scenario), task.as_str());
    let mut text = format!(
        "design     {design}\n\
         scenario   deliveries {deliveries}, workers {workers}, effects {effects}, \
         versions {versions}, ticket {ticket}, task {task}\n\
         bounds     crashes {crashes}, lost acks {lost_acks}, lost replies {lost_replies}, \
         published again {published_again}, given up {given_up}, states {states_max}\n\
         result     {}\n\
         states     {}\n",
        report.in_words(),
        report.states,
    );
    for count in &report.verdicts {
        text += &format!("{:16}{:>12}\n", count.verdict.as_str(), count.schedules);
    }
    for (found, sentence) in report.counterexamples.iter().zip(sentences) {
        let (steps, switches) = (found.schedule.0.len(), found.schedule.switches());
        text += &format!("\n{}: steps {steps}, switches {switches}\n", found.verdict);
        text += &format!("  {}\n  {sentence}.\n", found.schedule);
    }
    text
}

fn ticket_name(scenario: &Scenario) -> &'static str {
    match scenario.ticket {
        Ticket::Present => "present",
        Ticket::Missing => "missing",
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
    let counterexamples = report
        .counterexamples
        .iter()
        .zip(sentences)
        .map(|(found, sentence)| {
            json!({
                "verdict": found.verdict.as_str(),
                "schedule": found.schedule.to_string(),
                "steps": found.schedule.0.len(),
                "switches": found.schedule.switches(),
                "sentence": sentence,
            })
        });
    let (coverage, unexplored) = match report.coverage {
        Coverage::Exhausted => ("exhausted", 0),
        Coverage::Running { unexplored } => ("running", unexplored),
        Coverage::Cut { unexplored, .. } => ("cut", unexplored),
    };
    json!({
        "design": design.to_string(),
        "bounds": {
            "deliveries": scenario.deliveries,
            "workers": scenario.workers,
            "effects": scenario.effects,
            "versions": scenario.versions,
            "ticket": ticket_name(scenario),
            "task": scenario.task.as_str(),
            "crashes": bounds.crashes,
            "lost_acks": bounds.lost_acks,
            "lost_replies": bounds.lost_replies,
            "published_again": bounds.published_again,
            "given_up": bounds.given_up,
            "states_max": request.states_max,
        },
        "coverage": coverage,
        "unexplored": unexplored,
        "schedules": report.schedules.to_string(),
        "failing": report.failing.to_string(),
        "states": report.states,
        "verdicts": verdicts,
        "counterexamples": counterexamples.collect::<Vec<_>>(),
        "passing": report.passing.as_ref().map(|schedule| schedule.to_string()),
    })
}
