//! What every format tells: who did what at which step, and what SQLite answered.

use crate::broker::{DeliveryId, Place, WorkerId};
use crate::cause::{explain, holder_name};
use crate::design::Design;
use crate::disk::ConnectionId;
use crate::plan::{Meaning, Role};
use crate::property::Violation;
use crate::relay::Confirm;
use crate::run::{Frame, Moved, Run};
use crate::schedule::{Schedule, Step};
use crate::schema;
use crate::sql::{Answer, RefusalKind};
use crate::state::State;
use crate::system::{Action, Change, Heard, Ran, Statement, System};

/// A run without the rows at which nothing happened.
pub(super) struct Story<'a> {
    /// The machine that carried it out.
    pub system: &'a System,
    /// The steps that did something.
    pub run: Run,
}

/// One step of a story.
pub(super) struct Line<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// The row of the run.
    pub frame: &'a Frame,
    /// What it did.
    pub change: &'a Change,
    /// Who did it: a worker's letter, or who stands outside.
    pub who: String,
    /// The statement with its values, if one was run.
    pub sql: Option<String>,
    /// What SQLite answered, or what happened instead.
    pub answer: String,
    /// What is violated after it and was not before.
    pub breaches: Vec<&'a Violation>,
}

impl<'a> Story<'a> {
    pub fn of(system: &'a System, run: &Run) -> Self {
        Story {
            system,
            run: run.taken(),
        }
    }

    pub fn design(&self) -> Design {
        self.system.plan().design
    }

    /// The schedule that replays it.
    pub fn schedule(&self) -> Schedule {
        Schedule(self.run.frames.iter().map(|frame| frame.step).collect())
    }

    /// The design and the schedule, in one line.
    pub fn title(&self) -> String {
        format!("{}, {}", self.design(), self.schedule())
    }

    /// The steps, in order.
    pub fn lines(&self) -> Vec<Line<'_>> {
        (1..=self.run.frames.len())
            .map(|number| self.line(number))
            .collect()
    }

    fn line(&self, number: usize) -> Line<'_> {
        let frame = &self.run.frames[number - 1];
        let Moved::Changed(change) = &frame.moved else {
            unreachable!("a story has only steps that did something")
        };
        let before = number.checked_sub(2).map(|index| &self.run.frames[index]);
        let new = |violation: &&Violation| {
            !before.is_some_and(|frame| frame.violations.contains(violation))
        };
        Line {
            number,
            frame,
            change,
            who: who(frame.step),
            sql: statement(&change.action).map(with_literals),
            answer: said(frame, change, self.run.state_after(number - 1)),
            breaches: frame.violations.iter().filter(new).collect(),
        }
    }

    /// Each violation after the last step with its cause, or that there is none; behind them what is
    /// allowed and worth a note.
    pub fn verdicts(&self) -> Vec<String> {
        let told = |violation: &Violation| {
            let cause = explain(self.system, &self.run, violation);
            format!("{}: {cause}", violation.verdict())
        };
        let mut all: Vec<String> = match self.run.violations() {
            [] => vec!["no property is violated".to_owned()],
            violations => violations.iter().map(told).collect(),
        };
        let noted = self.run.frames.last().map_or(&[][..], |frame| &frame.noted);
        all.extend(
            noted
                .iter()
                .map(|noted| format!("allowed, {}", told(noted))),
        );
        all
    }
}

/// Who does a step.
fn who(step: Step) -> String {
    match step {
        Step::Deliver(_) => "broker".to_owned(),
        Step::AddTicket => "operator".to_owned(),
        Step::LeaseExpires | Step::LeaseOverrun => "clock".to_owned(),
        Step::PublishAgain(_) => "producer".to_owned(),
        Step::Work(worker)
        | Step::LoseAck(worker)
        | Step::LoseReply(worker)
        | Step::Nack(worker)
        | Step::Return(worker)
        | Step::LoseConfirm(worker)
        | Step::LoseAnswer(worker)
        | Step::GiveUp(worker)
        | Step::Crash(worker) => worker.to_string(),
    }
}

