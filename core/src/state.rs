//! What the machine is in: everything that decides what may happen next and what has gone wrong.
//!
//! A state is data and holds no step numbers, so two schedules that lead to the same state compare equal.
//! What a connection knows beyond it (an open transaction, a lock) is in SQLite, and here only as seen.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::broker::{Broker, DeliveryId, EventIndex, Kind, WorkerId};
use crate::disk::LockLevel;
use crate::event::EffectName;
use crate::relay::Confirm;
use crate::scenario::Bounds;
use crate::schema::Tables;
use crate::sql::RefusalKind;

/// The state of the whole machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    /// The broker and its deliveries.
    pub broker: Broker,
    /// The workers, in the order of their ids.
    pub workers: Vec<Worker>,
    /// What the tables hold as committed.
    pub committed: Rc<Tables>,
    /// Which faults may still happen.
    pub left: Bounds,
    /// Errors that were read as a duplicate, or acked, without being one.
    pub swallowed: BTreeSet<Swallowed>,
    /// Deliveries that were acked while an effect of their event had no committed task.
    pub acked_too_early: BTreeSet<DeliveryId>,
    /// Events whose row of the outbox was changed by a relay that had no claim on it any more.
    pub stale_writes: BTreeSet<EventIndex>,
    /// Tickets that the producer is still to be asked for. Requests are in the order of their events.
    pub requests: u8,
    /// What the clock of the leases says. It stands still but for a lease's expiry.
    pub clock: u8,
    /// The messages that the provider sent on, in order of their tasks. It is outside: nothing that happens
    /// in the database changes it.
    pub sent: Vec<Message>,
}

/// A message that reached the outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// The task that it was sent for, be it committed or not.
    pub task: Origin,
}

/// An error that surfaced nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Swallowed {
    /// The event being handled.
    pub event: EventIndex,
    /// The effect being carried out.
    pub effect: Option<EffectName>,
    /// What it was. `None` if SQLite was told to say nothing, and changed no row.
    pub kind: Option<RefusalKind>,
}

/// One worker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Worker {
    /// Which.
    pub id: WorkerId,
    /// What it is doing; `None` if it is idle.
    pub job: Option<Job>,
    /// The lock its connection holds on the database.
    pub lock: LockLevel,
    /// Whether its connection is inside a transaction.
    pub in_transaction: bool,
    /// What the tables hold as it alone sees them, while it has written and not committed. There once
    /// [`look_as_workers`](crate::system::System::look_as_workers) was asked for it.
    pub own: Option<Rc<Tables>>,
}

impl Worker {
    pub(crate) fn idle(id: WorkerId) -> Self {
        Worker {
            id,
            job: None,
            lock: LockLevel::None,
            in_transaction: false,
            own: None,
        }
    }
}

/// Something being handled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Job {
    /// What.
    pub subject: Subject,
    /// What the worker does next.
    pub next: Next,
    /// The lock it was refused and waits for.
    pub waits_for: Option<LockLevel>,
}

/// What a worker has at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A consumer has a delivery.
    Delivery(Handed),
    /// The producer was asked to write the ticket of this event.
    Request(EventIndex),
    /// A relay has claimed this row of the outbox, or is about to claim one.
    Row(Option<Claimed>),
    /// A sender has picked this pending task, or is about to pick one.
    Task(Option<Origin>),
}

/// A delivery as it was handed to a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handed {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The event that it carries.
    pub event: EventIndex,
    /// Which attempt it is, counted from 1, as the broker said when it handed the delivery out.
    pub attempt: u8,
    /// What the flag said then. The broker may think otherwise by now, if an ack was lost on its way.
    pub redelivered: bool,
    /// Whether the ack was sent and arrived.
    pub acked: bool,
}

/// A row of the outbox as a relay claimed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claimed {
    /// The event.
    pub event: EventIndex,
    /// The token that came with the claim.
    pub token: u8,
    /// How often the row was tried, this time included.
    pub attempt: u8,
    /// What the broker made of the message, once it was sent.
    pub confirm: Option<Confirm>,
}

