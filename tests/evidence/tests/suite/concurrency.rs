//! Two sessions at once: what the second sees of the first, at each isolation level.

use deliver_twice_core::Outcome;
use deliver_twice_core::plan::Role;
use deliver_twice_evidence::locks::{blockers, process_of, wait_until_blocked};
use deliver_twice_evidence::scratch::Schema;
use deliver_twice_evidence::tables::{self, Task};
use deliver_twice_evidence::{ApplyError, apply_once};
use futures_util::future::{join, join3};
use tokio::sync::{Barrier, Notify};
use tokio_postgres::{Client, Error};

use crate::apply_once::database;

const LEVELS: [&str; 3] = ["read committed", "repeatable read", "serializable"];

async fn session(schema: &Schema, isolation: &str) -> Client {
    let client = schema.session().await;
    let set = format!("SET default_transaction_isolation = '{isolation}'");
    client.batch_execute(&set).await.unwrap();
    client
}

type Applied = Result<Outcome<()>, ApplyError>;

/// Two deliveries of one event to two sessions. The first has claimed and applied when the second comes;
/// the first then commits, or fails. Returns what became of both, once the server itself has said that the
/// second waits for the first and for nobody else.
async fn race(schema: &Schema, isolation: &str, first_fails: bool) -> (Applied, Applied) {
    let mut first = session(schema, isolation).await;
    let mut second = session(schema, isolation).await;
    let observer = schema.session().await;
    let processes = (
        process_of(&first).await.unwrap(),
        process_of(&second).await.unwrap(),
    );
    let (has_applied, may_end) = (Notify::new(), Notify::new());
    let earlier = apply_once(&mut first, "e1", "notification", async |client| {
        Task::sound("task-1").write(client).await?;
        has_applied.notify_one();
        may_end.notified().await;
        if first_fails {
            client.batch_execute("SELECT 1 / 0").await?;
        }
        Ok(())
    });
    let later = async {
        has_applied.notified().await;
        apply_once(&mut second, "e1", "notification", async |client| {
            Task::sound("task-2").write(client).await.map(drop)
        })
        .await
    };
    let looks = async {
        let holders = wait_until_blocked(&observer, processes.1).await.unwrap();
        assert_eq!(holders, [processes.0], "{isolation}");
        assert_eq!(
            tables::count(&observer).await.unwrap(),
            (0, 0),
            "{isolation}"
        );
        may_end.notify_one();
    };
    let (earlier, later, ()) = join3(earlier, later, looks).await;
    let waiting = blockers(&observer, processes.1).await.unwrap();
    assert!(waiting.is_empty(), "{isolation}");
    (earlier, later)
}

#[tokio::test]
async fn the_second_waits_for_the_first_and_is_a_duplicate_once_it_commits() {
    let Some((schema, client)) = database().await else {
        return;
    };
    for isolation in LEVELS {
        tables::create_anew(&client).await.unwrap();
        let (first, second) = race(&schema, isolation, false).await;
        assert_eq!(first.unwrap(), Outcome::Applied(()), "{isolation}");
        assert_eq!(second.unwrap(), Outcome::Duplicate, "{isolation}");
        let task: String = client
            .query_one("SELECT id FROM business_tasks", &[])
            .await
            .unwrap()
            .get(0);
        assert_eq!(task, "task-1");
    }
}

#[tokio::test]
async fn the_second_waits_for_the_first_and_goes_on_once_it_rolls_back() {
    let Some((schema, client)) = database().await else {
        return;
    };
    for isolation in LEVELS {
        tables::create_anew(&client).await.unwrap();
        let (first, second) = race(&schema, isolation, true).await;
        let error = first.unwrap_err();
        assert_eq!(error.sqlstate().unwrap().code(), "22012", "{isolation}");
        assert_eq!(second.unwrap(), Outcome::Applied(()), "{isolation}");
        assert_eq!(tables::count(&client).await.unwrap(), (1, 1), "{isolation}");
    }
}

#[tokio::test]
async fn a_wait_that_is_cut_short_is_itself_and_the_next_delivery_tells() {
    let Some((schema, mut first)) = database().await else {
        return;
    };
    let mut second = schema.session().await;
    second
        .batch_execute("SET lock_timeout = '50ms'")
        .await
        .unwrap();
    let outcome = apply_once(&mut first, "e1", "notification", async |client| {
        Task::sound("task-1").write(client).await?;
        let cut = apply_once(&mut second, "e1", "notification", async |_| Ok(())).await;
        let error = cut.unwrap_err();
        assert_eq!(error.sqlstate().unwrap().code(), "55P03");
        assert!(matches!(
            error,
            ApplyError::Refused {
                during: Role::Claim,
                ..
            }
        ));
        Ok(())
    });
    assert_eq!(outcome.await.unwrap(), Outcome::Applied(()));
    let again = apply_once(&mut second, "e1", "notification", async |_| Ok(())).await;
    assert_eq!(again.unwrap(), Outcome::Duplicate);
}

