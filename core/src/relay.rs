//! The relay: leases events of an outbox, publishes them, and settles each by what the broker said.

use std::num::NonZeroU32;

use crate::event::EventId;
use crate::outbox::{Held, Lease, OutboxStore};

/// What the broker said about a published event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[must_use = "only a confirmed event may be marked as published"]
pub enum Confirm {
    /// It has it: the event is in a queue.
    Confirmed,
    /// It could not take it. A later attempt may succeed.
    Nacked,
    /// It gave it back: there is no queue for it. It would be given back again, until a person sees to
    /// the routing.
    Returned,
    /// Nothing, in the time that the publisher waits. It may have the event or not.
    NoAnswer,
}

/// What a broker sends about one message that was published as mandatory, on a channel with confirms.
///
/// # Source
/// <https://www.rabbitmq.com/docs/confirms>
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// `basic.return`: no queue takes the message.
    Return,
    /// `basic.ack`: the broker is done with the message.
    Ack,
    /// `basic.nack`: the broker could not handle the message.
    Nack,
}

impl Confirm {
    /// What `frames`, all those about one message, come to.
    ///
    /// RabbitMQ sends a `basic.return` for an unroutable message and then a `basic.ack`. That ack says
    /// that the broker is done with the message, which it threw away, and not that a queue has it.
    pub fn of(frames: &[Frame]) -> Confirm {
        let heard = |frame| frames.contains(&frame);
        if heard(Frame::Return) {
            Confirm::Returned
        } else if heard(Frame::Nack) {
            Confirm::Nacked
        } else if heard(Frame::Ack) {
            Confirm::Confirmed
        } else {
            Confirm::NoAnswer
        }
    }
}

/// Sends events to a broker and waits for its answer.
pub trait Publisher {
    /// Publishes the event of `lease` and returns what the broker said of it.
    ///
    /// The message must carry the event id, and it must be published as mandatory: a broker that may drop
    /// an unroutable message without a word confirms what nobody will get.
    fn publish(&mut self, lease: &Lease) -> Confirm;
}

/// Moves events from an outbox to a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relay {
    /// Its name in the leases that it takes.
    pub owner: String,
    /// How long it leases an event, in what the clock counts. Longer than a whole pass takes: an event
    /// whose lease is over before it was settled is published again by another relay.
    pub lease: NonZeroU32,
    /// How many events it leases in one pass, at most.
    pub limit: usize,
    /// The attempt, counted from 1, whose nack parks the event instead of releasing it. 0 is as 1.
    ///
    /// Attempts without an answer count too, but such an event is never parked for them: a broker that
    /// cannot be reached for an hour is no reason to look at every event by hand.
    pub attempts_max: u32,
}

/// What one pass of a relay came to. Each claimed event is counted in exactly one of the other fields.
#[derive(Debug)]
#[must_use = "`failures` has the errors of single events"]
pub struct RelayResult<E> {
    /// Events that were leased, and so published.
    pub claimed: usize,
    /// Confirmed, and marked as published.
    pub published: usize,
    /// Nacked, and released to be tried again.
    pub released: usize,
    /// Returned, or nacked once too often, and put aside for a person.
    pub parked: usize,
    /// Answered when the lease was another's already: nothing was changed.
    pub fenced: usize,
    /// Not answered: leased until the lease is over, then to be published again.
    pub unanswered: usize,
    /// Answered, and the store could not write that down. They stay leased until the lease is over.
    pub failures: Vec<Failure<E>>,
}

/// An event that could not be settled.
#[derive(Debug)]
pub struct Failure<E> {
    /// The event.
    pub event_id: EventId,
    /// What the broker had said.
    pub confirm: Confirm,
    /// The store's error.
    pub error: E,
}

