//! A queue full of events and a database for them, for consumers to work through.

use std::time::Duration;

use deliver_twice_core::design::Design;
use deliver_twice_core::dialect::in_postgres;
use deliver_twice_core::event::EffectName;
use deliver_twice_core::plan::Plan;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;

use crate::broker::{ask_for_confirms, publish_copies, ready};
use crate::scratch::{Queue, Schema, close};
use crate::tables;

/// How many tickets the events are about.
const TICKETS: usize = 100;

/// Events in a queue, each more than once, and the tables of a design.
pub struct Load {
    runtime: Runtime,
    /// Where the events are.
    pub queue: Queue,
    /// Where their effects go.
    pub schema: Schema,
    events: usize,
}

/// What the database holds at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// Events that were published.
    pub events: i64,
    /// Rows in `effect_receipts`, those that were there before not counted.
    pub receipts: i64,
    /// Rows in `business_tasks`.
    pub tasks: i64,
    /// Messages left in the queue.
    pub left: u32,
}

impl Balance {
    /// Whether each event has exactly one task, and nothing is left to do.
    pub fn is_even(self) -> bool {
        self.receipts == self.events && self.tasks == self.events && self.left == 0
    }
}

impl Load {
    /// Publishes `events` events, each `copies` times; `None`, once that is said aloud, if a server is not
    /// there. `receipts` other events have their receipts already.
    ///
    /// # Panics
    /// If a server refuses.
    pub fn new(design: &str, events: usize, copies: usize, receipts: i64) -> Option<Load> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime needs nothing that a machine has not");
        let (queue, schema) = runtime.block_on(async {
            let queue = Queue::open().await?;
            let schema = Schema::open().await?;
            let session = schema.session().await;
            set_up(&session, design, receipts).await;
            let (connection, channel) = queue.channel().await;
            ask_for_confirms(&channel).await.expect("RabbitMQ confirms");
            let messages = (0..events).map(|number| {
                (
                    format!("event-{number:07}"),
                    format!("ticket-{}", number % TICKETS),
                )
            });
            let published = publish_copies(&channel, queue.name(), messages, copies).await;
            assert_eq!(published.expect("the connection holds"), events * copies);
            close(connection).await;
            Some((queue, schema))
        })?;
        Some(Load {
            runtime,
            queue,
            schema,
            events,
        })
    }

    /// Counts what is there now. An event whose id begins otherwise was there before.
    ///
    /// # Panics
    /// If a server refuses.
    pub fn balance(&self) -> Balance {
        let sql = "SELECT (SELECT count(*) FROM effect_receipts WHERE event_id LIKE 'event-%'),
                          (SELECT count(*) FROM business_tasks)";
        self.runtime.block_on(async {
            let session = self.schema.session().await;
            let row = session.query_typed_one(sql, &[]).await;
            let row = row.expect("the tables are there");
            let (connection, channel) = self.queue.channel().await;
            let left = ready(&channel, self.queue.name()).await;
            close(connection).await;
            Balance {
                events: self.events(),
                receipts: row.get(0),
                tasks: row.get(1),
                left: left.expect("the queue is there"),
            }
        })
    }

    /// How many events were published.
    pub fn events(&self) -> i64 {
        self.events as i64
    }

    /// Waits until so many events have their receipt.
    ///
    /// # Panics
    /// If that takes more than a minute, or the server refuses.
    pub fn wait_for_receipts(&self, count: i64) {
        let sql = "SELECT count(*) FROM effect_receipts WHERE event_id LIKE 'event-%'";
        self.runtime.block_on(async {
            let session = self.schema.session().await;
            for _ in 0..12_000 {
                let row = session.query_typed_one(sql, &[]).await;
                if row.expect("the table is there").get::<_, i64>(0) >= count {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            panic!("after a minute there are fewer than {count} receipts");
        });
    }

    /// Deletes the queue; the schema goes with its value.
    pub fn end(self) {
        self.runtime.block_on(self.queue.delete());
    }
}

async fn set_up(session: &Client, design: &str, receipts: i64) {
    let design = match design {
        "contract" => Design::CONTRACT,
        other => Design::preset(other).expect("a design's name"),
    };
    let plan = Plan::compile(design, &EffectName::ALL[..1]);
    for table in plan.tables() {
        let made = session.batch_execute(&in_postgres(table)).await;
        made.expect("an empty schema takes the tables");
    }
    for number in 0..TICKETS {
        let added = tables::add_ticket(session, &format!("ticket-{number}")).await;
        added.expect("the tickets are new");
    }
    let sql = "INSERT INTO effect_receipts (event_id, effect_name)
               SELECT 'before-' || number, 'notification' FROM generate_series(1, $1::BIGINT) AS number";
    let filled = session.execute(sql, &[&receipts]).await;
    filled.expect("these events are no others");
    // So that the planner and the caches are where a table of that age has them.
    let settled = session
        .batch_execute("VACUUM ANALYZE effect_receipts")
        .await;
    settled.expect("no transaction is open");
}