#[tokio::test]
async fn two_events_do_not_wait_for_each_other() {
    let Some((schema, mut first)) = database().await else {
        return;
    };
    let mut second = schema.session().await;
    let outcome = apply_once(&mut first, "e1", "notification", async |client| {
        Task::sound("task-1").write(client).await?;
        let other = apply_once(&mut second, "e2", "notification", async |client| {
            Task::sound("task-2").write(client).await
        });
        assert_eq!(other.await.unwrap(), Outcome::Applied(1));
        Ok(())
    });
    assert_eq!(outcome.await.unwrap(), Outcome::Applied(()));
}

// ---- Conflicts that are no duplicates ----------------------------------------------------------------

#[tokio::test]
async fn a_row_that_another_changed_is_40001_under_repeatable_read() {
    let Some((schema, other)) = database().await else {
        return;
    };
    const CHANGE: &str = "UPDATE tickets SET tenant_id = tenant_id || '!'";
    for isolation in LEVELS {
        tables::create_anew(&other).await.unwrap();
        let mut client = session(&schema, isolation).await;
        let result = apply_once(&mut client, "e1", "notification", async |client| {
            Task::sound("task-1").write(client).await?;
            other.batch_execute(CHANGE).await?;
            client.batch_execute(CHANGE).await
        });
        let result = result.await;
        if isolation == "read committed" {
            assert_eq!(result.unwrap(), Outcome::Applied(()));
            continue;
        }
        let error = result.unwrap_err();
        assert_eq!(error.sqlstate().unwrap().code(), "40001", "{isolation}");
        assert_eq!(tables::count(&other).await.unwrap(), (0, 0), "{isolation}");
        let again = apply_once(&mut client, "e1", "notification", async |client| {
            client.batch_execute(CHANGE).await
        });
        assert_eq!(again.await.unwrap(), Outcome::Applied(()), "{isolation}");
    }
}

/// Both look how many tasks there are, and both add one: no order of the two has that as its outcome.
#[tokio::test]
async fn what_no_order_explains_is_40001_at_the_commit_under_serializable() {
    let Some((schema, client)) = database().await else {
        return;
    };
    for isolation in LEVELS {
        tables::create_anew(&client).await.unwrap();
        let mut sessions = [
            session(&schema, isolation).await,
            session(&schema, isolation).await,
        ];
        let both_have_written = Barrier::new(2);
        let first_has_committed = Notify::new();
        let [first, second] = &mut sessions;
        let earlier = async {
            let outcome = apply_once(first, "e1", "notification", async |client| {
                tables::count(client).await?;
                Task::sound("task-1").write(client).await?;
                both_have_written.wait().await;
                Ok(())
            });
            let outcome = outcome.await;
            first_has_committed.notify_one();
            outcome
        };
        let later = apply_once(second, "e2", "notification", async |client| {
            tables::count(client).await?;
            Task::sound("task-2").write(client).await?;
            both_have_written.wait().await;
            first_has_committed.notified().await;
            Ok(())
        });
        let (earlier, later) = join(earlier, later).await;
        assert_eq!(earlier.unwrap(), Outcome::Applied(()), "{isolation}");
        if isolation == "serializable" {
            let error = later.unwrap_err();
            assert_eq!(error.sqlstate().unwrap().code(), "40001");
            assert!(
                matches!(
                    error,
                    ApplyError::Refused {
                        during: Role::Commit,
                        ..
                    }
                ),
                "{error}"
            );
            assert_eq!(tables::count(&client).await.unwrap(), (1, 1));
        } else {
            assert_eq!(later.unwrap(), Outcome::Applied(()), "{isolation}");
        }
    }
}

#[tokio::test]
async fn a_deadlock_is_40p01_for_one_and_nothing_for_the_other() {
    let Some((schema, client)) = database().await else {
        return;
    };
    tables::add_ticket(&client, "ticket-2").await.unwrap();
    let mut sessions = [schema.session().await, schema.session().await];
    for session in &sessions {
        session
            .batch_execute("SET deadlock_timeout = '50ms'")
            .await
            .unwrap();
    }
    let both_hold_one = Barrier::new(2);
    let touch = async |client: &Client, ticket: &str| -> Result<(), Error> {
        let sql = "UPDATE tickets SET tenant_id = 'other' WHERE id = $1";
        client.execute(sql, &[&ticket]).await.map(drop)
    };
    let call = async |client: &mut Client, event: &str, tickets: [&str; 2]| -> Applied {
        apply_once(client, event, "notification", async |client| {
            touch(client, tickets[0]).await?;
            both_hold_one.wait().await;
            touch(client, tickets[1]).await
        })
        .await
    };
    let [first, second] = &mut sessions;
    let (first, second) = join(
        call(first, "e1", ["ticket-1", "ticket-2"]),
        call(second, "e2", ["ticket-2", "ticket-1"]),
    )
    .await;
    let mut codes: Vec<String> = [first, second]
        .into_iter()
        .map(|result| match result {
            Ok(outcome) => format!("{outcome:?}"),
            Err(error) => error.sqlstate().unwrap().code().to_owned(),
        })
        .collect();
    codes.sort();
    assert_eq!(codes, ["40P01", "Applied(())"]);
    assert_eq!(tables::count(&client).await.unwrap(), (1, 0));
}
