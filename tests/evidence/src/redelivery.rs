//! An event that is handed over more than once, on a real broker and a real database: what the consumer
//! sees of it, and what its transactions come to.

use std::fmt;

use deliver_twice_core::Outcome;
use lapin::message::Delivery;
use lapin::options::{BasicAckOptions, BasicNackOptions};
use lapin::{Channel, Connection, Consumer};
use serde_json::{Map, Value, json};
use tokio_postgres::Client;

use crate::ApplyError;
use crate::broker::{ask_for_confirms, consume, next, notify, publish, ready};
use crate::record;
use crate::scratch::{Queue, Schema, close};
use crate::servers::broker_version;
use crate::tables;

/// The event of every run.
const EVENT: &str = "e1";

/// What a run needs beyond what it is about. It is a fault of the set-up if that fails, and ends the run.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Something that happens to a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// The producer publishes the event a second time.
    PublishedTwice,
    /// The consumer's channel closes after the commit, before the ack.
    ChannelCut,
    /// The consumer's connection closes after the commit, before the ack.
    ConnectionCut,
    /// The consumer dies with its transaction open.
    Died,
    /// The event's ticket is missing. It is added, and the event published once more.
    TicketMissing,
}

impl Mishap {
    /// All of them.
    pub const ALL: [Mishap; 5] = [
        Mishap::PublishedTwice,
        Mishap::ChannelCut,
        Mishap::ConnectionCut,
        Mishap::Died,
        Mishap::TicketMissing,
    ];

    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Mishap::PublishedTwice => "published-twice",
            Mishap::ChannelCut => "channel-cut-after-commit",
            Mishap::ConnectionCut => "connection-cut-after-commit",
            Mishap::Died => "died-before-commit",
            Mishap::TicketMissing => "ticket-missing",
        }
    }
}

/// What a consumer made of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// The effect was carried out.
    Applied,
    /// It had been.
    Duplicate,
    /// Nothing, and the database said why: SQLSTATE and constraint.
    Refused(String, Option<String>),
    /// The consumer died at it.
    Died,
}

impl fmt::Display for Came {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Came::Applied => f.write_str("applied"),
            Came::Duplicate => f.write_str("duplicate"),
            Came::Refused(sqlstate, None) => write!(f, "refused: {sqlstate}"),
            Came::Refused(sqlstate, Some(constraint)) => {
                write!(f, "refused: {sqlstate} {constraint}")
            }
            Came::Died => f.write_str("died"),
        }
    }
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Each delivery: whether the broker called it redelivered, and what came of it.
    pub deliveries: Vec<(bool, Came)>,
    /// Whether the ack of a consumer that was cut off was still taken.
    pub late_ack: Option<bool>,
    /// Receipts and tasks at the end.
    pub rows: (i64, i64),
    /// What is left in the queue.
    pub ready: u32,
}

/// Runs a mishap; `None`, once that is said aloud, if one of the servers is not there.
///
/// # Errors
/// Those of the servers beyond what the run is about.
pub async fn run(mishap: Mishap) -> Result<Option<Run>> {
    let Some(bench) = Bench::open().await? else {
        return Ok(None);
    };
    let mut seen = vec![];
    let mut late_ack = None;
    match mishap {
        Mishap::PublishedTwice => {
            bench.publish("ticket-1").await?;
            bench.publish("ticket-1").await?;
            let mut hand = bench.hand().await?;
            hand.handle(&mut seen).await?.ack(ACK).await?;
            hand.handle(&mut seen).await?.ack(ACK).await?;
            close(hand.connection).await;
        }
        Mishap::ChannelCut | Mishap::ConnectionCut => {
            bench.publish("ticket-1").await?;
            let mut first = bench.hand().await?;
            let delivery = first.handle(&mut seen).await?;
            match mishap {
                Mishap::ChannelCut => first.channel.close(200, "cut off".into()).await?,
                _ => first.connection.close(200, "cut off".into()).await?,
            }
            let mut second = bench.hand().await?;
            second.handle(&mut seen).await?.ack(ACK).await?;
            late_ack = Some(matches!(delivery.ack(ACK).await, Ok(true)));
            close(first.connection).await;
            close(second.connection).await;
        }
        Mishap::Died => {
            bench.publish("ticket-1").await?;
            let mut first = bench.hand().await?;
            let delivery = next(&mut first.consumer).await;
            seen.push((delivery.redelivered, Came::Died));
            first.session.batch_execute(BOTH_ROWS).await?;
            drop(first.session);
            close(first.connection).await;
            let mut second = bench.hand().await?;
            second.handle(&mut seen).await?.ack(ACK).await?;
            close(second.connection).await;
        }
        Mishap::TicketMissing => {
            bench.publish("ticket-2").await?;
            let mut hand = bench.hand().await?;
            let delivery = hand.handle(&mut seen).await?;
            let requeue = BasicNackOptions {
                requeue: true,
                ..BasicNackOptions::default()
            };
            delivery.nack(requeue).await?;
            tables::add_ticket(&hand.session, "ticket-2").await?;
            hand.handle(&mut seen).await?.ack(ACK).await?;
            bench.publish("ticket-2").await?;
            hand.handle(&mut seen).await?.ack(ACK).await?;
            close(hand.connection).await;
        }
    }
    bench.close(seen, late_ack).await.map(Some)
}

