//! The outbox in SQLite, beside the business tables.

use std::num::NonZeroU32;

use rusqlite::types::Type;
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, named_params};

use super::{
    EventState, Held, Lease, OutboxError, OutboxEvent, OutboxRow, OutboxStore, end_of_lease,
    statements,
};
use crate::event::EventId;
use crate::sql::{self, Answer, Purpose, RefusalKind};

/// An outbox on a caller's connection. Its database must have the table
/// [`schema::OUTBOX_EVENTS`](crate::schema::OUTBOX_EVENTS).
///
/// Every call but [`enqueue`](Self::enqueue) is a transaction of its own, so the connection must not have
/// one open.
#[derive(Debug)]
pub struct SqliteOutbox<'c> {
    connection: &'c mut Connection,
}

impl<'c> SqliteOutbox<'c> {
    /// The outbox in the database of this connection.
    pub fn new(connection: &'c mut Connection) -> Self {
        SqliteOutbox { connection }
    }

    /// Adds an event in the transaction of the business write, so that both commit or neither does.
    ///
    /// # Errors
    /// [`OutboxError::AlreadyEnqueued`] if the event is there, and only then: another refusal is itself,
    /// even one with the same code. [`OutboxError::TransactionEnded`] if `transaction` is none any more.
    /// The transaction is left to the caller.
    ///
    /// # Example
    /// ```
    /// use deliver_twice_core::event::EventId;
    /// use deliver_twice_core::outbox::{OutboxEvent, SqliteOutbox};
    /// use deliver_twice_core::schema;
    /// let mut db = rusqlite::Connection::open_in_memory()?;
    /// db.execute_batch(schema::BUSINESS)?;
    /// db.execute_batch(schema::OUTBOX_EVENTS)?;
    /// let transaction = db.transaction()?;
    /// transaction.execute(schema::INSERT_TICKET, ["ticket-1", "tenant-1"])?;
    /// let event = OutboxEvent {
    ///     event_id: EventId::new("e1"),
    ///     ticket_id: "ticket-1".to_owned(),
    ///     payload: "ticket.created".to_owned(),
    /// };
    /// SqliteOutbox::enqueue(&transaction, &event)?;
    /// transaction.commit()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enqueue(transaction: &Transaction<'_>, event: &OutboxEvent) -> Result<(), OutboxError> {
        if transaction.is_autocommit() {
            return Err(OutboxError::TransactionEnded);
        }
        let values = named_params! {
            ":event_id": event.event_id.as_str(),
            ":ticket_id": event.ticket_id,
            ":payload": event.payload,
        };
        match sql::ask(transaction, Purpose::Write, statements::ENQUEUE, values) {
            Ok(Answer::Changed(1)) => Ok(()),
            Ok(_) => Err(OutboxError::NotEnqueued {
                event_id: event.event_id.clone(),
            }),
            Err(error) => Err(not_enqueued(transaction, &event.event_id, error)),
        }
    }

    /// Every event with how far it is, in the order of enqueuing.
    ///
    /// # Errors
    /// [`OutboxError::Refused`].
    pub fn rows(connection: &Connection) -> Result<Vec<OutboxRow>, OutboxError> {
        let read = || {
            let mut statement = connection.prepare_cached(statements::READ_ROWS)?;
            let rows = statement.query_map([], outbox_row)?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(OutboxError::during("read"))
    }

    /// Runs one fenced statement for `lease`.
    fn settle(
        &mut self,
        during: &'static str,
        sql: &str,
        lease: &Lease,
    ) -> Result<Held, OutboxError> {
        self.check_no_transaction()?;
        let values = named_params! {
            ":event_id": lease.event_id.as_str(),
            ":token": lease.token,
        };
        let answer = sql::ask(self.connection, Purpose::Write, sql, values)
            .map_err(OutboxError::during(during))?;
        Ok(match answer {
            Answer::Changed(1..) => Held::Yes,
            _ => Held::Fenced,
        })
    }

    fn check_no_transaction(&self) -> Result<(), OutboxError> {
        if self.connection.is_autocommit() {
            Ok(())
        } else {
            Err(OutboxError::InTransaction)
        }
    }
}

impl OutboxStore for SqliteOutbox<'_> {
    type Error = OutboxError;

    fn claim(
        &mut self,
        owner: &str,
        now: i64,
        lease: NonZeroU32,
        limit: usize,
    ) -> Result<Vec<Lease>, OutboxError> {
        let until = end_of_lease(now, lease)?;
        self.check_no_transaction()?;
        claim_all(self.connection, owner, now, until, limit).map_err(OutboxError::during("claim"))
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

/// What a refused enqueue means. A trigger on the caller's table may refuse with the same code, so only a
/// row that is there proves that the event was enqueued before.
fn not_enqueued(
    transaction: &Transaction<'_>,
    event_id: &EventId,
    error: rusqlite::Error,
) -> OutboxError {
    let during = OutboxError::during("enqueue");
    if RefusalKind::of(&error) != RefusalKind::Unique {
        return during(error);
    }
    let values = named_params! { ":event_id": event_id.as_str() };
    match sql::ask(transaction, Purpose::Query, statements::FIND, values) {
        Ok(Answer::Rows(1..)) => OutboxError::AlreadyEnqueued {
            event_id: event_id.clone(),
        },
        Ok(_) => during(error),
        Err(error) => during(error),
    }
}

/// Claims one event after another, all in one transaction: an error on the way leaves none leased to an
/// owner who does not know it.
fn claim_all(
    connection: &mut Connection,
    owner: &str,
    now: i64,
    until: i64,
    limit: usize,
) -> rusqlite::Result<Vec<Lease>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut leases = Vec::new();
    while leases.len() < limit {
        let Some(lease) = claim_one(&transaction, owner, now, until)? else {
            break;
        };
        leases.push(lease);
    }
    transaction.commit()?;
    Ok(leases)
}

fn claim_one(
    connection: &Connection,
    owner: &str,
    now: i64,
    until: i64,
) -> rusqlite::Result<Option<Lease>> {
    let mut statement = connection.prepare_cached(statements::CLAIM_ONE)?;
    let values = named_params! { ":owner": owner, ":until": until, ":now": now };
    let mut rows = statement.query(values)?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let lease = Lease {
        event_id: EventId::new(row.get::<_, String>("event_id")?),
        ticket_id: row.get("ticket_id")?,
        payload: row.get("payload")?,
        token: row.get("token")?,
        attempt: row.get("attempt")?,
        owner: owner.to_owned(),
    };
    Ok(Some(lease))
}

fn outbox_row(row: &Row<'_>) -> rusqlite::Result<OutboxRow> {
    Ok(OutboxRow {
        event: OutboxEvent {
            event_id: EventId::new(row.get::<_, String>("event_id")?),
            ticket_id: row.get("ticket_id")?,
            payload: row.get("payload")?,
        },
        state: event_state(row)?,
        token: row.get("token")?,
        attempt: row.get("attempt")?,
    })
}

fn event_state(row: &Row<'_>) -> rusqlite::Result<EventState> {
    let state: String = row.get("state")?;
    Ok(match state.as_str() {
        "pending" => EventState::Pending,
        "leased" => EventState::Leased {
            owner: row.get("owner")?,
            until: row.get("lease_until")?,
        },
        "published" => EventState::Published,
        "parked" => EventState::Parked,
        _ => {
            let column = row.as_ref().column_index("state")?;
            let why = format!("`{state}` is no state of an event").into();
            return Err(rusqlite::Error::FromSqlConversionFailure(
                column,
                Type::Text,
                why,
            ));
        }
    })
}
