//! The six properties that are checked after every step, and what it means that one is violated.

use std::fmt;

use crate::broker::{DeliveryId, EventIndex, Place, WorkerId};
use crate::event::EffectName;
use crate::plan::Role;
use crate::sql::RefusalKind;
use crate::state::{Next, Swallowed};
use crate::system::System;

/// What went wrong. The order is that of urgency: a page that shows one shows the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// An effect happened more than once for one event.
    DuplicateEffect,
    /// Every delivery of an event is acked, nobody works on it, and an effect has not happened.
    LostEffect,
    /// Deliveries are waiting to be handled, and nobody can move without a fault or help.
    Stuck,
    /// A receipt is committed, its effect is not, and nobody is about to commit it.
    OrphanReceipt,
    /// An error that is no duplicate was taken for one, or acked, or never reported.
    SwallowedError,
    /// The broker was told "done" while an effect had no committed task.
    FalseSuccess,
}

impl Verdict {
    /// All of them, in order.
    pub const ALL: [Verdict; 6] = [
        Verdict::DuplicateEffect,
        Verdict::LostEffect,
        Verdict::Stuck,
        Verdict::OrphanReceipt,
        Verdict::SwallowedError,
        Verdict::FalseSuccess,
    ];

    /// The name in links, reports and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::DuplicateEffect => "duplicate-effect",
            Verdict::LostEffect => "lost-effect",
            Verdict::Stuck => "stuck",
            Verdict::OrphanReceipt => "orphan-receipt",
            Verdict::SwallowedError => "swallowed-error",
            Verdict::FalseSuccess => "false-success",
        }
    }

    /// The property that this verdict says is violated, in one sentence.
    pub fn property(self) -> &'static str {
        match self {
            Verdict::DuplicateEffect => "no event has an effect twice",
            Verdict::LostEffect => "an event whose deliveries are all acked has all its effects",
            Verdict::Stuck => "while something is left to do, somebody can go on",
            Verdict::OrphanReceipt => {
                "a committed receipt has a committed effect, or a worker about to commit it"
            }
            Verdict::SwallowedError => "only the receipt's own constraint is read as a duplicate",
            Verdict::FalseSuccess => "an ack is sent only for what is committed",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A property that does not hold in a state, and for what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Violation {
    /// An effect happened `tasks` times.
    DuplicateEffect {
        /// For which event.
        event: EventIndex,
        /// Which effect.
        effect: EffectName,
        /// How often.
        tasks: usize,
    },
    /// An effect will not happen.
    LostEffect {
        /// For which event.
        event: EventIndex,
        /// Which effect.
        effect: EffectName,
    },
    /// Workers wait for each other.
    Stuck {
        /// Who waits.
        waiting: Vec<WorkerId>,
    },
    /// A receipt stands alone.
    OrphanReceipt {
        /// For which event.
        event: EventIndex,
        /// Which effect.
        effect: EffectName,
    },
    /// An error surfaced nowhere.
    SwallowedError {
        /// For which event.
        event: EventIndex,
        /// For which effect, if it was about one.
        effect: Option<EffectName>,
        /// What it was; `None` if SQLite was told to say nothing.
        kind: Option<RefusalKind>,
    },
    /// "Done" was said too early.
    FalseSuccess {
        /// Of which delivery.
        delivery: DeliveryId,
    },
}

impl Violation {
    /// The verdict that it is a case of.
    pub fn verdict(&self) -> Verdict {
        match self {
            Violation::DuplicateEffect { .. } => Verdict::DuplicateEffect,
            Violation::LostEffect { .. } => Verdict::LostEffect,
            Violation::Stuck { .. } => Verdict::Stuck,
            Violation::OrphanReceipt { .. } => Verdict::OrphanReceipt,
            Violation::SwallowedError { .. } => Verdict::SwallowedError,
            Violation::FalseSuccess { .. } => Verdict::FalseSuccess,
        }
    }
}

/// Every violation in the state that the machine is in, in the order of [`Verdict`].
pub fn violations(system: &System) -> Vec<Violation> {
    let mut found = vec![];
    found.extend(duplicate_effects(system));
    found.extend(lost_effects(system));
    found.extend(stuck(system));
    found.extend(orphan_receipts(system));
    found.extend(system.state().swallowed.iter().map(
        |Swallowed {
             event,
             effect,
             kind,
         }| {
            Violation::SwallowedError {
                event: *event,
                effect: *effect,
                kind: *kind,
            }
        },
    ));
    let early = system.state().acked_too_early.iter();
    found.extend(early.map(|delivery| Violation::FalseSuccess {
        delivery: *delivery,
    }));
    found
}

fn duplicate_effects(system: &System) -> impl Iterator<Item = Violation> + '_ {
    system.obligations().filter_map(|(event, effect)| {
        let tasks = system.tasks_of(event, effect);
        (tasks > 1).then_some(Violation::DuplicateEffect {
            event,
            effect,
            tasks,
        })
    })
}

fn lost_effects(system: &System) -> impl Iterator<Item = Violation> + '_ {
    let given_up_on = |event| {
        let state = system.state();
        let mut copies = state
            .broker
            .deliveries()
            .filter(|(_, copy)| copy.event == event);
        copies.all(|(_, copy)| copy.place == Place::Acked) && !state.is_being_handled(event)
    };
    system
        .obligations()
        .filter(move |(event, effect)| given_up_on(*event) && system.tasks_of(*event, *effect) == 0)
        .map(|(event, effect)| Violation::LostEffect { event, effect })
}

fn stuck(system: &System) -> Option<Violation> {
    let state = system.state();
    if state.is_settled() || system.gets_on() {
        return None;
    }
    let waiting = state
        .workers()
        .filter(|(_, worker)| worker.job.is_some())
        .map(|(id, _)| id);
    Some(Violation::Stuck {
        waiting: waiting.collect(),
    })
}

fn orphan_receipts(system: &System) -> impl Iterator<Item = Violation> + '_ {
    system
        .obligations()
        .filter(|(event, effect)| {
            let event_id = system.event(*event).event_id.as_str();
            let receipts = &system.state().committed.receipts;
            receipts
                .iter()
                .any(|r| r.event_id == event_id && r.effect_name == effect.as_str())
                && system.tasks_of(*event, *effect) == 0
                && !is_owed(system, *event, *effect)
        })
        .map(|(event, effect)| Violation::OrphanReceipt { event, effect })
}

/// Whether some worker has claimed the receipt and is on its way to the effect.
fn is_owed(system: &System, event: EventIndex, effect: EffectName) -> bool {
    let plan = system.plan();
    let jobs = system
        .state()
        .workers
        .iter()
        .filter_map(|worker| worker.job.as_ref());
    jobs.filter(|job| system.state().broker.delivery(job.delivery).event == event)
        .any(|job| {
            let Next::Stage(next) = job.next else {
                return false;
            };
            let is_here = plan
                .stages
                .get(next)
                .is_some_and(|stage| stage.effect == Some(effect));
            let claimed = plan.stages[..next]
                .iter()
                .any(|stage| stage.role == Role::Claim && stage.effect == Some(effect));
            is_here && claimed
        })
}
