//! The disk against a real database file: the same statements in the same interleaving, drawn at
//! random, must get the same answers.
//!
//! Three workers on each side, a rollback journal, no waiting. A step is a statement, the end of a
//! worker (closed, or dead), or a SELECT that stays open while other steps happen. Some cases run with
//! a cache of one page, so that SQLite writes into the file before the commit and takes its locks
//! early; some without syncing, so that a live writer's journal already looks like a dead one's. `PROPTEST_CASES=20000 cargo test -p deliver-twice-core disk_against_file` looks further.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use deliver_twice_core::disk::{ConnectionId, Disk, DiskConnection};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rusqlite::{Connection, Error, OpenFlags, Row};

const WORKERS: u8 = 3;

const TABLES: &str = "
    CREATE TABLE receipts (k INTEGER NOT NULL UNIQUE, v BLOB NOT NULL) STRICT;
    CREATE TABLE tasks (
        k INTEGER NOT NULL REFERENCES receipts (k) DEFERRABLE INITIALLY DEFERRED,
        size INTEGER NOT NULL CHECK (size > 0)
    ) STRICT;
    INSERT INTO receipts VALUES (0, x'00'), (1, x'01');
";

const RECEIPTS: &str = "SELECT k, length(v) FROM receipts";
const TASKS: &str = "SELECT k, size FROM tasks";

/// Extended result codes, under the names of SQLite's documentation.
const BUSY: i32 = 5;
const CONSTRAINT_CHECK: i32 = 275;
const CONSTRAINT_FOREIGNKEY: i32 = 787;
const CONSTRAINT_UNIQUE: i32 = 2067;

// ---- What is drawn ------------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Step {
    /// A worker runs one statement.
    Run(u8, String),
    /// A worker closes its connection, whatever is open, and opens a new one.
    Close(u8),
    /// A worker's process dies and starts again. On the file this is a close: SQLite's recovery must
    /// make the two look the same. Without syncing it does not (the journal is hot too early, and
    /// playing it back waits for readers), so there the step is a close on both sides.
    Die(u8),
    /// The same, on a disk whose connection stands for the next process too. On the file it is a close
    /// and a new connection. Where a new connection would have settings to read the schema for, it is
    /// as [`Step::Die`].
    Crash(u8),
    /// A worker reads the first row of a SELECT, the steps happen, and it reads the rest.
    WhileReading(u8, Vec<Step>),
}

#[derive(Clone, Debug)]
struct Case {
    settings: Vec<&'static str>,
    steps: Vec<Step>,
}

const UNSYNCED: &str = "PRAGMA synchronous = OFF";

fn statement() -> impl Strategy<Value = String> {
    let key = || 0..5_u8;
    // A blob of six pages, so that a tiny cache overflows.
    let size = || prop_oneof![3 => Just(1), 1 => Just(24_000)];
    let fixed = |sql: &str| Just(sql.to_owned());
    prop_oneof![
        4 => fixed("BEGIN"),
        2 => fixed("BEGIN IMMEDIATE"),
        1 => fixed("BEGIN EXCLUSIVE"),
        6 => fixed("COMMIT"),
        3 => fixed("ROLLBACK"),
        1 => fixed("SAVEPOINT s"),
        1 => fixed("RELEASE s"),
        1 => fixed("ROLLBACK TO s"),
        5 => fixed(RECEIPTS),
        2 => fixed(TASKS),
        5 => (key(), size())
            .prop_map(|(k, n)| format!("INSERT INTO receipts VALUES ({k}, zeroblob({n}))")),
        2 => key().prop_map(|k| format!("INSERT OR IGNORE INTO receipts VALUES ({k}, x'02')")),
        1 => key().prop_map(|k| format!("INSERT OR ROLLBACK INTO receipts VALUES ({k}, x'03')")),
        1 => key().prop_map(|k| format!("INSERT OR REPLACE INTO receipts VALUES ({k}, x'04')")),
        2 => (key(), key()).prop_map(|(k, n)| format!("INSERT INTO tasks VALUES ({k}, {n})")),
        3 => (key(), key()).prop_map(|(k, n)| format!("UPDATE receipts SET k = {n} WHERE k = {k}")),
        2 => (key(), size())
            .prop_map(|(k, n)| format!("UPDATE receipts SET v = zeroblob({n}) WHERE k >= {k}")),
        2 => key().prop_map(|k| format!("DELETE FROM receipts WHERE k = {k}")),
        1 => key().prop_map(|k| format!("DELETE FROM tasks WHERE k >= {k}")),
    ]
}