/// The statement that a step ran, if it ran one.
pub(super) fn statement(action: &Action) -> Option<&Statement> {
    match action {
        Action::Ran(ran) => Some(&ran.statement),
        Action::TicketAdded(statement) => Some(statement),
        _ => None,
    }
}

/// The statement as it could be typed. Parameters stand in the order of their values, each once.
pub(super) fn with_literals(statement: &Statement) -> String {
    let mut text = String::new();
    let mut rest = statement.sql;
    for (name, value) in &statement.values {
        if let Some((head, tail)) = rest.split_once(name) {
            text.push_str(head);
            text.push_str(&schema::literal(value));
            rest = tail;
        }
    }
    text + rest
}

/// A delivery's name: its event, and which copy of it it is.
pub(super) fn delivery_name(state: &State, id: DeliveryId) -> String {
    let event = state.broker.delivery(id).event;
    let earlier = state
        .broker
        .deliveries()
        .take_while(|(other, _)| *other <= id);
    let copy = earlier.filter(|(_, copy)| copy.event == event).count();
    format!("{event}#{copy}")
}

/// The names of connections, joined.
pub(super) fn names(holders: &[ConnectionId]) -> String {
    let names: Vec<String> = holders.iter().map(|id| holder_name(*id)).collect();
    names.join(" and ")
}

/// What a step came to.
fn said(frame: &Frame, change: &Change, before: &State) -> String {
    let state = &frame.state;
    let name = |id: &DeliveryId| delivery_name(state, *id);
    match &change.action {
        Action::Delivered {
            delivery,
            attempt,
            redelivered,
        } => {
            let worker = frame.step.worker().expect("a delivery goes to a worker");
            let flag = if *redelivered { ", redelivered" } else { "" };
            format!(
                "hands {} to {worker}, attempt {attempt}{flag}",
                name(delivery)
            )
        }
        Action::ReadFlag { redelivered, means } => {
            format!(
                "redelivered is {redelivered}{}",
                meaning(*means, in_hand(frame, before))
            )
        }
        Action::Ran(ran) => heard(ran, in_hand(frame, before)),
        Action::Acked { delivery } => format!("acks {}", name(delivery)),
        Action::AckLost { delivery, place } => {
            let (name, place) = (name(delivery), placed(*place));
            format!("acks {name}, and the ack is lost: {place}")
        }
        Action::GaveBack { delivery, place } => {
            format!("gives {} back: {}", name(delivery), placed(*place))
        }
        Action::GaveUp { means } => {
            let meaning = meaning(*means, in_hand(frame, before));
            format!("gives up waiting{meaning}")
        }
        Action::Crashed {
            returned,
            in_transaction,
        } => {
            let lost = if *in_transaction {
                "; its transaction is gone"
            } else {
                ""
            };
            let returned = returned.map_or(String::new(), |(delivery, place)| {
                format!("; {} {}", name(&delivery), placed(place))
            });
            format!("crashes{lost}{returned}")
        }
        Action::Sent {
            event,
            confirm,
            delivery,
        } => match delivery {
            Some(delivery) => format!("publishes {event}: queued as {}", name(delivery)),
            None => format!("publishes {event}: {}", confirmed(*confirm)),
        },
        Action::HeardConfirm {
            event,
            confirm,
            means,
        } => format!(
            "{} for {event}{}",
            confirmed(*confirm),
            meaning(*means, in_hand(frame, before))
        ),
        Action::AskedProvider {
            is_known, means, ..
        } => {
            let known = if *is_known { "yes" } else { "no" };
            format!(
                "did this go out? {known}{}",
                meaning(*means, in_hand(frame, before))
            )
        }
        Action::Called {
            key,
            went_out,
            is_answered,
            means,
            ..
        } => {
            let key = key.as_ref().map_or("no key", |_| "the row's id as key");
            let out = if *went_out {
                "a message goes out"
            } else {
                "seen before, no message"
            };
            let answered = if *is_answered {
                ""
            } else {
                ", and the answer is lost"
            };
            format!(
                "calls with {key}: {out}{answered}{}",
                meaning(*means, in_hand(frame, before))
            )
        }
        Action::LeaseExpired { event } => format!("the lease on {event} expires"),
        Action::TicketAdded(_) => answer(&Answer::Changed(1)),
        Action::Published { delivery } => format!("publishes {}", name(delivery)),
    }
}

