//! What happened in the core, said in the language of the page.

use deliver_twice_core::Error;
use deliver_twice_core::broker::{Broker, DeliveryId, EventIndex, Place, WorkerId};
use deliver_twice_core::cause::{Cause, Deed};
use deliver_twice_core::design::{Design, Key, Nonsense};
use deliver_twice_core::disk::{ConnectionId, LockChange, LockEvent, LockLevel};
use deliver_twice_core::plan::{Meaning, Role};
use deliver_twice_core::property::{Verdict, Violation};
use deliver_twice_core::relay::Confirm;
use deliver_twice_core::run::{Moved, Pause};
use deliver_twice_core::schedule::{Expected, Schedule, Step};
use deliver_twice_core::sql::{Answer, Refusal, RefusalKind};
use deliver_twice_core::state::State;
use deliver_twice_core::system::{Action, Heard, Ran, Statement, worker_of};

use crate::comparison::SideRun;
use crate::messages::Messages;
use crate::permalink::{BadParameter, Why};

/// How a row is to be taken: colour, always beside a word or a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing to remark.
    Plain,
    /// Carried out.
    Good,
    /// Waiting.
    Wait,
    /// Something was violated by it.
    Bad,
    /// A crash, or something lost.
    Fault,
    /// Nothing happened on this side.
    Idle,
}

impl Tone {
    /// The class of an element in this tone.
    pub fn class(self) -> &'static str {
        match self {
            Tone::Plain => "tone tone--plain",
            Tone::Good => "tone tone--good",
            Tone::Wait => "tone tone--wait",
            Tone::Bad => "tone tone--bad",
            Tone::Fault => "tone tone--fault",
            Tone::Idle => "tone tone--idle",
        }
    }
}

/// What a row says: code that was run, if any, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowWords {
    /// The statement, shortened to the table.
    pub code: Option<String>,
    /// What came of it, or what happened instead.
    pub note: String,
    /// How to take it.
    pub tone: Tone,
}

/// What a move did on one side.
pub fn row(m: &Messages, side: &SideRun, number: usize) -> RowWords {
    let Some(frame) = side.frame(number) else {
        return RowWords {
            code: None,
            note: String::new(),
            tone: Tone::Idle,
        };
    };
    match &frame.moved {
        Moved::Nothing(pause) => RowWords {
            code: None,
            note: paused(m, frame.step, pause),
            tone: pause_tone(pause),
        },
        Moved::Changed(change) => {
            let words = action(m, side, number, &change.action);
            match side.breach(number) {
                Some(violation) => broken(m, words, &violation),
                None => words,
            }
        }
    }
}

/// A row after which something is violated, with the name of that.
fn broken(m: &Messages, words: RowWords, violation: &Violation) -> RowWords {
    let what = match violation {
        Violation::DuplicateEffect { tasks: 2, .. } => m.get("breach.second-task").to_owned(),
        Violation::DuplicateEffect { tasks, .. } => {
            m.fill("breach.further-task", &[("tasks", &tasks.to_string())])
        }
        other => m.get(breach_key(other.verdict())).to_owned(),
    };
    RowWords {
        note: format!("{} ⚠ {what}", words.note).trim().to_owned(),
        tone: Tone::Bad,
        ..words
    }
}

/// The key of the few words that a row has for what is violated after it.
fn breach_key(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::DuplicateEffect => "breach.second-task",
        Verdict::LostEffect => "breach.lost-effect",
        Verdict::Stuck => "breach.stuck",
        Verdict::OrphanReceipt => "breach.orphan-receipt",
        Verdict::SwallowedError => "breach.swallowed-error",
        Verdict::FalseSuccess => "breach.false-success",
        Verdict::GhostEvent => "breach.ghost-event",
        Verdict::LostEvent => "breach.lost-event",
        Verdict::FalsePublished => "breach.false-published",
        Verdict::StuckRow => "breach.stuck-row",
        Verdict::StaleWrite => "breach.stale-write",
        Verdict::SentTwice => "breach.sent-twice",
        Verdict::NeverSent => "breach.never-sent",
        Verdict::SentInVain => "breach.sent-in-vain",
        Verdict::DoubledPublication => "breach.doubled-publication",
    }
}

fn pause_tone(pause: &Pause) -> Tone {
    if matches!(pause, Pause::Waits(_)) {
        Tone::Wait
    } else {
        Tone::Idle
    }
}

/// Why a step does nothing.
fn paused(m: &Messages, step: Step, pause: &Pause) -> String {
    let worker = step.worker().map(|w| w.to_string()).unwrap_or_default();
    match pause {
        Pause::Waits(holders) => m.fill("row.waits.still", &[("holders", &names(m, holders))]),
        Pause::Idle => m.fill("row.idle", &[("worker", &worker)]),
        Pause::Busy => m.fill("row.busy", &[("worker", &worker)]),
        Pause::NothingQueued => m.get("row.nothing-queued").to_owned(),
        Pause::NotNow => m.get("row.not-now").to_owned(),
    }
}

