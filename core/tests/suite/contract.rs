//! The contract as a library call: what it says in every case, and what it leaves in the database.

use deliver_twice_core::design::Design;
use deliver_twice_core::event::EffectName;
use deliver_twice_core::plan::{Meaning, Plan, Role};
use deliver_twice_core::schema;
use deliver_twice_core::sql::{Answer, Refusal, RefusalKind};
use deliver_twice_core::{ApplyError, Outcome, apply_once};
use rusqlite::Connection;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// A database with the contract's receipts and the laboratory's tasks.
fn database() -> Connection {
    with_receipts(schema::RECEIPTS)
}

/// The same, with another table of receipts.
fn with_receipts(receipts: &str) -> Connection {
    let db = Connection::open_in_memory().unwrap();
    set_up(&db, receipts);
    db
}

fn set_up(db: &Connection, receipts: &str) {
    db.execute_batch("PRAGMA foreign_keys = ON").unwrap();
    db.execute_batch(receipts).unwrap();
    db.execute_batch(schema::BUSINESS).unwrap();
    db.execute(schema::INSERT_TICKET, ["ticket-1", "tenant-1"])
        .unwrap();
}

/// Writes a task with this id, for this ticket, in this status.
fn task(
    id: &'static str,
    ticket: &'static str,
    status: &'static str,
) -> impl Fn(&Connection) -> rusqlite::Result<usize> {
    move |db| {
        let row = [id, ticket, "tenant-1", "notification", status];
        db.execute(schema::INSERT_TASK, row)
    }
}

/// A task that nothing is wrong with.
fn sound(id: &'static str) -> impl Fn(&Connection) -> rusqlite::Result<usize> {
    task(id, "ticket-1", "pending")
}

fn count(db: &Connection, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    db.query_row(&sql, [], |row| row.get(0)).unwrap()
}

/// Receipts and tasks.
fn rows(db: &Connection) -> (i64, i64) {
    (count(db, "effect_receipts"), count(db, "business_tasks"))
}

/// What an error was: the stage, the kind, and SQLite's extended code.
fn refusal<T: std::fmt::Debug>(
    result: Result<Outcome<T>, ApplyError>,
) -> (Role, RefusalKind, Option<i32>) {
    match result.unwrap_err() {
        ApplyError::Refused {
            during,
            kind,
            source,
        } => (
            during,
            kind,
            source.sqlite_error().map(|error| error.extended_code),
        ),
        other => panic!("{other:?}"),
    }
}

/// After an error nothing is left, and the connection applies the next effect as if nothing had been.
#[track_caller]
fn check_nothing_left(db: &mut Connection, tasks_before: i64) {
    assert!(db.is_autocommit(), "a transaction was left open");
    assert_eq!(rows(db), (0, tasks_before));
    let again = apply_once(db, "e9", "audit", sound("task-9")).unwrap();
    assert_eq!(again, Outcome::Applied(1));
    assert_eq!(rows(db), (1, tasks_before + 1));
}

// ---- The two outcomes ------------------------------------------------------------------------------

#[test]
fn the_first_call_applies_and_the_second_is_a_duplicate() {
    let mut db = database();
    let first = apply_once(&mut db, "e1", "notification", sound("task-1")).unwrap();
    assert_eq!(first, Outcome::Applied(1));
    let second = apply_once(&mut db, "e1", "notification", sound("task-2")).unwrap();
    assert_eq!(second, Outcome::Duplicate);
    assert!(first.is_applied() && !second.is_applied());
    assert_eq!(rows(&db), (1, 1));
    assert!(db.is_autocommit());
}

#[test]
fn a_duplicate_is_not_applied_at_all() {
    let mut db = database();
    let _ = apply_once(&mut db, "e1", "notification", sound("task-1")).unwrap();
    let second = apply_once(&mut db, "e1", "notification", |_| -> rusqlite::Result<()> {
        panic!("apply was called for a duplicate")
    });
    assert_eq!(second.unwrap(), Outcome::Duplicate);
}

