//! The outbox: an event is committed with the ticket it is about, and published afterwards.
//!
//! A ticket and its message cannot commit together: the broker has no part in the transaction. What can
//! commit together is the ticket and a row that says "this is still to be published". A
//! [`Relay`](crate::relay::Relay) leases such rows, publishes them, and settles each by what the broker
//! said. A relay that dies leaves a lease that expires, so an event may be published twice and is never
//! forgotten; the consumer's receipt ([`apply_once`](crate::apply_once)) absorbs the second.
//!
//! There are two stores: [`SqliteOutbox`] on a caller's connection, and [`MemoryOutbox`]. One suite of
//! tests holds both to the same answers.

mod memory;
mod sqlite;
pub mod statements;

use std::fmt;
use std::num::NonZeroU32;

use crate::event::EventId;
use crate::sql::RefusalKind;

pub use memory::MemoryOutbox;
pub use sqlite::SqliteOutbox;

/// What is enqueued. Nothing in it changes afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEvent {
    /// Its identity, which every publication carries: the consumer's receipt depends on it.
    pub event_id: EventId,
    /// The ticket it is about.
    pub ticket_id: String,
    /// What is to be published, in whatever form publisher and consumer agreed on.
    pub payload: String,
}

/// The right to publish an event, given to one owner for a time.
///
/// It is the token that proves it and not the time: each claim of an event raises its token, and a call
/// with an older one is fenced. An owner whose lease is over, and whom nobody has followed yet, still
/// holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The event.
    pub event_id: EventId,
    /// The ticket it is about.
    pub ticket_id: String,
    /// What is to be published.
    pub payload: String,
    /// The fencing token: how often the event was ever claimed. It never goes back.
    pub token: i64,
    /// Which attempt at publishing this is, counted from 1. The same as the token, until a parked event
    /// is set back by hand to be tried anew.
    pub attempt: u32,
    /// Who has the lease. For people: nothing is decided by it.
    pub owner: String,
}

/// Whether the caller still had the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a call that was fenced changed nothing"]
pub enum Held {
    /// He had it, and the change is made.
    Yes,
    /// Another claimed the event since, or it is settled already, or it is in no such outbox. Nothing was
    /// changed, and nothing is to be done: the event is not the caller's any more.
    Fenced,
}

/// How far an event is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventState {
    /// It waits for a claim.
    Pending,
    /// It is being published.
    Leased {
        /// By whom.
        owner: String,
        /// The moment from which another may claim it.
        until: i64,
    },
    /// The broker has confirmed it.
    Published,
    /// It is put aside for a person.
    Parked,
}

/// A row of the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRow {
    /// What was enqueued.
    pub event: OutboxEvent,
    /// How far it is.
    pub state: EventState,
    /// How often it was ever claimed.
    pub token: i64,
    /// How often it was claimed since it was enqueued, or set back by hand.
    pub attempt: u32,
}

/// Where a relay gets its events from, and says what became of them.
///
/// Enqueuing is no part of it: that belongs to the transaction of the business write, which each store
/// has in its own form.
pub trait OutboxStore {
    /// What can go wrong.
    type Error: std::error::Error;

    /// Leases the first events that are pending or whose lease is over, at most `limit` of them, in the
    /// order of enqueuing. Each is claimed with a new token, and its attempt is counted.
    ///
    /// Time is what the caller's clock counts, in `now` and in `lease` alike. A lease is over as soon as
    /// the clock comes to `now + lease`.
    ///
    /// # Errors
    /// The store's own. Then nothing was claimed.
    fn claim(
        &mut self,
        owner: &str,
        now: i64,
        lease: NonZeroU32,
        limit: usize,
    ) -> Result<Vec<Lease>, Self::Error>;

    /// The broker has confirmed the event: it will not be claimed again.
    ///
    /// # Errors
    /// The store's own. Then the event stays as it was, to be claimed and published again.
    fn mark_published(&mut self, lease: &Lease) -> Result<Held, Self::Error>;

    /// The event is to be tried again: it can be claimed at once.
    ///
    /// # Errors
    /// The store's own. Then the event stays as it was, to be claimed when the lease is over.
    fn release_for_retry(&mut self, lease: &Lease) -> Result<Held, Self::Error>;

    /// The event is put aside for a person: it will not be claimed again by itself.
    ///
    /// # Errors
    /// The store's own. Then the event stays as it was, to be claimed when the lease is over.
    fn park(&mut self, lease: &Lease) -> Result<Held, Self::Error>;
}

/// What a store of this crate cannot do.
#[derive(Debug)]
#[non_exhaustive]
pub enum OutboxError {
    /// The event was enqueued before, perhaps with another payload. An event is immutable, so this is an
    /// error and no outcome: a producer that enqueues twice either repeats a business write that is
    /// committed already, or gives two events one id. His transaction is still open and his to roll back.
    AlreadyEnqueued {
        /// Which event.
        event_id: EventId,
    },
    /// The event was neither written nor refused: the table, or a trigger on it, ignores a row without a
    /// word.
    NotEnqueued {
        /// Which event.
        event_id: EventId,
    },
    /// The transaction to enqueue in has ended, by a raw `COMMIT` or by an error that took it along. The
    /// event would have been committed without the business write.
    TransactionEnded,
    /// The store's connection has a transaction open. What the store did would be undone by its rollback.
    InTransaction,
    /// `now + lease` is past what the clock can count.
    EndlessLease {
        /// The time of the claim.
        now: i64,
        /// How long it was to last.
        lease: NonZeroU32,
    },
    /// The database refused a statement.
    Refused {
        /// What was being done.
        during: &'static str,
        /// What sort of refusal.
        kind: RefusalKind,
        /// The database's own error.
        source: rusqlite::Error,
    },
}

impl OutboxError {
    /// Says what was being done when the database refused.
    fn during(during: &'static str) -> impl Fn(rusqlite::Error) -> OutboxError {
        move |source| OutboxError::Refused {
            during,
            kind: RefusalKind::of(&source),
            source,
        }
    }
}

impl fmt::Display for OutboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutboxError::AlreadyEnqueued { event_id } => {
                write!(f, "event `{event_id}` is in the outbox already")
            }
            OutboxError::NotEnqueued { event_id } => {
                write!(f, "event `{event_id}` was neither enqueued nor refused")
            }
            OutboxError::TransactionEnded => {
                f.write_str("the transaction to enqueue in has ended before")
            }
            OutboxError::InTransaction => {
                f.write_str("the connection of the outbox has a transaction open")
            }
            OutboxError::EndlessLease { now, lease } => {
                write!(f, "a lease of {lease} from {now} ends past the clock")
            }
            OutboxError::Refused {
                during,
                kind,
                source,
            } => write!(f, "{during} refused ({}): {source}", kind.as_str()),
        }
    }
}

impl std::error::Error for OutboxError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OutboxError::Refused { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// When a lease that is given now will be over: later than now, so that no claim gives the same event
/// twice.
fn end_of_lease(now: i64, lease: NonZeroU32) -> Result<i64, OutboxError> {
    now.checked_add(lease.get().into())
        .ok_or(OutboxError::EndlessLease { now, lease })
}
