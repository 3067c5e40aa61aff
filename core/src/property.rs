//! The properties that are checked after every step, and what it means that one does not hold.

use std::fmt;

use crate::broker::{DeliveryId, EventIndex, Place, WorkerId};
use crate::database::Database;
use crate::design::Outside;
use crate::event::EffectName;
use crate::plan::Role;
use crate::sql::RefusalKind;
use crate::state::{Next, Swallowed};
use crate::system::System;

mod outside;
mod producer;

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
    /// The broker took an event whose ticket is not committed, and nobody is about to commit it.
    GhostEvent,
    /// A ticket is committed, the broker never took its event, and nothing is left that would be retried.
    LostEvent,
    /// A row of the outbox says "published", the broker never took the event, and nobody is about to send
    /// it.
    FalsePublished,
    /// A row of the outbox waits to be published, and nothing will come of it without help.
    StuckRow,
    /// A relay changed a row of the outbox that was another's by then, or nobody's.
    StaleWrite,
    /// More than one message went out for one event.
    SentTwice,
    /// The notification's task is committed, no message went out, and nobody is about to send one.
    NeverSent,
    /// A message went out for a task that is not committed, and nobody is about to commit it.
    SentInVain,
    /// The broker took one event more than once. That is allowed: consumers are there to survive it.
    DoubledPublication,
}

impl Verdict {
    /// All of them, in order.
    pub const ALL: [Verdict; 15] = [
        Verdict::DuplicateEffect,
        Verdict::LostEffect,
        Verdict::Stuck,
        Verdict::OrphanReceipt,
        Verdict::SwallowedError,
        Verdict::FalseSuccess,
        Verdict::GhostEvent,
        Verdict::LostEvent,
        Verdict::FalsePublished,
        Verdict::StuckRow,
        Verdict::StaleWrite,
        Verdict::SentTwice,
        Verdict::NeverSent,
        Verdict::SentInVain,
        Verdict::DoubledPublication,
    ];

    /// Whether it is no fault of the design: it is noted where it happens, and a design under which it
    /// happens holds all the same.
    pub fn is_allowed(self) -> bool {
        self == Verdict::DoubledPublication
    }

    /// The name in links, reports and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::DuplicateEffect => "duplicate-effect",
            Verdict::LostEffect => "lost-effect",
            Verdict::Stuck => "stuck",
            Verdict::OrphanReceipt => "orphan-receipt",
            Verdict::SwallowedError => "swallowed-error",
            Verdict::FalseSuccess => "false-success",
            Verdict::GhostEvent => "ghost-event",
            Verdict::LostEvent => "lost-event",
            Verdict::FalsePublished => "false-published",
            Verdict::StuckRow => "stuck-row",
            Verdict::StaleWrite => "stale-write",
            Verdict::SentTwice => "sent-twice",
            Verdict::NeverSent => "never-sent",
            Verdict::SentInVain => "sent-in-vain",
            Verdict::DoubledPublication => "doubled-publication",
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
            Verdict::GhostEvent => "an event that the broker took has a committed ticket",
            Verdict::LostEvent => {
                "a committed ticket's event is with the broker, or in a row that will be looked at"
            }
            Verdict::FalsePublished => "a row that says published was taken by the broker",
            Verdict::StuckRow => "a row that waits to be published can be claimed, now or later",
            Verdict::StaleWrite => "only the relay that claimed a row last changes it",
            Verdict::SentTwice => "no event has two messages outside",
            Verdict::NeverSent => {
                "a committed notification has a message outside, or a sender to come"
            }
            Verdict::SentInVain => "a message outside has a committed task",
            Verdict::DoubledPublication => "the broker takes an event once",
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
    /// An event without a ticket is on its way.
    GhostEvent {
        /// Which.
        event: EventIndex,
    },
    /// An event will never be published.
    LostEvent {
        /// Which.
        event: EventIndex,
    },
    /// A row says "published", and that is not so.
    FalsePublished {
        /// The event of the row.
        event: EventIndex,
    },
    /// A row waits for ever.
    StuckRow {
        /// The event of the row.
        event: EventIndex,
    },
    /// A row was changed by a relay whose claim was over.
    StaleWrite {
        /// The event of the row.
        event: EventIndex,
    },
    /// Messages went out more than once.
    SentTwice {
        /// For which event.
        event: EventIndex,
        /// How many.
        messages: usize,
    },
    /// No message goes out.
    NeverSent {
        /// For which event.
        event: EventIndex,
    },
    /// A message went out for nothing.
    SentInVain {
        /// For which event.
        event: EventIndex,
    },
    /// The broker took an event more than once.
    DoubledPublication {
        /// Which.
        event: EventIndex,
        /// How often.
        times: usize,
    },
}

