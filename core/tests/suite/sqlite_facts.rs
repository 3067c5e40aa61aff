//! What SQLite really does, held fast: the laboratory teaches nothing that these tests do not show.
//!
//! The same bodies run natively and in wasm. Most run on the laboratory's own disk; where a line
//! compares places, the same steps run on SQLite's own `memdb` too and, natively, on a real file with
//! a rollback journal and with a write-ahead log. Times are left out: the suite has no clock.

use std::time::Duration;

use deliver_twice_core::disk::{ConnectionId, Disk, DiskConnection};
use rusqlite::{Connection, Error, OpenFlags, ffi};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// Extended result codes, under the names of SQLite's documentation.
const ERROR: i32 = 1;
const BUSY: i32 = 5;
const CONSTRAINT: i32 = 19;
const CONSTRAINT_CHECK: i32 = 275;
#[cfg(not(target_family = "wasm"))]
const BUSY_SNAPSHOT: i32 = 517;
const CONSTRAINT_FOREIGNKEY: i32 = 787;
const CONSTRAINT_NOTNULL: i32 = 1299;
const CONSTRAINT_PRIMARYKEY: i32 = 1555;
const CONSTRAINT_UNIQUE: i32 = 2067;

/// The tables of the contended facts. `guarded` is `receipts` with the constraint that decides.
const TABLES: &str = "
    CREATE TABLE receipts (event TEXT NOT NULL) STRICT;
    CREATE TABLE guarded (event TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE tasks (event TEXT NOT NULL) STRICT;
";

const CHECK: &str = "SELECT count(*) FROM receipts WHERE event = 'e1'";
const RECEIPT: &str = "INSERT INTO receipts VALUES ('e1')";
const GUARDED: &str = "INSERT INTO guarded VALUES ('e1')";
const GUARDED_OR_NOTHING: &str = "INSERT INTO guarded VALUES ('e1') ON CONFLICT (event) DO NOTHING";
const TASK: &str = "INSERT INTO tasks VALUES ('e1')";

// ---- Helpers: one statement in, SQLite's answer out --------------------------------------------

fn code(error: &Error) -> i32 {
    match error {
        Error::SqliteFailure(error, _) | Error::SqlInputError { error, .. } => error.extended_code,
        other => panic!("not an answer of SQLite: {other}"),
    }
}

/// Runs a statement that counts nothing.
fn run(connection: &Connection, sql: &str) -> Result<(), i32> {
    connection.execute_batch(sql).map_err(|e| code(&e))
}

/// Runs a statement that writes, and counts the rows it changed.
fn write(connection: &Connection, sql: &str) -> Result<usize, i32> {
    connection.execute(sql, []).map_err(|e| code(&e))
}

/// Reads one number.
fn read(connection: &Connection, sql: &str) -> Result<i64, i32> {
    connection
        .query_row(sql, [], |row| row.get(0))
        .map_err(|e| code(&e))
}

fn read_text(connection: &Connection, sql: &str) -> String {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn tasks(connection: &Connection) -> i64 {
    read(connection, "SELECT count(*) FROM tasks").unwrap()
}

fn is_in_transaction(connection: &Connection) -> bool {
    !connection.is_autocommit()
}

// ---- Helpers: the places where two workers meet ------------------------------------------------

/// Two workers on one disk of the laboratory.
fn two_workers() -> (Disk, DiskConnection, DiskConnection) {
    let disk = Disk::new();
    let a = disk.connect(ConnectionId(1)).unwrap();
    let b = disk.connect(ConnectionId(2)).unwrap();
    run(&a, TABLES).unwrap();
    (disk, a, b)
}

/// One worker on a disk of its own, with `tables`.
fn one_worker(tables: &str) -> DiskConnection {
    let a = Disk::new().connect(ConnectionId(1)).unwrap();
    run(&a, tables).unwrap();
    a
}

fn connect(uri: &str) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri, flags).unwrap();
    connection.busy_timeout(Duration::ZERO).unwrap();
    connection
}

