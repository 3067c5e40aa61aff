//! The outbox: what each statement does to its table, and what both stores make of the same calls.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use deliver_twice_core::event::EventId;
use deliver_twice_core::outbox::{
    EventState, Held, Lease, MemoryOutbox, OutboxError, OutboxEvent, OutboxRow, OutboxStore,
    SqliteOutbox, statements,
};
use deliver_twice_core::schema;
use deliver_twice_core::sql::RefusalKind;
use rusqlite::{Connection, params};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::determinism::Numbers;

// ---- The table and its statements -----------------------------------------------------------------

/// A database with an outbox.
fn database() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    set_up(&db);
    db
}

fn set_up(db: &Connection) {
    db.execute_batch(schema::OUTBOX_EVENTS).unwrap();
    db.execute_batch(schema::OUTBOX_OPEN_INDEX).unwrap();
}

/// A database whose outbox has these events, about the ticket `ticket-1`.
fn with_events(events: &[&str]) -> Connection {
    let db = database();
    for event in events {
        db.execute(statements::ENQUEUE, [*event, "ticket-1", "created"])
            .unwrap();
    }
    db
}

/// Claims for A until 10: the event, the token and the attempt.
fn claim(db: &Connection, now: i64) -> Option<(String, i64, u32)> {
    returned(db, statements::CLAIM_ONE, params!["A", now + 10, now])
}

