//! The outbox in PostgreSQL, beside the business tables.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::LazyLock;

use deliver_twice_core::event::EventId;
use deliver_twice_core::outbox::{
    EventState, Held, Lease, OutboxEvent, OutboxRow, OutboxStore, statements,
};
use deliver_twice_core::schema::OUTBOX_CONSTRAINT;
use postgres::error::SqlState;
use postgres::types::Type;
use postgres::{Client, Error, IsolationLevel, Row, Transaction};

use crate::statement::in_words;

/// What the store cannot do.
#[derive(Debug)]
#[non_exhaustive]
pub enum OutboxError {
    /// The event was enqueued before. The refused statement has aborted the producer's transaction, which
    /// can only be rolled back: SQLite would have left it usable.
    AlreadyEnqueued {
        /// Which event.
        event_id: EventId,
    },
    /// `now + lease` is past what the clock can count.
    EndlessLease {
        /// The time of the claim.
        now: i64,
        /// How long it was to last.
        lease: NonZeroU32,
    },
    /// A row is in a state that this does not know.
    UnknownState {
        /// The state's name.
        found: String,
    },
    /// The server refused a statement, or the connection broke.
    Refused {
        /// What was being done.
        during: &'static str,
        /// The client's own error.
        source: Error,
    },
}

impl OutboxError {
    fn during(during: &'static str) -> impl Fn(Error) -> OutboxError {
        move |source| OutboxError::Refused { during, source }
    }
}

impl fmt::Display for OutboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutboxError::AlreadyEnqueued { event_id } => {
                write!(f, "event `{event_id}` is in the outbox already")
            }
            OutboxError::EndlessLease { now, lease } => {
                write!(f, "a lease of {lease} from {now} ends past the clock")
            }
            OutboxError::UnknownState { found } => {
                write!(f, "`{found}` is no state of an event")
            }
            OutboxError::Refused { during, source } => write!(f, "{during} refused: {source}"),
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

/// The claim as it is written for SQLite. On PostgreSQL two relays at once may both claim the same row
/// with it: the second waits for the first, and then finds the row that it had chosen before it waited.
pub static CLAIM_AS_ON_SQLITE: LazyLock<String> = LazyLock::new(|| in_words(statements::CLAIM_ONE));

/// The claim that passes over a row which another is claiming now.
pub static CLAIM_SKIPPING_LOCKED: LazyLock<String> =
    LazyLock::new(|| CLAIM_AS_ON_SQLITE.replace("LIMIT 1)", "LIMIT 1 FOR UPDATE SKIP LOCKED)"));

/// An outbox on a caller's connection, whose search path leads to the table
/// [`OUTBOX_EVENTS`](deliver_twice_core::schema::OUTBOX_EVENTS).
///
/// `position` is the order in which rows were written. On SQLite, with one writer, that is the order of the
/// commits; here a transaction that began earlier may commit later, and its events are then published
/// after those of a later one.
pub struct PostgresOutbox<'c> {
    client: &'c mut Client,
}

impl<'c> PostgresOutbox<'c> {
    /// The outbox in the database of this connection.
    pub fn new(client: &'c mut Client) -> Self {
        PostgresOutbox { client }
    }

    /// Adds an event in the transaction of the business write, so that both commit or neither does.
    ///
    /// # Errors
    /// [`OutboxError::AlreadyEnqueued`] if the outbox's own constraint says so, and only then. After any
    /// error the transaction can only be rolled back.
    pub fn enqueue(
        transaction: &mut Transaction<'_>,
        event: &OutboxEvent,
    ) -> Result<(), OutboxError> {
        let values = [
            (&event.event_id.as_str() as _, Type::TEXT),
            (&event.ticket_id as _, Type::TEXT),
            (&event.payload as _, Type::TEXT),
        ];
        match transaction.execute_typed(&in_words(statements::ENQUEUE), &values) {
            Ok(_) => Ok(()),
            Err(error) if is_enqueued_before(&error) => Err(OutboxError::AlreadyEnqueued {
                event_id: event.event_id.clone(),
            }),
            Err(error) => Err(OutboxError::during("enqueue")(error)),
        }
    }

    /// Every event with how far it is, in the order of enqueuing.
    ///
    /// # Errors
    /// [`OutboxError::Refused`], and [`OutboxError::UnknownState`].
    pub fn rows(&mut self) -> Result<Vec<OutboxRow>, OutboxError> {
        let rows = self.client.query(statements::READ_ROWS, &[]);
        let rows = rows.map_err(OutboxError::during("read"))?;
        rows.iter().map(outbox_row).collect()
    }