#[test]
fn events_and_effects_are_told_apart_by_name() {
    let mut db = database();
    let calls = [
        ("e1", "notification", "task-1"),
        ("e1", "audit", "task-2"),
        ("e2", "notification", "task-3"),
    ];
    for (event, effect, id) in calls {
        let outcome = apply_once(&mut db, event, effect, sound(id)).unwrap();
        assert!(outcome.is_applied(), "{event} {effect}");
    }
    for (event, effect, _) in calls {
        let outcome = apply_once(&mut db, event, effect, sound("task-9")).unwrap();
        assert_eq!(outcome, Outcome::Duplicate, "{event} {effect}");
    }
    assert_eq!(rows(&db), (3, 3));
}

#[test]
fn what_apply_returns_is_handed_on() {
    let mut db = database();
    let outcome = apply_once(&mut db, "e1", "audit", |_| Ok("hello".to_owned())).unwrap();
    assert_eq!(outcome, Outcome::Applied("hello".to_owned()));
}

#[test]
fn receipts_with_a_composite_primary_key_arbitrate_as_well() {
    let mut db = with_receipts(
        "CREATE TABLE effect_receipts (
           event_id TEXT NOT NULL, effect_name TEXT NOT NULL, PRIMARY KEY (event_id, effect_name)
         ) STRICT, WITHOUT ROWID;",
    );
    assert!(
        apply_once(&mut db, "e1", "audit", sound("task-1"))
            .unwrap()
            .is_applied()
    );
    // The code is another one, 1555, and the meaning the same.
    let refused = db.execute("INSERT INTO effect_receipts VALUES ('e1', 'audit')", []);
    assert_eq!(
        refused.unwrap_err().sqlite_error().unwrap().extended_code,
        1555
    );
    let second = apply_once(&mut db, "e1", "audit", sound("task-2")).unwrap();
    assert_eq!(second, Outcome::Duplicate);
    assert_eq!(rows(&db), (1, 1));
}

// ---- What is refused is no duplicate ------------------------------------------------------------------

#[test]
fn a_violation_in_apply_is_itself_and_rolls_both_rows_back() {
    let mut db = database();
    db.execute(
        schema::INSERT_TASK,
        ["task-0", "ticket-1", "tenant-1", "escalation", "escalated"],
    )
    .unwrap();
    type Apply = Box<dyn Fn(&Connection) -> rusqlite::Result<usize>>;
    let no_tenant: Apply = Box::new(|db| {
        db.execute(
            "INSERT INTO business_tasks VALUES ('task-1', 'ticket-1', NULL, 'audit', 'pending')",
            [],
        )
    });
    let cases: [(Apply, RefusalKind, i32); 5] = [
        (
            Box::new(task("task-1", "ticket-9", "pending")),
            RefusalKind::ForeignKey,
            787,
        ),
        (
            Box::new(task("task-1", "ticket-1", "urgent")),
            RefusalKind::Check,
            275,
        ),
        (no_tenant, RefusalKind::NotNull, 1299),
        (
            Box::new(task("task-1", "ticket-1", "escalated")),
            RefusalKind::Unique,
            2067,
        ),
        (
            Box::new(task("task-0", "ticket-1", "pending")),
            RefusalKind::Unique,
            1555,
        ),
    ];
    for (apply, kind, code) in cases {
        let result = apply_once(&mut db, "e1", "notification", apply);
        assert_eq!(refusal(result), (Role::Apply, kind, Some(code)));
        assert!(db.is_autocommit());
        assert_eq!(rows(&db), (0, 1), "{kind:?}");
    }
    check_nothing_left(&mut db, 1);
}

