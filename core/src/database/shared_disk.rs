//! SQLite: a connection for everybody to one disk in memory.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Database, Failure, Result, Setting};
use crate::disk::{ConnectionId, Disk, DiskConnection, LockEvent, LockLevel, Snapshot};
use crate::plan::Plan;
use crate::schema::Tables;
use crate::sql::{self, Answer, Purpose};
use crate::system::{OPERATOR, Statement};

/// SQLite on one disk, with a connection for everybody.
#[derive(Debug)]
pub struct SharedDisk {
    // Connections before the disk: fields are dropped in this order.
    observer: DiskConnection,
    operator: DiskConnection,
    workers: Vec<DiskConnection>,
    disk: Disk,
    has_outbox: bool,
    start: Snapshot,
    /// The disk for each content of the tables that a snapshot was taken of.
    images: BTreeMap<Rc<Tables>, Snapshot>,
    writes_seen: Cell<u64>,
}

impl SharedDisk {
    /// A disk with this in its tables.
    ///
    /// # Errors
    /// If SQLite refuses to set the tables up.
    pub fn new(setting: &Setting) -> Result<Self> {
        let disk = Disk::new();
        let operator = disk.connect(OPERATOR)?;
        for table in &setting.tables {
            operator.execute_batch(table)?;
        }
        for row in &setting.rows {
            operator.execute(row.sql, row.bound())?;
        }
        let observer = disk.connect(ConnectionId::OBSERVER)?;
        let workers = setting.workers.iter();
        let workers = workers.map(|id| acquainted(disk.connect(*id)?));
        let workers = workers.collect::<Result<_>>()?;
        disk.take_recording();
        Ok(SharedDisk {
            observer,
            operator,
            workers,
            start: disk.snapshot(),
            writes_seen: Cell::new(0),
            images: BTreeMap::new(),
            has_outbox: setting.has_outbox,
            disk,
        })
    }

    /// The disk, for its lock table and its image.
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// The disk as it was when everything was set up.
    pub(crate) fn start(&self) -> &Snapshot {
        &self.start
    }

    /// The disk as it is, where these are the rows that are committed.
    ///
    /// Equal rows are kept once, however many states hold them: which of them lies where in the file no
    /// statement of a plan can tell.
    pub(crate) fn snapshot(&mut self, committed: &Rc<Tables>) -> Snapshot {
        let image = self.images.entry(Rc::clone(committed));
        image.or_insert_with(|| self.disk.snapshot()).clone()
    }

    /// Comes back to a snapshot, on the same connections.
    ///
    /// # Errors
    /// If SQLite refuses to roll back what is open.
    pub(crate) fn return_to(&self, image: &Snapshot) -> Result<()> {
        for connection in self.workers.iter().filter(|c| !c.is_autocommit()) {
            let _ = sql::ask(connection, Purpose::Control, Plan::ROLLBACK, [])?;
        }
        self.disk.restore(image);
        self.disk.take_recording();
        self.writes_seen.set(self.disk.writes());
        Ok(())
    }

    fn connection(&self, id: ConnectionId) -> &DiskConnection {
        if id == OPERATOR {
            return &self.operator;
        }
        let mut workers = self.workers.iter();
        let worker = workers.find(|connection| connection.id() == id);
        worker.expect("a connection of this database")
    }

    fn read(&self, connection: &DiskConnection) -> Result<Tables> {
        let tables = if self.has_outbox {
            Tables::read_with_outbox(connection)
        } else {
            Tables::read(connection)
        };
        tables.map_err(Failure::from)
    }
}

impl Database for SharedDisk {
    fn ask(&self, connection: ConnectionId, purpose: Purpose, statement: &Statement) -> Answer {
        let connection = self.connection(connection);
        let values = statement.bound();
        sql::answer(sql::ask(connection, purpose, statement.sql, values))
    }

    fn is_in_transaction(&self, connection: ConnectionId) -> bool {
        !self.connection(connection).is_autocommit()
    }

    fn lock_level(&self, connection: ConnectionId) -> LockLevel {
        self.disk.lock_level(connection)
    }

    fn would_grant(&self, connection: ConnectionId, wanted: LockLevel) -> bool {
        self.disk.would_grant(connection, wanted)
    }

    fn obstacles(&self, connection: ConnectionId, wanted: LockLevel) -> Vec<ConnectionId> {
        self.disk.obstacles(connection, wanted)
    }

    fn last_refusal(&self, connection: ConnectionId) -> Option<(LockLevel, Vec<ConnectionId>)> {
        self.disk.last_refusal(connection)
    }

    /// SQLite has refused already, and nothing of the statement is left.
    fn give_up(&self, _connection: ConnectionId) {}

    fn crash(&self, connection: ConnectionId) {
        self.connection(connection).crash();
    }

    fn committed(&self) -> Result<Option<Tables>> {
        let writes = self.disk.writes();
        if self.writes_seen.replace(writes) == writes {
            return Ok(None);
        }
        self.read(&self.observer).map(Some)
    }

    /// Only a writer sees anything else than what is committed. Asking a transaction that has not read yet
    /// would make it take a lock.
    fn uncommitted(&self, connection: ConnectionId) -> Result<Option<Tables>> {
        if self.lock_level(connection) < LockLevel::Reserved {
            return Ok(None);
        }
        self.read(self.connection(connection)).map(Some)
    }

    fn take_recording(&self) -> Vec<LockEvent> {
        self.disk.take_recording()
    }
}

/// A worker's connection, once it has read the schema.
///
/// SQLite reads it before the first statement that names a table, under a SHARED lock of its own. In a
/// recording that lock would tell a new connection from a used one, which no design is about.
fn acquainted(connection: DiskConnection) -> Result<DiskConnection> {
    connection.prepare("SELECT 1 FROM effect_receipts")?;
    Ok(connection)
}
