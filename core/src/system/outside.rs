//! The provider outside the database.

use super::stage::{connection_lost, origin_of};
use super::{Action, Reply, System};
use crate::broker::WorkerId;
use crate::database::Database;
use crate::design::Outside;
use crate::event::EffectName;
use crate::scenario::Provider;
use crate::schema::Task;
use crate::sql::{Answer, RefusalKind};
use crate::state::{Message, Origin, Subject};

impl<D: Database> System<D> {
    pub(super) fn ask_provider(&mut self, worker: WorkerId, index: usize) -> Action {
        let task = self.task_at_hand(worker);
        let is_known = self.state.went_out(task);
        let means = self
            .stage(worker, index)
            .read(&Answer::Rows(is_known.into()));
        self.follow(worker, index, means);
        Action::AskedProvider {
            task,
            is_known,
            means,
        }
    }

    /// Calls the provider for the task at hand. What it does is done, whatever happens to the answer.
    pub(super) fn call(&mut self, worker: WorkerId, reply: Reply) -> Action {
        let index = self.place_in_plan(worker);
        let task = self.task_at_hand(worker);
        let key = (self.design().outside == Outside::PendingRowWithKey)
            .then(|| self.task_ids[&task].clone());
        let is_known = self.state.went_out(task);
        let is_repeated = key.is_some() && is_known;
        let went_out = !(is_repeated && self.scenario.provider == Provider::HonoursKeys);
        if went_out {
            let place = self
                .state
                .sent
                .partition_point(|message| message.task < task);
            self.state.sent.insert(place, Message { task });
        }
        let answer = match reply {
            Reply::Heard => Answer::Done,
            Reply::Lost => connection_lost(),
        };
        let means = self.stage(worker, index).read(&answer);
        if reply == Reply::Lost {
            self.note_swallowed(worker, index, means, Some(RefusalKind::Io));
        }
        self.follow(worker, index, means);
        Action::Called {
            task,
            key,
            went_out,
            is_answered: reply == Reply::Heard,
            means,
        }
    }

    /// The task that a consumer writes or a sender has picked.
    pub(super) fn task_at_hand(&self, worker: WorkerId) -> Origin {
        let job = self.state.worker(worker).job.as_ref();
        match job.map(|job| &job.subject) {
            Some(Subject::Delivery(handed)) => origin_of(handed, EffectName::Notification),
            Some(Subject::Task(Some(task))) => *task,
            _ => unreachable!("only a consumer and a sender call, and they have a task at hand"),
        }
    }
}

/// Whether a sender has something to do for this row. [`schema::PICK_NOTIFICATION`] asks the same.
pub(super) fn is_pending_notification(task: &Task) -> bool {
    task.task_type == EffectName::Notification.as_str() && task.status == "pending"
}
