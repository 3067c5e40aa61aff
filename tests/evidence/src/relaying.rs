//! A relay between the outbox in PostgreSQL and RabbitMQ: what each word of the broker comes to.

use std::num::NonZeroU32;
use std::time::Duration;

use deliver_twice_core::Outcome;
use deliver_twice_core::dialect::in_postgres;
use deliver_twice_core::event::EventId;
use deliver_twice_core::outbox::{EventState, OutboxEvent};
use deliver_twice_core::relay::Relay;
use deliver_twice_core::schema;
use lapin::options::BasicAckOptions;
use lapin::types::AMQPValue;
use lapin::uri::AMQPUri;
use postgres::Client;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::broker::{PATIENCE, consume, next, notify, ready};
use crate::cable::Cable;
use crate::outbox::PostgresOutbox;
use crate::publisher::RabbitPublisher;
use crate::redelivery::Result;
use crate::scratch::{Queue, Schema, close};

/// For how long a row is leased, in units of the clock that a run is told.
pub const LEASE: u32 = 30;

/// What the broker says of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// It takes one message and refuses the next: its queue is full.
    AckThenNack,
    /// It returns the message, which no queue takes.
    Returned,
    /// It takes the message, and the connection breaks before anybody hears of it.
    Unheard,
}

impl Word {
    /// All of them.
    pub const ALL: [Word; 3] = [Word::AckThenNack, Word::Returned, Word::Unheard];

    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Word::AckThenNack => "ack-then-nack",
            Word::Returned => "returned",
            Word::Unheard => "unheard",
        }
    }
}

/// One pass of the relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// What the clock said.
    pub now: i64,
    /// Claimed, published, released, parked, fenced, unanswered, failed.
    pub counts: [usize; 7],
    /// How far each row of the outbox is afterwards.
    pub states: Vec<&'static str>,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The passes, in order.
    pub passes: Vec<Pass>,
    /// For each message in the queue, whether its effect was carried out then, or had been.
    pub consumed: Vec<&'static str>,
}

/// Runs it; `None`, once that is said aloud, if one of the servers is not there. Not to be called from
/// within a runtime: the store blocks.
///
/// # Errors
/// Those of the servers beyond what the run is about.
pub fn run(word: Word) -> Result<Option<Run>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let Some(schema) = runtime.block_on(Schema::open()) else {
        return Ok(None);
    };
    let arguments = match word {
        Word::AckThenNack => full_after(1).to_vec(),
        Word::Returned | Word::Unheard => vec![],
    };
    let Some(queue) = runtime.block_on(Queue::with_arguments(&arguments)) else {
        return Ok(None);
    };
    let mut bench = Bench {
        client: client_of(&schema)?,
        runtime,
        schema,
        queue,
        run: Run::default(),
    };
    bench.enqueue("e1")?;
    match word {
        Word::AckThenNack => {
            bench.enqueue("e2")?;
            let mut publisher = bench.publisher(bench.queue.url(), bench.queue.name())?;
            for _ in 0..3 {
                bench.pass(&mut publisher, 0)?;
            }
        }
        Word::Returned => {
            let nowhere = format!("{}_nowhere", bench.queue.name());
            let mut publisher = bench.publisher(bench.queue.url(), &nowhere)?;
            bench.pass(&mut publisher, 0)?;
        }
        Word::Unheard => {
            bench.pass_over_a_cut_cable()?;
            let mut publisher = bench.publisher(bench.queue.url(), bench.queue.name())?;
            bench.pass(&mut publisher, i64::from(LEASE) - 1)?;
            bench.pass(&mut publisher, i64::from(LEASE))?;
        }
    }
    bench.finish().map(Some)
}

/// Every word as the `runs` of a record; `None`, once that is said aloud, if one of the servers is not there.
///
/// # Errors
/// As for [`run`].
pub fn record() -> Result<Option<Value>> {
    let mut runs = vec![];
    for word in Word::ALL {
        let Some(run) = run(word)? else {
            return Ok(None);
        };
        let passes = run.passes.iter().map(|pass| {
            let [
                claimed,
                published,
                released,
                parked,
                fenced,
                unanswered,
                failed,
            ] = pass.counts;
            json!({
                "now": pass.now, "claimed": claimed, "published": published, "released": released,
                "parked": parked, "fenced": fenced, "unanswered": unanswered, "failed": failed,
                "rows": pass.states,
            })
        });
        runs.push(json!({
            "word": word.as_str(),
            "passes": passes.collect::<Value>(),
            "consumed": run.consumed,
        }));
    }
    Ok(Some(runs.into()))
}

