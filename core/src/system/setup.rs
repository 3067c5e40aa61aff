//! What a machine starts with: who is there, which tables, what is in the queue.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::broker::{Broker, DeliveryId, EventIndex, WorkerId};
use crate::design::Design;
use crate::disk::DiskConnection;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::plan::Plan;
use crate::scenario::{Scenario, TaskRow, Ticket};
use crate::schema::{self, Tables};
use crate::state::Origin;

/// The workers that a design and a scenario bring, in the order of their ids.
pub(super) fn cast(design: Design, scenario: &Scenario) -> Vec<WorkerId> {
    let numbered = |first: u8, count: u8| (first..first + count).map(WorkerId);
    let relays = if design.has_outbox() {
        scenario.relays
    } else {
        0
    };
    let senders = if design.has_sender() {
        scenario.senders
    } else {
        0
    };
    numbered(0, scenario.workers)
        .chain(design.has_producer().then_some(WorkerId::PRODUCER))
        .chain(numbered(WorkerId::FIRST_RELAY.0, relays))
        .chain(numbered(WorkerId::FIRST_SENDER.0, senders))
        .collect()
}

/// The events of a scenario. A producer writes a ticket for each.
pub(super) fn events(design: Design, scenario: &Scenario) -> Vec<Event> {
    let mut events = scenario.events();
    if design.has_producer() {
        for (event, number) in events.iter_mut().zip(1..) {
            event.ticket_id = format!("ticket-{number}");
        }
    }
    events
}

/// Reads the tables that a design has.
pub(super) fn read_tables(connection: &DiskConnection, design: Design) -> rusqlite::Result<Tables> {
    if design.has_outbox() {
        Tables::read_with_outbox(connection)
    } else {
        Tables::read(connection)
    }
}

/// A worker's connection, once it has read the schema.
///
/// SQLite reads it before the first statement that names a table, under a SHARED lock of its own. In a
/// recording that lock would tell a new connection from a used one, which no design is about.
pub(super) fn acquainted(connection: DiskConnection) -> Result<DiskConnection> {
    connection
        .prepare("SELECT 1 FROM effect_receipts")
        .map_err(Error::during("reading the schema"))?;
    Ok(connection)
}

/// The tenant that the laboratory's ticket belongs to.
pub(crate) const TENANT: &str = "tenant-1";

/// Creates the tables that the design needs, and what the scenario finds in them.
pub(super) fn set_up(
    operator: &DiskConnection,
    plan: &Plan,
    scenario: &Scenario,
) -> rusqlite::Result<()> {
    for table in plan.tables() {
        operator.execute_batch(table)?;
    }
    if scenario.ticket == Ticket::Missing || plan.design.has_producer() {
        return Ok(());
    }
    let ticket = Event::ticket_version(1).ticket_id;
    operator.execute(schema::INSERT_TICKET, [ticket.as_str(), TENANT])?;
    if scenario.task == TaskRow::SecondEscalation {
        let first = ["task-0", ticket.as_str(), TENANT, "escalation", "escalated"];
        operator.execute(schema::INSERT_TASK, first)?;
    }
    Ok(())
}

/// The broker with what was published at the start: every event once, then every event again. Where a
/// producer is looked at, nothing was.
pub(super) fn published(design: Design, scenario: &Scenario) -> Broker {
    let mut broker = Broker::default();
    if design.has_producer() {
        return broker;
    }
    for _ in 0..scenario.deliveries {
        for event in 0..scenario.versions {
            broker.publish(EventIndex(event));
        }
    }
    broker
}

/// The id of a task: a version 5 UUID of where it comes from, so that the same schedule gives the same.
pub(super) fn task_id(origin: &Origin) -> String {
    let Origin {
        event,
        effect,
        delivery,
        attempt,
    } = origin;
    let name = format!(
        "{event}/{effect}/delivery {}/attempt {attempt}",
        delivery.0 + 1
    );
    Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).to_string()
}

/// Every task id that may come to be, by its origin.
pub(super) fn task_ids(scenario: &Scenario) -> BTreeMap<Origin, String> {
    let mut ids = BTreeMap::new();
    for event in (0..scenario.versions).map(EventIndex) {
        for &effect in scenario.effects() {
            for delivery in (0..Broker::DELIVERIES_MAX as u8).map(DeliveryId) {
                for attempt in 1..=Broker::ATTEMPTS_MAX {
                    let origin = Origin {
                        event,
                        effect,
                        delivery,
                        attempt,
                    };
                    ids.insert(origin, task_id(&origin));
                }
            }
        }
    }
    ids
}
