//! What RabbitMQ says of a message that was published.

use deliver_twice_evidence::broker::{ask_for_confirms, publish, ready};
use deliver_twice_evidence::relaying::full_after;
use deliver_twice_evidence::scratch::{Queue, close};
use lapin::options::BasicPublishOptions;
use lapin::{BasicProperties, Confirmation};

#[tokio::test]
async fn a_message_in_a_queue_is_acked() {
    let Some(queue) = Queue::open().await else {
        return;
    };
    let (connection, channel) = queue.channel().await;
    // Nobody has asked yet, so nobody answers, and the client says that it was told nothing.
    let said = publish(&channel, queue.name(), "e1", "ticket-1")
        .await
        .unwrap();
    assert_eq!(said, Confirmation::NotRequested);
    ask_for_confirms(&channel).await.unwrap();
    let said = publish(&channel, queue.name(), "e2", "ticket-1")
        .await
        .unwrap();
    assert_eq!(said, Confirmation::Ack(None));
    assert_eq!(ready(&channel, queue.name()).await.unwrap(), 2);
    close(connection).await;
    queue.delete().await;
}

#[tokio::test]
async fn a_message_that_no_queue_takes_is_returned_and_acked_all_the_same() {
    let Some(queue) = Queue::open().await else {
        return;
    };
    let (connection, channel) = queue.channel().await;
    ask_for_confirms(&channel).await.unwrap();
    let nowhere = format!("{}_nowhere", queue.name());
    let said = publish(&channel, &nowhere, "e1", "ticket-1").await.unwrap();
    let Confirmation::Ack(Some(returned)) = said else {
        panic!("{said:?}")
    };
    // AMQP's "no route".
    assert_eq!(returned.reply_code, 312);
    assert_eq!(returned.delivery.data, b"ticket-1");

    // Without `mandatory` the ack is all that is heard of a message that is gone.
    let said = channel
        .basic_publish(
            "".into(),
            nowhere.as_str().into(),
            BasicPublishOptions::default(),
            b"ticket-1",
            BasicProperties::default(),
        )
        .await
        .unwrap()
        .await;
    assert_eq!(said.unwrap(), Confirmation::Ack(None));
    close(connection).await;
    queue.delete().await;
}

#[tokio::test]
async fn a_queue_that_is_full_nacks() {
    let Some(queue) = Queue::with_arguments(&full_after(1)).await else {
        return;
    };
    let (connection, channel) = queue.channel().await;
    ask_for_confirms(&channel).await.unwrap();
    let first = publish(&channel, queue.name(), "e1", "ticket-1")
        .await
        .unwrap();
    assert_eq!(first, Confirmation::Ack(None));
    let second = publish(&channel, queue.name(), "e2", "ticket-1")
        .await
        .unwrap();
    assert_eq!(second, Confirmation::Nack(None));
    assert_eq!(ready(&channel, queue.name()).await.unwrap(), 1);
    close(connection).await;
    queue.delete().await;
}
