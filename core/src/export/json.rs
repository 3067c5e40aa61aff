//! A run as JSON, for a program to read. Its form is `docs/trace.schema.json`.

use rusqlite::types::Value;

use crate::cause::holder_name;
use crate::disk::{ConnectionId, LockChange, LockEvent, LockLevel};
use crate::property::Violation;
use crate::scenario::{Scenario, TaskRow};
use crate::schema::{OutboxRow, Tables};
use crate::sql::Answer;
use crate::state::Message;
use crate::system::{Action, Statement};

use super::story::{Line, Story, statement};

/// The version of the form. It grows when a reader of the last one would be misled.
const VERSION: u32 = 1;

pub(super) fn text(story: &Story<'_>) -> String {
    let fields = [
        ("format", string("deliver-twice-trace")),
        ("version", VERSION.to_string()),
        ("sqlite", string(rusqlite::version())),
        ("design", string(&story.design().to_string())),
        ("scenario", scenario(story.system.scenario())),
        ("schedule", string(&story.schedule().to_string())),
        ("start", tables(&story.run.start.committed)),
    ];
    let head: String = fields
        .iter()
        .map(|(name, value)| format!("  {}: {value},\n", string(name)))
        .collect();
    let steps: Vec<String> = story
        .lines()
        .iter()
        .map(|line| format!("    {}", step(line)))
        .collect();
    format!("{{\n{head}  \"steps\": [\n{}\n  ]\n}}\n", steps.join(",\n"))
}

fn scenario(scenario: &Scenario) -> String {
    let task: TaskRow = scenario.task;
    object(&[
        ("deliveries", scenario.deliveries.to_string()),
        ("workers", scenario.workers.to_string()),
        ("effects", scenario.effects.to_string()),
        ("versions", scenario.versions.to_string()),
        ("ticket", string(scenario.ticket.as_str())),
        ("task", string(task.as_str())),
        ("relays", scenario.relays.to_string()),
        ("senders", scenario.senders.to_string()),
        ("provider", string(scenario.provider.as_str())),
    ])
}

fn step(line: &Line<'_>) -> String {
    let worker = line.frame.step.worker();
    let waits = worker.map_or(&[][..], |id| line.frame.waits_of(id));
    object(&[
        ("n", line.number.to_string()),
        ("step", string(&line.frame.step.to_string())),
        ("who", string(&line.who)),
        ("worker", or_null(worker, |id| string(&id.to_string()))),
        ("statement", or_null(statement(&line.change.action), asked)),
        ("answer", or_null(answer_of(&line.change.action), answer)),
        ("says", string(&line.answer)),
        ("waits_for", connections(waits)),
        ("locks", array(line.change.locks.iter().map(lock))),
        ("committed", tables(&line.frame.state.committed)),
        ("sent", array(line.frame.state.sent.iter().map(message))),
        (
            "violations",
            array(line.frame.violations.iter().map(violation)),
        ),
        ("noted", array(line.frame.noted.iter().map(violation))),
    ])
}

fn asked(statement: &Statement) -> String {
    let values: Vec<(&str, String)> = statement
        .values
        .iter()
        .map(|(name, bound)| (*name, value(bound)))
        .collect();
    object(&[("sql", string(statement.sql)), ("values", object(&values))])
}

fn value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) if number.is_finite() => number.to_string(),
        Value::Real(number) => string(&number.to_string()),
        Value::Text(text) => string(text),
        Value::Blob(_) => string(&crate::schema::literal(value)),
    }
}

/// What SQLite answered, if it was asked.
fn answer_of(action: &Action) -> Option<&Answer> {
    match action {
        Action::Ran(ran) => Some(&ran.answer),
        Action::TicketAdded(_) => Some(&Answer::Changed(1)),
        _ => None,
    }
}

fn answer(answer: &Answer) -> String {
    let kind = |kind| ("kind", string(kind));
    match answer {
        Answer::Done => object(&[kind("done")]),
        Answer::Rows(count) => object(&[kind("rows"), ("rows", count.to_string())]),
        Answer::Changed(count) => object(&[kind("changed"), ("rows", count.to_string())]),
        Answer::Row(row) => {
            let values = |row: &Vec<String>| array(row.iter().map(|value| string(value)));
            object(&[kind("row"), ("values", or_null(row.as_ref(), values))])
        }
        Answer::Refused(refusal) => object(&[
            kind("refused"),
            ("reason", string(refusal.kind.as_str())),
            ("code", refusal.code.to_string()),
            ("message", string(&refusal.message)),
        ]),
    }
}

fn lock(event: &LockEvent) -> String {
    let mut fields = vec![("connection", string(&holder_name(event.connection)))];
    fields.extend(match &event.change {
        LockChange::Taken(level) => {
            vec![("change", string("taken")), ("level", lock_level(*level))]
        }
        LockChange::Refused { wanted, holders } => vec![
            ("change", string("refused")),
            ("level", lock_level(*wanted)),
            ("holders", connections(holders)),
        ],
        LockChange::Released { to } => {
            vec![("change", string("released")), ("level", lock_level(*to))]
        }
    });
    object(&fields)
}

