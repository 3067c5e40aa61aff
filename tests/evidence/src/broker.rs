//! Events over RabbitMQ: how they are published, and how a consumer handles what it is handed.

use std::time::Duration;

use deliver_twice_core::Outcome;
use deliver_twice_core::event::EffectName;
use futures_util::StreamExt;
use lapin::message::Delivery;
use lapin::options::{
    BasicConsumeOptions, BasicPublishOptions, BasicQosOptions, ConfirmSelectOptions,
    QueueDeclareOptions,
};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel, Confirmation, Consumer};
use tokio_postgres::Client;

use crate::tables::Task;
use crate::{ApplyError, apply_once};

/// How long a delivery or a confirm that has to come may take before a test fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Asks the broker to confirm what is published on this channel.
///
/// # Errors
/// The broker's.
pub async fn ask_for_confirms(channel: &Channel) -> lapin::Result<()> {
    channel
        .confirm_select(ConfirmSelectOptions::default())
        .await
}

/// Publishes an event as mandatory and persistent, and waits for what the broker says of it. The event's
/// id is the message's: the queue and the delivery tag differ from copy to copy, the id does not.
///
/// # Errors
/// The broker's, or that of a connection that breaks before the broker has said anything.
pub async fn publish(
    channel: &Channel,
    routing_key: &str,
    event_id: &str,
    payload: &str,
) -> lapin::Result<Confirmation> {
    const PERSISTENT: u8 = 2;
    let options = BasicPublishOptions {
        mandatory: true,
        ..BasicPublishOptions::default()
    };
    let properties = BasicProperties::default()
        .with_message_id(event_id.into())
        .with_delivery_mode(PERSISTENT);
    channel
        .basic_publish(
            "".into(),
            routing_key.into(),
            options,
            payload.as_bytes(),
            properties,
        )
        .await?
        .await
}

/// Begins to consume a queue, with at most `prefetch` deliveries unacked.
///
/// # Errors
/// The broker's.
pub async fn consume(channel: &Channel, queue: &str, prefetch: u16) -> lapin::Result<Consumer> {
    channel
        .basic_qos(prefetch, BasicQosOptions::default())
        .await?;
    channel
        .basic_consume(
            queue.into(),
            "".into(),
            BasicConsumeOptions::default(),
            FieldTable::default(),
        )
        .await
}

/// The next delivery.
///
/// # Panics
/// If none comes, or the consumer is at its end.
pub async fn next(consumer: &mut Consumer) -> Delivery {
    let delivery = tokio::time::timeout(PATIENCE, consumer.next()).await;
    delivery
        .expect("a delivery comes in time")
        .expect("the consumer is not at its end")
        .expect("the connection holds")
}

/// How many messages are ready in the queue: those that no consumer has.
///
/// # Errors
/// The broker's.
pub async fn ready(channel: &Channel, queue: &str) -> lapin::Result<u32> {
    let passive = QueueDeclareOptions {
        passive: true,
        ..QueueDeclareOptions::default()
    };
    let declared = channel.queue_declare(queue.into(), passive, FieldTable::default());
    Ok(declared.await?.message_count())
}

/// The event that a delivery is of; `None` if whoever published it gave it no id.
pub fn event_id(delivery: &Delivery) -> Option<&str> {
    delivery
        .properties
        .message_id()
        .as_ref()
        .map(|id| id.as_str())
}

/// Carries out the notification of a delivered event: its task is written once, however often the event
/// is delivered. The payload is the ticket's id. The ack is the caller's, after this.
///
/// # Errors
/// Those of [`apply_once`].
///
/// # Panics
/// If the message has no id, or its payload is no text.
pub async fn notify(
    session: &mut Client,
    delivery: &Delivery,
    task_id: &str,
) -> Result<Outcome<()>, ApplyError> {
    let event = event_id(delivery).expect("every message carries its event's id");
    let ticket_id = std::str::from_utf8(&delivery.data).expect("a ticket's id is a text");
    let effect = EffectName::Notification.as_str();
    apply_once(session, event, effect, async |session| {
        let task = Task {
            ticket_id,
            ..Task::sound(task_id)
        };
        task.write(session).await.map(drop)
    })
    .await
}

/// Publishes each event `copies` times, its copies one after another, and waits for every confirm. Returns
/// how many messages that were.
///
/// # Errors
/// The broker's.
///
/// # Panics
/// If the broker does not take a message.
pub async fn publish_copies(
    channel: &Channel,
    routing_key: &str,
    events: impl Iterator<Item = (String, String)>,
    copies: usize,
) -> lapin::Result<usize> {
    /// Messages on their way at once.
    const UNCONFIRMED_MAX: usize = 500;
    let messages = events.flat_map(|event| std::iter::repeat_n(event, copies));
    let mut confirmations = futures_util::stream::iter(messages)
        .map(|(event, ticket)| async move { publish(channel, routing_key, &event, &ticket).await })
        .buffered(UNCONFIRMED_MAX);
    let mut count = 0;
    while let Some(confirmation) = confirmations.next().await {
        assert_eq!(
            confirmation?,
            Confirmation::Ack(None),
            "a message was not taken"
        );
        count += 1;
    }
    Ok(count)
}
