//! The relay: which call each answer of the broker leads to, and what a pass comes to on both stores.

use std::fmt;
use std::num::NonZeroU32;

use deliver_twice_core::event::EventId;
use deliver_twice_core::outbox::{EventState, Held, Lease, OutboxStore};
use deliver_twice_core::relay::{
    Confirm, Frame, Publisher, Reception, Relay, RelayResult, StandInBroker,
};
use deliver_twice_core::{apply_once, schema};
use rusqlite::Connection;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::outbox::{LEASE, Settle, each};
use crate::relay_example;

fn relay(owner: &str) -> Relay {
    Relay {
        owner: owner.to_owned(),
        lease: LEASE,
        limit: 10,
        attempts_max: 3,
    }
}

/// The numbers of a pass in the order of the fields, and how many events failed.
fn numbers<E>(result: &RelayResult<E>) -> [usize; 7] {
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

// ---- Which call an answer leads to -------------------------------------------------------------------

/// A store that writes down each call and answers as it was told to.
struct Recorder {
    /// What a claim returns, once.
    leases: Vec<Lease>,
    /// The calls with the event, in order.
    calls: Vec<String>,
    /// What to answer about an event; `Held::Yes` about all others.
    answers: Vec<(&'static str, Result<Held, Broken>)>,
    claim: Result<(), Broken>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broken")
    }
}

impl std::error::Error for Broken {}

impl Recorder {
    /// A store with these events to claim, each at this attempt.
    fn new(events: &[&str], attempt: u32) -> Self {
        let lease = |id: &&str| Lease {
            event_id: EventId::new(*id),
            ticket_id: "ticket-1".to_owned(),
            payload: "created".to_owned(),
            token: 7,
            attempt,
            owner: "A".to_owned(),
        };
        Recorder {
            leases: events.iter().map(lease).collect(),
            calls: Vec::new(),
            answers: Vec::new(),
            claim: Ok(()),
        }
    }

    fn record(&mut self, call: &str, lease: &Lease) -> Result<Held, Broken> {
        self.calls.push(format!("{call} {}", lease.event_id));
        let id = lease.event_id.as_str();
        let answer = self.answers.iter().find(|(event, _)| *event == id);
        answer.map_or(Ok(Held::Yes), |(_, answer)| *answer)
    }
}

impl OutboxStore for Recorder {
    type Error = Broken;

    fn claim(
        &mut self,
        owner: &str,
        now: i64,
        lease: NonZeroU32,
        limit: usize,
    ) -> Result<Vec<Lease>, Broken> {
        self.calls
            .push(format!("claim {owner} {now} {lease} {limit}"));
        self.claim?;
        Ok(std::mem::take(&mut self.leases))
    }

    fn mark_published(&mut self, lease: &Lease) -> Result<Held, Broken> {
        self.record("mark", lease)
    }

    fn release_for_retry(&mut self, lease: &Lease) -> Result<Held, Broken> {
        self.record("release", lease)
    }

    fn park(&mut self, lease: &Lease) -> Result<Held, Broken> {
        self.record("park", lease)
    }
}

/// A broker that gives these answers in turn.
struct Answers(Vec<Confirm>);

impl Publisher for Answers {
    fn publish(&mut self, _: &Lease) -> Confirm {
        self.0.remove(0)
    }
}

/// One event at this attempt, answered so: the calls after the claim, and the numbers.
fn one(confirm: Confirm, attempt: u32) -> (Vec<String>, [usize; 7]) {
    let mut store = Recorder::new(&["e1"], attempt);
    let result = relay("A").pass(&mut store, &mut Answers(vec![confirm]), 5);
    assert_eq!(store.calls.remove(0), "claim A 5 10 10");
    (store.calls, numbers(&result.unwrap()))
}

#[test]
fn each_answer_leads_to_its_one_call_and_to_no_other() {
    let call = |text: &str| vec![text.to_owned()];
    let cases = [
        (Confirm::Confirmed, call("mark e1"), [1, 1, 0, 0, 0, 0, 0]),
        (Confirm::Nacked, call("release e1"), [1, 0, 1, 0, 0, 0, 0]),
        (Confirm::Returned, call("park e1"), [1, 0, 0, 1, 0, 0, 0]),
        (Confirm::NoAnswer, vec![], [1, 0, 0, 0, 0, 1, 0]),
    ];
    for (confirm, calls, counts) in cases {
        assert_eq!(one(confirm, 1), (calls, counts), "{confirm:?}");
    }
}

#[test]
fn only_a_nack_asks_whether_the_attempts_are_used_up() {
    for attempt in 1..=5 {
        let (calls, _) = one(Confirm::Nacked, attempt);
        let expected = if attempt < 3 { "release e1" } else { "park e1" };
        assert_eq!(calls, [expected], "attempt {attempt}");
        assert_eq!(one(Confirm::Confirmed, attempt).0, ["mark e1"]);
        assert_eq!(one(Confirm::Returned, attempt).0, ["park e1"]);
        assert!(one(Confirm::NoAnswer, attempt).0.is_empty());
    }
}

#[test]
fn an_error_with_one_event_loses_no_other() {
    let events = ["e1", "e2", "e3", "e4", "e5", "e6"];
    let mut store = Recorder::new(&events, 1);
    store.answers = vec![
        ("e2", Err(Broken)),
        ("e3", Ok(Held::Fenced)),
        ("e5", Err(Broken)),
    ];
    let answers = vec![
        Confirm::Confirmed,
        Confirm::Confirmed,
        Confirm::Nacked,
        Confirm::NoAnswer,
        Confirm::Returned,
        Confirm::Nacked,
    ];
    let result = relay("A")
        .pass(&mut store, &mut Answers(answers), 0)
        .unwrap();
    assert_eq!(numbers(&result), [6, 1, 1, 0, 1, 1, 2]);
    assert_eq!(
        store.calls[1..],
        ["mark e1", "mark e2", "release e3", "park e5", "release e6"]
    );
    let failures: Vec<(&str, Confirm, Broken)> = result
        .failures
        .iter()
        .map(|failure| (failure.event_id.as_str(), failure.confirm, failure.error))
        .collect();
    assert_eq!(
        failures,
        [
            ("e2", Confirm::Confirmed, Broken),
            ("e5", Confirm::Returned, Broken)
        ]
    );
}

#[test]
fn nothing_is_published_that_could_not_be_claimed() {
    let mut store = Recorder::new(&["e1"], 1);
    store.claim = Err(Broken);
    let mut broker = StandInBroker::new(Reception::Accepts);
    let result = relay("A").pass(&mut store, &mut broker, 0);
    assert_eq!(result.unwrap_err(), Broken);
    assert!(broker.accepted().is_empty());
}

// ---- What the broker says ----------------------------------------------------------------------------

#[test]
fn the_ack_of_a_returned_message_confirms_nothing() {
    let cases: [(&[Frame], Confirm); 5] = [
        (&[Frame::Ack], Confirm::Confirmed),
        (&[Frame::Nack], Confirm::Nacked),
        (&[Frame::Return, Frame::Ack], Confirm::Returned),
        (&[Frame::Return], Confirm::Returned),
        (&[], Confirm::NoAnswer),
    ];
    for (frames, confirm) in cases {
        assert_eq!(Confirm::of(frames), confirm, "{frames:?}");
    }
}

/// For each reception: the state of the event after a pass, the numbers, and whether a queue has it.
#[test]
fn a_pass_leaves_the_event_where_the_answer_says() {
    let leased = EventState::Leased {
        owner: "A".to_owned(),
        until: 10,
    };
    let cases = [
        (
            Reception::Accepts,
            EventState::Published,
            [1, 1, 0, 0, 0, 0, 0],
            1,
        ),
        (
            Reception::AcceptsUnheard,
            leased.clone(),
            [1, 0, 0, 0, 0, 1, 0],
            1,
        ),
        (Reception::Unreached, leased, [1, 0, 0, 0, 0, 1, 0], 0),
        (
            Reception::Refuses,
            EventState::Pending,
            [1, 0, 1, 0, 0, 0, 0],
            0,
        ),
        (
            Reception::Unroutable,
            EventState::Parked,
            [1, 0, 0, 1, 0, 0, 0],
            0,
        ),
    ];
    assert_eq!(cases.each_ref().map(|case| case.0), Reception::ALL);
    for (reception, state, counts, accepted) in cases {
        each(&["e1"], |outbox| {
            let mut broker = StandInBroker::new(reception);
            let result = relay("A")
                .pass(outbox.store().as_mut(), &mut broker, 0)
                .unwrap();
            assert_eq!(numbers(&result), counts, "{reception:?}");
            assert_eq!(outbox.state(), state, "{reception:?}");
            assert_eq!(broker.accepted().len(), accepted, "{reception:?}");
        });
    }
}

#[test]
fn an_event_that_is_nacked_is_tried_until_its_attempts_are_used_up() {
    each(&["e1"], |outbox| {
        let mut broker = StandInBroker::new(Reception::Refuses);
        let mut pass = || {
            let result = relay("A").pass(outbox.store().as_mut(), &mut broker, 0);
            numbers(&result.unwrap())
        };
        assert_eq!(pass(), [1, 0, 1, 0, 0, 0, 0]);
        assert_eq!(pass(), [1, 0, 1, 0, 0, 0, 0]);
        assert_eq!(pass(), [1, 0, 0, 1, 0, 0, 0]);
        assert_eq!(pass(), [0; 7]);
        assert_eq!(outbox.state(), EventState::Parked);
    });
}

#[test]
fn a_pass_takes_no_more_than_its_limit_and_no_event_twice() {
    each(&["e1", "e2", "e3"], |outbox| {
        let mut broker = StandInBroker::new(Reception::Refuses);
        let two = Relay {
            limit: 2,
            ..relay("A")
        };
        let result = two.pass(outbox.store().as_mut(), &mut broker, 0).unwrap();
        assert_eq!(numbers(&result), [2, 0, 2, 0, 0, 0, 0]);
        assert_eq!(outbox.rows().iter().map(|row| row.token).sum::<i64>(), 2);
        broker.reception = Reception::Accepts;
        let result = relay("A")
            .pass(outbox.store().as_mut(), &mut broker, 0)
            .unwrap();
        assert_eq!(numbers(&result), [3, 3, 0, 0, 0, 0, 0]);
        assert_eq!(broker.accepted(), ["e1", "e2", "e3"].map(EventId::new));
    });
}

/// The confirm is lost; the second relay waits for the end of the lease and publishes once more. Two
/// copies are in the queue: that is what the consumer's receipt is for.
#[test]
fn an_event_without_an_answer_is_published_again_when_its_lease_is_over() {
    each(&["e1"], |outbox| {
        let mut broker = StandInBroker::new(Reception::AcceptsUnheard);
        let mut pass = |owner, reception, now| {
            broker.reception = reception;
            let result = relay(owner).pass(outbox.store().as_mut(), &mut broker, now);
            (numbers(&result.unwrap()), broker.accepted().len())
        };
        let unheard = pass("A", Reception::AcceptsUnheard, 0);
        assert_eq!(unheard, ([1, 0, 0, 0, 0, 1, 0], 1));
        assert_eq!(pass("B", Reception::Accepts, 9), ([0; 7], 1));
        assert_eq!(
            pass("B", Reception::Accepts, 10),
            ([1, 1, 0, 0, 0, 0, 0], 2)
        );
        assert_eq!(pass("A", Reception::Accepts, 1000), ([0; 7], 2));
    });
}

/// A broker so slow that the lease is over and another relay has claimed and settled meanwhile.
struct Slow {
    says: Confirm,
    db: Connection,
    meanwhile: Settle,
}

impl Publisher for Slow {
    fn publish(&mut self, lease: &Lease) -> Confirm {
        use crate::outbox::Outbox;
        let next = self.db.claim("B", 10, 1).remove(0);
        assert_eq!(
            (&next.event_id, next.token),
            (&lease.event_id, lease.token + 1)
        );
        assert_eq!(self.db.settle(self.meanwhile, &next), Held::Yes);
        self.says
    }
}

#[test]
fn a_relay_that_is_late_is_fenced_and_changes_nothing() {
    use crate::outbox::{Outbox, two_with};
    let mut number = 0;
    for says in [Confirm::Confirmed, Confirm::Nacked, Confirm::Returned] {
        for meanwhile in Settle::ALL {
            number += 1;
            let (mut a, db) = two_with(&format!("late-{number}"), &["e1"]);
            let mut slow = Slow {
                says,
                db,
                meanwhile,
            };
            let result = relay("A").pass(a.store().as_mut(), &mut slow, 0).unwrap();
            assert_eq!(
                numbers(&result),
                [1, 0, 0, 0, 1, 0, 0],
                "{says:?} {meanwhile:?}"
            );
            assert_eq!(a.state(), meanwhile.leads_to());
        }
    }
}

// ---- From the ticket to the effect ---------------------------------------------------------------------

/// The relay dies between the confirm and the mark, so the event is published twice; the consumer's
/// receipt makes one effect of it.
#[test]
fn a_doubled_publication_has_one_effect() {
    each(&["e1"], |outbox| {
        let mut broker = StandInBroker::new(Reception::Accepts);
        let lease = outbox.claim("A", 0, 1).remove(0);
        assert_eq!(broker.publish(&lease), Confirm::Confirmed);
        let result = relay("B")
            .pass(outbox.store().as_mut(), &mut broker, 10)
            .unwrap();
        assert_eq!(numbers(&result), [1, 1, 0, 0, 0, 0, 0]);
        assert_eq!(broker.accepted(), ["e1", "e1"].map(EventId::new));

        let mut consumer = Connection::open_in_memory().unwrap();
        consumer.execute_batch(schema::RECEIPTS).unwrap();
        let applied: Vec<bool> = broker
            .accepted()
            .iter()
            .map(|id| {
                let outcome = apply_once(&mut consumer, id.as_str(), "audit", |_| Ok(()));
                outcome.unwrap().is_applied()
            })
            .collect();
        assert_eq!(applied, [true, false]);
    });
}

#[test]
fn the_example_prints_what_a_confirm_and_a_nack_come_to() {
    let lines = [true, false].map(|confirm| relay_example::pass(confirm).unwrap());
    assert_eq!(
        lines,
        [
            "confirm=true claimed=1 published=1 released=0",
            "confirm=false claimed=1 published=0 released=1"
        ]
    );
}
