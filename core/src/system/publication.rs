//! An event on its way to the broker, and the lease under which a relay takes it there.

use super::{Action, System};
use crate::broker::{EventIndex, WorkerId};
use crate::database::Database;
use crate::plan::Role;
use crate::relay::Confirm;
use crate::schema::OutboxRow;
use crate::sql::Answer;
use crate::state::{Claimed, Job, Subject};

impl<D: Database> System<D> {
    /// Sends the event at hand to the broker, who makes this of it.
    pub(super) fn publish(&mut self, worker: WorkerId, confirm: Confirm) -> Action {
        let index = self.place_in_plan(worker);
        let job = self.state.job_mut(worker);
        let event = job.event().expect("a worker publishes what it has at hand");
        if let Subject::Row(Some(claimed)) = &mut job.subject {
            claimed.confirm = Some(confirm);
        }
        let is_taken = confirm == Confirm::Confirmed;
        let delivery = is_taken.then(|| self.state.broker.publish(event));
        // The stage only sends. Whether anybody hears the answer is a matter of the next one.
        let means = self.stage(worker, index).read(&Answer::Done);
        self.follow(worker, index, means);
        Action::Sent {
            event,
            confirm,
            delivery,
        }
    }

    pub(super) fn hear_confirm(&mut self, worker: WorkerId, confirm: Confirm) -> Action {
        let index = self.place_in_plan(worker);
        let claimed = self.state.job_mut(worker).claimed().copied();
        let Claimed { event, attempt, .. } = claimed.expect("a relay hears of what it has claimed");
        let means = self.stage(worker, index).hear(confirm, attempt);
        self.follow(worker, index, means);
        Action::HeardConfirm {
            event,
            confirm,
            means,
        }
    }

    /// Notes a change of a row that was not the relay's any more.
    pub(super) fn note_stale_write(&mut self, worker: WorkerId, role: Role, answer: &Answer) {
        let has_changed = matches!(answer, Answer::Changed(1..));
        if !has_changed || !matches!(role, Role::MarkPublished | Role::Release | Role::Park) {
            return;
        }
        let claimed = self.state.job_mut(worker).claimed().copied();
        let claimed = claimed.expect("a relay changes what it has claimed");
        // The committed rows are still those from before the statement.
        let is_its_own = self
            .outbox_row(claimed.event)
            .is_some_and(|row| row.state == "leased" && row.token == i64::from(claimed.token));
        if !is_its_own {
            self.state.stale_writes.insert(claimed.event);
        }
    }

    pub(super) fn has_expired(&self, row: &OutboxRow) -> bool {
        row.lease_until
            .is_some_and(|until| until <= i64::from(self.state.clock))
    }

    /// The event of the first row whose lease has yet to expire and whose holder is as said.
    pub(super) fn expiring(&self, holder: Holder) -> Option<EventIndex> {
        self.events().find(|event| {
            let row = self.outbox_row(*event);
            row.is_some_and(|row| {
                row.lease_until.is_some_and(|until| until < i64::MAX)
                    && !self.has_expired(row)
                    && self.is_held(*event, row) == (holder == Holder::AtWork)
            })
        })
    }

    /// Whether the relay that claimed the row last is still at work on it.
    pub(super) fn is_held(&self, event: EventIndex, row: &OutboxRow) -> bool {
        self.state
            .jobs()
            .filter_map(Job::claimed)
            .any(|claimed| claimed.event == event && i64::from(claimed.token) == row.token)
    }

    pub(super) fn expire(&mut self, holder: Holder) -> Action {
        let event = self
            .expiring(holder)
            .expect("`enabled` offers an expiry only while a lease can expire");
        self.state.clock += LEASE;
        Action::LeaseExpired { event }
    }
}

/// Whether a relay is still at work on the row that it claimed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    AtWork,
    Gone,
}

/// For how long a row is claimed, by the clock that only expiry moves.
pub(super) const LEASE: u8 = 1;
