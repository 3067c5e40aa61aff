//! One consumer process: it handles the deliveries of a queue until none comes any more.

use std::error::Error;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use deliver_twice_core::design::Design;
use deliver_twice_core::event::EffectName;
use deliver_twice_core::plan::Plan;
use deliver_twice_evidence::broker::{self, event_id};
use deliver_twice_evidence::naive::check_then_insert;
use deliver_twice_evidence::tables::Task;
use futures_util::StreamExt;
use lapin::options::{BasicAckOptions, BasicNackOptions};
use lapin::{Connection, ConnectionProperties};
use serde_json::json;
use tokio_postgres::{Client, Config, NoTls};

use crate::Result;

/// How many deliveries a consumer may give back before it says that something is wrong.
const FAILURES_MAX: u32 = 1_000;

/// What follows `--name`.
fn option<'a>(arguments: &'a [String], name: &str) -> Result<&'a str> {
    let place = arguments.iter().position(|word| word == name);
    let value = place.and_then(|place| arguments.get(place + 1));
    Ok(value.ok_or_else(|| format!("{name} is missing"))?)
}

/// Handles deliveries until none has come for a while, then says on standard output what it did.
pub async fn consume(arguments: &[String]) -> Result<()> {
    let option = |name| option(arguments, name);
    let queue = option("--queue")?;
    let idle = Duration::from_millis(option("--idle")?.parse()?);
    let is_contract = match option("--design")? {
        "contract" => true,
        "check-then-insert" => false,
        other => return Err(format!("there is no design `{other}` to scale").into()),
    };
    let mut session = session(option("--database")?, option("--schema")?).await?;
    let connection =
        Connection::connect(option("--broker")?, ConnectionProperties::default()).await?;
    let channel = connection.create_channel().await?;
    let mut consumer = broker::consume(&channel, queue, option("--prefetch")?.parse()?).await?;

    let naive = Design::preset("check-then-insert").ok_or("the preset is gone")?;
    let naive = Plan::compile(naive, &EffectName::ALL[..1]);
    let [mut deliveries, mut redelivered, mut applied, mut failures] = [0u32; 4];
    let (mut first, mut last) = (0, 0);
    while let Ok(Some(delivery)) = tokio::time::timeout(idle, consumer.next()).await {
        let delivery = delivery?;
        if first == 0 {
            first = now();
        }
        // Another for each attempt, so that no key but the receipt's can arbitrate.
        let task_id = format!("{}-{}", std::process::id(), deliveries + failures);
        let has_applied = if is_contract {
            let outcome = broker::notify(&mut session, &delivery, &task_id).await;
            outcome
                .map(|outcome| outcome.is_applied())
                .map_err(Into::into)
        } else {
            let event = event_id(&delivery).ok_or("a message without its event's id")?;
            let task = Task {
                ticket_id: std::str::from_utf8(&delivery.data)?,
                ..Task::sound(&task_id)
            };
            check_then_insert(&session, &naive, event, &task)
                .await
                .map_err(Box::<dyn Error>::from)
        };
        match has_applied {
            Ok(has_applied) => {
                delivery.ack(BasicAckOptions::default()).await?;
                deliveries += 1;
                applied += u32::from(has_applied);
                redelivered += u32::from(delivery.redelivered);
                last = now();
            }
            Err(error) if failures == FAILURES_MAX => return Err(error),
            Err(_) => {
                failures += 1;
                let requeue = BasicNackOptions {
                    requeue: true,
                    ..BasicNackOptions::default()
                };
                delivery.nack(requeue).await?;
            }
        }
    }
    connection.close(200, "done".into()).await?;
    let report = json!({
        "deliveries": deliveries,
        "redelivered": redelivered,
        "applied": applied,
        "duplicates": deliveries - applied,
        "first": first,
        "last": last,
    });
    println!("{report}");
    Ok(())
}

async fn session(url: &str, schema: &str) -> Result<Client> {
    let mut config: Config = url.parse()?;
    config
        .application_name(schema)
        .options(format!("-c search_path={schema}"));
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Milliseconds of a clock that all processes of the machine share.
#[allow(
    clippy::disallowed_methods,
    reason = "throughput is measured in time; nothing is decided by it"
)]
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("the clock is past 1970").as_millis() as u64
}