fn lock_level(level: LockLevel) -> String {
    string(match level {
        LockLevel::None => "none",
        LockLevel::Shared => "shared",
        LockLevel::Reserved => "reserved",
        LockLevel::Pending => "pending",
        LockLevel::Exclusive => "exclusive",
    })
}

fn connections(ids: &[ConnectionId]) -> String {
    array(ids.iter().map(|id| string(&holder_name(*id))))
}

fn tables(tables: &Tables) -> String {
    let receipts = tables.receipts.iter().map(|receipt| {
        object(&[
            ("event_id", string(&receipt.event_id)),
            ("effect_name", string(&receipt.effect_name)),
        ])
    });
    let tasks = tables.tasks.iter().map(|task| {
        object(&[
            ("id", string(&task.id)),
            ("ticket_id", string(&task.ticket_id)),
            ("tenant_id", string(&task.tenant_id)),
            ("task_type", string(&task.task_type)),
            ("status", string(&task.status)),
        ])
    });
    object(&[
        ("tickets", array(tables.tickets.iter().map(|id| string(id)))),
        ("receipts", array(receipts)),
        ("tasks", array(tasks)),
        ("outbox", array(tables.outbox.iter().map(outbox_row))),
    ])
}

fn outbox_row(row: &OutboxRow) -> String {
    object(&[
        ("event_id", string(&row.event_id)),
        ("state", string(&row.state)),
        ("owner", or_null(row.owner.as_deref(), string)),
        ("token", row.token.to_string()),
        ("attempt", row.attempt.to_string()),
        (
            "lease_until",
            or_null(row.lease_until, |until| until.to_string()),
        ),
    ])
}

/// A message outside, by the task that it was sent for.
fn message(message: &Message) -> String {
    object(&[
        ("event", string(&message.task.event.to_string())),
        ("effect", string(message.task.effect.as_str())),
        ("delivery", (message.task.delivery.0 + 1).to_string()),
        ("attempt", message.task.attempt.to_string()),
    ])
}

fn violation(violation: &Violation) -> String {
    let mut fields = vec![("verdict", string(violation.verdict().as_str()))];
    match violation {
        Violation::DuplicateEffect {
            event,
            effect,
            tasks,
        } => fields.extend([
            ("event", string(&event.to_string())),
            ("effect", string(effect.as_str())),
            ("tasks", tasks.to_string()),
        ]),
        Violation::LostEffect { event, effect } | Violation::OrphanReceipt { event, effect } => {
            fields.extend([
                ("event", string(&event.to_string())),
                ("effect", string(effect.as_str())),
            ]);
        }
        Violation::Stuck { waiting } => {
            let waiting = waiting.iter().map(|id| string(&id.to_string()));
            fields.push(("waiting", array(waiting)));
        }
        Violation::SwallowedError {
            event,
            effect,
            kind,
        } => fields.extend([
            ("event", string(&event.to_string())),
            ("effect", or_null(*effect, |effect| string(effect.as_str()))),
            ("reason", or_null(*kind, |kind| string(kind.as_str()))),
        ]),
        Violation::FalseSuccess { delivery } => {
            fields.push(("delivery", (delivery.0 + 1).to_string()));
        }
        Violation::GhostEvent { event }
        | Violation::LostEvent { event }
        | Violation::FalsePublished { event }
        | Violation::StuckRow { event }
        | Violation::StaleWrite { event }
        | Violation::NeverSent { event }
        | Violation::SentInVain { event } => fields.push(("event", string(&event.to_string()))),
        Violation::SentTwice { event, messages } => fields.extend([
            ("event", string(&event.to_string())),
            ("messages", messages.to_string()),
        ]),
        Violation::DoubledPublication { event, times } => fields.extend([
            ("event", string(&event.to_string())),
            ("times", times.to_string()),
        ]),
    }
    object(&fields)
}

fn or_null<T>(value: Option<T>, write: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "null".to_owned(), write)
}

/// An object of fields whose values are JSON already.
fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}: {value}", string(name)))
        .collect();
    format!("{{{}}}", fields.join(", "))
}

/// An array of items that are JSON already.
fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A text as JSON writes it.
fn string(text: &str) -> String {
    let mut written = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => written.extend(['\\', character]),
            control if u32::from(control) < 0x20 => {
                written.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            plain => written.push(plain),
        }
    }
    written.push('"');
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn a_reader_of_json_gets_every_text_back() {
        for text in ["", "a\"b\\c", "\n\r\t\0\u{1f}", "\u{7f}\u{2028}重/"] {
            let read: String = serde_json::from_str(&string(text)).unwrap();
            assert_eq!(read, text);
        }
    }
}
