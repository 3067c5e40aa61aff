//! A relay between the outbox in PostgreSQL and RabbitMQ: each word of the broker, to the end.

use deliver_twice_evidence::record;
use deliver_twice_evidence::relaying::{self, Pass, Run, Word};

fn pass(now: i64, counts: [usize; 7], states: &[&'static str]) -> Pass {
    Pass {
        now,
        counts,
        states: states.to_vec(),
    }
}

/// Holds a run to its passes, and to what the consumer makes of the messages.
fn check(word: Word, passes: Vec<Pass>, consumed: &[&'static str]) {
    let Some(run) = relaying::run(word).unwrap() else {
        return;
    };
    let consumed = consumed.to_vec();
    assert_eq!(run, Run { passes, consumed });
}

#[test]
fn what_the_broker_confirms_is_published_and_what_it_nacks_is_tried_again_and_then_parked() {
    let passes = vec![
        // The queue has room for one.
        pass(0, [2, 1, 1, 0, 0, 0, 0], &["published", "pending"]),
        pass(0, [1, 0, 0, 1, 0, 0, 0], &["published", "parked"]),
        pass(0, [0; 7], &["published", "parked"]),
    ];
    check(Word::AckThenNack, passes, &["applied"]);
}

#[test]
fn what_no_queue_takes_is_parked_although_the_broker_acks_it() {
    let passes = vec![pass(0, [1, 0, 0, 1, 0, 0, 0], &["parked"])];
    check(Word::Returned, passes, &[]);
}

/// The event is published once more when the lease is over; the consumer's receipt absorbs the second.
#[test]
fn what_nobody_heard_of_is_published_again_and_done_once() {
    let passes = vec![
        pass(0, [1, 0, 0, 0, 0, 1, 0], &["leased"]),
        pass(29, [0; 7], &["leased"]),
        pass(30, [1, 1, 0, 0, 0, 0, 0], &["published"]),
    ];
    check(Word::Unheard, passes, &["applied", "duplicate"]);
}

#[test]
fn the_record_of_the_relay_says_what_it_does_here() {
    let Some(made) = relaying::record().unwrap() else {
        return;
    };
    let kept = record::read("relay").unwrap().expect("a kept record");
    let differences = record::differences(Some(&kept["runs"]), &made);
    assert_eq!(differences, [""; 0], "cargo xtask evidence --keep");
}