/// What a record begins with that both servers have a part in: engine, version, database, design and day.
/// `None`, once that is said aloud, if one of them is not there.
///
/// # Errors
/// Those of the servers.
pub async fn head() -> Result<Option<Map<String, Value>>> {
    let Some(queue) = Queue::open().await else {
        return Ok(None);
    };
    let version = broker_version(queue.url())?;
    queue.delete().await;
    let Some(schema) = Schema::open().await else {
        return Ok(None);
    };
    let (database, date) = record::version_and_date(&schema.session().await).await?;
    let head = [
        ("engine", Value::from("RabbitMQ")),
        ("version", version.into()),
        ("database", format!("PostgreSQL {database}").into()),
        ("date", date.into()),
        ("design", "the contract".into()),
    ];
    Ok(Some(
        head.map(|(key, value)| (key.to_owned(), value))
            .into_iter()
            .collect(),
    ))
}

/// Every mishap as the `runs` of a record; `None`, once that is said aloud, if one of the servers is not
/// there.
///
/// # Errors
/// As for [`run`].
pub async fn record() -> Result<Option<Value>> {
    let mut runs = vec![];
    for mishap in Mishap::ALL {
        let Some(run) = run(mishap).await? else {
            return Ok(None);
        };
        let deliveries = run.deliveries.iter().map(
            |(redelivered, came)| json!({ "redelivered": redelivered, "came": came.to_string() }),
        );
        runs.push(json!({
            "mishap": mishap.as_str(),
            "deliveries": deliveries.collect::<Value>(),
            "late_ack_taken": run.late_ack,
            "receipts": run.rows.0,
            "tasks": run.rows.1,
            "left_in_queue": run.ready,
        }));
    }
    Ok(Some(runs.into()))
}

const ACK: BasicAckOptions = BasicAckOptions { multiple: false };

/// What a consumer has written when it dies.
const BOTH_ROWS: &str = "BEGIN; \
    INSERT INTO effect_receipts VALUES ('e1', 'notification'); \
    INSERT INTO business_tasks VALUES ('task-1', 'ticket-1', 'tenant-1', 'notification', 'pending')";

/// A queue with a producer on it, and a database.
struct Bench {
    queue: Queue,
    schema: Schema,
    producer: (Connection, Channel),
}

impl Bench {
    async fn open() -> Result<Option<Bench>> {
        let Some(queue) = Queue::open().await else {
            return Ok(None);
        };
        let Some(schema) = Schema::open().await else {
            return Ok(None);
        };
        tables::create(&schema.session().await).await?;
        let producer = queue.channel().await;
        ask_for_confirms(&producer.1).await?;
        Ok(Some(Bench {
            queue,
            schema,
            producer,
        }))
    }

    async fn publish(&self, ticket: &str) -> Result<()> {
        let confirmed = publish(&self.producer.1, self.queue.name(), EVENT, ticket).await?;
        if confirmed == lapin::Confirmation::Ack(None) {
            Ok(())
        } else {
            Err(format!("the broker did not take the event: {confirmed:?}").into())
        }
    }

    /// A consumer with connections of its own.
    async fn hand(&self) -> Result<Hand> {
        let (connection, channel) = self.queue.channel().await;
        let consumer = consume(&channel, self.queue.name(), 1).await?;
        Ok(Hand {
            connection,
            channel,
            consumer,
            session: self.schema.session().await,
        })
    }

    async fn close(self, deliveries: Vec<(bool, Came)>, late_ack: Option<bool>) -> Result<Run> {
        let run = Run {
            deliveries,
            late_ack,
            rows: tables::count(&self.schema.session().await).await?,
            ready: ready(&self.producer.1, self.queue.name()).await?,
        };
        close(self.producer.0).await;
        self.queue.delete().await;
        Ok(run)
    }
}

/// A consumer.
struct Hand {
    connection: Connection,
    channel: Channel,
    consumer: Consumer,
    session: Client,
}

impl Hand {
    /// Handles the next delivery, and notes what came of it. The ack is the caller's.
    async fn handle(&mut self, seen: &mut Vec<(bool, Came)>) -> Result<Delivery> {
        let delivery = next(&mut self.consumer).await;
        let task = format!("task-{}", seen.len() + 1);
        let came = match notify(&mut self.session, &delivery, &task).await {
            Ok(Outcome::Applied(())) => Came::Applied,
            Ok(Outcome::Duplicate) => Came::Duplicate,
            Err(error) => refused(error)?,
        };
        seen.push((delivery.redelivered, came));
        Ok(delivery)
    }
}

fn refused(error: ApplyError) -> Result<Came> {
    let Some(sqlstate) = error.sqlstate() else {
        return Err(error.into());
    };
    let constraint = error.constraint().map(str::to_owned);
    Ok(Came::Refused(sqlstate.code().to_owned(), constraint))
}
