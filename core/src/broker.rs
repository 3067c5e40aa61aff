//! A model of a broker that delivers at least once.
//!
//! What it models: a queue in order, deliveries out to a worker until they are acked, redelivery with the
//! flag set, and a cap on attempts after which a delivery is parked. What it leaves out: time, several
//! queues, a broker that loses its own disk, and a flag that a restart forgets.

use std::fmt;

/// Which delivery, in the order of publishing. Its number on the page is one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId(pub u8);

/// Which event of the scenario, in the order of the versions. `EventIndex(0)` is `e1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventIndex(pub u8);

/// Which worker: a process with a connection of its own that walks a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub u8);

/// What a worker is there for, and so whose plan it walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Handles deliveries.
    Consumer,
    /// Writes tickets, and sees to it that their events are published.
    Producer,
    /// Publishes what stands in the outbox.
    Relay,
    /// Carries pending notifications to the provider outside.
    Sender,
}

impl WorkerId {
    /// The consumers, the producer, the relays and the senders, in the order of their ids.
    const LETTERS: [char; 8] = ['A', 'B', 'C', 'P', 'R', 'S', 'N', 'M'];
    /// How many workers there can be.
    pub const COUNT: usize = Self::LETTERS.len();
    /// The producer.
    pub const PRODUCER: WorkerId = WorkerId(3);
    /// The first of the relays.
    pub const FIRST_RELAY: WorkerId = WorkerId(4);
    /// The first of the senders.
    pub const FIRST_SENDER: WorkerId = WorkerId(6);

    /// What it is there for.
    pub fn kind(self) -> Kind {
        match self.0 {
            0..=2 => Kind::Consumer,
            3 => Kind::Producer,
            4 | 5 => Kind::Relay,
            _ => Kind::Sender,
        }
    }

    /// The worker with this letter.
    pub fn lettered(letter: char) -> Option<WorkerId> {
        let place = Self::LETTERS.iter().position(|known| *known == letter)?;
        Some(WorkerId(place as u8))
    }
}

impl fmt::Display for WorkerId {
    /// A, B or C for a consumer, P for the producer, R or S for a relay, N or M for a sender.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Self::LETTERS[usize::from(self.0)])
    }
}

impl fmt::Display for EventIndex {
    /// `e1`, `e2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{}", self.0 + 1)
    }
}

/// Where a delivery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Waiting to be handed out.
    Queued,
    /// With a worker, who has not acked it.
    Unacked(WorkerId),
    /// Acked: the broker has forgotten it.
    Acked,
    /// Given back too often, and put aside for a person.
    Parked,
}

/// One copy of an event on its way to a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Delivery {
    /// The event it carries.
    pub event: EventIndex,
    /// How often it was handed to a worker.
    pub attempts: u8,
    /// Whether the broker says that it handed it out before. It says nothing about what came of that.
    pub redelivered: bool,
    /// Where it is.
    pub place: Place,
}

/// The broker: its deliveries in the order in which they were published, which is also the queue's.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Broker {
    deliveries: Vec<Delivery>,
}

impl Broker {
    /// How often a delivery is handed out before it is parked.
    pub const ATTEMPTS_MAX: u8 = 3;
    /// The most deliveries there can be, so that publishing again comes to an end.
    pub const DELIVERIES_MAX: usize = 8;

    /// All deliveries.
    pub fn deliveries(&self) -> impl Iterator<Item = (DeliveryId, &Delivery)> {
        (0..).map(DeliveryId).zip(&self.deliveries)
    }

    /// One delivery.
    ///
    /// # Panics
    /// If there is no such delivery.
    pub fn delivery(&self, id: DeliveryId) -> &Delivery {
        &self.deliveries[usize::from(id.0)]
    }

    /// The delivery that is handed out next.
    pub fn head(&self) -> Option<DeliveryId> {
        self.deliveries()
            .find(|(_, delivery)| delivery.place == Place::Queued)
            .map(|(id, _)| id)
    }

    /// How often an event was taken from its producer, whatever became of it since.
    pub fn taken(&self, event: EventIndex) -> usize {
        let copies = self.deliveries.iter();
        copies.filter(|copy| copy.event == event).count()
    }

    /// Whether everything published is acked or parked.
    pub fn is_settled(&self) -> bool {
        self.deliveries
            .iter()
            .all(|d| matches!(d.place, Place::Acked | Place::Parked))
    }

    /// Takes a copy of an event from its producer. It is not marked redelivered: to the broker it is new.
    pub(crate) fn publish(&mut self, event: EventIndex) -> DeliveryId {
        let id = DeliveryId(self.deliveries.len() as u8);
        let place = Place::Queued;
        self.deliveries.push(Delivery {
            event,
            attempts: 0,
            redelivered: false,
            place,
        });
        id
    }

    pub(crate) fn can_publish(&self) -> bool {
        self.deliveries.len() < Self::DELIVERIES_MAX
    }

    /// Hands the head of the queue to a worker.
    pub(crate) fn deliver(&mut self, worker: WorkerId) -> DeliveryId {
        let id = self
            .head()
            .expect("`enabled` offers a delivery only while one is queued");
        let delivery = self.delivery_mut(id);
        delivery.attempts += 1;
        delivery.place = Place::Unacked(worker);
        id
    }

    /// Hears "done" from the worker.
    pub(crate) fn ack(&mut self, id: DeliveryId) {
        self.delivery_mut(id).place = Place::Acked;
    }

    /// Puts an unacked delivery back where it was in the queue, marked; or aside, after too many attempts.
    pub(crate) fn requeue(&mut self, id: DeliveryId) -> Place {
        let delivery = self.delivery_mut(id);
        delivery.redelivered = true;
        delivery.place = if delivery.attempts >= Self::ATTEMPTS_MAX {
            Place::Parked
        } else {
            Place::Queued
        };
        delivery.place
    }

    fn delivery_mut(&mut self, id: DeliveryId) -> &mut Delivery {
        &mut self.deliveries[usize::from(id.0)]
    }
}
