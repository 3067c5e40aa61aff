//! Who waits for whom, by PostgreSQL's own view of its locks.

use std::time::Duration;

use tokio_postgres::{Client, Error};

/// How often a state is asked for before a wait is given up, a hundredth of a second apart.
const TRIES: usize = 1_000;

/// The process on the server that serves this session.
///
/// # Errors
/// The server's.
pub async fn process_of(session: &Client) -> Result<i32, Error> {
    let row = session
        .query_typed_one("SELECT pg_backend_pid()", &[])
        .await?;
    Ok(row.get(0))
}

/// The processes that this one waits for; none if it is not waiting.
///
/// # Errors
/// The server's.
pub async fn blockers(observer: &Client, process: i32) -> Result<Vec<i32>, Error> {
    let row = observer
        .query_one("SELECT pg_blocking_pids($1)", &[&process])
        .await?;
    Ok(row.get(0))
}

/// Waits until this process waits for another, and returns for which.
///
/// # Errors
/// The server's.
///
/// # Panics
/// If it is still not waiting after ten seconds.
pub async fn wait_until_blocked(observer: &Client, process: i32) -> Result<Vec<i32>, Error> {
    for _ in 0..TRIES {
        let holders = blockers(observer, process).await?;
        if !holders.is_empty() {
            return Ok(holders);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("process {process} waits for nobody")
}