fn returned(
    db: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Option<(String, i64, u32)> {
    let mut statement = db.prepare(sql).unwrap();
    let mut rows = statement.query(values).unwrap();
    let row = rows.next().unwrap()?;
    let found = (row.get(0), row.get(1), row.get(2));
    assert!(rows.next().unwrap().is_none(), "one claim, two events");
    Some((found.0.unwrap(), found.1.unwrap(), found.2.unwrap()))
}

/// The rows in order: event, state, owner, token, attempt and the end of the lease.
fn table(db: &Connection) -> Vec<String> {
    let sql = "SELECT event_id || ' ' || state || ' ' || ifnull(owner, '-') || ' ' || token || ' '
                      || attempt || ' ' || ifnull(lease_until, '-')
               FROM outbox_events ORDER BY position";
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn a_claim_takes_the_first_pending_event_and_counts_token_and_attempt() {
    let db = with_events(&["e2", "e1"]);
    assert_eq!(claim(&db, 0), Some(("e2".into(), 1, 1)));
    assert_eq!(claim(&db, 0), Some(("e1".into(), 1, 1)));
    assert_eq!(claim(&db, 0), None);
    assert_eq!(table(&db), ["e2 leased A 1 1 10", "e1 leased A 1 1 10"]);
}

#[test]
fn a_lease_is_over_when_the_clock_has_come_to_its_end() {
    let db = with_events(&["e1"]);
    assert_eq!(claim(&db, 0), Some(("e1".into(), 1, 1)));
    assert_eq!(claim(&db, 9), None);
    assert_eq!(claim(&db, 10), Some(("e1".into(), 2, 2)));
    assert_eq!(table(&db), ["e1 leased A 2 2 20"]);
}

#[test]
fn a_fenced_statement_changes_the_leased_row_with_its_token_and_no_other() {
    let fenced = [
        (statements::MARK_PUBLISHED, "published"),
        (statements::RELEASE_FOR_RETRY, "pending"),
        (statements::PARK, "parked"),
    ];
    for (sql, state) in fenced {
        let db = with_events(&["e1", "e2"]);
        assert_eq!(db.execute(sql, params!["e1", 0]).unwrap(), 0, "not leased");
        claim(&db, 0).unwrap();
        claim(&db, 10).unwrap();
        let before = table(&db);
        assert_eq!(db.execute(sql, params!["e1", 1]).unwrap(), 0, "old token");
        assert_eq!(db.execute(sql, params!["e2", 2]).unwrap(), 0, "not leased");
        assert_eq!(table(&db), before, "{state}");
        assert_eq!(db.execute(sql, params!["e1", 2]).unwrap(), 1);
        assert_eq!(
            table(&db),
            [format!("e1 {state} - 2 2 -"), "e2 pending - 0 0 -".into()]
        );
        assert_eq!(db.execute(sql, params!["e1", 2]).unwrap(), 0, "settled");
    }
}

#[test]
fn an_unfenced_statement_changes_the_row_whoever_holds_it() {
    let unfenced = [
        (statements::MARK_PUBLISHED_UNFENCED, "published"),
        (statements::RELEASE_FOR_RETRY_UNFENCED, "pending"),
        (statements::PARK_UNFENCED, "parked"),
    ];
    for (sql, state) in unfenced {
        let db = with_events(&["e1", "e2"]);
        claim(&db, 0).unwrap();
        claim(&db, 10).unwrap();
        assert_eq!(db.execute(sql, ["e1"]).unwrap(), 1);
        assert_eq!(
            table(&db),
            [format!("e1 {state} - 2 2 -"), "e2 pending - 0 0 -".into()]
        );
    }
}

#[test]
fn a_claim_forever_is_never_over() {
    let db = with_events(&["e1"]);
    let claimed = returned(&db, statements::CLAIM_FOREVER, ["A"]);
    assert_eq!(claimed, Some(("e1".into(), 1, 1)));
    assert_eq!(returned(&db, statements::CLAIM_FOREVER, ["B"]), None);
    assert_eq!(claim(&db, i64::MAX - 10), None);
    assert_eq!(table(&db), [format!("e1 leased A 1 1 {}", i64::MAX)]);
}

#[test]
fn a_claim_that_marks_published_leaves_nothing_to_claim() {
    let db = with_events(&["e1"]);
    let sql = statements::CLAIM_MARKING_PUBLISHED;
    assert_eq!(returned(&db, sql, []), Some(("e1".into(), 1, 1)));
    assert_eq!(returned(&db, sql, []), None);
    assert_eq!(table(&db), ["e1 published - 1 1 -"]);
}

#[test]
fn the_table_refuses_what_no_state_allows() {
    let db = with_events(&["e1"]);
    let refused = [
        ("state = 'sent'", "ck_outbox_state"),
        ("state = 'leased', owner = 'A'", "ck_outbox_lease"),
        ("state = 'leased', lease_until = 1", "ck_outbox_owner"),
        ("owner = 'A'", "ck_outbox_owner"),
        ("lease_until = 1", "ck_outbox_lease"),
    ];
    for (change, constraint) in refused {
        let result = db.execute(&format!("UPDATE outbox_events SET {change}"), []);
        let message = result.unwrap_err().to_string();
        assert!(message.contains(constraint), "{change}: {message}");
    }
    let twice = db.execute(statements::ENQUEUE, ["e1", "ticket-2", "updated"]);
    let code = twice.unwrap_err().sqlite_error().unwrap().extended_code;
    assert_eq!(code, 2067);
    assert!(schema::OUTBOX_EVENTS.contains(schema::OUTBOX_CONSTRAINT));
    assert_eq!(table(&db), ["e1 pending - 0 0 -"]);
}

// The wasm build has no EXPLAIN, and the same planner.
#[cfg(not(target_family = "wasm"))]
#[test]
fn a_claim_does_not_walk_past_what_was_published() {
    let db = database();
    let mut plan = db
        .prepare(&format!("EXPLAIN QUERY PLAN {}", statements::CLAIM_ONE))
        .unwrap();
    let lines: Vec<String> = plan
        .query_map(params!["A", 10, 0], |row| row.get(3))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(
        lines.iter().any(|line| line.contains("ix_outbox_open")),
        "{lines:?}"
    );
}

#[test]
fn the_parameters_are_numbered_as_they_are_named_in_the_documentation() {
    let db = database();
    let fence: &[&str] = &[":event_id", ":token"];
    let event: &[&str] = &[":event_id"];
    let cases: [(&str, &[&str]); 11] = [
        (
            statements::ENQUEUE,
            &[":event_id", ":ticket_id", ":payload"],
        ),
        (statements::FIND, event),
        (statements::CLAIM_ONE, &[":owner", ":until", ":now"]),
        (statements::CLAIM_FOREVER, &[":owner"]),
        (statements::CLAIM_MARKING_PUBLISHED, &[]),
        (statements::MARK_PUBLISHED, fence),
        (statements::RELEASE_FOR_RETRY, fence),
        (statements::PARK, fence),
        (statements::MARK_PUBLISHED_UNFENCED, event),
        (statements::RELEASE_FOR_RETRY_UNFENCED, event),
        (statements::PARK_UNFENCED, event),
    ];
    for (sql, names) in cases {
        let statement = db.prepare(sql).unwrap();
        let found: Vec<&str> = (1..=statement.parameter_count())
            .map(|index| statement.parameter_name(index).unwrap())
            .collect();
        assert_eq!(found, names, "{sql}");
    }
}

// ---- Two stores, one behaviour ---------------------------------------------------------------------

/// An event about a ticket.
pub(crate) fn event(id: &str) -> OutboxEvent {
    OutboxEvent {
        event_id: EventId::new(id),
        ticket_id: "ticket-1".to_owned(),
        payload: format!("{{\"of\": \"{id}\"}}"),
    }
}

/// How long the leases of these tests last.
pub(crate) const LEASE: NonZeroU32 = NonZeroU32::new(10).unwrap();

/// A store with the two things that each has in its own form.
pub(crate) trait Outbox {
    fn enqueue(&mut self, event: &OutboxEvent) -> Result<(), OutboxError>;
    fn rows(&self) -> Vec<OutboxRow>;
    fn store(&mut self) -> Store<'_>;

    fn claim(&mut self, owner: &str, now: i64, limit: usize) -> Vec<Lease> {
        self.store()
            .as_mut()
            .claim(owner, now, LEASE, limit)
            .unwrap()
    }

    fn settle(&mut self, settle: Settle, lease: &Lease) -> Held {
        let mut store = self.store();
        let store = store.as_mut();
        let held = match settle {
            Settle::Mark => store.mark_published(lease),
            Settle::Release => store.release_for_retry(lease),
            Settle::Park => store.park(lease),
        };
        held.unwrap()
    }

    /// The state of the first event.
    fn state(&self) -> EventState {
        self.rows()[0].state.clone()
    }
}

/// One of the two stores, borrowed.
pub(crate) enum Store<'s> {
    Memory(&'s mut MemoryOutbox),
    Sqlite(SqliteOutbox<'s>),
}

impl<'s> Store<'s> {
    pub(crate) fn as_mut(&mut self) -> &mut (dyn OutboxStore<Error = OutboxError> + 's) {
        match self {
            Store::Memory(store) => *store,
            Store::Sqlite(store) => store,
        }
    }
}

impl Outbox for MemoryOutbox {
    fn enqueue(&mut self, event: &OutboxEvent) -> Result<(), OutboxError> {
        MemoryOutbox::enqueue(self, event)
    }

    fn rows(&self) -> Vec<OutboxRow> {
        MemoryOutbox::rows(self).to_vec()
    }

    fn store(&mut self) -> Store<'_> {
        Store::Memory(self)
    }
}

impl Outbox for Connection {
    fn enqueue(&mut self, event: &OutboxEvent) -> Result<(), OutboxError> {
        let transaction = self.transaction().unwrap();
        SqliteOutbox::enqueue(&transaction, event)?;
        transaction.commit().unwrap();
        Ok(())
    }

    fn rows(&self) -> Vec<OutboxRow> {
        SqliteOutbox::rows(self).unwrap()
    }

    fn store(&mut self) -> Store<'_> {
        Store::Sqlite(SqliteOutbox::new(self))
    }
}

/// The three ways to settle a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settle {
    Mark,
    Release,
    Park,
}