/// The arguments of a queue that refuses what is too much for it.
pub fn full_after(messages: i32) -> [(&'static str, AMQPValue); 2] {
    [
        ("x-max-length", AMQPValue::LongInt(messages)),
        ("x-overflow", AMQPValue::LongString("reject-publish".into())),
    ]
}

/// A session that blocks, in a schema with the tables of a producer and a consumer.
fn client_of(schema: &Schema) -> Result<Client> {
    let mut client = schema.blocking_session()?;
    for tables in [schema::BUSINESS, schema::RECEIPTS, schema::OUTBOX_EVENTS] {
        client.batch_execute(&in_postgres(tables))?;
    }
    client.batch_execute("INSERT INTO tickets VALUES ('ticket-1', 'tenant-1')")?;
    Ok(client)
}

struct Bench {
    runtime: Runtime,
    schema: Schema,
    queue: Queue,
    client: Client,
    run: Run,
}

impl Bench {
    fn enqueue(&mut self, id: &str) -> Result<()> {
        let event = OutboxEvent {
            event_id: EventId::new(id),
            ticket_id: "ticket-1".to_owned(),
            payload: "ticket-1".to_owned(),
        };
        let mut transaction = self.client.transaction()?;
        PostgresOutbox::enqueue(&mut transaction, &event)?;
        transaction.commit()?;
        Ok(())
    }

    fn publisher(&self, url: &str, routing_key: &str) -> Result<RabbitPublisher> {
        Ok(RabbitPublisher::connect(url, routing_key, PATIENCE)?)
    }

    fn pass(&mut self, publisher: &mut RabbitPublisher, now: i64) -> Result<()> {
        let pass = pass(&mut self.client, publisher, now)?;
        self.run.passes.push(pass);
        Ok(())
    }

    /// The cable is cut when the broker has the message and its confirm is on the way.
    fn pass_over_a_cut_cable(&mut self) -> Result<()> {
        let uri: AMQPUri = self.queue.url().parse()?;
        let cable = Cable::to(&format!("{}:{}", uri.authority.host, uri.authority.port))?;
        let user = uri.authority.userinfo;
        let by_cable = format!(
            "amqp://{}:{}@127.0.0.1:{}/%2f",
            user.username,
            user.password,
            cable.port()
        );
        let mut publisher = self.publisher(&by_cable, self.queue.name())?;
        cable.deafen();
        let Bench {
            runtime,
            queue,
            client,
            run,
            ..
        } = self;
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| {
                let arrived = runtime.block_on(arrives(queue));
                cable.cut();
                arrived
            });
            run.passes.push(pass(client, &mut publisher, 0)?);
            if waits.join().unwrap_or(false) {
                Ok(())
            } else {
                Err("the broker never had the message".into())
            }
        })
    }

    /// Has what is in the queue consumed, and takes everything away.
    fn finish(self) -> Result<Run> {
        let Bench {
            runtime,
            schema,
            queue,
            mut run,
            ..
        } = self;
        runtime.block_on(async {
            let (connection, channel) = queue.channel().await;
            let messages = ready(&channel, queue.name()).await?;
            let mut consumer = consume(&channel, queue.name(), 1).await?;
            let mut session = schema.session().await;
            for number in 1..=messages {
                let delivery = next(&mut consumer).await;
                let task = format!("task-{number}");
                run.consumed
                    .push(match notify(&mut session, &delivery, &task).await? {
                        Outcome::Applied(()) => "applied",
                        Outcome::Duplicate => "duplicate",
                    });
                delivery.ack(BasicAckOptions::default()).await?;
            }
            close(connection).await;
            queue.delete().await;
            Ok(run)
        })
    }
}

fn pass(client: &mut Client, publisher: &mut RabbitPublisher, now: i64) -> Result<Pass> {
    let relay = Relay {
        owner: "relay-1".to_owned(),
        lease: NonZeroU32::new(LEASE).expect("a lease lasts"),
        limit: 10,
        attempts_max: 2,
    };
    let result = relay.pass(&mut PostgresOutbox::new(client), publisher, now)?;
    let rows = PostgresOutbox::new(client).rows()?;
    let states = rows.iter().map(|row| match row.state {
        EventState::Pending => "pending",
        EventState::Leased { .. } => "leased",
        EventState::Published => "published",
        EventState::Parked => "parked",
    });
    Ok(Pass {
        now,
        states: states.collect(),
        counts: [
            result.claimed,
            result.published,
            result.released,
            result.parked,
            result.fenced,
            result.unanswered,
            result.failures.len(),
        ],
    })
}

/// Whether a message comes into the queue within ten seconds.
async fn arrives(queue: &Queue) -> bool {
    let (connection, channel) = queue.channel().await;
    for _ in 0..1_000 {
        if matches!(ready(&channel, queue.name()).await, Ok(1)) {
            close(connection).await;
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}
