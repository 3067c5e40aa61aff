//! `apply_once` against the same four statements written by hand.

use std::time::Duration;

use deliver_twice_core::{apply_once, schema};
use rusqlite::Connection;

use crate::timing::{compare, fastest, timed};

/// Events in one round.
const EVENTS: usize = 2_000;

/// The effect: it writes one row.
const MAIL: &str = "INSERT INTO mails (event_id) VALUES (?1)";

pub fn print() {
    println!("\n{EVENTS} events in memory    apply_once     by hand");
    let ids: Vec<String> = (0..EVENTS).map(|index| format!("event-{index}")).collect();
    let times = fastest([&mut || library(&ids), &mut || by_hand(&ids)]);
    compare("all of them applied", times);
}

fn database() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(schema::RECEIPTS).unwrap();
    db.execute_batch("CREATE TABLE mails (event_id TEXT NOT NULL) STRICT")
        .unwrap();
    db
}

fn library(ids: &[String]) -> Duration {
    let (time, ()) = timed(database, |db| {
        for id in ids {
            let mail = |db: &Connection| db.prepare_cached(MAIL)?.execute([id]);
            let outcome = apply_once(db, id, "notification", mail).unwrap();
            assert!(outcome.is_applied());
        }
    });
    time
}

fn by_hand(ids: &[String]) -> Duration {
    const CLAIM: &str = "INSERT INTO effect_receipts (event_id, effect_name) VALUES (?1, ?2)";
    let (time, ()) = timed(database, |db| {
        for id in ids {
            db.prepare_cached("BEGIN").unwrap().execute([]).unwrap();
            let mut claim = db.prepare_cached(CLAIM).unwrap();
            assert_eq!(claim.execute([id, "notification"]).unwrap(), 1);
            db.prepare_cached(MAIL).unwrap().execute([id]).unwrap();
            db.prepare_cached("COMMIT").unwrap().execute([]).unwrap();
        }
    });
    time
}
