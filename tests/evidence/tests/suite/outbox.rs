//! The outbox in PostgreSQL: it answers as the one in memory does, and two relays at once share it.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use deliver_twice_core::dialect::in_postgres;
use deliver_twice_core::event::EventId;
use deliver_twice_core::outbox::{
    Held, Lease, MemoryOutbox, OutboxError as MemoryError, OutboxEvent, OutboxStore,
};
use deliver_twice_core::schema;
use deliver_twice_evidence::locks::wait_until_blocked;
use deliver_twice_evidence::outbox::{
    CLAIM_AS_ON_SQLITE, CLAIM_SKIPPING_LOCKED, OutboxError, PostgresOutbox, claim_one,
};
use deliver_twice_evidence::scratch::Schema;
use postgres::Client;
use tokio::runtime::{Builder, Runtime};

const LEASE: NonZeroU32 = NonZeroU32::new(10).unwrap();

/// A schema with an outbox, and the runtime that the schema's own sessions need.
struct Bench {
    schema: Schema,
    runtime: Runtime,
}

impl Bench {
    fn open() -> Option<Bench> {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let schema = runtime.block_on(Schema::open())?;
        let bench = Bench { schema, runtime };
        let mut client = bench.client();
        for tables in [schema::BUSINESS, schema::RECEIPTS, schema::OUTBOX_EVENTS] {
            client.batch_execute(&in_postgres(tables)).unwrap();
        }
        Some(bench)
    }

    /// A session for a store, which blocks.
    fn client(&self) -> Client {
        let mut client = self.schema.blocking_session().unwrap();
        // What these tests commit need not survive the server, and no wait of theirs is meant to last.
        client
            .batch_execute("SET synchronous_commit = off; SET lock_timeout = '10s'")
            .unwrap();
        client
    }
}

fn event(id: &str) -> OutboxEvent {
    OutboxEvent {
        event_id: EventId::new(id),
        ticket_id: "ticket-1".to_owned(),
        payload: "ticket-1".to_owned(),
    }
}

fn enqueue(client: &mut Client, id: &str) -> Result<(), OutboxError> {
    let mut transaction = client.transaction().unwrap();
    PostgresOutbox::enqueue(&mut transaction, &event(id))?;
    transaction.commit().unwrap();
    Ok(())
}

// ---- The same answers as in memory -----------------------------------------------------------------

#[derive(Clone, Copy, Debug)]
enum Call {
    Enqueue(usize),
    Claim(&'static str, usize),
    Tick,
    /// Settles the lease of this number, if so many were given.
    Settle(usize, usize),
}

/// What a store said, in a form that both can be compared in.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    Enqueued(bool),
    Leased(Vec<Lease>),
    Held(Held),
    Nothing,
}

fn settle<S: OutboxStore>(store: &mut S, how: usize, lease: &Lease) -> Held
where
    S::Error: std::fmt::Debug,
{
    let held = match how {
        0 => store.mark_published(lease),
        1 => store.release_for_retry(lease),
        _ => store.park(lease),
    };
    held.unwrap()
}

fn answer<S: OutboxStore>(
    store: &mut S,
    call: Call,
    now: i64,
    leases: &[Lease],
    enqueue: impl FnOnce(&mut S, usize) -> bool,
) -> Said
where
    S::Error: std::fmt::Debug,
{
    match call {
        Call::Enqueue(id) => Said::Enqueued(enqueue(store, id)),
        Call::Claim(owner, limit) => Said::Leased(store.claim(owner, now, LEASE, limit).unwrap()),
        Call::Tick => Said::Nothing,
        Call::Settle(how, number) => match leases.get(number) {
            Some(lease) => Said::Held(settle(store, how, lease)),
            None => Said::Nothing,
        },
    }
}