/// Two connections on SQLite's own `memdb`. A name is one database in the whole process.
fn two_on_memdb(name: &str) -> (Connection, Connection) {
    let uri = format!("file:/{name}?vfs=memdb");
    let (a, b) = (connect(&uri), connect(&uri));
    run(&a, TABLES).unwrap();
    (a, b)
}

/// A real file in a folder that is removed with it.
#[cfg(not(target_family = "wasm"))]
struct RealFile {
    a: Connection,
    b: Connection,
    _folder: tempfile::TempDir,
}

#[cfg(not(target_family = "wasm"))]
fn two_on_a_file(journal: &str) -> RealFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lab.db");
    let (a, b) = (
        connect(path.to_str().unwrap()),
        connect(path.to_str().unwrap()),
    );
    let mode = read_text(&a, &format!("PRAGMA journal_mode = {journal}"));
    assert_eq!(mode, journal);
    run(&a, TABLES).unwrap();
    RealFile {
        a,
        b,
        _folder: folder,
    }
}

/// Where the steps run, which decides about readers while another writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Disk,
    Memdb,
    #[cfg(not(target_family = "wasm"))]
    FileWithRollbackJournal,
    #[cfg(not(target_family = "wasm"))]
    FileWithWriteAheadLog,
}

impl Place {
    /// In a write-ahead log a commit does not wait for readers.
    fn commit_waits_for_readers(self) -> bool {
        match self {
            Place::Disk | Place::Memdb => true,
            #[cfg(not(target_family = "wasm"))]
            Place::FileWithRollbackJournal => true,
            #[cfg(not(target_family = "wasm"))]
            Place::FileWithWriteAheadLog => false,
        }
    }
}

/// Runs `steps` in every place. `name` must be the caller's own, for `memdb`.
fn in_every_place(name: &str, steps: impl Fn(Place, &Connection, &Connection)) {
    let (_disk, a, b) = two_workers();
    steps(Place::Disk, &a, &b);
    let (a, b) = two_on_memdb(name);
    steps(Place::Memdb, &a, &b);
    #[cfg(not(target_family = "wasm"))]
    {
        let file = two_on_a_file("delete");
        steps(Place::FileWithRollbackJournal, &file.a, &file.b);
        let file = two_on_a_file("wal");
        steps(Place::FileWithWriteAheadLog, &file.a, &file.b);
    }
}

// ---- Two workers, both interleaved --------------------------------------------------------------

#[test]
fn check_then_insert_on_autocommit_makes_two_tasks_everywhere() {
    in_every_place("autocommit", |place, a, b| {
        assert_eq!(read(a, CHECK), Ok(0), "{place:?}");
        assert_eq!(read(b, CHECK), Ok(0), "{place:?}");
        for worker in [a, b] {
            assert_eq!(write(worker, TASK), Ok(1), "{place:?}");
            assert_eq!(write(worker, RECEIPT), Ok(1), "{place:?}");
        }
        assert_eq!(tasks(a), 2, "{place:?}");
    });
}

#[test]
fn check_then_insert_inside_a_deferred_transaction_is_busy_and_makes_one_task() {
    in_every_place("deferred", |place, a, b| {
        for worker in [a, b] {
            run(worker, "BEGIN").unwrap();
            assert_eq!(read(worker, CHECK), Ok(0), "{place:?}");
        }
        assert_eq!(write(a, TASK), Ok(1), "{place:?}");
        assert_eq!(write(a, RECEIPT), Ok(1), "{place:?}");
        assert_eq!(write(b, TASK), Err(BUSY), "{place:?}");
        if place.commit_waits_for_readers() {
            assert_eq!(run(a, "COMMIT"), Err(BUSY), "{place:?}");
            assert!(
                is_in_transaction(a),
                "{place:?}: a busy commit can be tried again"
            );
            run(b, "ROLLBACK").unwrap();
            assert_eq!(run(a, "COMMIT"), Ok(()), "{place:?}");
        } else {
            assert_eq!(run(a, "COMMIT"), Ok(()), "{place:?}");
            run(b, "ROLLBACK").unwrap();
        }
        assert_eq!(
            read(b, CHECK),
            Ok(1),
            "{place:?}: the second worker sees the receipt now"
        );
        assert_eq!(tasks(a), 1, "{place:?}");
    });
}

