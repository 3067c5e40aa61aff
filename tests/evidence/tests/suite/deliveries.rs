//! The same event more than once over RabbitMQ, to a consumer on PostgreSQL.

use deliver_twice_evidence::record;
use deliver_twice_evidence::redelivery::{self, Came, Mishap};

/// Runs a mishap and holds it to what the consumer sees. One receipt, one task and an empty queue are its
/// end every time.
async fn check(mishap: Mishap, deliveries: &[(bool, Came)]) {
    let Some(run) = redelivery::run(mishap).await.unwrap() else {
        return;
    };
    assert_eq!(run.deliveries, deliveries, "{mishap:?}");
    assert_eq!((run.rows, run.ready), ((1, 1), 0), "{mishap:?}");
    // The ack of a consumer that was cut off comes too late, and changes nothing.
    assert_ne!(run.late_ack, Some(true), "{mishap:?}");
}

#[tokio::test]
async fn an_event_published_twice_is_two_deliveries_and_one_task() {
    // The flag says "never seen" of both: it is the broker's, and knows of copies nothing.
    let seen = [(false, Came::Applied), (false, Came::Duplicate)];
    check(Mishap::PublishedTwice, &seen).await;
}

#[tokio::test]
async fn a_consumer_cut_off_between_commit_and_ack_is_redelivered_and_writes_one_task() {
    let seen = [(false, Came::Applied), (true, Came::Duplicate)];
    check(Mishap::ChannelCut, &seen).await;
    check(Mishap::ConnectionCut, &seen).await;
}

#[tokio::test]
async fn a_consumer_cut_off_before_its_commit_is_redelivered_and_the_task_is_written_then() {
    // The flag is up, and nothing had been done: it is no proof.
    check(Mishap::Died, &[(false, Came::Died), (true, Came::Applied)]).await;
}

#[tokio::test]
async fn a_missing_ticket_rolls_the_receipt_back_and_the_redelivery_succeeds_once() {
    let constraint = Some("business_tasks_ticket_id_fkey".to_owned());
    let seen = [
        (false, Came::Refused("23503".to_owned(), constraint)),
        (true, Came::Applied),
        (false, Came::Duplicate),
    ];
    check(Mishap::TicketMissing, &seen).await;
}

#[tokio::test]
async fn the_record_of_the_broker_says_what_it_does_here() {
    let Some(made) = redelivery::record().await.unwrap() else {
        return;
    };
    let kept = record::read("redelivery").unwrap().expect("a kept record");
    let differences = record::differences(Some(&kept["runs"]), &made);
    assert_eq!(differences, [""; 0], "cargo xtask evidence --keep");
}
