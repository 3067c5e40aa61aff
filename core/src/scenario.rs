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

impl Ticket {
    /// Both, in the order in which they are offered.
    pub const ALL: [Ticket; 2] = [Ticket::Present, Ticket::Missing];

    /// The name in links.
    pub fn as_str(self) -> &'static str {
        match self {
            Ticket::Present => "present",
            Ticket::Missing => "missing",
        }
    }

    /// The state with this name.
    pub fn named(text: &str) -> Option<Self> {
        Ticket::ALL.into_iter().find(|t| t.as_str() == text)
    }
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

/// What the provider outside does with a call that carries an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    /// It remembers the key, and does nothing the second time.
    HonoursKeys,
    /// It does not look at it.
    IgnoresKeys,
}

impl Provider {
    /// Both, in the order in which they are offered.
    pub const ALL: [Provider; 2] = [Provider::HonoursKeys, Provider::IgnoresKeys];

    /// The name in links.
    pub fn as_str(self) -> &'static str {
        match self {
            Provider::HonoursKeys => "honours-keys",
            Provider::IgnoresKeys => "ignores-keys",
        }
    }

    /// The provider with this name.
    pub fn named(text: &str) -> Option<Self> {
        Provider::ALL.into_iter().find(|p| p.as_str() == text)
    }
}

/// One of the numbers of a scenario or of its bounds: its name in links and files, and its range.
pub struct Number<T: 'static> {
    /// The name.
    pub name: &'static str,
    /// The least that it may be.
    pub min: u8,
    /// The most.
    pub max: u8,
    at: fn(&mut T) -> &mut u8,
}

impl<T: Copy> Number<T> {
    /// Its value.
    pub fn of(&self, mut whole: T) -> u8 {
        *(self.at)(&mut whole)
    }

    /// The whole with another value of it.
    #[must_use]
    pub fn set(&self, mut whole: T, number: u8) -> T {
        *(self.at)(&mut whole) = number;
        whole
    }
}

/// What the design is put to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scenario {
    /// How often each event is published at the start, 1 to [`Scenario::DELIVERIES_MAX`]. A design with a
    /// producer starts with an empty queue instead.
    pub deliveries: u8,
    /// How many consumers there are, at most [`Scenario::WORKERS_MAX`]. With none, nobody takes what is in
    /// the queue: for a look at the producer alone.
    pub workers: u8,
    /// How many effects each event has, 1 to 3: the first of [`EffectName::ALL`].
    pub effects: u8,
    /// How many versions of the ticket are announced, each by an event of its own, 1 or 2. A design with
    /// a producer writes as many tickets, each announced by an event.
    pub versions: u8,
    /// Whether the ticket is there.
    pub ticket: Ticket,
    /// What is wrong with the tasks.
    pub task: TaskRow,
    /// How many relays there are, in a design with an outbox: at most [`Scenario::RELAYS_MAX`].
    pub relays: u8,
    /// How many senders there are, in a design with one: at most [`Scenario::SENDERS_MAX`].
    pub senders: u8,
    /// What the provider outside does with an idempotency key.
    pub provider: Provider,
}

impl Default for Scenario {
    /// [`Scenario::USUAL`].
    fn default() -> Self {
        Scenario::USUAL
    }
}

impl Scenario {
    /// The same event twice, to two workers, with one effect, and nothing wrong with it.
    pub const USUAL: Scenario = Scenario {
        deliveries: 2,
        workers: 2,
        effects: 1,
        versions: 1,
        ticket: Ticket::Present,
        task: TaskRow::Sound,
        relays: 1,
        senders: 1,
        provider: Provider::HonoursKeys,
    };

    /// The most copies of one event at the start.
    pub const DELIVERIES_MAX: u8 = 3;
    /// The most workers.
    pub const WORKERS_MAX: u8 = 3;
    /// The most versions of the ticket.
    pub const VERSIONS_MAX: u8 = 2;
    /// The most relays.
    pub const RELAYS_MAX: u8 = 2;
    /// The most senders.
    pub const SENDERS_MAX: u8 = 2;