#[test]
fn check_then_insert_after_begin_immediate_waits_at_begin_and_makes_one_task() {
    in_every_place("immediate", |place, a, b| {
        run(a, "BEGIN IMMEDIATE").unwrap();
        assert_eq!(read(a, CHECK), Ok(0), "{place:?}");
        assert_eq!(run(b, "BEGIN IMMEDIATE"), Err(BUSY), "{place:?}");
        assert!(!is_in_transaction(b), "{place:?}");
        assert_eq!(write(a, TASK), Ok(1), "{place:?}");
        assert_eq!(write(a, RECEIPT), Ok(1), "{place:?}");
        run(a, "COMMIT").unwrap();
        run(b, "BEGIN IMMEDIATE").unwrap();
        assert_eq!(read(b, CHECK), Ok(1), "{place:?}");
        run(b, "COMMIT").unwrap();
        assert_eq!(tasks(a), 1, "{place:?}");
    });
}

/// A takes the receipt, B waits at the same statement, and is answered once A has committed.
fn second_answer(place: Place, a: &Connection, b: &Connection, claim: &str) -> Result<usize, i32> {
    run(a, "BEGIN").unwrap();
    run(b, "BEGIN").unwrap();
    assert_eq!(write(a, claim), Ok(1), "{place:?}");
    assert_eq!(write(b, claim), Err(BUSY), "{place:?}");
    assert_eq!(write(a, TASK), Ok(1), "{place:?}");
    assert_eq!(
        run(a, "COMMIT"),
        Ok(()),
        "{place:?}: B waits without a lock"
    );
    let answer = write(b, claim);
    run(b, "COMMIT").unwrap();
    assert_eq!(tasks(a), 1, "{place:?}");
    answer
}

#[test]
fn a_unique_index_makes_the_second_wait_and_then_fail_with_2067() {
    in_every_place("unique", |place, a, b| {
        assert_eq!(
            second_answer(place, a, b, GUARDED),
            Err(CONSTRAINT_UNIQUE),
            "{place:?}"
        );
    });
}

#[test]
fn on_conflict_do_nothing_makes_the_second_wait_and_then_change_no_row() {
    in_every_place("do-nothing", |place, a, b| {
        assert_eq!(
            second_answer(place, a, b, GUARDED_OR_NOTHING),
            Ok(0),
            "{place:?}"
        );
    });
}

// ---- Connections and locks ----------------------------------------------------------------------

#[test]
fn a_reader_passes_while_another_holds_reserved_and_sees_the_old_rows() {
    let (_disk, a, b) = two_workers();
    run(&a, "BEGIN IMMEDIATE").unwrap();
    write(&a, TASK).unwrap();
    assert_eq!(tasks(&b), 0);
    run(&a, "COMMIT").unwrap();
    assert_eq!(tasks(&b), 1);
}

#[test]
fn memdb_refuses_the_reader_that_a_disk_lets_pass() {
    in_every_place("reader", |place, a, b| {
        run(a, "BEGIN IMMEDIATE").unwrap();
        let expected = if place == Place::Memdb {
            Err(BUSY)
        } else {
            Ok(0)
        };
        assert_eq!(read(b, CHECK), expected, "{place:?}");
        run(a, "ROLLBACK").unwrap();
    });
}

#[test]
fn a_second_writer_is_busy_however_it_begins() {
    let (_disk, a, b) = two_workers();
    run(&a, "BEGIN IMMEDIATE").unwrap();
    assert_eq!(write(&b, TASK), Err(BUSY));
    assert_eq!(run(&b, "BEGIN IMMEDIATE"), Err(BUSY));
    assert_eq!(run(&b, "BEGIN EXCLUSIVE"), Err(BUSY));
    run(&b, "BEGIN DEFERRED").unwrap();
    assert_eq!(write(&b, TASK), Err(BUSY));
}

