//! What a machine starts with: who is there, which tables, what is in the queue.

use std::collections::BTreeMap;

use rusqlite::types::Value;
use uuid::Uuid;

use crate::broker::{Broker, DeliveryId, EventIndex, WorkerId};
use crate::database::Setting;
use crate::design::Design;
use crate::event::Event;
use crate::plan::{Bind, Plan};
use crate::scenario::{Scenario, TaskRow, Ticket};
use crate::schema;
use crate::state::Origin;

use super::{Statement, connection_of};

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

/// The tenant that the laboratory's ticket belongs to.
pub(crate) const TENANT: &str = "tenant-1";

/// What the database of a design starts with: the tables that it needs, and what the scenario finds in them.
pub(super) fn setting(plan: &Plan, scenario: &Scenario) -> Setting {
    let workers = cast(plan.design, scenario).into_iter();
    Setting {
        tables: plan.tables().collect(),
        rows: rows(plan.design, scenario),
        workers: workers.map(connection_of).collect(),
        has_outbox: plan.design.has_outbox(),
    }
}

fn rows(design: Design, scenario: &Scenario) -> Vec<Statement> {
    if scenario.ticket == Ticket::Missing || design.has_producer() {
        return vec![];
    }
    let text = |text: &str| Value::Text(text.to_owned());
    let ticket = Event::ticket_version(1).ticket_id;
    let mut rows = vec![Statement {
        sql: schema::INSERT_TICKET,
        values: vec![
            (Bind::TicketId.parameter(), text(&ticket)),
            (Bind::TenantId.parameter(), text(TENANT)),
        ],
    }];
    if scenario.task == TaskRow::SecondEscalation {
        rows.push(Statement {
            sql: schema::INSERT_TASK,
            values: vec![
                (Bind::TaskId.parameter(), text("task-0")),
                (Bind::TicketId.parameter(), text(&ticket)),
                (Bind::TenantId.parameter(), text(TENANT)),
                (Bind::EffectName.parameter(), text("escalation")),
                (Bind::Status.parameter(), text("escalated")),
            ],
        });
    }
    rows
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