    /// Its numbers, in the order in which they are offered.
    pub const NUMBERS: [Number<Scenario>; 6] = [
        Number {
            name: "deliveries",
            min: 1,
            max: Self::DELIVERIES_MAX,
            at: |scenario| &mut scenario.deliveries,
        },
        Number {
            name: "workers",
            min: 0,
            max: Self::WORKERS_MAX,
            at: |scenario| &mut scenario.workers,
        },
        Number {
            name: "effects",
            min: 1,
            max: EffectName::ALL.len() as u8,
            at: |scenario| &mut scenario.effects,
        },
        Number {
            name: "versions",
            min: 1,
            max: Self::VERSIONS_MAX,
            at: |scenario| &mut scenario.versions,
        },
        Number {
            name: "relays",
            min: 0,
            max: Self::RELAYS_MAX,
            at: |scenario| &mut scenario.relays,
        },
        Number {
            name: "senders",
            min: 0,
            max: Self::SENDERS_MAX,
            at: |scenario| &mut scenario.senders,
        },
    ];

    /// The scenario itself, if its numbers are in range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], naming the first number that is not.
    pub fn checked(self) -> Result<Self> {
        for number in &Self::NUMBERS {
            let Number { name, min, max, .. } = *number;
            let found = number.of(self);
            if !(min..=max).contains(&found) {
                return Err(Error::OutOfRange {
                    what: name,
                    found: found.into(),
                    min: min.into(),
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

impl CrashAt {
    /// All of them, in the order in which they are offered.
    pub const ALL: [CrashAt; 3] = [
        CrashAt::AnyMoment,
        CrashAt::BeforeAck,
        CrashAt::BetweenCommits,
    ];

    /// The name in links.
    pub fn as_str(self) -> &'static str {
        match self {
            CrashAt::AnyMoment => "any-moment",
            CrashAt::BeforeAck => "before-ack",
            CrashAt::BetweenCommits => "between-commits",
        }
    }

    /// The moment with this name.
    pub fn named(text: &str) -> Option<Self> {
        CrashAt::ALL.into_iter().find(|m| m.as_str() == text)
    }
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
    /// Leases that expire while their relay is still at work.
    pub overruns: u8,
    /// Messages that the broker refuses.
    pub nacks: u8,
    /// Messages that the broker returns, because no queue takes them.
    pub returns: u8,
    /// Confirms that get lost.
    pub lost_confirms: u8,
    /// Answers of the provider that get lost.
    pub lost_answers: u8,
}

/// One of the numbers of the bounds, which may be anything from 0 to what [`Bounds::MOST`] has.
macro_rules! faults {
    ($($name:literal = $field:ident),+ $(,)?) => {
        [$(Number {
            name: $name,
            min: 0,
            max: Bounds::MOST.$field,
            at: |bounds| &mut bounds.$field,
        }),+]
    };
}

impl Bounds {
    /// Its numbers, in the order in which they are offered.
    pub const NUMBERS: [Number<Bounds>; 10] = faults![
        "crashes" = crashes,
        "lost-acks" = lost_acks,
        "lost-replies" = lost_replies,
        "published-again" = published_again,
        "given-up" = given_up,
        "overruns" = overruns,
        "nacks" = nacks,
        "returns" = returns,
        "lost-confirms" = lost_confirms,
        "lost-answers" = lost_answers,
    ];

    /// No fault at all.
    pub const NONE: Bounds = Bounds {
        crashes: 0,
        crash_at: CrashAt::AnyMoment,
        lost_acks: 0,
        lost_replies: 0,
        published_again: 0,
        given_up: 0,
        overruns: 0,
        nacks: 0,
        returns: 0,
        lost_confirms: 0,
        lost_answers: 0,
    };

    /// The most of each that a search may be asked for: beyond it the number of states runs away.
    pub const MOST: Bounds = Bounds {
        crashes: 2,
        crash_at: CrashAt::AnyMoment,
        lost_acks: 2,
        lost_replies: 2,
        published_again: 1,
        given_up: 2,
        overruns: 1,
        nacks: 2,
        returns: 1,
        lost_confirms: 2,
        lost_answers: 2,
    };

    /// More of everything than a person will ask for by hand.
    pub const BY_HAND: Bounds = Bounds {
        crashes: 9,
        crash_at: CrashAt::AnyMoment,
        lost_acks: 9,
        lost_replies: 9,
        published_again: 3,
        given_up: 9,
        overruns: 9,
        nacks: 9,
        returns: 9,
        lost_confirms: 9,
        lost_answers: 9,
    };
}