impl Settle {
    pub(crate) const ALL: [Settle; 3] = [Settle::Mark, Settle::Release, Settle::Park];

    pub(crate) fn leads_to(self) -> EventState {
        match self {
            Settle::Mark => EventState::Published,
            Settle::Release => EventState::Pending,
            Settle::Park => EventState::Parked,
        }
    }
}

/// Checks each store, beginning with these events enqueued.
pub(crate) fn each(events: &[&str], check: impl Fn(&mut dyn Outbox)) {
    let stores: [Box<dyn Outbox>; 2] = [Box::new(MemoryOutbox::new()), Box::new(database())];
    for mut store in stores {
        for id in events {
            store.enqueue(&event(id)).unwrap();
        }
        check(store.as_mut());
    }
}

fn leased(owner: &str, until: i64) -> EventState {
    EventState::Leased {
        owner: owner.to_owned(),
        until,
    }
}

fn ids(leases: &[Lease]) -> Vec<&str> {
    leases.iter().map(|lease| lease.event_id.as_str()).collect()
}

#[test]
fn what_is_enqueued_waits_for_a_claim() {
    each(&["e2", "e1"], |outbox| {
        let rows = outbox.rows();
        let expected = ["e2", "e1"].map(|id| OutboxRow {
            event: event(id),
            state: EventState::Pending,
            token: 0,
            attempt: 0,
        });
        assert_eq!(rows, expected);
    });
}

#[test]
fn a_lease_says_what_is_to_be_published_and_by_whom() {
    each(&["e1"], |outbox| {
        let expected = Lease {
            event_id: EventId::new("e1"),
            ticket_id: "ticket-1".to_owned(),
            payload: event("e1").payload,
            token: 1,
            attempt: 1,
            owner: "A".to_owned(),
        };
        assert_eq!(outbox.claim("A", 5, 9), [expected]);
        assert_eq!(outbox.state(), leased("A", 15));
    });
}

#[test]
fn a_claim_takes_the_oldest_events_up_to_its_limit_and_the_next_one_takes_the_rest() {
    each(&["e3", "e1", "e2"], |outbox| {
        assert!(outbox.claim("A", 0, 0).is_empty());
        assert_eq!(ids(&outbox.claim("A", 0, 2)), ["e3", "e1"]);
        assert_eq!(ids(&outbox.claim("B", 0, 2)), ["e2"]);
        assert!(outbox.claim("A", 0, 2).is_empty());
    });
}

