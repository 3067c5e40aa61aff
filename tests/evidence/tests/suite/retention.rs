//! What becomes of the contract when old receipts go.

use deliver_twice_core::Outcome;
use deliver_twice_evidence::apply_once;
use deliver_twice_evidence::tables::{self, Task};
use tokio_postgres::{Client, Error};

use crate::apply_once::database;

async fn apply(client: &mut Client, event: &str, task: &str) -> Outcome<u64> {
    apply_once(client, event, "notification", async |client| {
        Task::sound(task).write(client).await
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn a_redelivery_after_its_receipt_is_gone_doubles_the_effect() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    assert_eq!(
        apply(&mut client, "e1", "task-1").await,
        Outcome::Applied(1)
    );
    assert_eq!(apply(&mut client, "e1", "task-2").await, Outcome::Duplicate);
    client
        .batch_execute("DELETE FROM effect_receipts")
        .await
        .unwrap();
    assert_eq!(
        apply(&mut client, "e1", "task-3").await,
        Outcome::Applied(1)
    );
    assert_eq!(tables::count(&client).await.unwrap(), (1, 2));
}

/// A partition can be dropped at once, where a DELETE walks over every row. But the constraint has to have
/// the partition's key in it, and the moment of arrival differs from delivery to delivery.
#[tokio::test]
async fn receipts_partitioned_by_their_arrival_guard_nothing() {
    let Some((_schema, client)) = database().await else {
        return;
    };
    let without_the_key = client.batch_execute(
        "CREATE TABLE by_arrival (
           event_id TEXT NOT NULL, effect_name TEXT NOT NULL, arrived DATE NOT NULL,
           UNIQUE (event_id, effect_name)
         ) PARTITION BY RANGE (arrived)",
    );
    let error = without_the_key.await.unwrap_err();
    assert_eq!(error.code().unwrap().code(), "0A000");
    client
        .batch_execute(
            "CREATE TABLE by_arrival (
               event_id TEXT NOT NULL, effect_name TEXT NOT NULL, arrived DATE NOT NULL,
               UNIQUE (event_id, effect_name, arrived)
             ) PARTITION BY RANGE (arrived);
             CREATE TABLE january PARTITION OF by_arrival FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
             INSERT INTO by_arrival VALUES ('e1', 'notification', '2026-01-05');
             INSERT INTO by_arrival VALUES ('e1', 'notification', '2026-01-06');",
        )
        .await
        .unwrap();
}

/// The event's own day is the same in every delivery of it, so a constraint with it in arbitrates. And when
/// its partition is gone, a late delivery is refused, where a deleted receipt would let it through.
#[tokio::test]
async fn receipts_partitioned_by_the_events_own_day_arbitrate_and_refuse_what_is_too_old() {
    let Some((_schema, client)) = database().await else {
        return;
    };
    client
        .batch_execute(
            "CREATE TABLE by_day (
               event_id TEXT NOT NULL, effect_name TEXT NOT NULL, occurred DATE NOT NULL,
               CONSTRAINT uq_by_day UNIQUE (event_id, effect_name, occurred)
             ) PARTITION BY RANGE (occurred);
             CREATE TABLE january PARTITION OF by_day FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
             CREATE TABLE february PARTITION OF by_day FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');",
        )
        .await
        .unwrap();
    let claim = async || -> Result<(), Error> {
        let sql = "INSERT INTO by_day VALUES ('e1', 'notification', '2026-01-05')";
        client.batch_execute(sql).await
    };
    claim().await.unwrap();
    let copy = claim().await.unwrap_err();
    let copy = copy.as_db_error().unwrap();
    assert_eq!(copy.code().code(), "23505");
    // The partition's own index refused, under the partition's name.
    assert_eq!(copy.table(), Some("january"));
    assert_eq!(
        copy.constraint(),
        Some("january_event_id_effect_name_occurred_key")
    );
    client.batch_execute("DROP TABLE january").await.unwrap();
    let late = claim().await.unwrap_err();
    assert_eq!(late.code().unwrap().code(), "23514");
}

/// A table that is partitioned by a part of its key can have the contract's constraint, under its name. But
/// what refuses is a partition's index, under another. So a duplicate is not known here: it is given back
/// and never done twice.
#[tokio::test]
async fn a_duplicate_in_a_partition_is_refused_and_not_recognised() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    client
        .batch_execute(
            "DROP TABLE effect_receipts;
             CREATE TABLE effect_receipts (
               event_id TEXT NOT NULL, effect_name TEXT NOT NULL,
               CONSTRAINT uq_effect_event_name UNIQUE (event_id, effect_name)
             ) PARTITION BY LIST (effect_name);
             CREATE TABLE of_notifications PARTITION OF effect_receipts FOR VALUES IN ('notification');",
        )
        .await
        .unwrap();
    assert_eq!(
        apply(&mut client, "e1", "task-1").await,
        Outcome::Applied(1)
    );
    let copy = apply_once(&mut client, "e1", "notification", async |client| {
        Task::sound("task-2").write(client).await
    });
    let error = copy.await.unwrap_err();
    assert_eq!(error.sqlstate().unwrap().code(), "23505");
    assert_eq!(
        error.constraint(),
        Some("of_notifications_event_id_effect_name_key")
    );
    assert_eq!(tables::count(&client).await.unwrap(), (1, 1));
}