fn simple_step() -> impl Strategy<Value = Step> + Clone {
    let worker = || 0..WORKERS;
    prop_oneof![
        30 => (worker(), statement()).prop_map(|(w, sql)| Step::Run(w, sql)),
        1 => worker().prop_map(Step::Close),
        1 => worker().prop_map(Step::Die),
        1 => worker().prop_map(Step::Crash),
    ]
    .boxed()
}

/// Either a step of `inner`, or some of them while a worker has a SELECT open.
fn perhaps_while_reading(
    inner: impl Strategy<Value = Step> + Clone + 'static,
) -> impl Strategy<Value = Step> + Clone {
    let reading =
        (0..WORKERS, vec(inner.clone(), 1..8)).prop_map(|(w, steps)| Step::WhileReading(w, steps));
    prop_oneof![12 => inner, 1 => reading].boxed()
}

fn case() -> impl Strategy<Value = Case> {
    let step = perhaps_while_reading(perhaps_while_reading(simple_step()));
    let settings = prop_oneof![
        Just(vec![]),
        Just(vec!["PRAGMA cache_size = 1", "PRAGMA cache_spill = 1"]),
        Just(vec![UNSYNCED]),
    ];
    (settings, vec(step, 1..50)).prop_map(|(settings, steps)| Case { settings, steps })
}

// ---- The two sides ------------------------------------------------------------------------------

/// Where a database lies, and how a worker gets a connection to it.
enum Side {
    Disk(Disk),
    File(PathBuf),
}

enum Handle {
    Disk(DiskConnection),
    File(Connection),
}

impl Side {
    fn connect(&self, worker: u8) -> Handle {
        match self {
            Side::Disk(disk) => Handle::Disk(disk.connect(ConnectionId(worker + 1)).unwrap()),
            Side::File(path) => Handle::File(connect_as_the_disk_does(path)),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Side::Disk(disk) => disk.image(),
            Side::File(path) => std::fs::read(path).unwrap(),
        }
    }
}

fn connect_as_the_disk_does(path: &PathBuf) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = Connection::open_with_flags(path, flags).unwrap();
    connection.busy_timeout(Duration::ZERO).unwrap();
    connection
        .execute_batch(
            "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA page_size = 4096;",
        )
        .unwrap();
    connection
}

impl Deref for Handle {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        match self {
            Handle::Disk(connection) => connection,
            Handle::File(connection) => connection,
        }
    }
}

impl Handle {
    fn die(self) {
        match self {
            Handle::Disk(connection) => connection.die(),
            Handle::File(connection) => drop(connection),
        }
    }
}

// ---- What is compared ---------------------------------------------------------------------------

#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    /// A statement's rows, and the error that cut them short.
    Rows(Vec<(i64, i64)>, Option<i32>),
    /// What SQLite counted as changed; and whether a transaction is open afterwards.
    Changed { rows: usize, in_transaction: bool },
    /// An extended result code; and whether a transaction is open afterwards.
    Refused { code: i32, in_transaction: bool },
    /// A connection is not closed under an open SELECT; the step is left out.
    StillReading,
}

struct Run {
    side: Side,
    settings: Vec<&'static str>,
    connections: RefCell<Vec<Rc<Handle>>>,
    log: RefCell<Vec<(String, Answer)>>,
}

impl Run {
    /// Opens the workers' connections on `side` and runs the case; the log holds every answer.
    fn of(case: &Case, side: Side) -> Self {
        side.connect(0).execute_batch(TABLES).unwrap();
        let run = Run {
            side,
            settings: case.settings.clone(),
            connections: RefCell::default(),
            log: RefCell::default(),
        };
        for worker in 0..WORKERS {
            let connection = run.connect(worker);
            run.connections.borrow_mut().push(connection);
        }
        run.steps(&case.steps);
        run.connections.borrow_mut().clear();
        run
    }

    fn connect(&self, worker: u8) -> Rc<Handle> {
        let connection = self.side.connect(worker);
        for setting in &self.settings {
            // These read the schema, so they are refused while another keeps readers out.
            let answer = run_statement(&connection, setting);
            self.note(format!("{worker}: {setting}"), answer);
        }
        Rc::new(connection)
    }

