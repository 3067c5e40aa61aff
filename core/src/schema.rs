//! The tables, and reading them.

use rusqlite::Connection;
use rusqlite::types::Value;

/// The named constraint that arbitrates: one receipt for an event and an effect.
pub const RECEIPT_CONSTRAINT: &str = "uq_effect_event_name";

/// The receipts table of the contract. [`apply_once`](crate::apply_once) needs this one and no other.
///
/// Both key columns are NOT NULL: SQL holds no two NULLs to be equal, so a key with a NULL in it would
/// guard nothing.
pub const RECEIPTS: &str = "\
CREATE TABLE effect_receipts (
  event_id    TEXT NOT NULL,
  effect_name TEXT NOT NULL,
  CONSTRAINT uq_effect_event_name UNIQUE (event_id, effect_name)
) STRICT;";

/// The same table without the constraint, for designs that do without it.
pub const RECEIPTS_UNGUARDED: &str = "\
CREATE TABLE effect_receipts (
  event_id    TEXT NOT NULL,
  effect_name TEXT NOT NULL
) STRICT;";

/// The table of a design whose key is the event alone: too wide for an event with several effects.
pub const RECEIPTS_BY_EVENT: &str = "\
CREATE TABLE effect_receipts (
  event_id    TEXT NOT NULL,
  effect_name TEXT NOT NULL,
  CONSTRAINT uq_effect_event UNIQUE (event_id)
) STRICT;";

/// The table of a design whose key is the ticket alone: too wide for a ticket that changes twice.
pub const RECEIPTS_BY_TICKET: &str = "\
CREATE TABLE effect_receipts (
  event_id    TEXT NOT NULL,
  effect_name TEXT NOT NULL,
  ticket_id   TEXT NOT NULL,
  CONSTRAINT uq_effect_ticket UNIQUE (ticket_id)
) STRICT;";

/// The receipts of a design with the ticket as its key and no constraint.
pub const RECEIPTS_BY_TICKET_UNGUARDED: &str = "\
CREATE TABLE effect_receipts (
  event_id    TEXT NOT NULL,
  effect_name TEXT NOT NULL,
  ticket_id   TEXT NOT NULL
) STRICT;";

/// Tickets, and the tasks that are the effects. A ticket has at most one escalated task: a business
/// rule with a UNIQUE of its own, whose violation has nothing to do with a duplicate.
pub const BUSINESS: &str = "\
CREATE TABLE tickets (
  id        TEXT NOT NULL PRIMARY KEY,
  tenant_id TEXT NOT NULL
) STRICT;
CREATE TABLE business_tasks (
  id        TEXT NOT NULL PRIMARY KEY,
  ticket_id TEXT NOT NULL REFERENCES tickets (id),
  tenant_id TEXT NOT NULL,
  task_type TEXT NOT NULL,
  status    TEXT NOT NULL CONSTRAINT ck_task_status CHECK (status IN ('pending', 'done', 'escalated'))
) STRICT;
CREATE UNIQUE INDEX uq_task_escalated ON business_tasks (ticket_id) WHERE status = 'escalated';";

/// A row of `effect_receipts`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Receipt {
    /// The event.
    pub event_id: String,
    /// The effect.
    pub effect_name: String,
}

/// A row of `business_tasks`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// The ticket.
    pub ticket_id: String,
    /// The tenant.
    pub tenant_id: String,
    /// What is to be done: the name of the effect.
    pub task_type: String,
    /// How far it is.
    pub status: String,
}

/// A row of `outbox_events`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutboxRow {
    /// The event.
    pub event_id: String,
    /// `pending`, `leased`, `published` or `parked`.
    pub state: String,
    /// Who claimed it.
    pub owner: Option<String>,
    /// How often it was claimed: the token of the last claim.
    pub token: i64,
    /// How often it was tried.
    pub attempt: i64,
    /// Until when the claim is good, in the units of the clock that it was claimed by.
    pub lease_until: Option<i64>,
}

/// What the tables hold as one connection sees them, each table in the order of its rows' text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tables {
    /// The ids in `tickets`.
    pub tickets: Vec<String>,
    /// `effect_receipts`.
    pub receipts: Vec<Receipt>,
    /// `business_tasks`.
    pub tasks: Vec<Task>,
    /// `outbox_events`, in the order of enqueueing. Empty in a laboratory without one.
    pub outbox: Vec<OutboxRow>,
}

