//! The same event more than once over RabbitMQ, to a consumer on PostgreSQL.

use deliver_twice_core::Outcome;
use deliver_twice_evidence::broker::{ask_for_confirms, consume, next, notify, publish, ready};
use deliver_twice_evidence::scratch::{Queue, Schema, close};
use deliver_twice_evidence::tables;
use lapin::options::{BasicAckOptions, BasicNackOptions};
use lapin::{Channel, Confirmation, Connection, Consumer};
use tokio_postgres::Client;

/// A queue with a producer on it, and a database with a consumer's session.
struct Bench {
    queue: Queue,
    schema: Schema,
    producer: (Connection, Channel),
    session: Client,
}

impl Bench {
    /// `None`, once that is said aloud, if one of the servers is not there.
    async fn open() -> Option<Bench> {
        let queue = Queue::open().await?;
        let schema = Schema::open().await?;
        let session = schema.session().await;
        tables::create(&session).await.unwrap();
        let producer = queue.channel().await;
        ask_for_confirms(&producer.1).await.unwrap();
        Some(Bench {
            queue,
            schema,
            producer,
            session,
        })
    }

    async fn publish(&self, event: &str, ticket: &str) {
        let confirmed = publish(&self.producer.1, self.queue.name(), event, ticket).await;
        assert_eq!(confirmed.unwrap(), Confirmation::Ack(None));
    }

    /// A consumer of its own connection.
    async fn consumer(&self) -> (Connection, Channel, Consumer) {
        let (connection, channel) = self.queue.channel().await;
        let consumer = consume(&channel, self.queue.name(), 1).await.unwrap();
        (connection, channel, consumer)
    }

    /// Nothing is left in the queue, and the database holds this many receipts and tasks.
    async fn check(self, rows: (i64, i64)) {
        assert_eq!(ready(&self.producer.1, self.queue.name()).await.unwrap(), 0);
        let observer = self.schema.session().await;
        assert_eq!(tables::count(&observer).await.unwrap(), rows);
        close(self.producer.0).await;
        self.queue.delete().await;
    }
}

#[tokio::test]
async fn an_event_published_twice_is_two_deliveries_and_one_task() {
    let Some(mut bench) = Bench::open().await else {
        return;
    };
    bench.publish("e1", "ticket-1").await;
    bench.publish("e1", "ticket-1").await;
    let (connection, _channel, mut consumer) = bench.consumer().await;
    let mut seen = Vec::new();
    for task in ["task-1", "task-2"] {
        let delivery = next(&mut consumer).await;
        let outcome = notify(&mut bench.session, &delivery, task).await.unwrap();
        seen.push((delivery.redelivered, outcome));
        delivery.ack(BasicAckOptions::default()).await.unwrap();
    }
    // The flag says "never seen" of both: it is the broker's, and knows of copies nothing.
    let expected = [(false, Outcome::Applied(())), (false, Outcome::Duplicate)];
    assert_eq!(seen, expected);
    close(connection).await;
    bench.check((1, 1)).await;
}

/// How a consumer is cut off.
#[derive(Clone, Copy, Debug)]
enum Cut {
    Channel,
    Connection,
}

#[tokio::test]
async fn a_consumer_cut_off_between_commit_and_ack_is_redelivered_and_writes_one_task() {
    for cut in [Cut::Channel, Cut::Connection] {
        let Some(mut bench) = Bench::open().await else {
            return;
        };
        bench.publish("e1", "ticket-1").await;
        let (first, channel, mut consumer) = bench.consumer().await;
        let delivery = next(&mut consumer).await;
        let outcome = notify(&mut bench.session, &delivery, "task-1")
            .await
            .unwrap();
        assert_eq!(
            (delivery.redelivered, outcome),
            (false, Outcome::Applied(()))
        );
        match cut {
            Cut::Channel => channel.close(200, "cut off".into()).await.unwrap(),
            Cut::Connection => first.close(200, "cut off".into()).await.unwrap(),
        }
        let (second, _channel, mut consumer) = bench.consumer().await;
        let again = next(&mut consumer).await;
        let mut session = bench.schema.session().await;
        let outcome = notify(&mut session, &again, "task-2").await.unwrap();
        assert_eq!(
            (again.redelivered, outcome),
            (true, Outcome::Duplicate),
            "{cut:?}"
        );
        again.ack(BasicAckOptions::default()).await.unwrap();
        // The first consumer's ack comes too late, and changes nothing.
        assert!(
            !matches!(delivery.ack(BasicAckOptions::default()).await, Ok(true)),
            "{cut:?}"
        );
        close(first).await;
        close(second).await;
        bench.check((1, 1)).await;
    }
}

#[tokio::test]
async fn a_consumer_cut_off_before_its_commit_is_redelivered_and_the_task_is_written_then() {
    let Some(mut bench) = Bench::open().await else {
        return;
    };
    bench.publish("e1", "ticket-1").await;
    let (first, _channel, mut consumer) = bench.consumer().await;
    let delivery = next(&mut consumer).await;
    // It has written both rows and dies: its session ends with its transaction open.
    let session = bench.schema.session().await;
    session
        .batch_execute(
            "BEGIN; INSERT INTO effect_receipts VALUES ('e1', 'notification');
             INSERT INTO business_tasks VALUES ('task-1', 'ticket-1', 'tenant-1', 'notification', 'pending')",
        )
        .await
        .unwrap();
    drop(session);
    drop(delivery);
    close(first).await;
    let (second, _channel, mut consumer) = bench.consumer().await;
    let again = next(&mut consumer).await;
    let outcome = notify(&mut bench.session, &again, "task-2").await.unwrap();
    // The flag is up, and nothing had been done: it is no proof.
    assert_eq!((again.redelivered, outcome), (true, Outcome::Applied(())));
    again.ack(BasicAckOptions::default()).await.unwrap();
    close(second).await;
    bench.check((1, 1)).await;
}

#[tokio::test]
async fn a_missing_ticket_rolls_the_receipt_back_and_the_redelivery_succeeds_once() {
    let Some(mut bench) = Bench::open().await else {
        return;
    };
    bench.publish("e1", "ticket-2").await;
    let (connection, _channel, mut consumer) = bench.consumer().await;
    let delivery = next(&mut consumer).await;
    let error = notify(&mut bench.session, &delivery, "task-1")
        .await
        .unwrap_err();
    assert_eq!(error.sqlstate().unwrap().code(), "23503");
    assert_eq!(error.constraint(), Some("business_tasks_ticket_id_fkey"));
    assert_eq!(tables::count(&bench.session).await.unwrap(), (0, 0));
    let requeue = BasicNackOptions {
        requeue: true,
        ..BasicNackOptions::default()
    };
    delivery.nack(requeue).await.unwrap();

    tables::add_ticket(&bench.session, "ticket-2")
        .await
        .unwrap();
    let again = next(&mut consumer).await;
    let outcome = notify(&mut bench.session, &again, "task-2").await.unwrap();
    assert_eq!((again.redelivered, outcome), (true, Outcome::Applied(())));
    again.ack(BasicAckOptions::default()).await.unwrap();

    bench.publish("e1", "ticket-2").await;
    let copy = next(&mut consumer).await;
    let outcome = notify(&mut bench.session, &copy, "task-3").await.unwrap();
    assert_eq!((copy.redelivered, outcome), (false, Outcome::Duplicate));
    copy.ack(BasicAckOptions::default()).await.unwrap();
    close(connection).await;
    bench.check((1, 1)).await;
}
