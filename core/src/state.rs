//! What the machine is in: everything that decides what may happen next and what has gone wrong.
//!
//! A state is data and holds no step numbers, so two schedules that lead to the same state compare equal.
//! What a connection knows beyond it (an open transaction, a lock) is in SQLite, and here only as seen.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::broker::{Broker, DeliveryId, EventIndex, WorkerId};
use crate::disk::LockLevel;
use crate::event::EffectName;
use crate::scenario::Bounds;
use crate::schema::Tables;
use crate::sql::RefusalKind;

/// The state of the whole machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    /// The broker and its deliveries.
    pub broker: Broker,
    /// The workers, A first.
    pub workers: Vec<Worker>,
    /// What the tables hold as committed.
    pub committed: Rc<Tables>,
    /// Which faults may still happen.
    pub left: Bounds,
    /// Errors that were read as a duplicate, or acked, without being one.
    pub swallowed: BTreeSet<Swallowed>,
    /// Deliveries that were acked while an effect of their event had no committed task.
    pub acked_too_early: BTreeSet<DeliveryId>,
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
    pub(crate) fn idle() -> Self {
        Worker {
            job: None,
            lock: LockLevel::None,
            in_transaction: false,
            own: None,
        }
    }
}

/// A delivery being handled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Job {
    /// The delivery.
    pub delivery: DeliveryId,
    /// Which attempt it is, counted from 1, as the broker said when it handed the delivery out.
    pub attempt: u8,
    /// What the flag said then. The broker may think otherwise by now, if an ack was lost on its way.
    pub redelivered: bool,
    /// What the worker does next.
    pub next: Next,
    /// Whether the ack was sent and arrived.
    pub acked: bool,
    /// The lock it was refused and waits for.
    pub waits_for: Option<LockLevel>,
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
        &self.workers[usize::from(id.0)]
    }

    /// All workers, A first.
    pub fn workers(&self) -> impl Iterator<Item = (WorkerId, &Worker)> {
        (0..).map(WorkerId).zip(&self.workers)
    }

    /// Whether nothing is left to do: everything acked or parked, and every worker idle.
    pub fn is_settled(&self) -> bool {
        self.broker.is_settled() && self.workers.iter().all(|worker| worker.job.is_none())
    }

    /// Whether some worker is handling a delivery of this event.
    pub fn is_being_handled(&self, event: EventIndex) -> bool {
        let jobs = self.workers.iter().filter_map(|worker| worker.job.as_ref());
        jobs.into_iter()
            .any(|job| self.broker.delivery(job.delivery).event == event)
    }

    pub(crate) fn worker_mut(&mut self, id: WorkerId) -> &mut Worker {
        &mut self.workers[usize::from(id.0)]
    }

    pub(crate) fn job_mut(&mut self, id: WorkerId) -> &mut Job {
        self.worker_mut(id)
            .job
            .as_mut()
            .expect("only a worker with a job is asked to work")
    }
}