#[test]
fn a_commit_among_readers_is_busy_lets_no_new_reader_in_and_passes_when_they_left() {
    let (disk, a, b) = two_workers();
    let c = disk.connect(ConnectionId(3)).unwrap();
    run(&b, "BEGIN").unwrap();
    assert_eq!(tasks(&b), 0);
    run(&a, "BEGIN").unwrap();
    write(&a, TASK).unwrap();
    assert_eq!(
        read(&c, CHECK),
        Ok(0),
        "before the commit a reader comes in"
    );
    assert_eq!(run(&a, "COMMIT"), Err(BUSY));
    assert_eq!(read(&c, CHECK), Err(BUSY), "PENDING keeps new readers out");
    assert_eq!(tasks(&b), 0, "who reads already reads on");
    run(&b, "COMMIT").unwrap();
    assert_eq!(run(&a, "COMMIT"), Ok(()));
    assert_eq!(tasks(&c), 1);
}

/// COMMIT takes EXCLUSIVE for every write transaction, before it looks whether there is something to
/// write. A write-ahead log has no such wait.
#[test]
fn a_write_transaction_that_wrote_nothing_waits_for_readers_all_the_same() {
    in_every_place("nothing", |place, a, b| {
        run(b, "BEGIN").unwrap();
        assert_eq!(read(b, CHECK), Ok(0), "{place:?}");
        run(a, "BEGIN IMMEDIATE").unwrap();
        let expected = if place.commit_waits_for_readers() {
            Err(BUSY)
        } else {
            Ok(())
        };
        assert_eq!(run(a, "COMMIT"), expected, "{place:?}");
    });
}

#[test]
fn an_exclusive_transaction_keeps_readers_out_too() {
    let (_disk, a, b) = two_workers();
    run(&a, "BEGIN EXCLUSIVE").unwrap();
    assert_eq!(read(&b, CHECK), Err(BUSY));
    run(&a, "ROLLBACK").unwrap();
    assert_eq!(read(&b, CHECK), Ok(0));
}

#[test]
fn one_connection_cannot_hold_two_transactions() {
    let (_disk, a, _b) = two_workers();
    run(&a, "BEGIN").unwrap();
    assert_eq!(run(&a, "BEGIN"), Err(ERROR));
    assert!(is_in_transaction(&a));
}

#[test]
fn a_connection_of_the_disk_waits_for_nobody() {
    let (_disk, a, _b) = two_workers();
    assert_eq!(read(&a, "PRAGMA busy_timeout"), Ok(0));
}