impl Job {
    /// The delivery at hand, if it is one.
    pub fn handed(&self) -> Option<&Handed> {
        match &self.subject {
            Subject::Delivery(handed) => Some(handed),
            _ => None,
        }
    }

    /// The row of the outbox at hand, if one is claimed.
    pub fn claimed(&self) -> Option<&Claimed> {
        match &self.subject {
            Subject::Row(claimed) => claimed.as_ref(),
            _ => None,
        }
    }

    /// The event that it is about, if that is known.
    pub fn event(&self) -> Option<EventIndex> {
        match self.subject {
            Subject::Delivery(handed) => Some(handed.event),
            Subject::Request(event) => Some(event),
            Subject::Row(claimed) => claimed.map(|row| row.event),
            Subject::Task(task) => task.map(|task| task.event),
        }
    }
}

/// Which task came from where: its id says so, because it was computed from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The event.
    pub event: EventIndex,
    /// The effect.
    pub effect: EffectName,
    /// The delivery that carried the event.
    pub delivery: DeliveryId,
    /// Which attempt at that delivery, counted from 1.
    pub attempt: u8,
}

/// What a worker does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Next {
    /// The stage of its plan with this index.
    Stage(usize),
    /// Undo the open transaction, and then leave.
    Rollback(Exit),
    /// Give the delivery back to the broker.
    GiveBack,
    /// Ack the delivery although something failed.
    AckAnyway,
}

/// How a worker leaves what it cannot finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Leave the effect out and go on with the stage of this index.
    SkipTo(usize),
    /// Give the delivery back to the broker.
    GiveBack,
    /// Ack it although something failed.
    AckAnyway,
}

impl State {
    /// A worker.
    ///
    /// # Panics
    /// If there is no such worker.
    pub fn worker(&self, id: WorkerId) -> &Worker {
        &self.workers[self.place_of(id).expect("a worker of this scenario")]
    }

    /// A worker, if there is one of this id.
    pub fn find(&self, id: WorkerId) -> Option<&Worker> {
        self.workers.iter().find(|worker| worker.id == id)
    }

    /// All workers, in the order of their ids.
    pub fn workers(&self) -> impl Iterator<Item = (WorkerId, &Worker)> {
        self.workers.iter().map(|worker| (worker.id, worker))
    }

    /// What the workers have at hand, in the order of their ids.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.workers.iter().filter_map(|worker| worker.job.as_ref())
    }

    /// Whether a message for this task went out. Nothing that happens in the database changes it.
    pub fn went_out(&self, task: Origin) -> bool {
        self.sent.iter().any(|message| message.task == task)
    }

    /// The place of a worker in [`State::workers`]; `None` if there is no such worker.
    pub fn place_of(&self, id: WorkerId) -> Option<usize> {
        self.workers.iter().position(|worker| worker.id == id)
    }

    /// Whether nothing is left to consume: everything acked or parked, and every worker idle.
    pub fn is_settled(&self) -> bool {
        let consumers = self.workers().any(|(id, _)| id.kind() == Kind::Consumer);
        (self.broker.is_settled() || !consumers)
            && self.workers.iter().all(|worker| worker.job.is_none())
    }

    /// Whether some consumer is handling a delivery of this event.
    pub fn is_being_handled(&self, event: EventIndex) -> bool {
        self.jobs()
            .filter_map(Job::handed)
            .any(|handed| handed.event == event)
    }

    pub(crate) fn worker_mut(&mut self, id: WorkerId) -> &mut Worker {
        let place = self.place_of(id).expect("a worker of this scenario");
        &mut self.workers[place]
    }

    pub(crate) fn job_mut(&mut self, id: WorkerId) -> &mut Job {
        self.worker_mut(id)
            .job
            .as_mut()
            .expect("only a worker with a job is asked to work")
    }
}