fn action(m: &Messages, side: &SideRun, number: usize, action: &Action) -> RowWords {
    let plain = |code: Option<&str>, note: String, tone| RowWords {
        code: code.map(str::to_owned),
        note,
        tone,
    };
    let state = side.state(number);
    let worker = || {
        side.frame(number)
            .and_then(|f| f.step.worker())
            .expect("a worker's step")
    };
    match action {
        Action::Delivered {
            delivery,
            attempt,
            redelivered,
        } => {
            let note = delivered(m, state, worker(), *delivery, *attempt, *redelivered);
            plain(None, note, Tone::Plain)
        }
        Action::ReadFlag { redelivered, means } => {
            let flag = m.get(if *redelivered {
                "row.flag.true"
            } else {
                "row.flag.false"
            });
            plain(
                Some(flag),
                meaning(m, side, number, *means).to_owned(),
                Tone::Plain,
            )
        }
        Action::Ran(ran) => ran_words(m, side, number, ran),
        Action::Acked { delivery } => {
            let code = m.fill("row.ack", &[("delivery", &delivery_name(state, *delivery))]);
            plain(Some(&code), m.get("row.ack.arrived").to_owned(), Tone::Good)
        }
        Action::AckLost { delivery, place } => {
            let code = m.fill("row.ack", &[("delivery", &delivery_name(state, *delivery))]);
            let lost = m.get("row.ack.lost");
            let back = returned(m, state, *delivery, *place);
            plain(Some(&code), format!("{lost} · {back}"), Tone::Fault)
        }
        Action::GaveBack { delivery, place } => {
            let code = m.fill(
                "row.nack",
                &[("delivery", &delivery_name(state, *delivery))],
            );
            plain(
                Some(&code),
                returned(m, state, *delivery, *place),
                Tone::Plain,
            )
        }
        Action::GaveUp { means } => {
            let note = m.fill("row.gave-up", &[("worker", &worker().to_string())]);
            plain(
                None,
                format!("{note} · {}", meaning(m, side, number, *means)),
                Tone::Fault,
            )
        }
        Action::Crashed {
            returned: back,
            in_transaction,
        } => {
            let key = if *in_transaction {
                "row.crash.rolled-back"
            } else {
                "row.crash"
            };
            let crash = m.fill(key, &[("worker", &worker().to_string())]);
            let back = back.map_or(String::new(), |(delivery, place)| {
                format!(" · {}", returned(m, state, delivery, place))
            });
            plain(None, format!("✕ {crash}{back}"), Tone::Fault)
        }
        Action::Sent {
            event,
            confirm,
            delivery,
        } => {
            let code = m.fill("row.sent", &[("event", &event.to_string())]);
            match delivery {
                Some(id) => {
                    let name = delivery_name(state, *id);
                    let note = m.fill("row.sent.queued", &[("delivery", &name)]);
                    plain(Some(&code), note, Tone::Good)
                }
                None => plain(Some(&code), confirmed(m, *confirm).to_owned(), Tone::Fault),
            }
        }
        Action::HeardConfirm { confirm, means, .. } => {
            let tone = match confirm {
                Confirm::Confirmed => Tone::Good,
                Confirm::Nacked | Confirm::Returned => Tone::Plain,
                Confirm::NoAnswer => Tone::Fault,
            };
            let note = confirmed(m, *confirm).to_owned();
            plain(
                Some(m.get("row.hear")),
                with_meaning(m, note, meaning(m, side, number, *means)),
                tone,
            )
        }
        Action::AskedProvider {
            is_known, means, ..
        } => {
            let note = m.get(if *is_known {
                "row.asked.yes"
            } else {
                "row.asked.no"
            });
            plain(
                Some(m.get("row.ask")),
                with_meaning(m, note.to_owned(), meaning(m, side, number, *means)),
                Tone::Plain,
            )
        }
        Action::Called {
            key,
            went_out,
            is_answered,
            means,
            ..
        } => {
            let code = m.get(match key {
                Some(_) => "row.call.key",
                None => "row.call",
            });
            let note = m.get(match (went_out, is_answered) {
                (true, true) => "row.call.out",
                (true, false) => "row.call.out.unanswered",
                (false, true) => "row.call.known",
                (false, false) => "row.call.known.unanswered",
            });
            let tone = if *is_answered {
                Tone::Good
            } else {
                Tone::Fault
            };
            plain(
                Some(code),
                with_meaning(m, note.to_owned(), meaning(m, side, number, *means)),
                tone,
            )
        }
        Action::LeaseExpired { event } => {
            let note = m.fill("row.lease-expired", &[("event", &event.to_string())]);
            plain(None, note, Tone::Plain)
        }
        Action::TicketAdded(statement) => {
            let note = changed(m, 1, false);
            plain(Some(&short(statement.sql)), note, Tone::Good)
        }
        Action::Published { delivery } => {
            let event = state.broker.delivery(*delivery).event.to_string();
            let note = m.fill("row.published", &[("event", &event)]);
            plain(
                None,
                format!("{note} · {}", m.get("row.published.flag")),
                Tone::Plain,
            )
        }
    }
}

/// What the broker says of a message.
fn confirmed<'a>(m: &Messages, confirm: Confirm) -> &'a str {
    m.get(match confirm {
        Confirm::Confirmed => "confirm.confirmed",
        Confirm::Nacked => "confirm.nacked",
        Confirm::Returned => "confirm.returned",
        Confirm::NoAnswer => "confirm.none",
    })
}

