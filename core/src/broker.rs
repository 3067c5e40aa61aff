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

/// Which worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub u8);

impl fmt::Display for WorkerId {
    /// A, B or C.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", char::from(b'A' + self.0))
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