#[test]
fn a_lease_that_is_over_goes_to_the_next_who_asks_with_a_new_token() {
    each(&["e1"], |outbox| {
        outbox.claim("A", 0, 1);
        assert!(outbox.claim("B", 9, 1).is_empty());
        let again = outbox.claim("B", 10, 1);
        assert_eq!((again[0].token, again[0].attempt), (2, 2));
        assert_eq!(outbox.state(), leased("B", 20));
    });
}

#[test]
fn the_holder_settles_his_event_once() {
    for settle in Settle::ALL {
        each(&["e1"], |outbox| {
            let lease = outbox.claim("A", 0, 1).remove(0);
            assert_eq!(outbox.settle(settle, &lease), Held::Yes);
            assert_eq!(outbox.state(), settle.leads_to());
            for again in Settle::ALL {
                assert_eq!(outbox.settle(again, &lease), Held::Fenced, "{again:?}");
                assert_eq!(outbox.state(), settle.leads_to());
            }
            let claimed = outbox.claim("B", 1000, 1).len();
            assert_eq!(claimed, usize::from(settle == Settle::Release));
        });
    }
}

#[test]
fn an_owner_whose_event_went_to_another_is_fenced_and_changes_nothing() {
    for settle in Settle::ALL {
        each(&["e1"], |outbox| {
            let late = outbox.claim("A", 0, 1).remove(0);
            let current = outbox.claim("B", 10, 1).remove(0);
            assert_eq!(outbox.settle(settle, &late), Held::Fenced);
            assert_eq!(outbox.state(), leased("B", 20));
            assert_eq!(outbox.settle(Settle::Release, &current), Held::Yes);
            assert_eq!(outbox.settle(settle, &late), Held::Fenced);
            // The same owner again: it is the token that counts, and not the name.
            let own = outbox.claim("A", 30, 1).remove(0);
            assert_eq!(outbox.settle(settle, &late), Held::Fenced);
            assert_eq!(outbox.state(), leased("A", 40));
            assert_eq!(outbox.settle(settle, &own), Held::Yes);
        });
    }
}

#[test]
fn an_owner_whose_lease_is_over_holds_it_until_another_claims() {
    for settle in Settle::ALL {
        each(&["e1"], |outbox| {
            let lease = outbox.claim("A", 0, 1).remove(0);
            // The clock is far past the lease: nobody asks it.
            assert_eq!(outbox.settle(settle, &lease), Held::Yes);
        });
    }
}

#[test]
fn a_lease_of_an_event_that_is_not_there_is_fenced() {
    for settle in Settle::ALL {
        each(&["e1"], |outbox| {
            let mut lease = outbox.claim("A", 0, 1).remove(0);
            lease.event_id = EventId::new("e9");
            assert_eq!(outbox.settle(settle, &lease), Held::Fenced);
            assert_eq!(outbox.state(), leased("A", 10));
        });
    }
}

#[test]
fn an_event_is_enqueued_once_whatever_has_become_of_it() {
    let became = Settle::ALL.map(Some).into_iter().chain([None]);
    for settle in became {
        each(&["e1"], |outbox| {
            if let Some(settle) = settle {
                let lease = outbox.claim("A", 0, 1).remove(0);
                let _ = outbox.settle(settle, &lease);
            }
            let before = outbox.rows();
            let other = OutboxEvent {
                payload: "another".to_owned(),
                ..event("e1")
            };
            for again in [event("e1"), other] {
                let error = outbox.enqueue(&again).unwrap_err();
                assert_eq!(error.to_string(), "event `e1` is in the outbox already");
                assert!(matches!(error, OutboxError::AlreadyEnqueued { .. }));
            }
            assert_eq!(outbox.rows(), before);
        });
    }
}

#[test]
fn a_lease_past_the_end_of_the_clock_is_refused() {
    each(&["e1"], |outbox| {
        let mut claim = |now| outbox.store().as_mut().claim("A", now, LEASE, 1);
        let error = claim(i64::MAX - 9).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("a lease of 10 from {} ends past the clock", i64::MAX - 9)
        );
        assert_eq!(claim(i64::MAX - 10).unwrap().len(), 1);
        assert_eq!(outbox.state(), leased("A", i64::MAX));
    });
}