/// What a worker has at hand, as far as it decides what can be done about an error.
#[derive(Clone, Copy)]
enum Hand {
    /// A delivery that the broker waits to hear of.
    Delivery,
    /// A delivery that was acked: the broker has forgotten it.
    Acked,
    /// Something that nobody handed to it: a request, a row, a pending task.
    Own,
}

/// What the worker of a step had at hand before it.
fn in_hand(frame: &Frame, before: &State) -> Hand {
    let worker = frame.step.worker().map(|id: WorkerId| before.worker(id));
    let job = worker.and_then(|worker| worker.job.as_ref());
    match job.and_then(|job| job.handed()) {
        Some(handed) if handed.acked => Hand::Acked,
        Some(_) => Hand::Delivery,
        None => Hand::Own,
    }
}

fn heard(ran: &Ran, hand: Hand) -> String {
    let answer = match ran.role {
        Role::Commit if ran.answer == Answer::Done => "committed".to_owned(),
        Role::Rollback if ran.answer == Answer::Done => "rolled back".to_owned(),
        _ => answer(&ran.answer),
    };
    match &ran.heard {
        Heard::Waits { holders } => format!("{answer}: waits for {}", names(holders)),
        Heard::ReplyLost(means) => {
            format!("{answer}, but the reply is lost{}", meaning(*means, hand))
        }
        Heard::Read(_) if ran.role == Role::Rollback => answer,
        Heard::Read(means) => format!("{answer}{}", meaning(*means, hand)),
    }
}

/// SQLite's answer in few words.
pub(super) fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Done => "done".to_owned(),
        Answer::Rows(0) => "no row".to_owned(),
        Answer::Rows(1) => "1 row".to_owned(),
        Answer::Rows(count) => format!("{count} rows"),
        Answer::Changed(1) => "1 row changed".to_owned(),
        Answer::Changed(count) => format!("{count} rows changed"),
        Answer::Row(None) => "no row".to_owned(),
        Answer::Row(Some(values)) => format!("returned {}", values.join(", ")),
        Answer::Refused(refusal) if refusal.kind == RefusalKind::Busy => {
            format!("BUSY ({})", refusal.code)
        }
        Answer::Refused(refusal) => {
            format!("refused, {} ({})", refusal.kind.as_str(), refusal.code)
        }
    }
}

/// What the design makes of an answer, unless it just goes on.
fn meaning(means: Meaning, hand: Hand) -> &'static str {
    match (means, hand) {
        (Meaning::Proceed, _) => "",
        (Meaning::Duplicate, _) => "; a duplicate to it",
        (Meaning::GiveBack | Meaning::AckAnyway, Hand::Acked) => "; too late, it was acked",
        (Meaning::GiveBack, Hand::Delivery) => "; it will give the delivery back",
        (Meaning::GiveBack, Hand::Own) => "; an error, and it leaves things as they are",
        (Meaning::AckAnyway, _) => "; it will ack all the same",
        (Meaning::GoTo(Role::Release), _) => "; it will release the row",
        (Meaning::GoTo(Role::Park), _) => "; it will park the row",
        (Meaning::GoTo(_), _) => "; it will mark the row",
        (Meaning::Done, _) => "; it is done with it",
    }
}

/// What the broker says of a message.
fn confirmed(confirm: Confirm) -> &'static str {
    match confirm {
        Confirm::Confirmed => "confirmed",
        Confirm::Nacked => "refused (nack)",
        Confirm::Returned => "returned, no queue takes it",
        Confirm::NoAnswer => "no answer",
    }
}

fn placed(place: Place) -> &'static str {
    match place {
        Place::Queued => "is queued again",
        Place::Parked => "is parked",
        Place::Acked => "stays acked",
        Place::Unacked(_) => "is with another worker",
    }
}
