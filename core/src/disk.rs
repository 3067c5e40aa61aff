//! The disk that every worker's database connection shares: pages in memory, and the five locks.
//!
//! SQLite runs unchanged on top of it through its file-system interface. What this module models is
//! the part a disk and an operating system play: bytes that stay, and locks on the database file with
//! the meaning that SQLite gives them. It records every lock that is taken, refused and released, so
//! that "B waits for A" is read from the recording and never guessed. It leaves out time (the clock
//! stands still), torn pages and loss of power; the journal mode is the rollback journal.
//!
//! A property test drives it and a real database file with the same statements, and compares.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

mod locks;
mod pages;
mod vfs;

pub use locks::{LockChange, LockEvent};
pub use rsqlite_vfs::LockLevel;

use locks::LockTable;
use pages::Pages;

/// Which connection of a disk: 0 is the observer, workers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u8);

impl ConnectionId {
    /// The connection that looks through glass: it reads what is committed, takes no lock, is never
    /// refused one, and appears in no recording.
    pub const OBSERVER: ConnectionId = ConnectionId(0);
}

/// The name of the one database on a disk.
const DATABASE: &str = "lab.db";

/// What lies on the platter, and who holds which lock.
#[derive(Default)]
struct Platter {
    files: BTreeMap<String, Rc<RefCell<Pages>>>,
    locks: LockTable,
    /// While a process dies, whatever its connection still tries to do fails.
    dying: bool,
}

/// A disk with one database, shared by all clones of this handle.
///
/// Two disks never share anything: each registers a file system of its own with SQLite, under a name
/// that is never used twice in a process, and takes it back when the last handle and connection are gone.
#[derive(Clone)]
pub struct Disk {
    platter: Rc<RefCell<Platter>>,
    registration: Rc<vfs::Registration>,
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk")
            .field("vfs", &self.registration.name())
            .finish_non_exhaustive()
    }
}

/// The committed bytes of a disk at one moment. Cheap to take and to keep: pages are shared until written.
#[derive(Clone, Debug)]
pub struct Snapshot(Pages);

impl Default for Disk {
    fn default() -> Self {
        Self::new()
    }
}

impl Disk {
    /// An empty disk.
    ///
    /// # Panics
    /// If SQLite cannot register another file system, which means that memory ran out.
    pub fn new() -> Self {
        static DISKS: AtomicU64 = AtomicU64::new(0);
        let name = format!("deliver-twice-{}", DISKS.fetch_add(1, Ordering::Relaxed));
        let platter = Rc::new(RefCell::new(Platter::default()));
        let registration = Rc::new(vfs::Registration::new(name, Rc::clone(&platter)));
        Disk {
            platter,
            registration,
        }
    }

    /// Opens a connection that answers to `id` in the lock table and in the recording.
    ///
    /// The connection has `foreign_keys` on, waits for nobody (`busy_timeout` 0), and keeps its journal
    /// in the rollback mode, on native and in wasm alike.
    ///
    /// # Errors
    /// Whatever SQLite answers to opening or to the settings.
    pub fn connect(&self, id: ConnectionId) -> rusqlite::Result<DiskConnection> {
        let uri = format!("file:{DATABASE}?connection={}", id.0);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags_and_vfs(uri, flags, self.registration.name())?;
        connection.busy_timeout(Duration::ZERO)?;
        // The two builds of SQLite differ in these defaults, so each is said.
        connection.execute_batch(
            "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA page_size = 4096;",
        )?;
        Ok(DiskConnection {
            connection,
            id,
            disk: self.clone(),
        })
    }

    /// The lock that `id` holds on the database file.
    pub fn lock_level(&self, id: ConnectionId) -> LockLevel {
        self.platter.borrow().locks.level(id)
    }

    /// Whether `id` would be given `wanted` now. Changes nothing and records nothing.
    pub fn would_grant(&self, id: ConnectionId, wanted: LockLevel) -> bool {
        self.platter.borrow().locks.obstacles(id, wanted).is_empty()
    }

    /// Who stands in the way of `id` taking `wanted` now, in the order of their ids.
    pub fn obstacles(&self, id: ConnectionId, wanted: LockLevel) -> Vec<ConnectionId> {
        self.platter.borrow().locks.obstacles(id, wanted)
    }

    /// The last lock that `id` was refused in the recording so far, and who held it then.
    pub fn last_refusal(&self, id: ConnectionId) -> Option<(LockLevel, Vec<ConnectionId>)> {
        self.platter.borrow().locks.last_refusal(id)
    }

    /// Takes the recording of locks since the last call, oldest first.
    pub fn take_recording(&self) -> Vec<LockEvent> {
        self.platter.borrow_mut().locks.take_recording()
    }

