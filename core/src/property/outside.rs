//! What may go wrong between the database and the world outside.

use super::Violation;
use crate::broker::{EventIndex, Kind, Place};
use crate::database::Database;
use crate::design::Outside;
use crate::event::EffectName;
use crate::state::Origin;
use crate::system::System;

/// Every violation outside the database, in the order of the verdicts.
pub(super) fn violations<D: Database>(system: &System<D>) -> Vec<Violation> {
    let twice = system.events().filter_map(|event| {
        let messages = messages(system, event);
        (messages > 1).then_some(Violation::SentTwice { event, messages })
    });
    let never = system
        .events()
        .filter(|event| is_never_sent(system, *event));
    let never = never.map(|event| Violation::NeverSent { event });
    let in_vain = system.events().filter(|event| is_in_vain(system, *event));
    let in_vain = in_vain.map(|event| Violation::SentInVain { event });
    twice.chain(never).chain(in_vain).collect()
}

fn messages<D: Database>(system: &System<D>, event: EventIndex) -> usize {
    let sent = system.state().sent.iter();
    sent.filter(|message| message.task.event == event).count()
}

fn has_task<D: Database>(system: &System<D>, event: EventIndex) -> bool {
    system.tasks_of(event, EffectName::Notification) > 0
}

fn is_never_sent<D: Database>(system: &System<D>, event: EventIndex) -> bool {
    has_task(system, event) && messages(system, event) == 0 && !is_to_come(system, event)
}

/// Whether somebody may still send the message.
fn is_to_come<D: Database>(system: &System<D>, event: EventIndex) -> bool {
    match system.design().outside {
        Outside::None | Outside::InTransaction | Outside::AfterCommit => is_open(system, event),
        Outside::PendingRow | Outside::PendingRowWithKey | Outside::Reconciled => {
            // The row is there until it is done: for a sender, if there is one.
            let mut tasks = system.state().committed.tasks.iter().filter(|task| {
                let origin = system.origin(&task.id);
                origin.is_some_and(|origin| {
                    origin.event == event && origin.effect == EffectName::Notification
                })
            });
            let has_sender = system
                .state()
                .workers()
                .any(|(id, _)| id.kind() == Kind::Sender);
            has_sender && tasks.any(|task| task.status == "pending")
        }
    }
}

/// Whether a consumer has a delivery of the event, or may be handed one again.
fn is_open<D: Database>(system: &System<D>, event: EventIndex) -> bool {
    let mut copies = system.state().broker.deliveries();
    copies.any(|(_, copy)| {
        copy.event == event && matches!(copy.place, Place::Queued | Place::Unacked(_))
    }) || system.state().is_being_handled(event)
}

/// Whether a message went out for a row that is not there, and whose attempt is over.
fn is_in_vain<D: Database>(system: &System<D>, event: EventIndex) -> bool {
    let state = system.state();
    let mut sent = state
        .sent
        .iter()
        .filter(|message| message.task.event == event);
    let is_committed = |task: Origin| {
        let mut tasks = state.committed.tasks.iter();
        tasks.any(|row| system.origin(&row.id) == Some(task))
    };
    let is_at_work = |task: Origin| {
        state.jobs().any(|job| {
            job.handed().is_some_and(|handed| {
                (handed.delivery, handed.attempt) == (task.delivery, task.attempt)
            })
        })
    };
    sent.any(|message| !is_committed(message.task) && !is_at_work(message.task))
}