/// What happened, and what it meant to the design, if it meant anything but to go on.
fn with_meaning(m: &Messages, note: String, meaning: &str) -> String {
    match meaning {
        "" => note,
        _ => m.fill("row.meaning", &[("note", &note), ("meaning", meaning)]),
    }
}

fn delivered(
    m: &Messages,
    state: &State,
    worker: WorkerId,
    id: DeliveryId,
    attempt: u8,
    redelivered: bool,
) -> String {
    let event = state.broker.delivery(id).event;
    let copy = copy_number(state, id);
    let key = match (redelivered, copy) {
        (true, _) => "row.delivered.again",
        (false, 1) => "row.delivered.first",
        (false, _) => "row.delivered.copy",
    };
    m.fill(
        key,
        &[
            ("event", &event.to_string()),
            ("delivery", &delivery_name(state, id)),
            ("worker", &worker.to_string()),
            ("attempt", &attempt.to_string()),
            ("copy", &copy.to_string()),
        ],
    )
}

fn returned(m: &Messages, state: &State, id: DeliveryId, place: Place) -> String {
    let key = match place {
        Place::Queued => "row.returned.queued",
        Place::Parked => "row.returned.parked",
        Place::Acked => "row.returned.acked",
        Place::Unacked(_) => "row.returned.unacked",
    };
    m.fill(
        key,
        &[
            ("delivery", &delivery_name(state, id)),
            ("attempts", &Broker::ATTEMPTS_MAX.to_string()),
        ],
    )
}

fn ran_words(m: &Messages, side: &SideRun, number: usize, ran: &Ran) -> RowWords {
    let code = Some(short(ran.statement.sql));
    let (note, tone) = match &ran.heard {
        Heard::Waits { holders } => (answer(m, &ran.answer, holders), Tone::Wait),
        Heard::ReplyLost(means) => {
            let answer = match &ran.answer {
                Answer::Done if ran.role == Role::Commit => m.get("answer.committed").to_owned(),
                other => answer(m, other, &[]),
            };
            let lost = m.fill("row.reply-lost", &[("answer", &answer)]);
            (
                format!("{lost} · {}", meaning(m, side, number, *means)),
                Tone::Fault,
            )
        }
        Heard::Read(means) => read_words(m, side, number, ran, *means),
    };
    RowWords { code, note, tone }
}

fn read_words(
    m: &Messages,
    side: &SideRun,
    number: usize,
    ran: &Ran,
    means: Meaning,
) -> (String, Tone) {
    let is_open = side
        .frame(number)
        .and_then(|f| f.step.worker())
        .is_some_and(|worker| side.state(number).worker(worker).in_transaction);
    let (note, tone) = match (&ran.answer, ran.role) {
        (Answer::Done, Role::Commit) => (format!("✓ {}", m.get("answer.committed")), Tone::Good),
        (Answer::Done, Role::Rollback) => (m.get("answer.rolled-back").to_owned(), Tone::Plain),
        (Answer::Done, _) => (String::new(), Tone::Plain),
        (Answer::Changed(count), _) => (changed(m, *count, is_open), Tone::Good),
        (other, _) => (answer(m, other, &[]), Tone::Plain),
    };
    if ran.role == Role::Rollback || means == Meaning::Proceed {
        return (note, tone);
    }
    if means == Meaning::Done {
        return finished(m, ran, note, tone);
    }
    (
        with_meaning(m, note, meaning(m, side, number, means)),
        Tone::Plain,
    )
}

/// The last stage of a relay or a sender: what it wrote, or that the row was not its own any more.
fn finished(m: &Messages, ran: &Ran, note: String, tone: Tone) -> (String, Tone) {
    let means = match (ran.role, &ran.answer) {
        (Role::MarkPublished | Role::Release | Role::Park, Answer::Changed(0)) => "means.Fenced",
        (Role::MarkPublished, _) => "means.Published",
        (Role::Release, _) => "means.Released",
        (Role::Park, _) => "means.Parked",
        _ => return (note, tone),
    };
    (with_meaning(m, note, m.get(means)), tone)
}

fn changed(m: &Messages, count: u64, is_open: bool) -> String {
    let key = match (count, is_open) {
        (0, _) => "answer.changed.none",
        (_, true) => "answer.uncommitted",
        (_, false) => "answer.changed.some",
    };
    m.fill(key, &[("count", &count.to_string())])
}

/// SQLite's answer in few words.
pub fn answer(m: &Messages, answer: &Answer, holders: &[ConnectionId]) -> String {
    match answer {
        Answer::Done => m.get("answer.done").to_owned(),
        Answer::Rows(0) => m.get("answer.rows.none").to_owned(),
        Answer::Rows(count) => m.fill("answer.rows.some", &[("count", &count.to_string())]),
        Answer::Changed(count) => changed(m, *count, false),
        Answer::Row(None) => m.get("answer.rows.none").to_owned(),
        Answer::Row(Some(values)) => m.fill("answer.row", &[("values", &in_short(values))]),
        Answer::Refused(Refusal {
            kind: RefusalKind::Busy,
            code,
            ..
        }) => m.fill(
            "answer.busy",
            &[("code", &code.to_string()), ("holders", &names(m, holders))],
        ),
        Answer::Refused(refusal) => m.fill(
            "answer.refused",
            &[
                ("kind", kind(m, refusal.kind)),
                ("code", &refusal.code.to_string()),
            ],
        ),
    }
}