    /// Runs one fenced statement for `lease`.
    fn settle(
        &mut self,
        during: &'static str,
        sql: &str,
        lease: &Lease,
    ) -> Result<Held, OutboxError> {
        let values = [
            (&lease.event_id.as_str() as _, Type::TEXT),
            (&lease.token as _, Type::INT8),
        ];
        let changed = self.client.execute_typed(&in_words(sql), &values);
        match changed.map_err(OutboxError::during(during))? {
            0 => Ok(Held::Fenced),
            _ => Ok(Held::Yes),
        }
    }
}

impl OutboxStore for PostgresOutbox<'_> {
    type Error = OutboxError;

    fn claim(
        &mut self,
        owner: &str,
        now: i64,
        lease: NonZeroU32,
        limit: usize,
    ) -> Result<Vec<Lease>, OutboxError> {
        let until = now
            .checked_add(lease.get().into())
            .ok_or(OutboxError::EndlessLease { now, lease })?;
        claim_all(self.client, owner, now, until, limit).map_err(OutboxError::during("claim"))
    }

    fn mark_published(&mut self, lease: &Lease) -> Result<Held, OutboxError> {
        self.settle("mark", statements::MARK_PUBLISHED, lease)
    }

    fn release_for_retry(&mut self, lease: &Lease) -> Result<Held, OutboxError> {
        self.settle("release", statements::RELEASE_FOR_RETRY, lease)
    }

    fn park(&mut self, lease: &Lease) -> Result<Held, OutboxError> {
        self.settle("park", statements::PARK, lease)
    }
}

/// Whether the outbox's own constraint refused.
fn is_enqueued_before(error: &Error) -> bool {
    error.as_db_error().is_some_and(|refusal| {
        *refusal.code() == SqlState::UNIQUE_VIOLATION
            && refusal.constraint() == Some(OUTBOX_CONSTRAINT)
            && refusal.table() == Some("outbox_events")
    })
}

/// Claims one event after another, all in one transaction: an error on the way leaves none leased to an
/// owner who does not know it. Each claim has to see what committed before it, so the isolation is READ
/// COMMITTED whatever the session's default.
fn claim_all(
    client: &mut Client,
    owner: &str,
    now: i64,
    until: i64,
    limit: usize,
) -> Result<Vec<Lease>, Error> {
    let mut transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::ReadCommitted)
        .start()?;
    let mut leases = Vec::new();
    while leases.len() < limit {
        let Some(lease) = claim_one(&mut transaction, &CLAIM_SKIPPING_LOCKED, owner, now, until)?
        else {
            break;
        };
        leases.push(lease);
    }
    transaction.commit()?;
    Ok(leases)
}

/// Claims the first event that is pending or whose lease is over, by one of the two claims.
///
/// # Errors
/// The server's.
pub fn claim_one(
    transaction: &mut Transaction<'_>,
    claim: &str,
    owner: &str,
    now: i64,
    until: i64,
) -> Result<Option<Lease>, Error> {
    let values = [
        (&owner as _, Type::TEXT),
        (&until as _, Type::INT8),
        (&now as _, Type::INT8),
    ];
    let row = transaction.query_typed_opt(claim, &values)?;
    row.map(|row| {
        Ok(Lease {
            event_id: EventId::new(row.try_get::<_, String>("event_id")?),
            ticket_id: row.try_get("ticket_id")?,
            payload: row.try_get("payload")?,
            token: row.try_get::<_, i32>("token")?.into(),
            attempt: attempt(&row)?,
            owner: owner.to_owned(),
        })
    })
    .transpose()
}

fn attempt(row: &Row) -> Result<u32, Error> {
    let attempt: i32 = row.try_get("attempt")?;
    Ok(attempt.try_into().expect("attempts are counted from 0"))
}

fn outbox_row(row: &Row) -> Result<OutboxRow, OutboxError> {
    let read = || {
        let state: String = row.try_get("state")?;
        let state = match state.as_str() {
            "pending" => Ok(EventState::Pending),
            "leased" => Ok(EventState::Leased {
                owner: row.try_get("owner")?,
                until: row.try_get("lease_until")?,
            }),
            "published" => Ok(EventState::Published),
            "parked" => Ok(EventState::Parked),
            _ => Err(OutboxError::UnknownState { found: state }),
        };
        let event = OutboxEvent {
            event_id: EventId::new(row.try_get::<_, String>("event_id")?),
            ticket_id: row.try_get("ticket_id")?,
            payload: row.try_get("payload")?,
        };
        let token = row.try_get::<_, i32>("token")?.into();
        let attempt = attempt(row)?;
        Ok(state.map(|state| OutboxRow {
            event,
            state,
            token,
            attempt,
        }))
    };
    read().map_err(OutboxError::during("read"))?
}