#[test]
fn only_a_unique_violation_of_the_claim_reads_as_a_duplicate() {
    let plan = Plan::compile(Design::CONTRACT, &EffectName::ALL[..1]);
    let kinds = [
        RefusalKind::Unique,
        RefusalKind::ForeignKey,
        RefusalKind::Check,
        RefusalKind::NotNull,
        RefusalKind::OtherConstraint,
        RefusalKind::Busy,
        RefusalKind::Full,
        RefusalKind::Io,
        RefusalKind::ReadOnly,
        RefusalKind::Other,
    ];
    for stage in plan.stages.iter().filter(|stage| stage.role != Role::Ack) {
        for kind in kinds {
            let refusal = Refusal {
                kind,
                code: 0,
                message: String::new(),
            };
            let expected = match (stage.role, kind) {
                (Role::Claim, RefusalKind::Unique) => Meaning::Duplicate,
                _ => Meaning::GiveBack,
            };
            let means = stage.read(&Answer::Refused(refusal));
            assert_eq!(means, expected, "{:?} {kind:?}", stage.role);
        }
    }
}

#[test]
fn rows_written_before_the_refused_one_are_gone_too() {
    let mut db = database();
    let result = apply_once(&mut db, "e1", "notification", |db| {
        sound("task-1")(db)?;
        task("task-2", "ticket-1", "urgent")(db)
    });
    assert_eq!(
        refusal(result),
        (Role::Apply, RefusalKind::Check, Some(275))
    );
    check_nothing_left(&mut db, 0);
}

#[test]
fn an_error_that_is_not_of_the_database_rolls_back_as_well() {
    let mut db = database();
    let result = apply_once(&mut db, "e1", "notification", |db| {
        sound("task-1")(db)?;
        Err::<(), _>(rusqlite::Error::QueryReturnedNoRows)
    });
    assert_eq!(refusal(result), (Role::Apply, RefusalKind::Other, None));
    check_nothing_left(&mut db, 0);
}

#[test]
fn a_database_without_the_receipts_is_an_error() {
    let mut db = Connection::open_in_memory().unwrap();
    let result = apply_once(&mut db, "e1", "audit", |_| Ok(()));
    assert_eq!(refusal(result), (Role::Claim, RefusalKind::Other, Some(1)));
    assert!(db.is_autocommit());
}

/// The code of the claim is 2067, and yet it is no duplicate: the trigger's table refused.
#[test]
fn a_trigger_on_the_receipts_that_breaks_another_unique_is_no_duplicate() {
    let mut db = database();
    db.execute_batch(
        "CREATE TABLE log (line TEXT NOT NULL UNIQUE) STRICT;
         INSERT INTO log VALUES ('receipt');
         CREATE TRIGGER note AFTER INSERT ON effect_receipts
         BEGIN INSERT INTO log VALUES ('receipt'); END;",
    )
    .unwrap();
    let result = apply_once(&mut db, "e1", "audit", sound("task-1"));
    assert_eq!(
        refusal(result),
        (Role::Claim, RefusalKind::Unique, Some(2067))
    );
    db.execute_batch("DROP TRIGGER note").unwrap();
    check_nothing_left(&mut db, 0);
}

/// A receipts table may be narrower than the contract by mistake. A key taken by another effect is an
/// error then, not a silence.
#[test]
fn a_narrower_unique_on_the_receipts_is_no_duplicate() {
    let mut db = with_receipts(schema::RECEIPTS_BY_EVENT);
    let first = apply_once(&mut db, "e1", "notification", sound("task-1")).unwrap();
    assert!(first.is_applied());
    let result = apply_once(&mut db, "e1", "audit", sound("task-2"));
    assert_eq!(
        refusal(result),
        (Role::Claim, RefusalKind::Unique, Some(2067))
    );
    assert_eq!(rows(&db), (1, 1));
}

/// A table or a trigger that ignores a row reports no error, and there is no receipt to arbitrate.
#[test]
fn a_receipt_that_was_not_written_is_never_followed_by_the_effect() {
    let mut db = with_receipts(
        "CREATE TABLE effect_receipts (
           event_id TEXT NOT NULL, effect_name TEXT NOT NULL,
           UNIQUE (event_id, effect_name) ON CONFLICT IGNORE
         ) STRICT;",
    );
    let first = apply_once(&mut db, "e1", "audit", sound("task-1")).unwrap();
    let second = apply_once(&mut db, "e1", "audit", sound("task-2"));
    assert!(first.is_applied());
    assert!(matches!(second, Err(ApplyError::NoReceipt)), "{second:?}");
    assert_eq!(rows(&db), (1, 1));

    let mut db = database();
    db.execute_batch(
        "CREATE TRIGGER ignore_all BEFORE INSERT ON effect_receipts BEGIN SELECT RAISE(IGNORE); END",
    )
    .unwrap();
    let result = apply_once(&mut db, "e1", "audit", sound("task-1"));
    assert!(matches!(result, Err(ApplyError::NoReceipt)), "{result:?}");
    db.execute_batch("DROP TRIGGER ignore_all").unwrap();
    check_nothing_left(&mut db, 0);
}