    fn connection(&self, worker: u8) -> Rc<Handle> {
        Rc::clone(&self.connections.borrow()[usize::from(worker)])
    }

    fn note(&self, what: String, answer: Answer) {
        self.log.borrow_mut().push((what, answer));
    }

    fn steps(&self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Run(worker, sql) => {
                    let answer = run_statement(&self.connection(*worker), sql);
                    self.note(format!("{worker}: {sql}"), answer);
                }
                Step::Crash(worker) if self.settings.is_empty() => self.crash(*worker),
                Step::Die(worker) | Step::Crash(worker) if !self.settings.contains(&UNSYNCED) => {
                    self.end(*worker, Handle::die)
                }
                Step::Close(worker) | Step::Die(worker) | Step::Crash(worker) => {
                    self.end(*worker, drop)
                }
                Step::WhileReading(worker, inside) => self.while_reading(*worker, inside),
            }
        }
    }

    fn end(&self, worker: u8, end: impl Fn(Handle)) {
        let slot = usize::from(worker);
        let mut connections = self.connections.borrow_mut();
        if Rc::strong_count(&connections[slot]) > 1 {
            self.note(format!("{worker}: ends"), Answer::StillReading);
            return;
        }
        let handle = Rc::into_inner(connections.remove(slot)).expect("counted above");
        end(handle);
        connections.insert(slot, self.connect(worker));
    }

    fn crash(&self, worker: u8) {
        let connection = self.connection(worker);
        // One here, one in the list; any more is a SELECT that is still read.
        if Rc::strong_count(&connection) > 2 {
            drop(connection);
            return self.end(worker, drop);
        }
        let is_on_file = match &*connection {
            Handle::Disk(disk) => {
                disk.crash();
                false
            }
            Handle::File(_) => true,
        };
        drop(connection);
        if is_on_file {
            self.end(worker, drop);
        }
        self.get_acquainted(worker);
    }

    /// Has a worker's connection read. If another keeps readers out, the worker dies instead: a connection
    /// whose first look at the schema was refused cuts its readers short at a later ROLLBACK
    /// (SQLITE_ABORT_ROLLBACK), and one that has known the schema does not.
    fn get_acquainted(&self, worker: u8) {
        let answer = run_statement(&self.connection(worker), RECEIPTS);
        let is_refused = !matches!(answer, Answer::Rows(_, None));
        self.note(format!("{worker}: looks"), answer);
        if is_refused {
            self.end(worker, Handle::die);
        }
    }

    fn while_reading(&self, worker: u8, inside: &[Step]) {
        let reader = self.connection(worker);
        let note = |when: &str, answer| self.note(format!("{worker}: {when} of a SELECT"), answer);
        let mut statement = match reader.prepare(RECEIPTS) {
            Ok(statement) => statement,
            Err(error) => return note("start", refused(&reader, &error)),
        };
        let mut rows = statement.query([]).unwrap();
        match rows.next() {
            Ok(Some(row)) => note("start", Answer::Rows(vec![pair(row)], None)),
            Ok(None) => note("start", Answer::Rows(Vec::new(), None)),
            Err(error) => return note("start", refused(&reader, &error)),
        }
        self.steps(inside);
        note("rest", collect(&mut rows));
    }

    /// The tables, SQLite's own opinion of the file, and its bytes.
    fn end_state(&self) -> (Answer, Answer, String, Vec<u8>) {
        let connection = self.side.connect(0);
        let receipts = run_statement(&connection, RECEIPTS);
        let tasks = run_statement(&connection, TASKS);
        let integrity = connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        (receipts, tasks, integrity, self.side.bytes())
    }
}

fn run_statement(connection: &Connection, sql: &str) -> Answer {
    let mut statement = match connection.prepare(sql) {
        Ok(statement) => statement,
        Err(error) => return refused(connection, &error),
    };
    if statement.column_count() > 0 {
        return match collect(&mut statement.query([]).unwrap()) {
            // Whether a refusal comes before the first row or before the statement, which must know the
            // schema, is no difference that a consumer could act on.
            Answer::Rows(rows, Some(code)) if rows.is_empty() => Answer::Refused {
                code,
                in_transaction: !connection.is_autocommit(),
            },
            answer => answer,
        };
    }
    // After anything but a write SQLite still has the count of the last one, which a process that died
    // took with it.
    let is_write = ["INSERT", "UPDATE", "DELETE"]
        .iter()
        .any(|verb| sql.starts_with(verb));
    match statement.execute([]) {
        Ok(rows) => Answer::Changed {
            rows: if is_write { rows } else { 0 },
            in_transaction: !connection.is_autocommit(),
        },
        Err(error) => refused(connection, &error),
    }
}

