//! Whether the servers are there, and that a test has a corner of each to itself.

use deliver_twice_evidence::scratch::{Queue, Schema, close};
use deliver_twice_evidence::servers::{broker_version, say};
use lapin::options::BasicGetOptions;

#[tokio::test]
async fn postgresql_gives_a_schema_to_one_test_alone() {
    let Some(schema) = Schema::open().await else {
        return;
    };
    let session = schema.session().await;
    let version: String = session
        .query_one("SHOW server_version", &[])
        .await
        .unwrap()
        .get(0);
    say(&format!("PostgreSQL {version}"));
    session
        .batch_execute("CREATE TABLE t (a TEXT)")
        .await
        .unwrap();
    let other = Schema::open().await.unwrap();
    other
        .session()
        .await
        .batch_execute("CREATE TABLE t (b TEXT)")
        .await
        .unwrap();

    let name = other.name().to_owned();
    drop(other);
    let sql = "SELECT count(*) FROM pg_namespace WHERE nspname = $1";
    let left: i64 = session.query_one(sql, &[&name]).await.unwrap().get(0);
    assert_eq!(left, 0);
    let own: i64 = session
        .query_one(sql, &[&schema.name()])
        .await
        .unwrap()
        .get(0);
    assert_eq!(own, 1);
}

#[tokio::test]
async fn rabbitmq_gives_a_queue_to_one_test_alone() {
    let Some(queue) = Queue::open().await else {
        return;
    };
    let (connection, channel) = queue.channel().await;
    let version = broker_version(queue.url())
        .unwrap()
        .expect("RabbitMQ says its version");
    assert!(
        version.starts_with(|digit: char| digit.is_ascii_digit()),
        "{version}"
    );
    say(&format!("RabbitMQ {version}"));
    let got = channel
        .basic_get(queue.name().into(), BasicGetOptions::default())
        .await
        .unwrap();
    assert!(got.is_none());
    let other = Queue::open().await.unwrap();
    assert_ne!(queue.name(), other.name());
    other.delete().await;
    close(connection).await;
    queue.delete().await;
}