/// Makes the same calls on both stores and compares every answer and every row. Returns what was seen.
fn compare(client: &mut Client, calls: &[Call]) -> BTreeSet<&'static str> {
    client.batch_execute("TRUNCATE outbox_events").unwrap();
    let mut memory = MemoryOutbox::new();
    let mut leases: Vec<Lease> = Vec::new();
    let mut now = 0;
    let mut seen = BTreeSet::new();
    for (number, &call) in calls.iter().enumerate() {
        if let Call::Tick = call {
            now += 5;
        }
        let id = |id: usize| format!("e{id}");
        let wanted = answer(&mut memory, call, now, &leases, |store, number| match store
            .enqueue(&event(&id(number)))
        {
            Ok(()) => true,
            Err(MemoryError::AlreadyEnqueued { .. }) => false,
            Err(other) => panic!("{other}"),
        });
        let said = match call {
            Call::Enqueue(event) => match enqueue(client, &id(event)) {
                Ok(()) => Said::Enqueued(true),
                Err(OutboxError::AlreadyEnqueued { .. }) => Said::Enqueued(false),
                Err(other) => panic!("{other}"),
            },
            _ => {
                let mut store = PostgresOutbox::new(client);
                answer(&mut store, call, now, &leases, |_, _| {
                    unreachable!("answered above")
                })
            }
        };
        assert_eq!(said, wanted, "call {number} of {calls:?}");
        let rows = PostgresOutbox::new(client).rows().unwrap();
        assert_eq!(rows, memory.rows(), "call {number} of {calls:?}");
        seen.insert(match &said {
            Said::Enqueued(true) => "enqueued",
            Said::Enqueued(false) => "enqueued before",
            Said::Leased(given) if given.is_empty() => "nothing to claim",
            Said::Leased(given) if given.iter().any(|lease| lease.token > 1) => "claimed again",
            Said::Leased(_) => "claimed",
            Said::Held(Held::Yes) => "held",
            Said::Held(Held::Fenced) => "fenced",
            Said::Nothing => "nothing",
        });
        if let Said::Leased(given) = said {
            leases.extend(given);
        }
    }
    seen
}

#[test]
fn the_store_in_postgresql_answers_as_the_one_in_memory_to_long_sequences_of_calls() {
    let Some(bench) = Bench::open() else {
        return;
    };
    let mut client = bench.client();
    let mut seen = BTreeSet::new();
    let mut numbers = fastrand::Rng::with_seed(7);
    for _ in 0..40 {
        let calls: Vec<Call> = (0..50)
            .map(|_| match numbers.usize(..10) {
                0 | 1 => Call::Enqueue(numbers.usize(..5)),
                2 | 3 => Call::Claim(["A", "B", "C"][numbers.usize(..3)], numbers.usize(..4)),
                4 | 5 => Call::Tick,
                // Mostly released, so that a walk does not soon run out of events.
                6 => Call::Settle(numbers.usize(..3), numbers.usize(..40)),
                _ => Call::Settle(1, numbers.usize(..40)),
            })
            .collect();
        seen.extend(compare(&mut client, &calls));
    }
    let all = [
        "claimed",
        "claimed again",
        "enqueued",
        "enqueued before",
        "fenced",
        "held",
        "nothing",
        "nothing to claim",
    ];
    assert_eq!(Vec::from_iter(seen), all);
}

#[test]
fn an_event_enqueued_twice_aborts_the_transaction_of_its_producer() {
    let Some(bench) = Bench::open() else {
        return;
    };
    let mut client = bench.client();
    enqueue(&mut client, "e1").unwrap();
    let mut transaction = client.transaction().unwrap();
    transaction
        .execute("INSERT INTO tickets VALUES ('ticket-1', 'tenant-1')", &[])
        .unwrap();
    let twice = PostgresOutbox::enqueue(&mut transaction, &event("e1"));
    assert!(
        matches!(twice, Err(OutboxError::AlreadyEnqueued { .. })),
        "{twice:?}"
    );
    let next = transaction.batch_execute("SELECT 1").unwrap_err();
    assert_eq!(next.code().unwrap().code(), "25P02");
    transaction.commit().unwrap();
    let tickets: i64 = client
        .query_one("SELECT count(*) FROM tickets", &[])
        .unwrap()
        .get(0);
    assert_eq!(tickets, 0);
}

#[test]
fn a_unique_violation_that_is_not_the_outboxs_own_is_itself() {
    let Some(bench) = Bench::open() else {
        return;
    };
    let mut client = bench.client();
    client
        .batch_execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN RAISE unique_violation; END $$;
             CREATE TRIGGER refuse BEFORE INSERT ON outbox_events
             FOR EACH ROW EXECUTE FUNCTION refuse();",
        )
        .unwrap();
    let refused = enqueue(&mut client, "e1");
    assert!(
        matches!(
            refused,
            Err(OutboxError::Refused {
                during: "enqueue",
                ..
            })
        ),
        "{refused:?}"
    );
}