#[test]
fn text_of_any_kind_comes_back_as_it_was() {
    let ids = [
        "",
        "'; DROP TABLE outbox_events; --",
        "工单 🎫",
        "a\0b",
        ":owner",
    ];
    each(&ids, |outbox| {
        let leases = outbox.claim("'A'", 0, ids.len());
        for (lease, id) in leases.iter().zip(ids) {
            assert_eq!(
                (lease.event_id.as_str(), &lease.payload),
                (id, &event(id).payload)
            );
            assert_eq!(lease.owner, "'A'");
            assert_eq!(outbox.settle(Settle::Mark, lease), Held::Yes);
        }
        assert_eq!(leases.len(), ids.len());
        assert_eq!(outbox.state(), EventState::Published);
    });
}

// ---- Both stores over many sequences of calls ------------------------------------------------------

/// A call to a store.
#[derive(Clone, Copy, Debug)]
enum Call {
    /// Enqueues this event, be it there or not.
    Enqueue(&'static str),
    /// Claims for this owner, up to this many.
    Claim(&'static str, usize),
    /// Lets half a lease pass.
    Tick,
    /// Settles one of the leases that were ever given.
    Settle(Settle, Which),
}

/// Which of the leases that were ever given.
#[derive(Clone, Copy, Debug)]
enum Which {
    First,
    Last,
    Nth(usize),
}

impl Which {
    fn of(self, leases: &[Lease]) -> Option<&Lease> {
        match self {
            Which::First => leases.first(),
            Which::Last => leases.last(),
            Which::Nth(number) => leases.get(number % leases.len().max(1)),
        }
    }
}

/// What a store answered.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Enqueued(bool),
    Leased(Vec<Lease>),
    Held(Held),
    Nothing,
}

/// A store, the clock, and all the leases it ever gave.
struct Driven<S> {
    outbox: S,
    now: i64,
    leases: Vec<Lease>,
}

impl<S: Outbox> Driven<S> {
    fn new(outbox: S) -> Self {
        Driven {
            outbox,
            now: 0,
            leases: Vec::new(),
        }
    }

    fn call(&mut self, call: Call) -> Said {
        match call {
            Call::Enqueue(id) => match self.outbox.enqueue(&event(id)) {
                Ok(()) => Said::Enqueued(true),
                Err(OutboxError::AlreadyEnqueued { .. }) => Said::Enqueued(false),
                Err(other) => panic!("{other}"),
            },
            Call::Claim(owner, limit) => {
                let leases = self.outbox.claim(owner, self.now, limit);
                self.leases.extend(leases.iter().cloned());
                Said::Leased(leases)
            }
            Call::Tick => {
                self.now += i64::from(LEASE.get() / 2);
                Said::Nothing
            }
            Call::Settle(settle, which) => match which.of(&self.leases).cloned() {
                Some(lease) => Said::Held(self.outbox.settle(settle, &lease)),
                None => Said::Nothing,
            },
        }
    }
}

/// Makes the same calls on both stores, compares every answer and every row, and checks on the way what
/// an outbox promises. Returns what was seen.
fn compare(db: &mut Connection, calls: &[Call]) -> BTreeSet<&'static str> {
    db.execute_batch("DELETE FROM outbox_events").unwrap();
    let mut memory = Driven::new(MemoryOutbox::new());
    let mut sqlite = Driven::new(Borrowed(db));
    let mut newest: BTreeMap<EventId, i64> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (number, &call) in calls.iter().enumerate() {
        let settled = match call {
            Call::Settle(_, which) => which.of(&memory.leases).cloned(),
            _ => None,
        };
        let before = memory.outbox.rows().to_vec();
        let said = memory.call(call);
        let at = || format!("call {number} of {calls:?}");
        assert_eq!(said, sqlite.call(call), "{}", at());
        let rows = memory.outbox.rows();
        assert_eq!(rows, sqlite.outbox.rows(), "{}", at());

        for (old, new) in before.iter().zip(rows) {
            assert_eq!(old.event, new.event, "{}", at());
            assert!(
                old.token <= new.token && old.attempt <= new.attempt,
                "{}",
                at()
            );
            if matches!(old.state, EventState::Published | EventState::Parked) {
                assert_eq!(old, new, "settled for good: {}", at());
            }
        }
        match &said {
            Said::Leased(leases) => {
                for lease in leases {
                    let last = newest.insert(lease.event_id.clone(), lease.token);
                    assert_eq!(lease.token, last.unwrap_or(0) + 1, "{}", at());
                    seen.insert(if last.is_some() {
                        "claimed again"
                    } else {
                        "claimed"
                    });
                }
            }
            Said::Held(held) => {
                let lease = settled.expect("only a lease is settled");
                let is_newest = newest[&lease.event_id] == lease.token;
                assert!(is_newest || *held == Held::Fenced, "{}", at());
                seen.insert(match (held, is_newest) {
                    (Held::Yes, _) => "held",
                    (Held::Fenced, true) => "fenced, for it was settled before",
                    (Held::Fenced, false) => "fenced by a newer token",
                });
            }
            Said::Enqueued(false) => {
                assert_eq!(before, rows, "{}", at());
                seen.insert("enqueued before");
            }
            Said::Enqueued(true) | Said::Nothing => {}
        }
    }
    seen
}

