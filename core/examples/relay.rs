//! Publishes an event of an outbox, with a broker that confirms it and with one that does not.

use std::error::Error;
use std::num::NonZeroU32;

use deliver_twice_core::event::EventId;
use deliver_twice_core::outbox::{OutboxEvent, SqliteOutbox};
use deliver_twice_core::relay::{Reception, Relay, StandInBroker};
use deliver_twice_core::schema;
use rusqlite::Connection;

fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", pass(true)?);
    println!("{}", pass(false)?);
    Ok(())
}

/// A ticket and its event in one transaction, then one pass of the relay: what it came to.
pub fn pass(confirm: bool) -> Result<String, Box<dyn Error>> {
    let mut db = Connection::open_in_memory()?;
    db.execute_batch(schema::BUSINESS)?;
    db.execute_batch(schema::OUTBOX_EVENTS)?;

    let transaction = db.transaction()?;
    transaction.execute(schema::INSERT_TICKET, ["ticket-1", "tenant-1"])?;
    let event = OutboxEvent {
        event_id: EventId::new("e1"),
        ticket_id: "ticket-1".to_owned(),
        payload: "ticket.created".to_owned(),
    };
    SqliteOutbox::enqueue(&transaction, &event)?;
    transaction.commit()?;

    let relay = Relay {
        owner: "relay-1".to_owned(),
        lease: NonZeroU32::new(30).ok_or("a lease has a length")?,
        limit: 10,
        attempts_max: 3,
    };
    let mut broker = StandInBroker::new(if confirm {
        Reception::Accepts
    } else {
        Reception::Refuses
    });
    let result = relay.pass(&mut SqliteOutbox::new(&mut db), &mut broker, 0)?;
    Ok(format!(
        "confirm={confirm} claimed={} published={} released={}",
        result.claimed, result.published, result.released
    ))
}