    /// How often the database file was written, counted in calls from SQLite. It stands still exactly
    /// while nothing was committed.
    pub fn writes(&self) -> u64 {
        self.file(DATABASE).borrow().writes()
    }

    /// The committed bytes as they are now.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(self.file(DATABASE).borrow().clone())
    }

    /// The database file as it lies on the disk now, as the `sqlite3` shell would read it.
    pub fn image(&self) -> Vec<u8> {
        self.file(DATABASE).borrow().to_bytes()
    }

    /// Puts the bytes of `snapshot` back, as if some other process had committed them.
    ///
    /// Open connections notice: the file's change counter moves on, so none of them trusts its cache.
    /// The schema must be the one they know. Journals that a crash left behind are gone afterwards.
    ///
    /// # Panics
    /// If a connection holds a lock: it would be reading one state while the file holds another.
    pub fn restore(&self, snapshot: &Snapshot) {
        let mut platter = self.platter.borrow_mut();
        assert!(
            platter.locks.is_free(),
            "a disk is restored only while no connection holds a lock"
        );
        platter.files.retain(|name, _| name == DATABASE);
        let file = platter
            .files
            .get(DATABASE)
            .expect("a snapshot is taken of a database that exists");
        file.borrow_mut().restore(&snapshot.0);
    }

    fn file(&self, name: &str) -> Rc<RefCell<Pages>> {
        let mut platter = self.platter.borrow_mut();
        match platter.files.get(name) {
            Some(file) => Rc::clone(file),
            None => Rc::clone(platter.files.entry(name.to_owned()).or_default()),
        }
    }
}

/// One connection to the database on a [`Disk`].
#[derive(Debug)]
pub struct DiskConnection {
    // Declared before `disk`: a connection is closed before its file system can go away.
    connection: Connection,
    id: ConnectionId,
    disk: Disk,
}

impl std::ops::Deref for DiskConnection {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DiskConnection {
    /// The id under which the disk knows this connection.
    pub fn id(&self) -> ConnectionId {
        self.id
    }

