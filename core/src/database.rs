//! The database that the workers of a machine share: what one engine does otherwise than another.
//!
//! The machine asks it, and knows no more of it than this. [`SharedDisk`] is SQLite on a disk of the
//! laboratory's own; another server can be put in its place, and then the same plans run there.

use std::fmt;

use crate::disk::{ConnectionId, LockEvent, LockLevel};
use crate::schema::Tables;
use crate::sql::{Answer, Purpose};
use crate::system::Statement;

mod shared_disk;

pub use shared_disk::SharedDisk;

/// What could not be done although no design is meant to fail at it.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The result of what no design is meant to fail at.
pub type Result<T> = std::result::Result<T, Failure>;

/// A database with a connection for every worker, one for the operator, and a way to look at what is
/// committed.
pub trait Database: fmt::Debug {
    /// Runs a statement over a connection.
    ///
    /// Where the connection has to wait for another, it answers that it is
    /// [`Busy`](crate::sql::RefusalKind::Busy). The machine then asks again with the same statement, once
    /// [`would_grant`](Database::would_grant) says so.
    fn ask(&self, connection: ConnectionId, purpose: Purpose, statement: &Statement) -> Answer;

    /// Whether a transaction is open on the connection.
    fn is_in_transaction(&self, connection: ConnectionId) -> bool;

    /// The lock on the whole database that the connection holds; none where there is no such lock.
    fn lock_level(&self, connection: ConnectionId) -> LockLevel;

    /// Whether the connection would not have to wait now for a lock that it wants or was refused.
    fn would_grant(&self, connection: ConnectionId, wanted: LockLevel) -> bool;

    /// Who stands in its way, in the order of their ids.
    fn obstacles(&self, connection: ConnectionId, wanted: LockLevel) -> Vec<ConnectionId>;

    /// The lock that the connection was refused last, and who held it then.
    fn last_refusal(&self, connection: ConnectionId) -> Option<(LockLevel, Vec<ConnectionId>)>;

    /// The worker stops waiting: what its connection was asked to do is not done.
    fn give_up(&self, connection: ConnectionId);

    /// Lets the process at the other end of a connection die, and opens another in its place.
    fn crash(&self, connection: ConnectionId);

    /// What is committed. `None` if nothing was since this was asked last.
    ///
    /// # Errors
    /// If the tables cannot be read.
    fn committed(&self) -> Result<Option<Tables>>;

    /// What the tables hold as a connection sees them that has written and not committed. `None` if it has
    /// not, or if asking would change what is to be shown.
    ///
    /// # Errors
    /// If the tables cannot be read.
    fn uncommitted(&self, connection: ConnectionId) -> Result<Option<Tables>>;

    /// What happened to the locks since the last call, oldest first; nothing where they cannot be seen.
    fn take_recording(&self) -> Vec<LockEvent>;
}

/// What a database has in it when a machine starts, and who will connect to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The tables, as SQL.
    pub tables: Vec<&'static str>,
    /// The rows, as statements.
    pub rows: Vec<Statement>,
    /// The workers' connections, in the order of the workers' ids.
    pub workers: Vec<ConnectionId>,
    /// Whether the outbox is one of the tables.
    pub has_outbox: bool,
}
