//! Delivers the same event twice to the contract and prints what became of it.

use deliver_twice_core::{apply_once, schema};
use rusqlite::Connection;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut db = Connection::open_in_memory()?;
    db.execute_batch("PRAGMA foreign_keys = ON")?;
    db.execute_batch(schema::RECEIPTS)?;
    db.execute_batch(schema::BUSINESS)?;
    db.execute(schema::INSERT_TICKET, ["ticket-1", "tenant-1"])?;

    let mut deliver = |task_id: &str| {
        apply_once(&mut db, "e1", "notification", |db| {
            db.execute(
                schema::INSERT_TASK,
                [task_id, "ticket-1", "tenant-1", "notification", "pending"],
            )
        })
    };
    let first = deliver("task-1")?.is_applied();
    let second = deliver("task-2")?.is_applied();

    let count = |table: &str| -> rusqlite::Result<i64> {
        db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
            row.get(0)
        })
    };
    let (receipts, tasks) = (count("effect_receipts")?, count("business_tasks")?);
    println!("first={first} second={second} receipts={receipts} tasks={tasks}");
    Ok(())
}