    /// Lets the process of this connection die, and stands for the one that takes its place.
    ///
    /// SQLite gets no chance to tidy up: every read and write that the rollback would cause is refused.
    /// What was not committed was never in the file, or the next reader plays the journal back; the
    /// operating system drops the locks. That is the recovery SQLite does by itself after a crash.
    ///
    /// Afterwards the connection has no transaction, no lock and no page in its memory, as one that was
    /// just opened. Only the schema it need not read again, which is what makes this ten times cheaper
    /// than [`DiskConnection::die`] and [`Disk::connect`]; a property test holds the two to the same
    /// answers.
    pub fn crash(&self) {
        self.disk.platter.borrow_mut().dying = true;
        if !self.connection.is_autocommit() {
            // The rollback ends the transaction in this process' memory and fails at everything else.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        let mut platter = self.disk.platter.borrow_mut();
        platter.dying = false;
        platter.locks.release_all(self.id);
    }

    /// Ends the connection as the death of its process would. See [`DiskConnection::crash`].
    pub fn die(self) {
        let DiskConnection {
            connection,
            id,
            disk,
        } = self;
        disk.platter.borrow_mut().dying = true;
        drop(connection);
        let mut platter = disk.platter.borrow_mut();
        platter.dying = false;
        platter.locks.release_all(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn disk_with_table() -> (Disk, DiskConnection) {
        let disk = Disk::new();
        let connection = disk.connect(ConnectionId(1)).unwrap();
        connection
            .execute_batch("CREATE TABLE t (x INTEGER NOT NULL) STRICT;")
            .unwrap();
        disk.take_recording();
        (disk, connection)
    }

    fn rows(connection: &Connection) -> i64 {
        connection
            .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn a_writing_transaction_climbs_from_shared_to_exclusive_and_lets_go() {
        let (disk, a) = disk_with_table();
        a.execute_batch("BEGIN; INSERT INTO t VALUES (1); COMMIT;")
            .unwrap();
        let taken: Vec<LockChange> = disk
            .take_recording()
            .into_iter()
            .map(|e| e.change)
            .collect();
        assert_eq!(
            taken,
            [
                LockChange::Taken(LockLevel::Shared),
                LockChange::Taken(LockLevel::Reserved),
                LockChange::Taken(LockLevel::Exclusive),
                LockChange::Released {
                    to: LockLevel::Shared
                },
                LockChange::Released {
                    to: LockLevel::None
                },
            ]
        );
    }

    #[test]
    fn a_refusal_names_the_holder() {
        let (disk, a) = disk_with_table();
        let b = disk.connect(ConnectionId(2)).unwrap();
        a.execute_batch("BEGIN; INSERT INTO t VALUES (1);").unwrap();
        disk.take_recording();
        assert!(b.execute_batch("INSERT INTO t VALUES (2);").is_err());
        assert!(disk.take_recording().contains(&LockEvent {
            connection: ConnectionId(2),
            change: LockChange::Refused {
                wanted: LockLevel::Reserved,
                holders: vec![ConnectionId(1)]
            },
        }));
    }

    #[test]
    fn the_observer_sees_only_what_is_committed_and_blocks_nobody() {
        let (disk, a) = disk_with_table();
        let observer = disk.connect(ConnectionId::OBSERVER).unwrap();
        a.execute_batch("BEGIN; INSERT INTO t VALUES (1);").unwrap();
        assert_eq!(rows(&observer), 0);
        observer.execute_batch("BEGIN; SELECT * FROM t;").unwrap();
        a.execute_batch("COMMIT;").unwrap();
        observer.execute_batch("ROLLBACK;").unwrap();
        assert_eq!(rows(&observer), 1);
        assert!(
            disk.take_recording()
                .iter()
                .all(|e| e.connection == ConnectionId(1))
        );
    }

    #[test]
    fn a_dead_process_leaves_no_lock_and_no_row() {
        let (disk, a) = disk_with_table();
        a.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (1);")
            .unwrap();
        a.die();
        let b = disk.connect(ConnectionId(2)).unwrap();
        assert_eq!(rows(&b), 0);
        b.execute_batch("INSERT INTO t VALUES (2);").unwrap();
        assert_eq!(rows(&b), 1);
    }

    /// With a cache of one page SQLite must write into the file before the commit, so the journal that
    /// the dead process leaves is hot, and the next reader has to play it back.
    #[test]
    fn a_hot_journal_is_played_back_by_the_next_reader() {
        let (disk, a) = disk_with_table();
        a.execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN;")
            .unwrap();
        let before = disk.image();
        for x in 0..2_000 {
            a.execute("INSERT INTO t VALUES (?1)", [x]).unwrap();
        }
        assert_ne!(
            before,
            disk.image(),
            "nothing spilled: the test would prove nothing"
        );
        a.die();
        let b = disk.connect(ConnectionId(2)).unwrap();
        assert_eq!(rows(&b), 0);
        assert_eq!(before, disk.image());
    }

    #[test]
    fn a_restore_is_noticed_by_open_connections() {
        let (disk, a) = disk_with_table();
        let b = disk.connect(ConnectionId(2)).unwrap();
        let empty = disk.snapshot();
        for value in [1, 2] {
            a.execute("INSERT INTO t VALUES (?1)", [value]).unwrap();
            // B caches the page; the next branch commits as often as this one did.
            let seen: i64 = b
                .query_row("SELECT sum(x) FROM t", [], |row| row.get(0))
                .unwrap();
            assert_eq!(seen, value);
            disk.restore(&empty);
        }
        assert_eq!(rows(&b), 0);
    }

    #[test]
    fn two_disks_share_nothing() {
        let (_first, a) = disk_with_table();
        let (_second, b) = disk_with_table();
        a.execute_batch("INSERT INTO t VALUES (1);").unwrap();
        assert_eq!(rows(&b), 0);
    }

    /// Each disk is a file system that SQLite knows by name, in one list for the whole process. If one
    /// stayed behind, the page would grow with every laboratory it opens, and opening would slow down.
    #[test]
    fn a_thousand_disks_come_and_go() {
        for round in 0..1_000 {
            let (disk, a) = disk_with_table();
            let (name, platter) = (
                disk.registration.name().to_owned(),
                Rc::downgrade(&disk.platter),
            );
            a.execute_batch("BEGIN; INSERT INTO t VALUES (1);").unwrap();
            drop(disk);
            assert!(
                platter.upgrade().is_some(),
                "a connection keeps its disk alive"
            );
            match round % 2 {
                0 => drop(a),
                _ => a.die(),
            }
            assert!(
                platter.upgrade().is_none(),
                "round {round} left its bytes behind"
            );
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
            let again = Connection::open_with_flags_and_vfs(DATABASE, flags, name.as_str());
            let refusal = again
                .expect_err("the file system is still registered")
                .to_string();
            assert!(refusal.contains("no such vfs"), "{refusal}");
        }
    }

    #[test]
    fn the_clock_stands_still() {
        let (_disk, a) = disk_with_table();
        let now: String = a
            .query_row("SELECT CURRENT_TIMESTAMP", [], |row| row.get(0))
            .unwrap();
        assert_eq!(now, "2026-01-05 09:00:00");
    }
}
