//! A relay between the outbox in PostgreSQL and RabbitMQ: each word of the broker, to the end.

use std::num::NonZeroU32;
use std::time::Duration;

use deliver_twice_core::Outcome;
use deliver_twice_core::outbox::EventState;
use deliver_twice_core::relay::{Relay, RelayResult};
use deliver_twice_evidence::broker::{PATIENCE, consume, next, notify, ready};
use deliver_twice_evidence::cable::Cable;
use deliver_twice_evidence::outbox::{OutboxError, PostgresOutbox};
use deliver_twice_evidence::publisher::RabbitPublisher;
use deliver_twice_evidence::scratch::{Queue, close};
use deliver_twice_evidence::tables;
use lapin::options::BasicAckOptions;
use lapin::uri::AMQPUri;
use postgres::Client;

use crate::confirms::full_after;
use crate::outbox::{Bench, enqueue};

fn relay() -> Relay {
    Relay {
        owner: "relay-1".to_owned(),
        lease: NonZeroU32::new(30).unwrap(),
        limit: 10,
        attempts_max: 2,
    }
}

/// Claimed, published, released, parked, fenced, unanswered, failed.
type Counts = [usize; 7];

fn counts(result: RelayResult<OutboxError>) -> Counts {
    [
        result.claimed,
        result.published,
        result.released,
        result.parked,
        result.fenced,
        result.unanswered,
        result.failures.len(),
    ]
}

fn pass(client: &mut Client, publisher: &mut RabbitPublisher, now: i64) -> Counts {
    counts(
        relay()
            .pass(&mut PostgresOutbox::new(client), publisher, now)
            .unwrap(),
    )
}

/// How far each event is, by a word.
fn states(client: &mut Client) -> Vec<&'static str> {
    let rows = PostgresOutbox::new(client).rows().unwrap();
    rows.iter()
        .map(|row| match row.state {
            EventState::Pending => "pending",
            EventState::Leased { .. } => "leased",
            EventState::Published => "published",
            EventState::Parked => "parked",
        })
        .collect()
}

#[test]
fn what_the_broker_confirms_is_published_and_what_it_nacks_is_tried_again_and_then_parked() {
    let Some(bench) = Bench::open() else {
        return;
    };
    let Some(queue) = bench
        .runtime
        .block_on(Queue::with_arguments(&full_after(1)))
    else {
        return;
    };
    let mut client = bench.client();
    for id in ["e1", "e2"] {
        enqueue(&mut client, id).unwrap();
    }
    let mut publisher = RabbitPublisher::connect(queue.url(), queue.name(), PATIENCE).unwrap();
    // The queue has room for one.
    assert_eq!(pass(&mut client, &mut publisher, 0), [2, 1, 1, 0, 0, 0, 0]);
    assert_eq!(states(&mut client), ["published", "pending"]);
    assert_eq!(pass(&mut client, &mut publisher, 0), [1, 0, 0, 1, 0, 0, 0]);
    assert_eq!(states(&mut client), ["published", "parked"]);
    assert_eq!(pass(&mut client, &mut publisher, 0), [0; 7]);
    bench.runtime.block_on(queue.delete());
}

#[test]
fn what_no_queue_takes_is_parked_although_the_broker_acks_it() {
    let Some(bench) = Bench::open() else {
        return;
    };
    let Some(queue) = bench.runtime.block_on(Queue::open()) else {
        return;
    };
    let mut client = bench.client();
    enqueue(&mut client, "e1").unwrap();
    let nowhere = format!("{}_nowhere", queue.name());
    let mut publisher = RabbitPublisher::connect(queue.url(), &nowhere, PATIENCE).unwrap();
    assert_eq!(pass(&mut client, &mut publisher, 0), [1, 0, 0, 1, 0, 0, 0]);
    assert_eq!(states(&mut client), ["parked"]);
    bench.runtime.block_on(queue.delete());
}

/// The cable is cut when the broker has the message and its confirm is on the way. The event is published
/// once more when the lease is over; the consumer's receipt absorbs the second.
#[test]
fn what_nobody_heard_of_is_published_again_and_done_once() {
    let Some(bench) = Bench::open() else {
        return;
    };
    let Some(queue) = bench.runtime.block_on(Queue::open()) else {
        return;
    };
    let mut client = bench.client();
    client
        .batch_execute("INSERT INTO tickets VALUES ('ticket-1', 'tenant-1')")
        .unwrap();
    enqueue(&mut client, "e1").unwrap();

    let uri: AMQPUri = queue.url().parse().unwrap();
    let cable = Cable::to(&format!("{}:{}", uri.authority.host, uri.authority.port)).unwrap();
    let user = uri.authority.userinfo;
    let by_cable = format!(
        "amqp://{}:{}@127.0.0.1:{}/%2f",
        user.username,
        user.password,
        cable.port()
    );
    let mut publisher = RabbitPublisher::connect(&by_cable, queue.name(), PATIENCE).unwrap();
    cable.deafen();
    let arrived = std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let arrived = bench.runtime.block_on(wait_for_a_message(&queue));
            cable.cut();
            arrived
        });
        assert_eq!(pass(&mut client, &mut publisher, 0), [1, 0, 0, 0, 0, 1, 0]);
        waits.join().unwrap()
    });
    assert!(arrived, "the broker has the message");
    assert_eq!(states(&mut client), ["leased"]);

    let mut publisher = RabbitPublisher::connect(queue.url(), queue.name(), PATIENCE).unwrap();
    assert_eq!(pass(&mut client, &mut publisher, 29), [0; 7]);
    assert_eq!(pass(&mut client, &mut publisher, 30), [1, 1, 0, 0, 0, 0, 0]);
    assert_eq!(states(&mut client), ["published"]);

    bench.runtime.block_on(async {
        let (connection, channel) = queue.channel().await;
        let mut consumer = consume(&channel, queue.name(), 1).await.unwrap();
        let mut session = bench.schema.session().await;
        let mut outcomes = Vec::new();
        for task in ["task-1", "task-2"] {
            let delivery = next(&mut consumer).await;
            outcomes.push(notify(&mut session, &delivery, task).await.unwrap());
            delivery.ack(BasicAckOptions::default()).await.unwrap();
        }
        assert_eq!(outcomes, [Outcome::Applied(()), Outcome::Duplicate]);
        assert_eq!(tables::count(&session).await.unwrap(), (1, 1));
        close(connection).await;
        queue.delete().await;
    });
}

/// Whether a message comes into the queue, before the patience is at its end.
async fn wait_for_a_message(queue: &Queue) -> bool {
    let (connection, channel) = queue.channel().await;
    for _ in 0..1_000 {
        if ready(&channel, queue.name()).await.unwrap() == 1 {
            close(connection).await;
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}
