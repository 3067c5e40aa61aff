//! A run as the arrows and notes of a sequence diagram, whatever the diagram is written in.

use crate::design::Outside;
use crate::relay::Confirm;
use crate::run::Run;
use crate::schedule::Step;
use crate::system::{Action, Heard};

use super::story::{Line, Story, names};

/// The database's name in a diagram.
pub(super) const SQLITE: &str = "SQLite";

/// The broker's.
pub(super) const BROKER: &str = "broker";

/// Who is called outside.
pub(super) const PROVIDER: &str = "provider";

/// What lets leases expire.
const CLOCK: &str = "clock";

/// One line of a diagram.
pub(super) enum Mark {
    /// Somebody asks or tells something.
    Call {
        from: String,
        to: String,
        text: String,
    },
    /// The answer to that.
    Reply {
        from: String,
        to: String,
        text: String,
    },
    /// Something that does not arrive.
    Lost {
        from: String,
        to: String,
        text: String,
    },
    /// A remark on one lifeline, or on all between two.
    Note { over: Vec<String>, text: String },
}

/// Who takes part, from left to right.
pub(super) fn participants(story: &Story<'_>) -> Vec<String> {
    let outside = |step: fn(&Step) -> bool| story.run.frames.iter().any(|f| step(&f.step));
    let mut all = vec![];
    if outside(|step| matches!(step, Step::PublishAgain(_))) {
        all.push("producer".to_owned());
    }
    all.push(BROKER.to_owned());
    all.extend(workers(&story.run));
    all.push(SQLITE.to_owned());
    if outside(|step| matches!(step, Step::LeaseExpires | Step::LeaseOverrun)) {
        all.push(CLOCK.to_owned());
    }
    if story.design().outside != Outside::None {
        all.push(PROVIDER.to_owned());
    }
    if outside(|step| *step == Step::AddTicket) {
        all.push("operator".to_owned());
    }
    all
}

fn workers(run: &Run) -> impl Iterator<Item = String> {
    run.start.workers().map(|(id, _)| id.to_string())
}

/// The whole diagram, the verdicts last.
pub(super) fn marks(story: &Story<'_>) -> Vec<Mark> {
    let mut marks: Vec<Mark> = story.lines().iter().flat_map(of_line).collect();
    let over = vec![BROKER.to_owned(), SQLITE.to_owned()];
    marks.extend(story.verdicts().into_iter().map(|text| Mark::Note {
        over: over.clone(),
        text,
    }));
    marks
}

fn of_line(line: &Line<'_>) -> Vec<Mark> {
    let who = line.who.clone();
    let text = format!("{} {}", line.number, line.answer);
    let (broker, sqlite) = (BROKER.to_owned(), SQLITE.to_owned());
    let call = |from, to, text| Mark::Call { from, to, text };
    let note = |text| Mark::Note {
        over: vec![who.clone()],
        text,
    };
    match &line.change.action {
        Action::Delivered { .. } => {
            let worker = line.frame.step.worker().map(|id| id.to_string());
            vec![call(
                broker,
                worker.expect("a delivery goes to a worker"),
                text,
            )]
        }
        Action::Acked { .. } | Action::GaveBack { .. } | Action::Published { .. } => {
            vec![call(who, broker, text)]
        }
        Action::AckLost { .. } => vec![Mark::Lost {
            from: who,
            to: broker,
            text,
        }],
        Action::Sent { .. } => vec![call(who, broker, text)],
        Action::HeardConfirm {
            confirm: Confirm::NoAnswer,
            ..
        } => vec![Mark::Lost {
            from: broker,
            to: who,
            text,
        }],
        Action::HeardConfirm { .. } => vec![Mark::Reply {
            from: broker,
            to: who,
            text,
        }],
        Action::AskedProvider { .. }
        | Action::Called {
            is_answered: true, ..
        } => {
            vec![call(who, PROVIDER.to_owned(), text)]
        }
        Action::Called { .. } => vec![
            call(who.clone(), PROVIDER.to_owned(), text),
            Mark::Lost {
                from: PROVIDER.to_owned(),
                to: who,
                text: "answer".to_owned(),
            },
        ],
        Action::ReadFlag { .. }
        | Action::GaveUp { .. }
        | Action::Crashed { .. }
        | Action::LeaseExpired { .. } => vec![note(text)],
        Action::Ran(_) | Action::TicketAdded(_) => asked(line, who, sqlite),
    }
}

/// A statement, its answer, and whom the worker waits for if the answer was BUSY.
fn asked(line: &Line<'_>, who: String, sqlite: String) -> Vec<Mark> {
    let sql = line.sql.as_deref().unwrap_or_default();
    let mut marks = vec![Mark::Call {
        from: who.clone(),
        to: sqlite.clone(),
        text: format!("{} {sql}", line.number),
    }];
    let text = line.answer.clone();
    let (from, to) = (sqlite, who.clone());
    let heard = match &line.change.action {
        Action::Ran(ran) => Some(&ran.heard),
        _ => None,
    };
    marks.push(match heard {
        Some(Heard::ReplyLost(_)) => Mark::Lost { from, to, text },
        _ => Mark::Reply { from, to, text },
    });
    if let Some(Heard::Waits { holders }) = heard {
        let text = format!("{who} waits for {}", names(holders));
        marks.push(Mark::Note {
            over: vec![who],
            text,
        });
    }
    marks
}
