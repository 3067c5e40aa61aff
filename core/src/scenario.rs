//! What happens from outside: how many events and copies, how many workers, and what is wrong with them.

use crate::error::{Error, Result};
use crate::event::{EffectName, Event};

/// Whether the ticket that the events speak of is in the database at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ticket {
    /// It is.
    Present,
    /// It is not, so every task violates the foreign key until the operator adds it.
    Missing,
}

/// What is wrong with the tasks that the events ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskRow {
    /// Nothing.
    Sound,
    /// A status that the CHECK does not know.
    UnknownStatus,
    /// No tenant: NOT NULL.
    NoTenant,
    /// A second escalated task for the ticket: the UNIQUE of a business rule.
    SecondEscalation,
}

impl TaskRow {
    /// All of them, in the order in which they are offered.
    pub const ALL: [TaskRow; 4] = [
        TaskRow::Sound,
        TaskRow::UnknownStatus,
        TaskRow::NoTenant,
        TaskRow::SecondEscalation,
    ];

    /// The name in links.
    pub fn as_str(self) -> &'static str {
        match self {
            TaskRow::Sound => "sound",
            TaskRow::UnknownStatus => "unknown-status",
            TaskRow::NoTenant => "no-tenant",
            TaskRow::SecondEscalation => "second-escalation",
        }
    }

    /// The row with this name.
    pub fn named(text: &str) -> Option<Self> {
        TaskRow::ALL.into_iter().find(|row| row.as_str() == text)
    }
}

/// What the design is put to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scenario {
    /// How often each event is published at the start, 1 to [`Scenario::DELIVERIES_MAX`].
    pub deliveries: u8,
    /// How many workers there are, 1 to [`Scenario::WORKERS_MAX`].
    pub workers: u8,
    /// How many effects each event has, 1 to 3: the first of [`EffectName::ALL`].
    pub effects: u8,
    /// How many versions of the ticket are announced, each by an event of its own, 1 or 2.
    pub versions: u8,
    /// Whether the ticket is there.
    pub ticket: Ticket,
    /// What is wrong with the tasks.
    pub task: TaskRow,
}

impl Default for Scenario {
    /// The same event twice, to two workers, with one effect, and nothing wrong with it.
    fn default() -> Self {
        Scenario {
            deliveries: 2,
            workers: 2,
            effects: 1,
            versions: 1,
            ticket: Ticket::Present,
            task: TaskRow::Sound,
        }
    }
}

impl Scenario {
    /// The most copies of one event at the start.
    pub const DELIVERIES_MAX: u8 = 3;
    /// The most workers.
    pub const WORKERS_MAX: u8 = 3;
    /// The most versions of the ticket.
    pub const VERSIONS_MAX: u8 = 2;

    /// The scenario itself, if its numbers are in range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], naming the first number that is not.
    pub fn checked(self) -> Result<Self> {
        let numbers = [
            ("deliveries", self.deliveries, Self::DELIVERIES_MAX),
            ("workers", self.workers, Self::WORKERS_MAX),
            ("effects", self.effects, EffectName::ALL.len() as u8),
            ("versions", self.versions, Self::VERSIONS_MAX),
        ];
        for (what, found, max) in numbers {
            if !(1..=max).contains(&found) {
                return Err(Error::OutOfRange {
                    what,
                    found: found.into(),
                    min: 1,
                    max: max.into(),
                });
            }
        }
        Ok(self)
    }

    /// The effects of each event, in the order in which a consumer carries them out.
    pub fn effects(&self) -> &'static [EffectName] {
        &EffectName::ALL[..usize::from(self.effects)]
    }

    /// The events, in the order of the versions they announce.
    pub fn events(&self) -> Vec<Event> {
        (1..=u32::from(self.versions))
            .map(|version| self.event(version))
            .collect()
    }

    fn event(&self, version: u32) -> Event {
        let mut event = Event::ticket_version(version);
        match self.task {
            TaskRow::Sound => {}
            TaskRow::UnknownStatus => event.payload.task_status = "urgent",
            TaskRow::NoTenant => event.tenant_id = None,
            TaskRow::SecondEscalation => event.payload.task_status = "escalated",
        }
        event
    }
}

/// At which moments a worker may crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CrashAt {
    /// At any.
    #[default]
    AnyMoment,
    /// On the most dangerous line: what the worker does next is its ack.
    BeforeAck,
    /// Between two commits that belong to one effect. A design that commits once has no such moment.
    BetweenCommits,
}

/// How many of each fault may still happen. A fault that is not enabled cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bounds {
    /// Workers that crash.
    pub crashes: u8,
    /// At which moments.
    pub crash_at: CrashAt,
    /// Acks that get lost.
    pub lost_acks: u8,
    /// Replies to a commit that get lost.
    pub lost_replies: u8,
    /// Events that their producer publishes once more.
    pub published_again: u8,
    /// Waits that a worker gives up, as a busy timeout would make it.
    pub given_up: u8,
}

impl Bounds {
    /// No fault at all.
    pub const NONE: Bounds = Bounds {
        crashes: 0,
        crash_at: CrashAt::AnyMoment,
        lost_acks: 0,
        lost_replies: 0,
        published_again: 0,
        given_up: 0,
    };

    /// The most of each that a search may be asked for: beyond it the number of states runs away.
    pub const MOST: Bounds = Bounds {
        crashes: 2,
        crash_at: CrashAt::AnyMoment,
        lost_acks: 2,
        lost_replies: 2,
        published_again: 1,
        given_up: 2,
    };

    /// More of everything than a person will ask for by hand.
    pub const BY_HAND: Bounds = Bounds {
        crashes: 9,
        crash_at: CrashAt::AnyMoment,
        lost_acks: 9,
        lost_replies: 9,
        published_again: 3,
        given_up: 9,
    };
}