#[test]
fn a_lease_past_the_end_of_the_clock_is_refused() {
    let Some(bench) = Bench::open() else {
        return;
    };
    let mut client = bench.client();
    enqueue(&mut client, "e1").unwrap();
    let claimed = PostgresOutbox::new(&mut client).claim("A", i64::MAX - 9, LEASE, 1);
    assert!(
        matches!(claimed, Err(OutboxError::EndlessLease { .. })),
        "{claimed:?}"
    );
    let claimed = PostgresOutbox::new(&mut client).claim("A", i64::MAX - 10, LEASE, 1);
    assert_eq!(claimed.unwrap().len(), 1);
}

// ---- Two relays at once ----------------------------------------------------------------------------

/// The tokens and events that two relays get who claim at once, the second before the first has
/// committed, by this statement.
fn claim_at_once(bench: &Bench, claim: &'static str) -> [Option<(String, i64)>; 2] {
    let (mut first, mut second) = (bench.client(), bench.client());
    first.batch_execute("TRUNCATE outbox_events").unwrap();
    for id in ["e1", "e2"] {
        enqueue(&mut first, id).unwrap();
    }
    let pid: i32 = second
        .query_one("SELECT pg_backend_pid()", &[])
        .unwrap()
        .get(0);
    let name = |lease: Option<Lease>| lease.map(|lease| (lease.event_id.to_string(), lease.token));
    let mut transaction = first.transaction().unwrap();
    let ours = claim_one(&mut transaction, claim, "A", 0, 10).unwrap();
    let other = std::thread::spawn(move || {
        let mut transaction = second.transaction().unwrap();
        let theirs = claim_one(&mut transaction, claim, "B", 0, 10).unwrap();
        transaction.commit().unwrap();
        theirs
    });
    if claim == CLAIM_AS_ON_SQLITE.as_str() {
        bench.runtime.block_on(async {
            let observer = bench.schema.session().await;
            wait_until_blocked(&observer, pid).await.unwrap();
        });
        transaction.commit().unwrap();
        [name(ours), name(other.join().unwrap())]
    } else {
        // It waits for nobody: it is done before the first has committed.
        let theirs = other.join().unwrap();
        transaction.commit().unwrap();
        [name(ours), name(theirs)]
    }
}

#[test]
fn two_relays_at_once_never_claim_the_same_row() {
    let Some(bench) = Bench::open() else {
        return;
    };
    let claims = claim_at_once(&bench, &CLAIM_SKIPPING_LOCKED);
    assert_eq!(
        claims,
        [Some(("e1".to_owned(), 1)), Some(("e2".to_owned(), 1))]
    );
}

/// What is right on SQLite, with its one writer, leases one event to two relays here. The token tells them
/// apart, so the first is fenced; the event is published twice all the same.
#[test]
fn the_claim_as_on_sqlite_gives_one_row_to_two_relays() {
    let Some(bench) = Bench::open() else {
        return;
    };
    let claims = claim_at_once(&bench, &CLAIM_AS_ON_SQLITE);
    assert_eq!(
        claims,
        [Some(("e1".to_owned(), 1)), Some(("e1".to_owned(), 2))]
    );
}

#[test]
fn many_relays_at_once_lease_every_event_once() {
    const EVENTS: usize = 200;
    const RELAYS: usize = 4;
    let Some(bench) = Bench::open() else {
        return;
    };
    let mut client = bench.client();
    for number in 0..EVENTS {
        enqueue(&mut client, &format!("e{number:03}")).unwrap();
    }
    let relays: Vec<_> = (0..RELAYS)
        .map(|number| {
            let mut client = bench.client();
            // The session's own isolation would make a claim fail where it has only to look again.
            let stricter = "SET default_transaction_isolation = 'repeatable read'";
            client.batch_execute(stricter).unwrap();
            std::thread::spawn(move || {
                let mut claimed = Vec::new();
                let mut store = PostgresOutbox::new(&mut client);
                loop {
                    let leases = store
                        .claim(&format!("relay-{number}"), 0, LEASE, 3)
                        .unwrap();
                    if leases.is_empty() {
                        return claimed;
                    }
                    for lease in leases {
                        assert_eq!(store.mark_published(&lease).unwrap(), Held::Yes);
                        claimed.push(lease.event_id.to_string());
                    }
                }
            })
        })
        .collect();
    let mut claimed: Vec<String> = relays
        .into_iter()
        .flat_map(|relay| relay.join().unwrap())
        .collect();
    claimed.sort();
    let events: Vec<String> = (0..EVENTS).map(|number| format!("e{number:03}")).collect();
    assert_eq!(claimed, events);
}
