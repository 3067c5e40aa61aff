//! What a step did.

use rusqlite::types::Value;
use rusqlite::{Params, params_from_iter};

use crate::broker::{DeliveryId, EventIndex, Place};
use crate::disk::{ConnectionId, LockEvent};
use crate::event::EffectName;
use crate::plan::{Meaning, Role};
use crate::relay::Confirm;
use crate::schedule::Step;
use crate::sql::Answer;
use crate::state::Origin;

/// What one step did.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The step.
    pub step: Step,
    /// What happened.
    pub action: Action,
    /// What happened to the locks meanwhile, oldest first.
    pub locks: Vec<LockEvent>,
}

/// What happened in a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A delivery was handed to a worker.
    Delivered {
        /// Which.
        delivery: DeliveryId,
        /// Which attempt it is, counted from 1.
        attempt: u8,
        /// What the flag says.
        redelivered: bool,
    },
    /// A worker looked at the flag.
    ReadFlag {
        /// What the flag says.
        redelivered: bool,
        /// What the design makes of it.
        means: Meaning,
    },
    /// A worker ran a statement.
    Ran(Ran),
    /// A worker acked its delivery.
    Acked {
        /// Which.
        delivery: DeliveryId,
    },
    /// A worker's ack was lost. The broker has the delivery still, and hands it out again.
    AckLost {
        /// Which.
        delivery: DeliveryId,
        /// Where it is now.
        place: Place,
    },
    /// A worker gave its delivery back.
    GaveBack {
        /// Which.
        delivery: DeliveryId,
        /// Where it is now.
        place: Place,
    },
    /// A worker stopped waiting; its code got the BUSY as an error.
    GaveUp {
        /// What the design makes of it.
        means: Meaning,
    },
    /// A worker's process died and its connection was dropped.
    Crashed {
        /// The delivery it had, if it had one, and where that is now.
        returned: Option<(DeliveryId, Place)>,
        /// Whether a transaction was open, which is gone.
        in_transaction: bool,
    },
    /// A worker sent an event to the broker.
    Sent {
        /// The event.
        event: EventIndex,
        /// What the broker made of it, whether or not anybody hears it.
        confirm: Confirm,
        /// The new delivery, if the broker took it.
        delivery: Option<DeliveryId>,
    },
    /// A relay heard what the broker made of a message, or waited for it in vain.
    HeardConfirm {
        /// The event.
        event: EventIndex,
        /// What it heard.
        confirm: Confirm,
        /// What the design makes of it.
        means: Meaning,
    },
    /// A worker asked the provider whether the message for a task went out.
    AskedProvider {
        /// The task.
        task: Origin,
        /// What the provider answered.
        is_known: bool,
        /// What the design makes of it.
        means: Meaning,
    },
    /// A worker called the provider.
    Called {
        /// The task that it called for.
        task: Origin,
        /// The key that the call carried.
        key: Option<String>,
        /// Whether the message went out. A provider that honours keys does nothing the second time.
        went_out: bool,
        /// Whether the answer came.
        is_answered: bool,
        /// What the design makes of it.
        means: Meaning,
    },
    /// A lease expired.
    LeaseExpired {
        /// The event of the row.
        event: EventIndex,
    },
    /// The operator added the ticket.
    TicketAdded(Statement),
    /// The producer published an event once more.
    Published {
        /// The new delivery.
        delivery: DeliveryId,
    },
}

/// A statement with what was bound to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The text.
    pub sql: &'static str,
    /// The parameters' names and values, in order.
    pub values: Vec<(&'static str, Value)>,
}

impl Statement {
    /// The values, to be bound in order.
    pub(crate) fn bound(&self) -> impl Params {
        params_from_iter(self.values.iter().map(|(_, value)| value))
    }
}

/// A worker's statement, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// What the stage is for.
    pub role: Role,
    /// The effect it belongs to.
    pub effect: Option<EffectName>,
    /// The statement.
    pub statement: Statement,
    /// What SQLite answered.
    pub answer: Answer,
    /// What became of it.
    pub heard: Heard,
}

/// What a worker made of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It read the answer, and its design takes it to mean this.
    Read(Meaning),
    /// SQLite answered BUSY, and the worker waits for these connections.
    Waits {
        /// Who holds the lock, in the order of their ids.
        holders: Vec<ConnectionId>,
    },
    /// The statement was carried out, but the reply was lost and the connection with it.
    ReplyLost(Meaning),
}