const PARENT_AND_CHILD: &str = "
    CREATE TABLE tickets (id INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE work (ticket INTEGER NOT NULL REFERENCES tickets (id)) STRICT;
";

#[test]
fn every_connection_of_the_disk_has_foreign_keys_on() {
    let (_disk, a, b) = two_workers();
    for connection in [&a, &b] {
        assert_eq!(read(connection, "PRAGMA foreign_keys"), Ok(1));
    }
}

/// SQLite's own default is off. The native build is compiled with `SQLITE_DEFAULT_FOREIGN_KEYS=1`, the
/// one for wasm is not: code that trusts the default behaves differently in the page.
#[test]
fn a_plain_connection_has_foreign_keys_on_natively_and_off_in_wasm() {
    let plain = Connection::open_in_memory().unwrap();
    let on = i64::from(cfg!(not(target_family = "wasm")));
    assert_eq!(read(&plain, "PRAGMA foreign_keys"), Ok(on));
}

#[test]
fn foreign_keys_belong_to_the_connection_and_vanish_silently_when_forgotten() {
    let (_disk, a, b) = two_workers();
    run(&a, PARENT_AND_CHILD).unwrap();
    run(&b, "PRAGMA foreign_keys = OFF").unwrap();
    assert_eq!(
        write(&a, "INSERT INTO work VALUES (1)"),
        Err(CONSTRAINT_FOREIGNKEY)
    );
    assert_eq!(write(&b, "INSERT INTO work VALUES (1)"), Ok(1));
}

#[test]
fn a_write_ahead_log_is_refused_without_an_error_and_the_rollback_journal_stays() {
    let (_disk, a, _b) = two_workers();
    assert_eq!(read_text(&a, "PRAGMA journal_mode = WAL"), "delete");
    assert_eq!(read_text(&a, "PRAGMA journal_mode"), "delete");
}

#[test]
fn memdb_stays_in_its_memory_journal_when_asked_for_a_write_ahead_log() {
    let (a, _b) = two_on_memdb("journal");
    assert_eq!(read_text(&a, "PRAGMA journal_mode = WAL"), "memory");
}

/// The default file system in wasm has no locks: two workers on it would not be arbitrated at all.
#[cfg(target_family = "wasm")]
#[test]
fn on_the_default_file_system_in_wasm_two_writers_pass_each_other() {
    let (a, b) = (connect("unlocked.db"), connect("unlocked.db"));
    run(&a, TABLES).unwrap();
    run(&a, "BEGIN EXCLUSIVE").unwrap();
    assert_eq!(run(&b, "BEGIN EXCLUSIVE"), Ok(()));
}

#[cfg(target_family = "wasm")]
#[test]
fn shared_cache_is_compiled_out_in_wasm() {
    let a = one_worker("");
    let omitted = "SELECT sqlite_compileoption_used('OMIT_SHARED_CACHE')";
    assert_eq!(read(&a, omitted), Ok(1));
}

#[test]
fn both_builds_are_the_sqlite_that_was_measured() {
    assert_eq!(rusqlite::version(), "3.54.1");
}

// ---- Errors -------------------------------------------------------------------------------------

/// One table for each kind of constraint that an effect can meet.
const CONSTRAINTS: &str = "
    CREATE TABLE tickets (id INTEGER PRIMARY KEY) STRICT;
    INSERT INTO tickets VALUES (1);
    CREATE TABLE receipts (
        event TEXT NOT NULL, effect TEXT NOT NULL, payload_hash TEXT NOT NULL,
        CONSTRAINT uq_effect_event_name UNIQUE (event, effect)
    ) STRICT;
    INSERT INTO receipts VALUES ('e1', 'audit', 'h1');
    CREATE TABLE work (
        name TEXT NOT NULL UNIQUE,
        ticket INTEGER NOT NULL REFERENCES tickets (id),
        size INTEGER NOT NULL CHECK (size > 0)
    ) STRICT;
    INSERT INTO work VALUES ('w1', 1, 1);
";

const DUPLICATE_RECEIPT: &str = "INSERT INTO receipts VALUES ('e1', 'audit', 'h2')";
const DUPLICATE_WORK: &str = "INSERT INTO work VALUES ('w1', 1, 1)";
const NO_SUCH_TICKET: &str = "INSERT INTO work VALUES ('w2', 9, 1)";
const BAD_SIZE: &str = "INSERT INTO work VALUES ('w2', 1, 0)";
const NO_SIZE: &str = "INSERT INTO work VALUES ('w2', 1, NULL)";

/// The statement with another conflict clause: `INSERT` becomes `INSERT OR IGNORE`, for one.
fn or(statement: &str, clause: &str) -> String {
    statement.replacen("INSERT", &format!("INSERT OR {clause}"), 1)
}

fn receipts(connection: &Connection) -> i64 {
    read(connection, "SELECT count(*) FROM receipts").unwrap()
}

#[test]
fn a_duplicate_in_a_unique_constraint_is_2067() {
    let a = one_worker(CONSTRAINTS);
    assert_eq!(write(&a, DUPLICATE_RECEIPT), Err(CONSTRAINT_UNIQUE));
}

#[test]
fn a_duplicate_in_a_composite_primary_key_is_1555_and_its_message_still_says_unique() {
    let a = one_worker("CREATE TABLE keyed (a TEXT, b TEXT, PRIMARY KEY (a, b)) STRICT;");
    let sql = "INSERT INTO keyed VALUES ('e1', 'audit')";
    assert_eq!(write(&a, sql), Ok(1));
    let error = a.execute(sql, []).unwrap_err();
    assert_eq!(code(&error), CONSTRAINT_PRIMARYKEY);
    assert_eq!(
        error.to_string(),
        "UNIQUE constraint failed: keyed.a, keyed.b"
    );
}

#[test]
fn a_unique_of_another_table_is_2067_too_so_the_code_alone_does_not_say_which() {
    let a = one_worker(CONSTRAINTS);
    assert_eq!(write(&a, DUPLICATE_RECEIPT), write(&a, DUPLICATE_WORK));
    assert_eq!(write(&a, DUPLICATE_WORK), Err(CONSTRAINT_UNIQUE));
}

#[test]
fn foreign_key_check_and_not_null_differ_only_above_the_primary_code_19() {
    let a = one_worker(CONSTRAINTS);
    for (statement, extended) in [
        (NO_SUCH_TICKET, CONSTRAINT_FOREIGNKEY),
        (BAD_SIZE, CONSTRAINT_CHECK),
        (NO_SIZE, CONSTRAINT_NOTNULL),
        (DUPLICATE_WORK, CONSTRAINT_UNIQUE),
    ] {
        let error = a.execute(statement, []).unwrap_err();
        assert_eq!(code(&error), extended, "{statement}");
        assert_eq!(extended & 0xff, CONSTRAINT, "{statement}");
        let kind = error.sqlite_error_code();
        assert_eq!(
            kind,
            Some(ffi::ErrorCode::ConstraintViolation),
            "{statement}"
        );
    }
}

#[test]
fn a_deferred_foreign_key_fails_at_commit_and_leaves_the_transaction_open() {
    let a = one_worker(
        "CREATE TABLE tickets (id INTEGER PRIMARY KEY) STRICT;
         CREATE TABLE work (
             ticket INTEGER NOT NULL REFERENCES tickets (id) DEFERRABLE INITIALLY DEFERRED
         ) STRICT;",
    );
    run(&a, "BEGIN").unwrap();
    assert_eq!(write(&a, "INSERT INTO work VALUES (1)"), Ok(1));
    assert_eq!(run(&a, "COMMIT"), Err(CONSTRAINT_FOREIGNKEY));
    assert!(is_in_transaction(&a));
    assert_eq!(write(&a, "INSERT INTO tickets VALUES (1)"), Ok(1));
    assert_eq!(run(&a, "COMMIT"), Ok(()));
    assert_eq!(read(&a, "SELECT count(*) FROM work"), Ok(1));
}

#[test]
fn insert_or_ignore_swallows_unique_check_and_not_null_but_not_the_foreign_key() {
    let a = one_worker(CONSTRAINTS);
    for statement in [DUPLICATE_RECEIPT, DUPLICATE_WORK, BAD_SIZE, NO_SIZE] {
        assert_eq!(write(&a, &or(statement, "IGNORE")), Ok(0), "{statement}");
    }
    assert_eq!(
        write(&a, &or(NO_SUCH_TICKET, "IGNORE")),
        Err(CONSTRAINT_FOREIGNKEY)
    );
    assert_eq!(read(&a, "SELECT count(*) FROM work"), Ok(1));
}

#[test]
fn on_conflict_do_nothing_swallows_uniqueness_only() {
    let a = one_worker(CONSTRAINTS);
    for (statement, answer) in [
        (DUPLICATE_RECEIPT, Ok(0)),
        (DUPLICATE_WORK, Ok(0)),
        (BAD_SIZE, Err(CONSTRAINT_CHECK)),
        (NO_SIZE, Err(CONSTRAINT_NOTNULL)),
        (NO_SUCH_TICKET, Err(CONSTRAINT_FOREIGNKEY)),
    ] {
        let sql = format!("{statement} ON CONFLICT DO NOTHING");
        assert_eq!(write(&a, &sql), answer, "{statement}");
    }
}

#[test]
fn on_conflict_on_one_key_raises_2067_for_another() {
    let a = one_worker("CREATE TABLE two (a TEXT UNIQUE, b TEXT UNIQUE) STRICT;");
    assert_eq!(write(&a, "INSERT INTO two VALUES ('a1', 'b1')"), Ok(1));
    let same_a = "INSERT INTO two VALUES ('a1', 'b2') ON CONFLICT (a) DO NOTHING";
    assert_eq!(write(&a, same_a), Ok(0));
    let same_b = "INSERT INTO two VALUES ('a2', 'b1') ON CONFLICT (a) DO NOTHING";
    assert_eq!(write(&a, same_b), Err(CONSTRAINT_UNIQUE));
}

#[test]
fn insert_or_replace_overwrites_the_stored_payload_hash_without_a_word() {
    let a = one_worker(CONSTRAINTS);
    assert_eq!(write(&a, &or(DUPLICATE_RECEIPT, "REPLACE")), Ok(1));
    assert_eq!(read_text(&a, "SELECT payload_hash FROM receipts"), "h2");
    assert_eq!(receipts(&a), 1);
}

#[test]
fn after_a_unique_error_the_transaction_stays_usable() {
    let a = one_worker(CONSTRAINTS);
    run(&a, "BEGIN").unwrap();
    assert_eq!(
        write(&a, "INSERT INTO receipts VALUES ('e2', 'audit', 'h')"),
        Ok(1)
    );
    assert_eq!(write(&a, DUPLICATE_RECEIPT), Err(CONSTRAINT_UNIQUE));
    assert!(is_in_transaction(&a));
    assert_eq!(
        write(&a, "INSERT INTO receipts VALUES ('e3', 'audit', 'h')"),
        Ok(1)
    );
    assert_eq!(run(&a, "COMMIT"), Ok(()));
    assert_eq!(receipts(&a), 3);
}

#[test]
fn insert_or_rollback_takes_the_whole_transaction_with_it() {
    let a = one_worker(CONSTRAINTS);
    run(&a, "BEGIN").unwrap();
    assert_eq!(
        write(&a, "INSERT INTO receipts VALUES ('e2', 'audit', 'h')"),
        Ok(1)
    );
    assert_eq!(
        write(&a, &or(DUPLICATE_RECEIPT, "ROLLBACK")),
        Err(CONSTRAINT_UNIQUE)
    );
    assert!(!is_in_transaction(&a));
    assert_eq!(run(&a, "COMMIT"), Err(ERROR));
    assert_eq!(receipts(&a), 1);
}

#[test]
fn a_null_in_a_key_column_lets_two_equal_rows_in() {
    let a = one_worker(
        "CREATE TABLE lax (event TEXT, effect TEXT, UNIQUE (event, effect));
         CREATE TABLE lax_key (event TEXT, effect TEXT, PRIMARY KEY (event, effect));",
    );
    for table in ["lax", "lax_key"] {
        let sql = format!("INSERT INTO {table} VALUES ('e1', NULL)");
        assert_eq!(
            [write(&a, &sql), write(&a, &sql)],
            [Ok(1), Ok(1)],
            "{table}"
        );
    }
}

#[test]
fn a_released_savepoint_is_gone_when_the_outer_transaction_rolls_back() {
    let a = one_worker(CONSTRAINTS);
    run(&a, "BEGIN; SAVEPOINT inner_commit").unwrap();
    assert_eq!(
        write(&a, "INSERT INTO receipts VALUES ('e2', 'audit', 'h')"),
        Ok(1)
    );
    run(&a, "RELEASE inner_commit").unwrap();
    assert_eq!(receipts(&a), 2);
    run(&a, "ROLLBACK").unwrap();
    assert_eq!(receipts(&a), 1);
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn in_a_write_ahead_log_a_stale_reader_that_writes_is_busy_until_a_new_transaction() {
    let RealFile { a, b, _folder } = two_on_a_file("wal");
    // A timeout cannot help, and SQLite does not even use it: the answer is not the plain BUSY (5).
    b.busy_timeout(Duration::from_secs(3600)).unwrap();
    run(&b, "BEGIN").unwrap();
    assert_eq!(read(&b, CHECK), Ok(0));
    assert_eq!(write(&a, RECEIPT), Ok(1));
    for _ in 0..2 {
        assert_eq!(write(&b, TASK), Err(BUSY_SNAPSHOT));
        assert_eq!(read(&b, CHECK), Ok(0), "the snapshot stays as it was");
    }
    run(&b, "ROLLBACK; BEGIN").unwrap();
    assert_eq!(read(&b, CHECK), Ok(1));
    assert_eq!(write(&b, TASK), Ok(1));
    run(&b, "COMMIT").unwrap();
}