impl Relay {
    /// Leases events, publishes each, and settles it by what the broker said:
    ///
    /// | the broker | the event is |
    /// |---|---|
    /// | confirms | marked as published |
    /// | nacks | released, or parked if its attempts are used up |
    /// | returns | parked |
    /// | does not answer | left alone: it stays leased until the lease is over |
    ///
    /// Events are published in the order of enqueuing. One that is tried again comes later than its
    /// successors, so a consumer must not depend on the order.
    ///
    /// # Errors
    /// The store's, if it could not claim; nothing was published then. An error with a single event is in
    /// [`RelayResult::failures`], and the pass goes on.
    ///
    /// # Panics
    /// Only if store or publisher do. What was leased stays so until the lease is over.
    pub fn pass<S: OutboxStore + ?Sized>(
        &self,
        store: &mut S,
        publisher: &mut impl Publisher,
        now: i64,
    ) -> Result<RelayResult<S::Error>, S::Error> {
        let leases = store.claim(&self.owner, now, self.lease, self.limit)?;
        let mut result = RelayResult {
            claimed: leases.len(),
            published: 0,
            released: 0,
            parked: 0,
            fenced: 0,
            unanswered: 0,
            failures: Vec::new(),
        };
        for lease in leases {
            let confirm = publisher.publish(&lease);
            let (held, count) = match confirm {
                Confirm::Confirmed => (store.mark_published(&lease), &mut result.published),
                Confirm::Nacked if lease.attempt < self.attempts_max => {
                    (store.release_for_retry(&lease), &mut result.released)
                }
                Confirm::Nacked | Confirm::Returned => (store.park(&lease), &mut result.parked),
                Confirm::NoAnswer => {
                    result.unanswered += 1;
                    continue;
                }
            };
            match held {
                Ok(Held::Yes) => *count += 1,
                Ok(Held::Fenced) => result.fenced += 1,
                Err(error) => result.failures.push(Failure {
                    event_id: lease.event_id,
                    confirm,
                    error,
                }),
            }
        }
        Ok(result)
    }
}

/// What a [`StandInBroker`] does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reception {
    /// Takes it and says so.
    Accepts,
    /// Takes it, and the confirm is lost on its way.
    AcceptsUnheard,
    /// Does not get it, and so says nothing.
    Unreached,
    /// Refuses it.
    Refuses,
    /// Has no queue for it.
    Unroutable,
}

impl Reception {
    /// All receptions.
    pub const ALL: [Reception; 5] = [
        Reception::Accepts,
        Reception::AcceptsUnheard,
        Reception::Unreached,
        Reception::Refuses,
        Reception::Unroutable,
    ];

    /// What the publisher hears.
    pub fn frames(self) -> &'static [Frame] {
        match self {
            Reception::Accepts => &[Frame::Ack],
            Reception::AcceptsUnheard | Reception::Unreached => &[],
            Reception::Refuses => &[Frame::Nack],
            Reception::Unroutable => &[Frame::Return, Frame::Ack],
        }
    }

    /// Whether the message is in a queue afterwards.
    pub fn is_accepted(self) -> bool {
        matches!(self, Reception::Accepts | Reception::AcceptsUnheard)
    }
}

/// A publisher without a network, whose broker does with each message what it was told to. For examples
/// and tests.
#[derive(Clone, Debug)]
pub struct StandInBroker {
    /// What it does with the messages to come.
    pub reception: Reception,
    accepted: Vec<EventId>,
}

impl StandInBroker {
    /// A broker that receives messages so.
    pub fn new(reception: Reception) -> Self {
        StandInBroker {
            reception,
            accepted: Vec::new(),
        }
    }

    /// The events in its queue, in order, as often as they were published.
    pub fn accepted(&self) -> &[EventId] {
        &self.accepted
    }
}

impl Publisher for StandInBroker {
    fn publish(&mut self, lease: &Lease) -> Confirm {
        if self.reception.is_accepted() {
            self.accepted.push(lease.event_id.clone());
        }
        Confirm::of(self.reception.frames())
    }
}