impl Tables {
    /// Reads tickets, receipts and tasks through `connection`, in one statement and so under one lock.
    ///
    /// # Errors
    /// Whatever SQLite answers: BUSY, if the connection has no lock yet and may not have one.
    pub fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare_cached(READ_TABLES)?;
        let mut rows = statement.query([])?;
        let mut tables = Tables::default();
        while let Some(row) = rows.next()? {
            match row.get_ref(0)?.as_i64()? {
                0 => tables.tickets.push(row.get(1)?),
                1 => tables.receipts.push(Receipt {
                    event_id: row.get(1)?,
                    effect_name: row.get(2)?,
                }),
                _ => tables.tasks.push(Task {
                    id: row.get(1)?,
                    ticket_id: row.get(2)?,
                    tenant_id: row.get(3)?,
                    task_type: row.get(4)?,
                    status: row.get(5)?,
                }),
            }
        }
        tables.tickets.sort_unstable();
        tables.receipts.sort_unstable();
        tables.tasks.sort_unstable();
        Ok(tables)
    }

    /// Reads the outbox as well, in a statement of its own.
    ///
    /// # Errors
    /// As for [`Tables::read`].
    pub fn read_with_outbox(connection: &Connection) -> rusqlite::Result<Self> {
        let tables = Tables::read(connection)?;
        let mut statement = connection.prepare_cached(READ_OUTBOX)?;
        let rows = statement.query_map([], |row| {
            Ok(OutboxRow {
                event_id: row.get(0)?,
                state: row.get(1)?,
                owner: row.get(2)?,
                token: row.get(3)?,
                attempt: row.get(4)?,
                lease_until: row.get(5)?,
            })
        })?;
        let outbox = rows.collect::<rusqlite::Result<_>>()?;
        Ok(Tables { outbox, ..tables })
    }
}

/// The rows of all tables, each with the number of its table in front: what [`Tables::read`] asks.
pub const READ_TABLES: &str = "\
SELECT 0, id, NULL, NULL, NULL, NULL FROM tickets
UNION ALL SELECT 1, event_id, effect_name, NULL, NULL, NULL FROM effect_receipts
UNION ALL SELECT 2, id, ticket_id, tenant_id, task_type, status FROM business_tasks";

/// The rows of the outbox, in the order in which they were enqueued.
pub const READ_OUTBOX: &str = "SELECT event_id, state, owner, token, attempt, lease_until \
     FROM outbox_events ORDER BY position";

/// Adds a ticket.
pub const INSERT_TICKET: &str =
    "INSERT INTO tickets (id, tenant_id) VALUES (:ticket_id, :tenant_id)";

/// Writes a task. The effect itself.
pub const INSERT_TASK: &str = "INSERT INTO business_tasks (id, ticket_id, tenant_id, task_type, status) \
     VALUES (:task_id, :ticket_id, :tenant_id, :effect_name, :status)";

/// The same, with every constraint's violation but a foreign key's turned into silence.
pub const INSERT_TASK_OR_IGNORE: &str = "INSERT OR IGNORE INTO business_tasks (id, ticket_id, tenant_id, task_type, status) \
     VALUES (:task_id, :ticket_id, :tenant_id, :effect_name, :status)";

/// Looks for a notification that is to be sent.
pub const PICK_NOTIFICATION: &str = "SELECT id FROM business_tasks \
     WHERE task_type = 'notification' AND status = 'pending' ORDER BY id LIMIT 1";

/// Marks a notification as sent.
pub const MARK_DONE: &str =
    "UPDATE business_tasks SET status = 'done' WHERE id = :task_id AND status = 'pending'";

/// A value as the page and the traces write it: as an SQL literal.
pub fn literal(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Blob(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            format!("X'{digits}'")
        }
    }
}

/// The named constraint of the outbox: an event is enqueued once.
pub const OUTBOX_CONSTRAINT: &str = "uq_outbox_event";

/// The outbox: events that are committed with the ticket they are about and have still to be published.
/// The statements on it are in [`outbox::statements`](crate::outbox::statements).
///
/// `position` is the order of enqueuing, which is the order of the commits, since SQLite has one writer.
/// `token` counts the leases that were ever given and never goes back; `attempt` counts those of the
/// present try and may be set back by hand, when a parked event is to be tried anew. `lease_until` counts
/// whatever the caller's clock counts.
pub const OUTBOX_EVENTS: &str = "\
CREATE TABLE outbox_events (
  position    INTEGER PRIMARY KEY,
  event_id    TEXT NOT NULL,
  ticket_id   TEXT NOT NULL,
  payload     TEXT NOT NULL,
  state       TEXT NOT NULL CONSTRAINT ck_outbox_state CHECK (state IN ('pending', 'leased', 'published', 'parked')),
  owner       TEXT,
  token       INTEGER NOT NULL DEFAULT 0,
  attempt     INTEGER NOT NULL DEFAULT 0,
  lease_until INTEGER,
  CONSTRAINT uq_outbox_event UNIQUE (event_id),
  CONSTRAINT ck_outbox_owner CHECK ((state = 'leased') = (owner IS NOT NULL)),
  CONSTRAINT ck_outbox_lease CHECK ((state = 'leased') = (lease_until IS NOT NULL))
) STRICT;";

/// Spares a claim the walk past every event that was published already. Nothing else depends on it.
pub const OUTBOX_OPEN_INDEX: &str = "\
CREATE INDEX ix_outbox_open ON outbox_events (position) WHERE state IN ('pending', 'leased');";