impl Violation {
    /// Whether it is no fault of the design; see [`Verdict::is_allowed`].
    pub fn is_allowed(&self) -> bool {
        self.verdict().is_allowed()
    }

    /// The verdict that it is a case of.
    pub fn verdict(&self) -> Verdict {
        match self {
            Violation::DuplicateEffect { .. } => Verdict::DuplicateEffect,
            Violation::LostEffect { .. } => Verdict::LostEffect,
            Violation::Stuck { .. } => Verdict::Stuck,
            Violation::OrphanReceipt { .. } => Verdict::OrphanReceipt,
            Violation::SwallowedError { .. } => Verdict::SwallowedError,
            Violation::FalseSuccess { .. } => Verdict::FalseSuccess,
            Violation::GhostEvent { .. } => Verdict::GhostEvent,
            Violation::LostEvent { .. } => Verdict::LostEvent,
            Violation::FalsePublished { .. } => Verdict::FalsePublished,
            Violation::StuckRow { .. } => Verdict::StuckRow,
            Violation::StaleWrite { .. } => Verdict::StaleWrite,
            Violation::SentTwice { .. } => Verdict::SentTwice,
            Violation::NeverSent { .. } => Verdict::NeverSent,
            Violation::SentInVain { .. } => Verdict::SentInVain,
            Violation::DoubledPublication { .. } => Verdict::DoubledPublication,
        }
    }
}

/// Every violation in the state that the machine is in, in the order of [`Verdict`], and behind them what
/// is allowed and worth a note.
pub fn violations<D: Database>(system: &System<D>) -> Vec<Violation> {
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
    if system.design().has_producer() {
        found.extend(producer::violations(system));
    }
    if system.design().outside != Outside::None {
        found.extend(outside::violations(system));
    }
    if system.design().has_producer() {
        found.extend(producer::doubled_publications(system));
    }
    found
}

fn duplicate_effects<D: Database>(system: &System<D>) -> impl Iterator<Item = Violation> {
    system.obligations().filter_map(|(event, effect)| {
        let tasks = system.tasks_of(event, effect);
        (tasks > 1).then_some(Violation::DuplicateEffect {
            event,
            effect,
            tasks,
        })
    })
}

fn lost_effects<D: Database>(system: &System<D>) -> impl Iterator<Item = Violation> {
    let given_up_on = |event| {
        let state = system.state();
        let mut copies = state
            .broker
            .deliveries()
            .filter(|(_, copy)| copy.event == event);
        state.broker.taken(event) > 0
            && copies.all(|(_, copy)| copy.place == Place::Acked)
            && !state.is_being_handled(event)
    };
    system
        .obligations()
        .filter(move |(event, effect)| given_up_on(*event) && system.tasks_of(*event, *effect) == 0)
        .map(|(event, effect)| Violation::LostEffect { event, effect })
}

fn stuck<D: Database>(system: &System<D>) -> Option<Violation> {
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

fn orphan_receipts<D: Database>(system: &System<D>) -> impl Iterator<Item = Violation> {
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
fn is_owed<D: Database>(system: &System<D>, event: EventIndex, effect: EffectName) -> bool {
    let plan = system.plan();
    let jobs = system.state().jobs();
    jobs.filter(|job| job.handed().is_some_and(|handed| handed.event == event))
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