#[test]
fn a_deferred_foreign_key_is_refused_at_the_commit() {
    let mut db = database();
    db.execute_batch(
        "CREATE TABLE notes (
           ticket_id TEXT NOT NULL REFERENCES tickets (id) DEFERRABLE INITIALLY DEFERRED
         ) STRICT",
    )
    .unwrap();
    let result = apply_once(&mut db, "e1", "audit", |db| {
        db.execute("INSERT INTO notes VALUES ('ticket-9')", [])
    });
    assert_eq!(
        refusal(result),
        (Role::Commit, RefusalKind::ForeignKey, Some(787))
    );
    assert_eq!(count(&db, "notes"), 0);
    check_nothing_left(&mut db, 0);
}

#[test]
fn a_full_disk_is_itself() {
    let mut db = database();
    let pages: i64 = db
        .query_row("PRAGMA page_count", [], |row| row.get(0))
        .unwrap();
    let cap: i64 = db
        .query_row(&format!("PRAGMA max_page_count = {pages}"), [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(cap, pages);
    let large = "x".repeat(100_000);
    let result = apply_once(&mut db, "e1", "audit", |db| {
        let row = ["task-1", "ticket-1", "tenant-1", large.as_str(), "pending"];
        db.execute(schema::INSERT_TASK, row)
    });
    assert_eq!(refusal(result), (Role::Apply, RefusalKind::Full, Some(13)));
    db.query_row("PRAGMA max_page_count = 1000", [], |_| Ok(()))
        .unwrap();
    check_nothing_left(&mut db, 0);
}

/// Some conflicts make SQLite itself roll the whole transaction back.
#[test]
fn an_error_that_took_the_transaction_with_it_is_itself() {
    let mut db = database();
    db.execute(
        schema::INSERT_TASK,
        ["task-0", "ticket-1", "tenant-1", "audit", "pending"],
    )
    .unwrap();
    let result = apply_once(&mut db, "e1", "audit", |db| {
        db.execute(
            "INSERT OR ROLLBACK INTO business_tasks
             VALUES ('task-0', 'ticket-1', 'tenant-1', 'audit', 'pending')",
            [],
        )
    });
    assert_eq!(
        refusal(result),
        (Role::Apply, RefusalKind::Unique, Some(1555))
    );
    check_nothing_left(&mut db, 1);
}

// ---- Two connections -----------------------------------------------------------------------------------

/// Two connections to one database: SQLite's own in memory, which has the locks of a file.
fn two(name: &str) -> (Connection, Connection) {
    let uri = format!("file:/contract-{name}?vfs=memdb");
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE
        | rusqlite::OpenFlags::SQLITE_OPEN_CREATE
        | rusqlite::OpenFlags::SQLITE_OPEN_URI;
    let connect = || {
        let db = Connection::open_with_flags(&uri, flags).unwrap();
        db.busy_timeout(std::time::Duration::ZERO).unwrap();
        db.execute_batch("PRAGMA foreign_keys = ON").unwrap();
        db
    };
    let a = connect();
    set_up(&a, schema::RECEIPTS);
    (a, connect())
}

#[test]
fn a_busy_database_is_itself_and_the_call_may_be_repeated() {
    let (mut a, b) = two("receipt");
    b.execute_batch("BEGIN IMMEDIATE").unwrap();
    let result = apply_once(&mut a, "e1", "audit", sound("task-1"));
    assert_eq!(refusal(result), (Role::Claim, RefusalKind::Busy, Some(5)));
    b.execute_batch("ROLLBACK").unwrap();
    let again = apply_once(&mut a, "e1", "audit", sound("task-1")).unwrap();
    assert!(again.is_applied());
    assert_eq!(rows(&b), (1, 1));
}

#[test]
fn a_commit_that_is_busy_rolls_back() {
    let (mut a, b) = two("commit");
    b.execute_batch("BEGIN; SELECT * FROM tickets;").unwrap();
    let result = apply_once(&mut a, "e1", "audit", sound("task-1"));
    assert_eq!(refusal(result), (Role::Commit, RefusalKind::Busy, Some(5)));
    b.execute_batch("COMMIT").unwrap();
    check_nothing_left(&mut a, 0);
}

#[test]
fn the_other_connections_receipt_makes_a_duplicate() {
    let (mut a, mut b) = two("duplicate");
    let first = apply_once(&mut a, "e1", "audit", sound("task-1")).unwrap();
    let second = apply_once(&mut b, "e1", "audit", sound("task-2")).unwrap();
    assert!(first.is_applied() && !second.is_applied());
    assert_eq!(rows(&a), (1, 1));
}

// ---- Transactions that are not the contract's own ---------------------------------------------------

#[test]
fn a_caller_inside_a_transaction_is_refused_and_keeps_it() {
    let mut db = database();
    db.execute_batch("BEGIN").unwrap();
    sound("task-0")(&db).unwrap();
    let result = apply_once(&mut db, "e1", "audit", sound("task-1"));
    assert_eq!(refusal(result), (Role::Begin, RefusalKind::Other, Some(1)));
    assert!(!db.is_autocommit());
    db.execute_batch("COMMIT").unwrap();
    assert_eq!(rows(&db), (0, 1));
}

#[test]
fn an_apply_that_rolls_back_leaves_nothing_and_is_told() {
    let mut db = database();
    let result = apply_once(&mut db, "e1", "audit", |db| {
        sound("task-1")(db)?;
        db.execute_batch("ROLLBACK")
    });
    assert!(matches!(result, Err(ApplyError::TransactionEnded)));
    check_nothing_left(&mut db, 0);
}

/// What it committed by itself stays: nobody can undo that. But it is no success.
#[test]
fn an_apply_that_commits_is_told_that_the_transaction_ended() {
    let mut db = database();
    let result = apply_once(&mut db, "e1", "audit", |db| {
        sound("task-1")(db)?;
        db.execute_batch("COMMIT")
    });
    assert!(matches!(result, Err(ApplyError::TransactionEnded)));
    assert!(db.is_autocommit());
    assert_eq!(rows(&db), (1, 1));
}

/// The receipt is committed and the effect is not: the next delivery will be taken for a duplicate. The
/// error in `apply` alone would hide that.
#[test]
fn an_apply_that_commits_and_then_fails_is_told_that_the_transaction_ended() {
    let mut db = database();
    let result = apply_once(&mut db, "e1", "audit", |db| {
        db.execute_batch("COMMIT")?;
        task("task-1", "ticket-9", "pending")(db)
    });
    assert!(
        matches!(result, Err(ApplyError::TransactionEnded)),
        "{result:?}"
    );
    assert_eq!(rows(&db), (1, 0));
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn an_apply_that_panics_leaves_no_transaction() {
    let mut db = database();
    let call = std::panic::AssertUnwindSafe(|| {
        let _ = apply_once(&mut db, "e1", "audit", |db| -> rusqlite::Result<()> {
            sound("task-1")(db)?;
            panic!("the effect went wrong")
        });
    });
    assert!(std::panic::catch_unwind(call).is_err());
    check_nothing_left(&mut db, 0);
}

#[test]
fn an_error_says_which_stage_was_refused_and_keeps_its_source() {
    let mut db = database();
    let error = apply_once(&mut db, "e1", "audit", task("t", "ticket-9", "pending")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "effect refused (foreign key): FOREIGN KEY constraint failed"
    );
    assert_eq!(error.kind(), RefusalKind::ForeignKey);
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "FOREIGN KEY constraint failed");
}
