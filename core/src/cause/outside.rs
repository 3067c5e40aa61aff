//! Why a message went out twice, in vain, or not at all.

use super::{Cause, Deed, History};
use crate::broker::EventIndex;
use crate::event::EffectName;
use crate::system::Action;

impl History<'_> {
    pub(super) fn sent_twice(&self, event: EventIndex) -> Cause {
        match self.calls(event)[..] {
            [(first, _), (second, had_key), ..] => Cause::CalledAgain {
                first,
                second,
                had_key,
                asked: self.asked_before(second),
            },
            _ => Cause::Unnamed,
        }
    }

    pub(super) fn never_sent(&self, event: EventIndex) -> Cause {
        let tasks = self.commits(|state| self.tasks(state, event, EffectName::Notification));
        match tasks.first() {
            Some(commit) => Cause::CommittedUncalled {
                commit: *commit,
                end: self.end_after(*commit),
            },
            None => Cause::Unnamed,
        }
    }

    pub(super) fn sent_in_vain(&self, event: EventIndex) -> Cause {
        match self.calls(event).first() {
            Some((call, _)) => Cause::CalledBeforeCommit {
                call: *call,
                end: self.end_after(*call),
            },
            None => Cause::Unnamed,
        }
    }

    /// The step at which a caller asked whether the message went out, in the same attempt.
    fn asked_before(&self, call: Deed) -> Option<usize> {
        let mut asked = self.attempt_of(call).filter(|act| {
            act.deed.step < call.step && matches!(act.action, Action::AskedProvider { .. })
        });
        asked.next().map(|act| act.deed.step)
    }

    /// The calls that sent a message for this event, and whether they carried a key.
    fn calls(&self, event: EventIndex) -> Vec<(Deed, bool)> {
        let calls = self.acts_on(event).filter_map(|act| match act.action {
            Action::Called {
                went_out: true,
                key,
                ..
            } => Some((act.deed, key.is_some())),
            _ => None,
        });
        calls.collect()
    }
}