fn collect(rows: &mut rusqlite::Rows<'_>) -> Answer {
    let mut found = Vec::new();
    loop {
        match rows.next() {
            Ok(Some(row)) => found.push(pair(row)),
            Ok(None) => return Answer::Rows(found, None),
            Err(error) => return Answer::Rows(found, Some(code(&error))),
        }
    }
}

fn pair(row: &Row<'_>) -> (i64, i64) {
    (row.get_unwrap(0), row.get_unwrap(1))
}

fn refused(connection: &Connection, error: &Error) -> Answer {
    Answer::Refused {
        code: code(error),
        in_transaction: !connection.is_autocommit(),
    }
}

fn code(error: &Error) -> i32 {
    match error {
        Error::SqliteFailure(error, _) | Error::SqlInputError { error, .. } => error.extended_code,
        other => panic!("not an answer of SQLite: {other}"),
    }
}

// ---- The tests ----------------------------------------------------------------------------------

/// A folder in memory where the system has one: SQLite syncs all the time, and a real device is slow.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

/// A new connection whose first look at the schema was refused differs from one that knew it: the draw
/// once came to this.
#[test]
fn a_crash_while_readers_are_kept_out_is_a_death() {
    let run = |worker: u8, sql: &str| Step::Run(worker, sql.to_owned());
    let reading = |sql| Step::WhileReading(0, vec![run(0, sql)]);
    let case = Case {
        settings: vec![],
        steps: vec![
            reading("BEGIN"),
            Step::Crash(0),
            run(2, "BEGIN EXCLUSIVE"),
            run(0, RECEIPTS),
            run(2, "COMMIT"),
            reading("BEGIN"),
            reading("ROLLBACK"),
        ],
    };
    assert_the_same(&case);
}

#[track_caller]
fn assert_the_same(case: &Case) {
    let folder = folder();
    let on_disk = Run::of(case, Side::Disk(Disk::new()));
    let on_file = Run::of(case, Side::File(folder.path().join("lab.db")));
    assert_eq!(on_disk.log.take(), on_file.log.take());
    let (on_disk, on_file) = (on_disk.end_state(), on_file.end_state());
    assert_eq!(&on_disk.2, "ok");
    assert!(on_disk == on_file, "the ends differ");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").map_or(600, |n| n.parse().unwrap()),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_disk_answers_as_a_file_does(case in case()) {
        assert_the_same(&case);
    }
}

/// A comparison proves little if nothing happens in it: the draw must reach the answers that matter.
#[test]
fn the_draw_reaches_every_refusal_that_matters() {
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    for _ in 0..400 {
        let case = case().new_tree(&mut runner).unwrap().current();
        let run = Run::of(&case, Side::Disk(Disk::new()));
        for (what, answer) in run.log.take() {
            let verb = what[3..].split(' ').next().unwrap().to_owned();
            match answer {
                Answer::Refused { code, .. } | Answer::Rows(_, Some(code)) => {
                    seen.insert((verb, code))
                }
                Answer::Rows(..) | Answer::Changed { .. } | Answer::StillReading => continue,
            };
        }
    }
    for (verb, code) in [
        ("BEGIN", BUSY),
        ("SELECT", BUSY),
        ("INSERT", BUSY),
        ("UPDATE", BUSY),
        ("DELETE", BUSY),
        ("COMMIT", BUSY),
        ("start", BUSY),
        ("INSERT", CONSTRAINT_UNIQUE),
        ("UPDATE", CONSTRAINT_UNIQUE),
        ("UPDATE", CONSTRAINT_FOREIGNKEY),
        ("INSERT", CONSTRAINT_CHECK),
        ("COMMIT", CONSTRAINT_FOREIGNKEY),
    ] {
        assert!(
            seen.contains(&(verb.to_owned(), code)),
            "{verb} was never answered {code}"
        );
    }
}
