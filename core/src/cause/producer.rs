//! Why an event was lost, published for nothing, or published again.

use super::{Act, Cause, Deed, History};
use crate::broker::EventIndex;
use crate::plan::Role;
use crate::relay::Confirm;
use crate::state::State;
use crate::system::Action;

impl History<'_> {
    pub(super) fn ghost_event(&self, event: EventIndex) -> Cause {
        match self.taken(event).first() {
            Some(publish) => Cause::PublishedBeforeCommit {
                publish: *publish,
                end: self.end_after(*publish),
            },
            None => Cause::Unnamed,
        }
    }

    pub(super) fn lost_event(&self, event: EventIndex) -> Cause {
        if self.marked(event).is_some() {
            return self.false_published(event);
        }
        if let Some(publish) = self.refused(event) {
            return Cause::RefusalUnheard { publish };
        }
        let ticket = &self.system.event(event).ticket_id;
        let tickets = self.commits(|state| {
            let all = &state.committed.tickets;
            all.iter().filter(|id| *id == ticket).count()
        });
        match tickets.first() {
            Some(commit) => Cause::CommittedUnpublished {
                commit: *commit,
                end: self.end_after(*commit),
            },
            None => Cause::Unnamed,
        }
    }

    pub(super) fn false_published(&self, event: EventIndex) -> Cause {
        let Some(mark) = self.marked(event) else {
            return Cause::Unnamed;
        };
        let refused = self.refused(event);
        Cause::MarkedTooEarly {
            mark,
            refused,
            end: match refused {
                Some(_) => None,
                None => self.end_after(mark),
            },
        }
    }

    pub(super) fn stuck_row(&self, event: EventIndex) -> Cause {
        let claims = self
            .acts_on(event)
            .filter(|act| act.ran().is_some_and(|ran| ran.role == Role::Lease));
        match claims.last() {
            Some(claim) => Cause::LeasedForever {
                claim: claim.deed,
                end: self.end_after(claim.deed),
            },
            None => Cause::NobodyRelays,
        }
    }

    pub(super) fn stale_write(&self, event: EventIndex) -> Cause {
        let grew = |state: &State| usize::from(state.stale_writes.contains(&event));
        match self.commits(grew).first() {
            Some(write) => Cause::ClaimOverruled { write: *write },
            None => Cause::Unnamed,
        }
    }

    pub(super) fn doubled_publication(&self, event: EventIndex) -> Cause {
        match self.taken(event)[..] {
            [first, second, ..] => Cause::PublishedAgain { first, second },
            _ => Cause::Unnamed,
        }
    }

    /// Who published what the broker took, in order.
    fn taken(&self, event: EventIndex) -> Vec<Deed> {
        let sent = self
            .acts_on(event)
            .filter(|act| confirm_of(act) == Some(Confirm::Confirmed));
        sent.map(|act| act.deed).collect()
    }

    /// Who published what the broker did not take.
    fn refused(&self, event: EventIndex) -> Option<Deed> {
        let mut sent = self
            .acts_on(event)
            .filter(|act| confirm_of(act).is_some_and(|confirm| confirm != Confirm::Confirmed));
        sent.next().map(|act| act.deed)
    }

    /// Who marked the row as published.
    fn marked(&self, event: EventIndex) -> Option<Deed> {
        let id = self.system.event(event).event_id.as_str();
        let says_so = |state: &State| {
            let mut rows = state.committed.outbox.iter();
            usize::from(rows.any(|row| row.event_id == id && row.state == "published"))
        };
        self.commits(says_so).first().copied()
    }
}

/// What the broker made of a message, if the act was to send one.
fn confirm_of(act: &Act<'_>) -> Option<Confirm> {
    match act.action {
        Action::Sent { confirm, .. } => Some(*confirm),
        _ => None,
    }
}
