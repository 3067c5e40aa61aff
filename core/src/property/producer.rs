//! What may go wrong between the producer's transaction and the broker.

use super::Violation;
use crate::broker::{EventIndex, Kind};
use crate::database::Database;
use crate::plan::Role;
use crate::state::{Next, Subject};
use crate::system::System;

/// Every violation on the producer's side, in the order of the verdicts.
pub(super) fn violations<D: Database>(system: &System<D>) -> Vec<Violation> {
    let events = || system.events();
    let ghosts = events().filter(|event| is_ghost(system, *event));
    let ghosts = ghosts.map(|event| Violation::GhostEvent { event });
    let lost = events().filter(|event| is_lost(system, *event));
    let lost = lost.map(|event| Violation::LostEvent { event });
    let falsely = events().filter(|event| is_falsely_published(system, *event));
    let falsely = falsely.map(|event| Violation::FalsePublished { event });
    let stuck = events().filter(|event| is_stuck(system, *event));
    let stuck = stuck.map(|event| Violation::StuckRow { event });
    let stale = system.state().stale_writes.iter();
    let stale = stale.map(|event| Violation::StaleWrite { event: *event });
    ghosts
        .chain(lost)
        .chain(falsely)
        .chain(stuck)
        .chain(stale)
        .collect()
}

/// The events that the broker took more than once.
pub(super) fn doubled_publications<D: Database>(
    system: &System<D>,
) -> impl Iterator<Item = Violation> {
    system.events().filter_map(|event| {
        let times = system.state().broker.taken(event);
        (times > 1).then_some(Violation::DoubledPublication { event, times })
    })
}

fn is_ghost<D: Database>(system: &System<D>, event: EventIndex) -> bool {
    system.state().broker.taken(event) > 0
        && !system.has_ticket(event)
        && !is_being_written(system, event)
}

fn is_lost<D: Database>(system: &System<D>, event: EventIndex) -> bool {
    let waits_in_a_row = system
        .outbox_row(event)
        .is_some_and(|row| row.state != "published");
    system.has_ticket(event)
        && system.state().broker.taken(event) == 0
        && !waits_in_a_row
        && !is_being_written(system, event)
        && !is_about_to_be_sent(system, event)
}

fn is_falsely_published<D: Database>(system: &System<D>, event: EventIndex) -> bool {
    let says_so = system
        .outbox_row(event)
        .is_some_and(|row| row.state == "published");
    says_so && system.state().broker.taken(event) == 0 && !is_about_to_be_sent(system, event)
}

fn is_stuck<D: Database>(system: &System<D>, event: EventIndex) -> bool {
    let waits = system
        .outbox_row(event)
        .is_some_and(|row| row.state == "pending" || row.state == "leased");
    waits && !system.gets_on()
}

/// Whether the producer is still at this event.
fn is_being_written<D: Database>(system: &System<D>, event: EventIndex) -> bool {
    system
        .state()
        .jobs()
        .any(|job| job.subject == Subject::Request(event))
}

/// Whether a relay has claimed the row and is on its way to sending the message.
fn is_about_to_be_sent<D: Database>(system: &System<D>, event: EventIndex) -> bool {
    let sends = system.plan_of(Kind::Relay).place_of(Role::Publish);
    system.state().jobs().any(|job| {
        job.claimed().is_some_and(|claimed| claimed.event == event)
            && matches!(job.next, Next::Stage(index) if Some(index) <= sends)
    })
}