/// A connection that outlives its store.
struct Borrowed<'c>(&'c mut Connection);

impl Outbox for Borrowed<'_> {
    fn enqueue(&mut self, event: &OutboxEvent) -> Result<(), OutboxError> {
        Outbox::enqueue(self.0, event)
    }

    fn rows(&self) -> Vec<OutboxRow> {
        Outbox::rows(self.0)
    }

    fn store(&mut self) -> Store<'_> {
        Outbox::store(self.0)
    }
}

const SEEN: [&str; 6] = [
    "claimed",
    "claimed again",
    "enqueued before",
    "fenced by a newer token",
    "fenced, for it was settled before",
    "held",
];

/// Every sequence of four calls out of eleven, once the first event is leased.
#[test]
fn both_stores_answer_alike_to_every_short_sequence_of_calls() {
    let mut alphabet = vec![
        Call::Enqueue("e1"),
        Call::Enqueue("e2"),
        Call::Claim("A", 1),
        Call::Claim("B", 2),
        Call::Tick,
    ];
    for settle in Settle::ALL {
        alphabet.push(Call::Settle(settle, Which::First));
        alphabet.push(Call::Settle(settle, Which::Last));
    }
    let mut db = database();
    let mut seen = BTreeSet::new();
    let count = alphabet.len();
    for number in 0..count.pow(4) {
        let mut calls = vec![Call::Enqueue("e1"), Call::Claim("A", 1)];
        calls.extend((0..4).map(|place| alphabet[number / count.pow(place) % count]));
        seen.extend(compare(&mut db, &calls));
    }
    assert_eq!(Vec::from_iter(seen), SEEN);
}

/// Long walks, the same on every machine.
#[test]
fn both_stores_answer_alike_to_long_sequences_of_calls() {
    const IDS: [&str; 5] = ["e1", "e2", "e3", "e4", "e5"];
    const OWNERS: [&str; 3] = ["A", "B", "C"];
    let mut db = database();
    let mut seen = BTreeSet::new();
    let mut numbers = Numbers(5);
    for _ in 0..150 {
        let calls: Vec<Call> = (0..60)
            .map(|_| match numbers.below(10) {
                0 | 1 => Call::Enqueue(IDS[numbers.below(5)]),
                2 | 3 => Call::Claim(OWNERS[numbers.below(3)], numbers.below(4)),
                4 | 5 => Call::Tick,
                // Mostly released, so that a walk does not soon run out of events.
                6 => Call::Settle(Settle::ALL[numbers.below(3)], Which::Nth(numbers.below(60))),
                _ => Call::Settle(Settle::Release, Which::Nth(numbers.below(60))),
            })
            .collect();
        seen.extend(compare(&mut db, &calls));
    }
    assert_eq!(Vec::from_iter(seen), SEEN);
}

// ---- SQLite's own --------------------------------------------------------------------------------------

/// What an error was: what was being done, the kind, and SQLite's extended code.
fn refusal<T: std::fmt::Debug>(
    result: Result<T, OutboxError>,
) -> (&'static str, RefusalKind, Option<i32>) {
    match result.unwrap_err() {
        OutboxError::Refused {
            during,
            kind,
            source,
        } => (
            during,
            kind,
            source.sqlite_error().map(|error| error.extended_code),
        ),
        other => panic!("{other:?}"),
    }
}

fn with_business() -> Connection {
    let db = database();
    db.execute_batch(schema::BUSINESS).unwrap();
    db
}

