//! Deliveries: handed out, acked, and come back.

use super::{Action, System};
use crate::broker::{DeliveryId, WorkerId};
use crate::database::Database;
use crate::sql::Answer;
use crate::state::{Handed, Job, Next, Subject};

impl<D: Database> System<D> {
    pub(super) fn deliver(&mut self, worker: WorkerId) -> Action {
        let delivery = self.state.broker.deliver(worker);
        let handed = self.state.broker.delivery(delivery);
        let (attempt, redelivered) = (handed.attempts, handed.redelivered);
        self.state.worker_mut(worker).job = Some(Job {
            subject: Subject::Delivery(Handed {
                delivery,
                event: handed.event,
                attempt,
                redelivered,
                acked: false,
            }),
            next: Next::Stage(0),
            waits_for: None,
        });
        Action::Delivered {
            delivery,
            attempt,
            redelivered,
        }
    }

    pub(super) fn read_flag(&mut self, worker: WorkerId, index: usize) -> Action {
        let handed = self.state.job_mut(worker).handed();
        let redelivered = handed.is_some_and(|handed| handed.redelivered);
        let means = self
            .stage(worker, index)
            .read(&Answer::Rows(redelivered.into()));
        self.follow(worker, index, means);
        Action::ReadFlag { redelivered, means }
    }

    /// The delivery that a consumer has.
    pub(super) fn handed(&mut self, worker: WorkerId) -> &mut Handed {
        match &mut self.state.job_mut(worker).subject {
            Subject::Delivery(handed) => handed,
            _ => unreachable!("only a consumer is asked for its delivery"),
        }
    }

    /// Makes a consumer idle and returns the delivery it had.
    pub(super) fn finish_delivery(&mut self, worker: WorkerId) -> DeliveryId {
        let delivery = self.handed(worker).delivery;
        self.finish(worker);
        delivery
    }

    pub(super) fn ack(&mut self, worker: WorkerId, then: usize) -> Action {
        let handed = self.handed(worker);
        handed.acked = true;
        let Handed {
            delivery, event, ..
        } = *handed;
        self.state.broker.ack(delivery);
        let mut effects = self.scenario.effects().iter();
        if effects.any(|effect| self.tasks_of(event, *effect) == 0) {
            self.state.acked_too_early.insert(delivery);
        }
        self.go_to(worker, then);
        Action::Acked { delivery }
    }

    pub(super) fn lose_ack(&mut self, worker: WorkerId) -> Action {
        let delivery = self.handed(worker).delivery;
        match self.state.job_mut(worker).next {
            // The worker believes that the ack arrived, and goes on.
            Next::Stage(index) => {
                self.handed(worker).acked = true;
                self.go_to(worker, index + 1);
            }
            _ => self.finish(worker),
        }
        let place = self.state.broker.requeue(delivery);
        Action::AckLost { delivery, place }
    }
}