/// The values of a row that was returned, without what a table has no room for.
fn in_short(values: &[String]) -> String {
    const MOST: usize = 3;
    let shown = values.iter().take(MOST).map(|value| {
        let mut letters = value.chars();
        let head: String = letters.by_ref().take(8).collect();
        match letters.next() {
            None => head,
            Some(_) => head + "…",
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// What an answer meant to the design at this move.
fn meaning<'a>(m: &Messages, side: &SideRun, number: usize, means: Meaning) -> &'a str {
    let worker = side.frame(number).and_then(|frame| frame.step.worker());
    let job = worker.and_then(|id| side.state(number - 1).worker(id).job.as_ref());
    let is_acked = job
        .and_then(|job| job.handed())
        .is_some_and(|handed| handed.acked);
    let has_delivery = job.is_some_and(|job| job.handed().is_some());
    match means {
        Meaning::Proceed | Meaning::Done => "",
        Meaning::GoTo(Role::Release) => m.get("means.Release"),
        Meaning::GoTo(Role::Park) => m.get("means.Park"),
        Meaning::GoTo(_) => m.get("means.Mark"),
        Meaning::GiveBack if job.is_some() && !has_delivery => m.get("means.GiveUp"),
        Meaning::Duplicate => m.get("means.Duplicate"),
        // What is acked cannot be given back: the broker has forgotten it.
        Meaning::GiveBack | Meaning::AckAnyway if is_acked => m.get("means.TooLate"),
        Meaning::GiveBack => m.get("means.GiveBack"),
        Meaning::AckAnyway => m.get("means.AckAnyway"),
    }
}

/// The kind of a refusal.
pub fn kind<'a>(m: &Messages, kind: RefusalKind) -> &'a str {
    m.get(match kind {
        RefusalKind::Unique => "kind.unique",
        RefusalKind::ForeignKey => "kind.foreign-key",
        RefusalKind::Check => "kind.check",
        RefusalKind::NotNull => "kind.not-null",
        RefusalKind::OtherConstraint => "kind.other-constraint",
        RefusalKind::Busy => "kind.busy",
        RefusalKind::Full => "kind.full",
        RefusalKind::Io => "kind.io",
        RefusalKind::ReadOnly => "kind.read-only",
        RefusalKind::Other => "kind.other",
    })
}

/// A statement cut down to a line of the table: its verb and its table.
pub fn short(sql: &str) -> String {
    if sql.starts_with("UPDATE ") {
        let head = sql.split([',']).next().unwrap_or(sql);
        let head = head.split(" WHERE ").next().unwrap_or(head);
        return format!("{head} …");
    }
    for (start, end) in [("INTO ", " ("), ("FROM ", " WHERE")] {
        if let Some((head, rest)) = sql.split_once(start)
            && let Some((table, tail)) = rest.split_once(end)
        {
            let conflict = tail.contains("ON CONFLICT");
            let more = if conflict {
                "… ON CONFLICT …"
            } else {
                "…"
            };
            return format!("{head}{start}{table} {more}");
        }
    }
    sql.to_owned()
}

/// A statement with its values, as it could be typed.
pub fn with_values(statement: &Statement) -> Vec<(&'static str, String)> {
    let literal = deliver_twice_core::schema::literal;
    statement
        .values
        .iter()
        .map(|(name, value)| (*name, literal(value)))
        .collect()
}

/// A delivery's name: its event, and which copy it is.
pub fn delivery_name(state: &State, id: DeliveryId) -> String {
    let event = state.broker.delivery(id).event;
    format!("{event}#{}", copy_number(state, id))
}

/// Which copy of its event a delivery is, counted from 1.
fn copy_number(state: &State, id: DeliveryId) -> usize {
    let event = state.broker.delivery(id).event;
    let deliveries = state.broker.deliveries();
    deliveries
        .filter(|(other, delivery)| *other <= id && delivery.event == event)
        .count()
}

/// Connections by name, joined.
pub fn names(m: &Messages, connections: &[ConnectionId]) -> String {
    let name = |id: &ConnectionId| match worker_of(*id) {
        Some(worker) => worker.to_string(),
        None => m.get("operator").to_owned(),
    };
    listed(m, connections.iter().map(name))
}

/// Words one after the other, as the language lists them.
pub fn listed(m: &Messages, words: impl DoubleEndedIterator<Item = String>) -> String {
    let join =
        |rest: String, first: String| m.fill("list.two", &[("first", &first), ("rest", &rest)]);
    words.rev().reduce(join).unwrap_or_default()
}

/// The letter of a lock level; nothing for no lock.
pub fn lock_letter(level: LockLevel) -> &'static str {
    match level {
        LockLevel::None => "",
        LockLevel::Shared => "S",
        LockLevel::Reserved => "R",
        LockLevel::Pending => "P",
        LockLevel::Exclusive => "X",
    }
}

/// The name of a lock level.
pub fn lock_name<'a>(m: &Messages, level: LockLevel) -> &'a str {
    m.get(match level {
        LockLevel::None => "lock.none",
        LockLevel::Shared => "lock.S",
        LockLevel::Reserved => "lock.R",
        LockLevel::Pending => "lock.P",
        LockLevel::Exclusive => "lock.X",
    })
}

/// One line of the recording of locks.
pub fn lock_event(m: &Messages, event: &LockEvent) -> String {
    let worker = names(m, &[event.connection]);
    match &event.change {
        LockChange::Taken(level) => m.fill(
            "detail.lock.taken",
            &[("worker", &worker), ("level", lock_name(m, *level))],
        ),
        LockChange::Refused { wanted, holders } => m.fill(
            "detail.lock.refused",
            &[
                ("worker", &worker),
                ("level", lock_name(m, *wanted)),
                ("holders", &names(m, holders)),
            ],
        ),
        LockChange::Released {
            to: LockLevel::None,
        } => m.fill("detail.lock.freed", &[("worker", &worker)]),
        LockChange::Released { to } => m.fill(
            "detail.lock.released",
            &[("worker", &worker), ("level", lock_name(m, *to))],
        ),
    }
}

/// The name of a verdict.
pub fn verdict_name<'a>(m: &Messages, verdict: Verdict) -> &'a str {
    m.get(match verdict {
        Verdict::DuplicateEffect => "verdict.name.duplicate-effect",
        Verdict::LostEffect => "verdict.name.lost-effect",
        Verdict::Stuck => "verdict.name.stuck",
        Verdict::OrphanReceipt => "verdict.name.orphan-receipt",
        Verdict::SwallowedError => "verdict.name.swallowed-error",
        Verdict::FalseSuccess => "verdict.name.false-success",
        Verdict::GhostEvent => "verdict.name.ghost-event",
        Verdict::LostEvent => "verdict.name.lost-event",
        Verdict::FalsePublished => "verdict.name.false-published",
        Verdict::StuckRow => "verdict.name.stuck-row",
        Verdict::StaleWrite => "verdict.name.stale-write",
        Verdict::SentTwice => "verdict.name.sent-twice",
        Verdict::NeverSent => "verdict.name.never-sent",
        Verdict::SentInVain => "verdict.name.sent-in-vain",
        Verdict::DoubledPublication => "verdict.name.doubled-publication",
    })
}

/// The title of a violation.
pub fn violation(m: &Messages, state: &State, violation: &Violation) -> String {
    match violation {
        Violation::DuplicateEffect {
            event,
            effect,
            tasks,
        } => m.fill(
            "verdict.duplicate-effect",
            &[
                ("event", &event.to_string()),
                ("effect", effect.as_str()),
                ("tasks", &tasks.to_string()),
            ],
        ),
        Violation::LostEffect { event, effect } => m.fill(
            "verdict.lost-effect",
            &[("event", &event.to_string()), ("effect", effect.as_str())],
        ),
        Violation::Stuck { waiting } => {
            let workers = listed(m, waiting.iter().map(WorkerId::to_string));
            m.fill("verdict.stuck", &[("workers", &workers)])
        }
        Violation::OrphanReceipt { event, effect } => m.fill(
            "verdict.orphan-receipt",
            &[("event", &event.to_string()), ("effect", effect.as_str())],
        ),
        Violation::SwallowedError {
            kind: swallowed, ..
        } => {
            let name = swallowed.map_or(m.get("kind.silenced"), |found| kind(m, found));
            m.fill("verdict.swallowed-error", &[("kind", name)])
        }
        Violation::FalseSuccess { delivery } => m.fill(
            "verdict.false-success",
            &[("delivery", &delivery_name(state, *delivery))],
        ),
        Violation::GhostEvent { event } => about(m, "verdict.ghost-event", *event),
        Violation::LostEvent { event } => about(m, "verdict.lost-event", *event),
        Violation::FalsePublished { event } => about(m, "verdict.false-published", *event),
        Violation::StuckRow { event } => about(m, "verdict.stuck-row", *event),
        Violation::StaleWrite { event } => about(m, "verdict.stale-write", *event),
        Violation::NeverSent { event } => about(m, "verdict.never-sent", *event),
        Violation::SentInVain { event } => about(m, "verdict.sent-in-vain", *event),
        Violation::SentTwice { event, messages } => m.fill(
            "verdict.sent-twice",
            &[
                ("event", &event.to_string()),
                ("messages", &messages.to_string()),
            ],
        ),
        Violation::DoubledPublication { event, times } => m.fill(
            "verdict.doubled-publication",
            &[("event", &event.to_string()), ("times", &times.to_string())],
        ),
    }
}

/// A message that names an event.
fn about(m: &Messages, key: &str, event: EventIndex) -> String {
    m.fill(key, &[("event", &event.to_string())])
}

/// The sentence of a cause.
pub fn cause(m: &Messages, cause: &Cause) -> String {
    let said = |key: &str, deed: &Deed, more: &[(&str, &str)]| {
        let (worker, step) = (deed.worker.to_string(), deed.step.to_string());
        let mut values = vec![("worker", worker.as_str()), ("step", step.as_str())];
        values.extend_from_slice(more);
        m.fill(key, &values)
    };
    let of_two = |key: &str, deed: &Deed, other: &Deed| {
        let (name, step) = (other.worker.to_string(), other.step.to_string());
        // A worker may meet what it did itself before a crash.
        let whose = match other.worker == deed.worker {
            true => m.get("cause.whose.own").to_owned(),
            false => m.fill("cause.whose.other", &[("other", &name)]),
        };
        said(
            key,
            deed,
            &[
                ("other", &name),
                ("other_step", &step),
                ("whose", &whose),
                ("first_step", &step),
            ],
        )
    };
    let ended = |keys: [&str; 2], deed: &Deed, end: &Option<usize>| match end {
        None => said(keys[0], deed, &[]),
        Some(end) => said(keys[1], deed, &[("end", &end.to_string())]),
    };
    match cause {
        Cause::NothingAsked { first, second } => {
            let (name, step) = (second.worker.to_string(), second.step.to_string());
            let first_name = first.worker.to_string();
            let first_step = first.step.to_string();
            m.fill(
                "cause.nothing-asked",
                &[
                    ("second", &name),
                    ("second_step", &step),
                    ("first", &first_name),
                    ("first_step", &first_step),
                ],
            )
        }
        Cause::FlagFalse { first, reader } => of_two("cause.flag-false", reader, first),
        Cause::FlagTrue { reader } => said("cause.flag-true", reader, &[]),
        Cause::CheckBeforeReceipt { check, receipt } => {
            of_two("cause.check-before-receipt", check, receipt)
        }
        Cause::CheckWithoutReceipt { check, task } => {
            of_two("cause.check-without-receipt", check, task)
        }
        Cause::EffectBeforeClaim { second } => said("cause.effect-before-claim", second, &[]),
        Cause::ReceiptWithoutEffect { receipt, believer } => {
            of_two("cause.receipt-without-effect", believer, receipt)
        }
        Cause::ReceiptAlone { receipt, end } => ended(
            ["cause.receipt-alone", "cause.receipt-alone.end"],
            receipt,
            end,
        ),
        Cause::KeyTooWide {
            finder,
            key: Key::Ticket,
        } => said("cause.key-too-wide.ticket", finder, &[]),
        Cause::KeyTooWide { finder, .. } => said("cause.key-too-wide.event", finder, &[]),
        Cause::ErrorReadAsDuplicate {
            reader,
            kind: found,
        } => said(
            "cause.error-read-as-duplicate",
            reader,
            &[("kind", kind(m, *found))],
        ),
        Cause::ErrorAcked {
            reader,
            kind: found,
        } => said("cause.error-acked", reader, &[("kind", kind(m, *found))]),
        Cause::Silenced { writer } => said("cause.silenced", writer, &[]),
        Cause::AckedBeforeWork { ack, end } => ended(
            ["cause.acked-before-work", "cause.acked-before-work.end"],
            ack,
            end,
        ),
        Cause::WaitInCircle { waits } => {
            let wait = |(worker, holders): &(WorkerId, Vec<ConnectionId>)| {
                let holders = names(m, holders);
                m.fill(
                    "cause.wait",
                    &[("worker", &worker.to_string()), ("holders", &holders)],
                )
            };
            let waits = listed(m, waits.iter().map(wait));
            m.fill("cause.wait-in-circle", &[("waits", &waits)])
        }
        Cause::AckedUncommitted { ack } => said("cause.acked-uncommitted", ack, &[]),
        Cause::PublishedBeforeCommit { publish, end } => ended(
            [
                "cause.published-before-commit",
                "cause.published-before-commit.end",
            ],
            publish,
            end,
        ),
        Cause::CommittedUnpublished { commit, end } => ended(
            [
                "cause.committed-unpublished",
                "cause.committed-unpublished.end",
            ],
            commit,
            end,
        ),
        Cause::RefusalUnheard { publish } => said("cause.refusal-unheard", publish, &[]),
        Cause::MarkedTooEarly {
            mark,
            refused: Some(refused),
            ..
        } => of_two("cause.marked-unheard", mark, refused),
        Cause::MarkedTooEarly { mark, end, .. } => ended(
            ["cause.marked-too-early", "cause.marked-too-early.end"],
            mark,
            end,
        ),
        Cause::ClaimOverruled { write } => said("cause.claim-overruled", write, &[]),
        Cause::LeasedForever { claim, end } => ended(
            ["cause.leased-forever", "cause.leased-forever.end"],
            claim,
            end,
        ),
        Cause::NobodyRelays => m.get("cause.nobody-relays").to_owned(),
        Cause::PublishedAgain { first, second } => of_two("cause.published-again", second, first),
        Cause::CalledAgain {
            first,
            second,
            had_key,
            asked,
        } => {
            let key = match (asked, had_key) {
                (Some(_), _) => "cause.called-again.asked",
                (None, true) => "cause.called-again.key",
                (None, false) => "cause.called-again",
            };
            let asked = asked.map_or(String::new(), |step| step.to_string());
            let more = [("first_step", first.step.to_string()), ("asked", asked)];
            let more = more.each_ref().map(|(name, value)| (*name, value.as_str()));
            said(key, second, &more)
        }
        Cause::CommittedUncalled { commit, end } => ended(
            ["cause.committed-uncalled", "cause.committed-uncalled.end"],
            commit,
            end,
        ),
        Cause::CalledBeforeCommit { call, end } => ended(
            [
                "cause.called-before-commit",
                "cause.called-before-commit.end",
            ],
            call,
            end,
        ),
        Cause::Unnamed => m.get("cause.unnamed").to_owned(),
    }
}

/// The words on the button for a step.
pub fn control(m: &Messages, step: Step) -> String {
    let about = |key: &str, worker: WorkerId| m.fill(key, &[("worker", &worker.to_string())]);
    match step {
        Step::Deliver(worker) => about("control.deliver", worker),
        Step::Work(worker) => about("control.work", worker),
        Step::AddTicket => m.get("control.add-ticket").to_owned(),
        Step::PublishAgain(event) => m.fill("control.publish", &[("event", &event.to_string())]),
        Step::LoseAck(worker) => about("control.lose-ack", worker),
        Step::LoseReply(worker) => about("control.lose-reply", worker),
        Step::LeaseExpires => m.get("control.lease-expires").to_owned(),
        Step::LeaseOverrun => m.get("control.lease-overrun").to_owned(),
        Step::Nack(worker) => about("control.nack", worker),
        Step::Return(worker) => about("control.return", worker),
        Step::LoseConfirm(worker) => about("control.lose-confirm", worker),
        Step::LoseAnswer(worker) => about("control.lose-answer", worker),
        Step::GiveUp(worker) => about("control.give-up", worker),
        Step::Crash(worker) => about("control.crash", worker),
    }
}

/// The word for a step in the column of moves.
pub fn move_word<'a>(m: &Messages, step: Step) -> &'a str {
    m.get(match step {
        Step::Deliver(_) => "move.deliver",
        Step::Work(_) => "move.work",
        Step::AddTicket => "move.add-ticket",
        Step::PublishAgain(_) => "move.publish",
        Step::LoseAck(_) => "move.lose-ack",
        Step::LoseReply(_) => "move.lose-reply",
        Step::LeaseExpires => "move.lease-expires",
        Step::LeaseOverrun => "move.lease-overrun",
        Step::Nack(_) => "move.nack",
        Step::Return(_) => "move.return",
        Step::LoseConfirm(_) => "move.lose-confirm",
        Step::LoseAnswer(_) => "move.lose-answer",
        Step::GiveUp(_) => "move.give-up",
        Step::Crash(_) => "move.crash",
    })
}

/// The name of a design.
pub fn design<'a>(m: &Messages, design: &Design) -> &'a str {
    match design.preset_name() {
        Some(name) => m.get(preset_key(name)),
        None => m.get("design.own"),
    }
}

/// The key of a preset's name.
pub fn preset_key(name: &str) -> &'static str {
    const KEYS: [&str; 25] = [
        "preset.no-guard",
        "preset.trust-redelivered",
        "preset.check-then-insert",
        "preset.check-in-transaction",
        "preset.constraint-arbitration",
        "preset.on-conflict-do-nothing",
        "preset.insert-or-ignore",
        "preset.receipt-first",
        "preset.effect-first",
        "preset.event-key",
        "preset.ticket-key",
        "preset.swallow-integrity-errors",
        "preset.ack-first",
        "preset.commit-then-publish",
        "preset.publish-then-commit",
        "preset.outbox",
        "preset.outbox-marked-when-sent",
        "preset.outbox-marked-when-claimed",
        "preset.outbox-unfenced",
        "preset.outbox-leased-forever",
        "preset.call-in-transaction",
        "preset.call-after-commit",
        "preset.pending-row",
        "preset.pending-row-with-key",
        "preset.pending-row-reconciled",
    ];
    KEYS.into_iter()
        .find(|key| key.strip_prefix("preset.") == Some(name))
        .unwrap_or("design.own")
}

/// Why a combination of choices makes no sense.
pub fn nonsense<'a>(m: &Messages, nonsense: Nonsense) -> &'a str {
    m.get(match nonsense {
        Nonsense::NoReceiptToGroup => "nonsense.no-receipt-to-group",
        Nonsense::NoReceiptToKey => "nonsense.no-receipt-to-key",
        Nonsense::NoTransactionToBegin => "nonsense.no-transaction-to-begin",
        Nonsense::NoOutbox => "nonsense.no-outbox",
        Nonsense::NoTransactionToCallIn => "nonsense.no-transaction-to-call-in",
    })
}

/// Why the host is not told something.
pub fn too_large(m: &Messages, most: u32) -> String {
    m.fill("error.too-large", &[("most", &most.to_string())])
}

/// Why a parameter of the link was not taken over.
pub fn bad_parameter(m: &Messages, bad: &BadParameter) -> String {
    let why = match &bad.why {
        Why::NotOneOf { found, choices } if found.is_empty() => {
            m.fill("error.empty", &[("choices", choices)])
        }
        Why::NotOneOf { found, choices } => m.fill(
            "error.not-one-of",
            &[("found", found), ("choices", choices)],
        ),
        Why::Unreadable(error) => self::error(m, error),
        Why::Fixed => m.get("error.fixed").to_owned(),
        Why::CutOff { number, found, .. } if found.is_empty() => {
            return m.fill("link.cut", &[("step", &number.to_string())]);
        }
        Why::CutOff {
            number,
            found,
            error,
        } => {
            let (number, why) = (number.to_string(), self::error(m, error));
            let values = [("step", number.as_str()), ("found", found), ("why", &why)];
            return m.fill("link.unread", &values);
        }
        Why::Misfit {
            number,
            step,
            pauses,
        } => {
            let [left, right] = pauses.each_ref().map(|pause| paused(m, *step, pause));
            let (number, found) = (number.to_string(), step.to_string());
            let control = control(m, *step);
            let values = [
                ("step", number.as_str()),
                ("found", &found),
                ("control", &control),
                ("left", &left),
                ("right", &right),
            ];
            return m.fill("link.misfit", &values);
        }
    };
    m.fill("link.bad", &[("name", bad.name), ("why", &why)])
}

/// An error of the core. Positions count characters from 1 here, as people do.
pub fn error(m: &Messages, error: &Error) -> String {
    let place = |at: &usize| (at + 1).to_string();
    match error {
        Error::UnknownPreset { found } => m.fill("error.unknown-preset", &[("found", found)]),
        Error::UnknownChoice {
            axis: "end",
            found,
            at_char,
            ..
        } => m.fill(
            "error.too-much",
            &[("found", found), ("at", &place(at_char))],
        ),
        Error::UnknownChoice {
            axis,
            found,
            at_char,
            choices,
        } => m.fill(
            "error.unknown-choice",
            &[
                ("axis", self::axis(m, axis)),
                ("found", found),
                ("at", &place(at_char)),
                ("choices", &choices.join(", ")),
            ],
        ),
        Error::NonsenseDesign {
            nonsense: reason, ..
        } => m.fill("error.nonsense", &[("why", nonsense(m, *reason))]),
        Error::BadSchedule {
            at_char,
            found,
            expected,
        } if found.is_empty() => m.fill(
            "error.schedule-ends",
            &[
                ("at", &place(at_char)),
                ("expected", &self::expected(m, *expected)),
            ],
        ),
        Error::BadSchedule {
            at_char,
            found,
            expected,
        } => m.fill(
            "error.bad-schedule",
            &[
                ("at", &place(at_char)),
                ("found", found),
                ("expected", &self::expected(m, *expected)),
            ],
        ),
        Error::Database { during, source } => m.fill(
            "error.database",
            &[("during", during), ("source", &source.to_string())],
        ),
        other => other.to_string(),
    }
}

/// An axis of a design, by the name that the core's errors give it.
fn axis<'a>(m: &'a Messages, name: &'a str) -> &'a str {
    match name {
        "arbitration" => m.get("axis.arbitration"),
        "transaction" => m.get("axis.grouping"),
        "key" => m.get("axis.key"),
        "errors" => m.get("axis.errors"),
        "ack" => m.get("axis.ack"),
        "begin" => m.get("axis.begin"),
        "publication" => m.get("axis.publication"),
        "marking" => m.get("axis.marking"),
        "lease" => m.get("axis.lease"),
        "outside" => m.get("axis.outside"),
        other => other,
    }
}

/// What a schedule's text would have had to say.
fn expected(m: &Messages, expected: Expected) -> String {
    let key = match expected {
        Expected::Version => "error.expected.version",
        Expected::Step => "error.expected.step",
        Expected::Worker => "error.expected.worker",
        Expected::Consumer => "error.expected.consumer",
        Expected::Event => "error.expected.event",
        Expected::Count => "error.expected.count",
        Expected::EndOfStep => "error.expected.end-of-step",
        Expected::FewerSteps => "error.expected.fewer-steps",
    };
    let most = Schedule::STEPS_MAX.to_string();
    m.fill(key, &[("version", Schedule::VERSION), ("most", &most)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_cut_down_to_its_verb_and_its_table() {
        assert_eq!(short("BEGIN IMMEDIATE"), "BEGIN IMMEDIATE");
        assert_eq!(
            short(
                "UPDATE outbox_events SET state = 'parked', owner = NULL WHERE event_id = :event_id"
            ),
            "UPDATE outbox_events SET state = 'parked' …"
        );
        assert_eq!(
            short("UPDATE business_tasks SET status = 'done' WHERE id = :task_id"),
            "UPDATE business_tasks SET status = 'done' …"
        );
        assert_eq!(
            short("SELECT 1 FROM effect_receipts WHERE event_id = :event_id"),
            "SELECT 1 FROM effect_receipts …"
        );
        assert_eq!(
            short("INSERT INTO effect_receipts (a) VALUES (:a) ON CONFLICT (a) DO NOTHING"),
            "INSERT INTO effect_receipts … ON CONFLICT …"
        );
    }

    #[test]
    fn every_preset_has_a_name() {
        for preset in deliver_twice_core::design::presets() {
            assert_ne!(preset_key(preset.name), "design.own", "{}", preset.name);
        }
    }
}