fn count(db: &Connection, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    db.query_row(&sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn ticket_and_event_commit_together_or_not_at_all() {
    for commits in [true, false] {
        let mut db = with_business();
        let transaction = db.transaction().unwrap();
        let ticket = ["ticket-1", "tenant-1"];
        transaction.execute(schema::INSERT_TICKET, ticket).unwrap();
        SqliteOutbox::enqueue(&transaction, &event("e1")).unwrap();
        if commits {
            transaction.commit().unwrap();
        } else {
            transaction.rollback().unwrap();
        }
        let rows = (count(&db, "tickets"), count(&db, "outbox_events"));
        assert_eq!(rows, (i64::from(commits), i64::from(commits)));
    }
}

#[test]
fn an_event_enqueued_twice_leaves_the_transaction_to_its_caller() {
    let mut db = with_business();
    Outbox::enqueue(&mut db, &event("e1")).unwrap();
    let transaction = db.transaction().unwrap();
    let ticket = ["ticket-1", "tenant-1"];
    transaction.execute(schema::INSERT_TICKET, ticket).unwrap();
    let twice = SqliteOutbox::enqueue(&transaction, &event("e1"));
    assert!(matches!(twice, Err(OutboxError::AlreadyEnqueued { .. })));
    assert!(!transaction.is_autocommit());
    transaction.rollback().unwrap();
    assert_eq!((count(&db, "tickets"), count(&db, "outbox_events")), (0, 1));
}

/// The business write failed and took the transaction along. Were the event enqueued now, it would be
/// committed alone: an event without its ticket.
#[test]
fn nothing_is_enqueued_in_a_transaction_that_has_ended() {
    let mut db = with_business();
    let ticket = ["ticket-1", "tenant-1"];
    db.execute(schema::INSERT_TICKET, ticket).unwrap();
    let transaction = db.transaction().unwrap();
    let refused = transaction.execute(
        "INSERT OR ROLLBACK INTO tickets VALUES ('ticket-1', 'tenant-1')",
        [],
    );
    assert!(refused.is_err());
    let result = SqliteOutbox::enqueue(&transaction, &event("e1"));
    assert!(
        matches!(result, Err(OutboxError::TransactionEnded)),
        "{result:?}"
    );
    drop(transaction);
    assert_eq!(count(&db, "outbox_events"), 0);
}

#[test]
fn a_refused_enqueue_is_itself_unless_the_event_is_there() {
    let mut db = database();
    db.execute_batch(
        "CREATE TABLE log (line TEXT NOT NULL UNIQUE) STRICT;
         INSERT INTO log VALUES ('enqueued');
         CREATE TRIGGER note AFTER INSERT ON outbox_events
         BEGIN INSERT INTO log VALUES ('enqueued'); END;",
    )
    .unwrap();
    // The same code as that of the outbox's own constraint.
    let result = Outbox::enqueue(&mut db, &event("e1"));
    assert_eq!(
        refusal(result),
        ("enqueue", RefusalKind::Unique, Some(2067))
    );
    db.execute_batch(
        "DROP TRIGGER note;
         CREATE TRIGGER veto BEFORE INSERT ON outbox_events BEGIN SELECT RAISE(ABORT, 'no'); END;",
    )
    .unwrap();
    let result = Outbox::enqueue(&mut db, &event("e1"));
    let expected = ("enqueue", RefusalKind::OtherConstraint, Some(1811));
    assert_eq!(refusal(result), expected);
    db.execute_batch("DROP TRIGGER veto").unwrap();
    Outbox::enqueue(&mut db, &event("e1")).unwrap();
}

#[test]
fn an_event_that_was_ignored_without_a_word_is_an_error() {
    let mut db = database();
    db.execute_batch(
        "CREATE TRIGGER drop_all BEFORE INSERT ON outbox_events BEGIN SELECT RAISE(IGNORE); END",
    )
    .unwrap();
    let error = Outbox::enqueue(&mut db, &event("e1")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "event `e1` was neither enqueued nor refused"
    );
}

#[test]
fn a_database_without_the_outbox_is_an_error() {
    let mut db = Connection::open_in_memory().unwrap();
    let none = |during| (during, RefusalKind::Other, Some(1));
    assert_eq!(
        refusal(Outbox::enqueue(&mut db, &event("e1"))),
        none("enqueue")
    );
    assert_eq!(refusal(SqliteOutbox::rows(&db)), none("read"));
    let claimed = SqliteOutbox::new(&mut db).claim("A", 0, LEASE, 1);
    assert_eq!(refusal(claimed), none("claim"));
    assert!(db.is_autocommit());
    let mut other = with_events(&["e1"]);
    let lease = other.claim("A", 0, 1).remove(0);
    let mut store = SqliteOutbox::new(&mut db);
    assert_eq!(refusal(store.mark_published(&lease)), none("mark"));
    assert_eq!(refusal(store.release_for_retry(&lease)), none("release"));
    let parked = store.park(&lease).unwrap_err();
    assert_eq!(
        parked.to_string(),
        "park refused (other error): no such table: outbox_events"
    );
    assert!(std::error::Error::source(&parked).is_some());
}

/// A rollback would undo what the store reported as done.
#[test]
fn a_store_does_nothing_inside_another_transaction() {
    let mut db = with_events(&["e1"]);
    let lease = db.claim("A", 0, 1).remove(0);
    let before = table(&db);
    db.execute_batch("BEGIN").unwrap();
    let mut store = SqliteOutbox::new(&mut db);
    let results = [
        store.claim("B", 10, LEASE, 1).map(|_| ()),
        store.mark_published(&lease).map(|_| ()),
        store.release_for_retry(&lease).map(|_| ()),
        store.park(&lease).map(|_| ()),
    ];
    for result in results {
        assert!(
            matches!(result, Err(OutboxError::InTransaction)),
            "{result:?}"
        );
    }
    assert!(!db.is_autocommit());
    assert_eq!(table(&db), before);
}

/// Two connections to one database: SQLite's own in memory, which has the locks of a file.
fn two(name: &str) -> (Connection, Connection) {
    two_with(name, &["e1", "e2"])
}

/// The same, with these events enqueued.
pub(crate) fn two_with(name: &str, events: &[&str]) -> (Connection, Connection) {
    let uri = format!("file:/outbox-{name}?vfs=memdb");
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE
        | rusqlite::OpenFlags::SQLITE_OPEN_CREATE
        | rusqlite::OpenFlags::SQLITE_OPEN_URI;
    let connect = || {
        let db = Connection::open_with_flags(&uri, flags).unwrap();
        db.busy_timeout(std::time::Duration::ZERO).unwrap();
        db
    };
    let mut a = connect();
    set_up(&a);
    for id in events {
        Outbox::enqueue(&mut a, &event(id)).unwrap();
    }
    (a, connect())
}

#[test]
fn two_connections_never_hold_the_same_event() {
    let (mut a, mut b) = two("claim");
    assert_eq!(ids(&a.claim("A", 0, 1)), ["e1"]);
    assert_eq!(ids(&b.claim("B", 0, 2)), ["e2"]);
    let late = b.claim("B", 10, 2);
    assert_eq!(ids(&late), ["e1", "e2"]);
    assert_eq!(a.settle(Settle::Park, &late[0]), Held::Yes);
    assert_eq!(b.settle(Settle::Mark, &late[0]), Held::Fenced);
}

/// A reader lets the claim write, and the commit is what is refused: no lease may be handed out then.
#[test]
fn a_claim_whose_commit_is_busy_has_claimed_nothing() {
    let (mut a, b) = two("commit");
    b.execute_batch("BEGIN; SELECT * FROM outbox_events;")
        .unwrap();
    let result = SqliteOutbox::new(&mut a).claim("A", 0, LEASE, 2);
    assert_eq!(refusal(result), ("claim", RefusalKind::Busy, Some(5)));
    assert!(a.is_autocommit());
    b.execute_batch("COMMIT").unwrap();
    assert_eq!(table(&b), ["e1 pending - 0 0 -", "e2 pending - 0 0 -"]);
    assert_eq!(a.claim("A", 0, 2).len(), 2);
}

#[test]
fn a_busy_database_is_itself_and_the_call_may_be_repeated() {
    let (mut a, b) = two("busy");
    let lease = a.claim("A", 0, 1).remove(0);
    b.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut store = SqliteOutbox::new(&mut a);
    let busy = |during| (during, RefusalKind::Busy, Some(5));
    assert_eq!(refusal(store.claim("A", 0, LEASE, 1)), busy("claim"));
    assert_eq!(refusal(store.mark_published(&lease)), busy("mark"));
    b.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.mark_published(&lease).unwrap(), Held::Yes);
    assert_eq!(store.claim("A", 0, LEASE, 1).unwrap().len(), 1);
}

/// An error at the second event leaves the first unleased too: its owner would not know of it.
#[test]
fn a_claim_that_fails_halfway_has_claimed_nothing() {
    let mut db = with_events(&["e1", "e2"]);
    db.execute_batch(
        "CREATE TRIGGER veto BEFORE UPDATE ON outbox_events WHEN new.event_id = 'e2'
         BEGIN SELECT RAISE(ABORT, 'no'); END;",
    )
    .unwrap();
    let result = SqliteOutbox::new(&mut db).claim("A", 0, LEASE, 2);
    assert_eq!(
        refusal(result),
        ("claim", RefusalKind::OtherConstraint, Some(1811))
    );
    assert!(db.is_autocommit());
    assert_eq!(table(&db), ["e1 pending - 0 0 -", "e2 pending - 0 0 -"]);
}

/// A person sets a parked event back, and with it the attempts; the token stays, so that the owner of a
/// lease from before cannot settle the new one.
#[test]
fn a_parked_event_is_set_back_by_hand_and_an_old_lease_stays_fenced() {
    let mut db = with_events(&["e1"]);
    let first = db.claim("A", 0, 1).remove(0);
    assert_eq!(db.settle(Settle::Park, &first), Held::Yes);
    db.execute_batch("UPDATE outbox_events SET state = 'pending', attempt = 0")
        .unwrap();
    let anew = db.claim("B", 0, 1).remove(0);
    assert_eq!((anew.token, anew.attempt), (2, 1));
    assert_eq!(db.settle(Settle::Mark, &first), Held::Fenced);
    assert_eq!(db.settle(Settle::Mark, &anew), Held::Yes);
}
