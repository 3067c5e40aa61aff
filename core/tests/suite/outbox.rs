//! The outbox: what each statement does to its table, and what both stores make of the same calls.

use deliver_twice_core::outbox::statements;
use deliver_twice_core::schema;
use rusqlite::{Connection, params};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

// ---- The table and its statements -----------------------------------------------------------------

/// A database with an outbox.
fn database() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    set_up(&db);
    db
}

fn set_up(db: &Connection) {
    db.execute_batch(schema::OUTBOX_EVENTS).unwrap();
    db.execute_batch(schema::OUTBOX_OPEN_INDEX).unwrap();
}

/// A database whose outbox has these events, about the ticket `ticket-1`.
fn with_events(events: &[&str]) -> Connection {
    let db = database();
    for event in events {
        db.execute(statements::ENQUEUE, [*event, "ticket-1", "created"])
            .unwrap();
    }
    db
}

/// Claims for A until 10: the event, the token and the attempt.
fn claim(db: &Connection, now: i64) -> Option<(String, i64, u32)> {
    returned(db, statements::CLAIM_ONE, params!["A", now + 10, now])
}

fn returned(
    db: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Option<(String, i64, u32)> {
    let mut statement = db.prepare(sql).unwrap();
    let mut rows = statement.query(values).unwrap();
    let row = rows.next().unwrap()?;
    let found = (row.get(0), row.get(1), row.get(2));
    assert!(rows.next().unwrap().is_none(), "one claim, two events");
    Some((found.0.unwrap(), found.1.unwrap(), found.2.unwrap()))
}

/// The rows in order: event, state, owner, token, attempt and the end of the lease.
fn table(db: &Connection) -> Vec<String> {
    let sql = "SELECT event_id || ' ' || state || ' ' || ifnull(owner, '-') || ' ' || token || ' '
                      || attempt || ' ' || ifnull(lease_until, '-')
               FROM outbox_events ORDER BY position";
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn a_claim_takes_the_first_pending_event_and_counts_token_and_attempt() {
    let db = with_events(&["e2", "e1"]);
    assert_eq!(claim(&db, 0), Some(("e2".into(), 1, 1)));
    assert_eq!(claim(&db, 0), Some(("e1".into(), 1, 1)));
    assert_eq!(claim(&db, 0), None);
    assert_eq!(table(&db), ["e2 leased A 1 1 10", "e1 leased A 1 1 10"]);
}

#[test]
fn a_lease_is_over_when_the_clock_has_come_to_its_end() {
    let db = with_events(&["e1"]);
    assert_eq!(claim(&db, 0), Some(("e1".into(), 1, 1)));
    assert_eq!(claim(&db, 9), None);
    assert_eq!(claim(&db, 10), Some(("e1".into(), 2, 2)));
    assert_eq!(table(&db), ["e1 leased A 2 2 20"]);
}

#[test]
fn a_fenced_statement_changes_the_leased_row_with_its_token_and_no_other() {
    let fenced = [
        (statements::MARK_PUBLISHED, "published"),
        (statements::RELEASE_FOR_RETRY, "pending"),
        (statements::PARK, "parked"),
    ];
    for (sql, state) in fenced {
        let db = with_events(&["e1", "e2"]);
        assert_eq!(db.execute(sql, params!["e1", 0]).unwrap(), 0, "not leased");
        claim(&db, 0).unwrap();
        claim(&db, 10).unwrap();
        let before = table(&db);
        assert_eq!(db.execute(sql, params!["e1", 1]).unwrap(), 0, "old token");
        assert_eq!(db.execute(sql, params!["e2", 2]).unwrap(), 0, "not leased");
        assert_eq!(table(&db), before, "{state}");
        assert_eq!(db.execute(sql, params!["e1", 2]).unwrap(), 1);
        assert_eq!(
            table(&db),
            [format!("e1 {state} - 2 2 -"), "e2 pending - 0 0 -".into()]
        );
        assert_eq!(db.execute(sql, params!["e1", 2]).unwrap(), 0, "settled");
    }
}

#[test]
fn an_unfenced_statement_changes_the_row_whoever_holds_it() {
    let unfenced = [
        (statements::MARK_PUBLISHED_UNFENCED, "published"),
        (statements::RELEASE_FOR_RETRY_UNFENCED, "pending"),
        (statements::PARK_UNFENCED, "parked"),
    ];
    for (sql, state) in unfenced {
        let db = with_events(&["e1", "e2"]);
        claim(&db, 0).unwrap();
        claim(&db, 10).unwrap();
        assert_eq!(db.execute(sql, ["e1"]).unwrap(), 1);
        assert_eq!(
            table(&db),
            [format!("e1 {state} - 2 2 -"), "e2 pending - 0 0 -".into()]
        );
    }
}

#[test]
fn a_claim_forever_is_never_over() {
    let db = with_events(&["e1"]);
    let claimed = returned(&db, statements::CLAIM_FOREVER, ["A"]);
    assert_eq!(claimed, Some(("e1".into(), 1, 1)));
    assert_eq!(returned(&db, statements::CLAIM_FOREVER, ["B"]), None);
    assert_eq!(claim(&db, i64::MAX - 10), None);
    assert_eq!(table(&db), [format!("e1 leased A 1 1 {}", i64::MAX)]);
}

#[test]
fn a_claim_that_marks_published_leaves_nothing_to_claim() {
    let db = with_events(&["e1"]);
    let sql = statements::CLAIM_MARKING_PUBLISHED;
    assert_eq!(returned(&db, sql, []), Some(("e1".into(), 1, 1)));
    assert_eq!(returned(&db, sql, []), None);
    assert_eq!(table(&db), ["e1 published - 1 1 -"]);
}

#[test]
fn the_table_refuses_what_no_state_allows() {
    let db = with_events(&["e1"]);
    let refused = [
        ("state = 'sent'", "ck_outbox_state"),
        ("state = 'leased', owner = 'A'", "ck_outbox_lease"),
        ("state = 'leased', lease_until = 1", "ck_outbox_owner"),
        ("owner = 'A'", "ck_outbox_owner"),
        ("lease_until = 1", "ck_outbox_lease"),
    ];
    for (change, constraint) in refused {
        let result = db.execute(&format!("UPDATE outbox_events SET {change}"), []);
        let message = result.unwrap_err().to_string();
        assert!(message.contains(constraint), "{change}: {message}");
    }
    let twice = db.execute(statements::ENQUEUE, ["e1", "ticket-2", "updated"]);
    let code = twice.unwrap_err().sqlite_error().unwrap().extended_code;
    assert_eq!(code, 2067);
    assert!(schema::OUTBOX_EVENTS.contains(schema::OUTBOX_CONSTRAINT));
    assert_eq!(table(&db), ["e1 pending - 0 0 -"]);
}

#[test]
fn a_claim_does_not_walk_past_what_was_published() {
    let db = database();
    let mut plan = db
        .prepare(&format!("EXPLAIN QUERY PLAN {}", statements::CLAIM_ONE))
        .unwrap();
    let lines: Vec<String> = plan
        .query_map(params!["A", 10, 0], |row| row.get(3))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(
        lines.iter().any(|line| line.contains("ix_outbox_open")),
        "{lines:?}"
    );
}

#[test]
fn the_parameters_are_numbered_as_they_are_named_in_the_documentation() {
    let db = database();
    let fence: &[&str] = &[":event_id", ":token"];
    let event: &[&str] = &[":event_id"];
    let cases: [(&str, &[&str]); 11] = [
        (
            statements::ENQUEUE,
            &[":event_id", ":ticket_id", ":payload"],
        ),
        (statements::FIND, event),
        (statements::CLAIM_ONE, &[":owner", ":until", ":now"]),
        (statements::CLAIM_FOREVER, &[":owner"]),
        (statements::CLAIM_MARKING_PUBLISHED, &[]),
        (statements::MARK_PUBLISHED, fence),
        (statements::RELEASE_FOR_RETRY, fence),
        (statements::PARK, fence),
        (statements::MARK_PUBLISHED_UNFENCED, event),
        (statements::RELEASE_FOR_RETRY_UNFENCED, event),
        (statements::PARK_UNFENCED, event),
    ];
    for (sql, names) in cases {
        let statement = db.prepare(sql).unwrap();
        let found: Vec<&str> = (1..=statement.parameter_count())
            .map(|index| statement.parameter_name(index).unwrap())
            .collect();
        assert_eq!(found, names, "{sql}");
    }
}
