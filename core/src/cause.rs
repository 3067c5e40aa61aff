//! Why a property was violated: one sentence, found in the steps that led there.

use std::collections::BTreeMap;
use std::fmt;

use crate::broker::{DeliveryId, EventIndex, WorkerId};
use crate::design::{Arbitration, Key};
use crate::disk::ConnectionId;
use crate::event::EffectName;
use crate::plan::{Meaning, Role};
use crate::property::Violation;
use crate::run::{Moved, Run};
use crate::sql::{Answer, RefusalKind};
use crate::state::{Job, Next, State};
use crate::system::{Action, Heard, Ran, System, worker_of};

mod outside;
mod producer;

/// Who did something, and at which step of the run, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deed {
    /// The worker.
    pub worker: WorkerId,
    /// The step's number.
    pub step: usize,
}

/// Why a property was violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The design never asks whether the event was handled before.
    NothingAsked {
        /// The first task.
        first: Deed,
        /// The second.
        second: Deed,
    },
    /// The flag said "first delivery", and it was not.
    FlagFalse {
        /// The task that was there.
        first: Deed,
        /// Who read the flag.
        reader: Deed,
    },
    /// The flag said "redelivered", and the first attempt had not committed.
    FlagTrue {
        /// Who read the flag.
        reader: Deed,
    },
    /// A check ran before the receipt it looked for was committed.
    CheckBeforeReceipt {
        /// Who checked.
        check: Deed,
        /// The receipt's commit.
        receipt: Deed,
    },
    /// A check found nothing, because the task before it never got its receipt.
    CheckWithoutReceipt {
        /// Who checked.
        check: Deed,
        /// The task's commit.
        task: Deed,
    },
    /// The effect committed before the constraint was asked.
    EffectBeforeClaim {
        /// The second task's commit.
        second: Deed,
    },
    /// A receipt committed, its effect did not, and a later delivery took the receipt for proof.
    ReceiptWithoutEffect {
        /// The receipt's commit.
        receipt: Deed,
        /// Who believed it.
        believer: Deed,
    },
    /// A receipt committed and its worker was gone before the effect.
    ReceiptAlone {
        /// The receipt's commit.
        receipt: Deed,
        /// Where the worker stopped.
        end: Option<usize>,
    },
    /// The key was taken, by another effect or another event.
    KeyTooWide {
        /// Who found it taken.
        finder: Deed,
        /// The key.
        key: Key,
    },
    /// An error was read as a duplicate.
    ErrorReadAsDuplicate {
        /// Who read it.
        reader: Deed,
        /// What it was.
        kind: RefusalKind,
    },
    /// The delivery was acked in spite of an error.
    ErrorAcked {
        /// Whose error.
        reader: Deed,
        /// What it was.
        kind: RefusalKind,
    },
    /// SQLite was told to ignore what it would have refused.
    Silenced {
        /// Whose statement.
        writer: Deed,
    },
    /// The ack was sent before the work, and the work did not come to its end.
    AckedBeforeWork {
        /// The ack.
        ack: Deed,
        /// Where the work stopped.
        end: Option<usize>,
    },
    /// Workers wait for each other.
    WaitInCircle {
        /// Who waits for whom.
        waits: Vec<(WorkerId, Vec<ConnectionId>)>,
    },
    /// An ack was sent for what was not committed.
    AckedUncommitted {
        /// The ack.
        ack: Deed,
    },
    /// The event was published before its ticket was committed, and the ticket never was.
    PublishedBeforeCommit {
        /// Who published.
        publish: Deed,
        /// Where that worker stopped.
        end: Option<usize>,
    },
    /// The ticket was committed, and its producer was gone before it published the event.
    CommittedUnpublished {
        /// The ticket's commit.
        commit: Deed,
        /// Where the producer stopped.
        end: Option<usize>,
    },
    /// The broker did not take the event, and nobody heard it say so.
    RefusalUnheard {
        /// Who published.
        publish: Deed,
    },
    /// The row was marked as published before the broker had said so.
    MarkedTooEarly {
        /// Who marked it.
        mark: Deed,
        /// Who sent the message that the broker did not take, if one was sent.
        refused: Option<Deed>,
        /// Where the relay stopped, if none was.
        end: Option<usize>,
    },
    /// A relay changed the row after its claim was over: nothing in its statement asks for the claim.
    ClaimOverruled {
        /// Who changed it.
        write: Deed,
    },
    /// The row is leased to a relay that is gone, and the lease does not expire.
    LeasedForever {
        /// Who claimed it.
        claim: Deed,
        /// Where that relay stopped.
        end: Option<usize>,
    },
    /// There is nobody who publishes what stands in the outbox.
    NobodyRelays,
    /// The event was published, and published again.
    PublishedAgain {
        /// The first time.
        first: Deed,
        /// The second.
        second: Deed,
    },
    /// The provider was called, and called again.
    CalledAgain {
        /// The first time.
        first: Deed,
        /// The second.
        second: Deed,
        /// Whether the second call carried a key, which the provider did not look at.
        had_key: bool,
        /// Where the second asked whether the message went out, and heard that it had not.
        asked: Option<usize>,
    },
    /// The task was committed, and nobody calls the provider for it.
    CommittedUncalled {
        /// The task's commit.
        commit: Deed,
        /// Where its worker stopped.
        end: Option<usize>,
    },
    /// The provider was called before the task was committed, and the task never was.
    CalledBeforeCommit {
        /// Who called.
        call: Deed,
        /// Where that worker stopped.
        end: Option<usize>,
    },
    /// None of the above. The steps speak for themselves.
    Unnamed,
}

/// Finds the cause of a violation in the run that led to it.
///
/// `system` is the machine that carried the run out; only what does not change in it is read.
pub fn explain(system: &System, run: &Run, violation: &Violation) -> Cause {
    let history = History {
        system,
        run,
        acts: acts(system, run),
    };
    match violation {
        Violation::DuplicateEffect { event, effect, .. } => history.duplicate(*event, *effect),
        Violation::LostEffect { event, effect } => history.lost(*event, *effect),
        Violation::Stuck { .. } => history.stuck(),
        Violation::OrphanReceipt { event, effect } => history.orphan(*event, *effect),
        Violation::SwallowedError {
            event,
            effect,
            kind,
        } => history.swallowed(*event, *effect, *kind),
        Violation::FalseSuccess { delivery } => history.false_success(*delivery),
        Violation::GhostEvent { event } => history.ghost_event(*event),
        Violation::LostEvent { event } => history.lost_event(*event),
        Violation::FalsePublished { event } => history.false_published(*event),
        Violation::StuckRow { event } => history.stuck_row(*event),
        Violation::StaleWrite { event } => history.stale_write(*event),
        Violation::DoubledPublication { event, .. } => history.doubled_publication(*event),
        Violation::SentTwice { event, .. } => history.sent_twice(*event),
        Violation::NeverSent { event } => history.never_sent(*event),
        Violation::SentInVain { event } => history.sent_in_vain(*event),
    }
}

/// The run, asked for who did what when.
struct History<'a> {
    system: &'a System,
    run: &'a Run,
    acts: Vec<Act<'a>>,
}

/// One step of a worker on what it has at hand.
struct Act<'a> {
    deed: Deed,
    /// The step at which the worker began with it: what it did since is one attempt.
    since: usize,
    /// The event that it is about, where there is one.
    event: Option<EventIndex>,
    /// The effect that the worker was at.
    effect: Option<EffectName>,
    action: &'a Action,
}

/// Every step that a worker took with something at hand. Being handed a delivery is none.
fn acts<'a>(system: &System, run: &'a Run) -> Vec<Act<'a>> {
    let mut acts = vec![];
    let mut since = BTreeMap::new();
    for (index, frame) in run.frames.iter().enumerate() {
        let (Moved::Changed(change), Some(worker)) = (&frame.moved, frame.step.worker()) else {
            continue;
        };
        let step = index + 1;
        let before = &run.state_after(index).worker(worker).job;
        if before.is_none() {
            since.insert(worker, step);
        }
        if matches!(change.action, Action::Delivered { .. }) {
            continue;
        }
        let stage = match before.as_ref().map(|job| job.next) {
            Some(Next::Stage(stage)) => system.plan_of(worker.kind()).stages.get(stage),
            _ => None,
        };
        // A relay and a sender know only after their first step what it was about.
        let known = before.as_ref().and_then(Job::event);
        let after = frame.state.worker(worker).job.as_ref();
        acts.push(Act {
            deed: Deed { worker, step },
            since: since.get(&worker).copied().unwrap_or(0),
            event: known.or_else(|| after.and_then(Job::event)),
            effect: stage.and_then(|stage| stage.effect),
            action: &change.action,
        });
    }
    acts
}

impl<'a> Act<'a> {
    fn ran(&self) -> Option<&'a Ran> {
        match self.action {
            Action::Ran(ran) => Some(ran),
            _ => None,
        }
    }

    /// What this step was, if it let an error surface nowhere, and the kind of the error.
    fn swallowed(&self) -> Option<(Cause, Option<RefusalKind>)> {
        let (kind, means) = match self.action {
            Action::GaveUp { means } => (RefusalKind::Busy, means),
            Action::Ran(ran) => match (&ran.heard, &ran.answer) {
                (Heard::ReplyLost(means), _) => (RefusalKind::Io, means),
                (Heard::Read(means), Answer::Refused(refusal)) => {
                    let arbitrated = ran.role == Role::Claim && refusal.kind == RefusalKind::Unique;
                    if arbitrated {
                        return None;
                    }
                    (refusal.kind, means)
                }
                (Heard::Read(_), Answer::Changed(0)) if ran.role == Role::Apply => {
                    return Some((Cause::Silenced { writer: self.deed }, None));
                }
                _ => return None,
            },
            _ => return None,
        };
        let reader = self.deed;
        match means {
            Meaning::Duplicate => Some((Cause::ErrorReadAsDuplicate { reader, kind }, Some(kind))),
            Meaning::AckAnyway => Some((Cause::ErrorAcked { reader, kind }, Some(kind))),
            Meaning::Proceed | Meaning::GiveBack | Meaning::GoTo(_) | Meaning::Done => None,
        }
    }

    /// The same, if it is why `effect` did not happen. An error that is acked ends the whole delivery,
    /// so it also is why the effects after its own did not.
    fn swallowed_before(&self, effect: EffectName) -> Option<Cause> {
        let (cause, _) = self.swallowed()?;
        let reaches = match cause {
            Cause::ErrorAcked { .. } => self.effect <= Some(effect),
            _ => self.effect == Some(effect),
        };
        reaches.then_some(cause)
    }

    /// Whether the attempt ended here, before the end of its plan.
    fn is_end(&self) -> bool {
        match self.action {
            Action::Crashed { .. } | Action::GaveUp { .. } | Action::GaveBack { .. } => true,
            Action::Ran(ran) => match ran.heard {
                Heard::ReplyLost(_) => true,
                Heard::Read(Meaning::GiveBack | Meaning::AckAnyway) => true,
                Heard::Read(_) | Heard::Waits { .. } => false,
            },
            _ => false,
        }
    }
}

impl<'a> History<'a> {
    fn duplicate(&self, event: EventIndex, effect: EffectName) -> Cause {
        let tasks = self.commits(|state| self.tasks(state, event, effect));
        let [first, second, ..] = tasks[..] else {
            return Cause::Unnamed;
        };
        match self.system.plan().design.arbitration {
            Arbitration::None => Cause::NothingAsked { first, second },
            Arbitration::TrustRedelivered => {
                let reading = self.attempt_of(second).find(|act| {
                    act.deed.step < second.step && matches!(act.action, Action::ReadFlag { .. })
                });
                reading.map_or(Cause::Unnamed, |act| Cause::FlagFalse {
                    first,
                    reader: act.deed,
                })
            }
            Arbitration::CheckThenInsert => {
                let checks = self.attempt_of(second).filter(|act| {
                    act.ran()
                        .is_some_and(|ran| ran.role == Role::Check && ran.effect == Some(effect))
                });
                let Some(check) = checks.last().map(|act| act.deed) else {
                    return Cause::Unnamed;
                };
                match self.receipt_of(first, event, effect) {
                    Some(receipt) => Cause::CheckBeforeReceipt { check, receipt },
                    None => Cause::CheckWithoutReceipt { check, task: first },
                }
            }
            Arbitration::UniqueConstraint
            | Arbitration::OnConflictDoNothing
            | Arbitration::InsertOrIgnore => Cause::EffectBeforeClaim { second },
        }
    }

    fn lost(&self, event: EventIndex, effect: EffectName) -> Cause {
        let swallowed = self.acts_on(event).find_map(|a| a.swallowed_before(effect));
        if let Some(cause) = swallowed {
            return cause;
        }
        let flag = self.acts_on(event).find_map(|act| match act.action {
            Action::ReadFlag {
                means: Meaning::Duplicate,
                ..
            } => Some(act.deed),
            _ => None,
        });
        if let Some(reader) = flag {
            return Cause::FlagTrue { reader };
        }
        let believer = self.acts_on(event).find_map(|act| {
            let ran = act.ran().filter(|ran| ran.effect == Some(effect))?;
            (ran.heard == Heard::Read(Meaning::Duplicate)).then_some(act.deed)
        });
        if let Some(believer) = believer {
            let receipts = self.commits(|state| self.receipts(state, event, effect));
            return match receipts.first() {
                Some(receipt) => Cause::ReceiptWithoutEffect {
                    receipt: *receipt,
                    believer,
                },
                None => Cause::KeyTooWide {
                    finder: believer,
                    key: self.system.plan().design.key,
                },
            };
        }
        let acks = self
            .acts_on(event)
            .filter(|act| matches!(act.action, Action::Acked { .. }));
        match acks.last() {
            Some(act) => Cause::AckedBeforeWork {
                ack: act.deed,
                end: self.end_after(act.deed),
            },
            None => Cause::Unnamed,
        }
    }

    fn stuck(&self) -> Cause {
        let Some(frame) = self.run.frames.last() else {
            return Cause::Unnamed;
        };
        let workers = frame.state.workers().map(|(id, _)| id);
        let waits = workers.zip(frame.waits.iter().cloned());
        Cause::WaitInCircle {
            waits: waits.filter(|(_, holders)| !holders.is_empty()).collect(),
        }
    }

    fn orphan(&self, event: EventIndex, effect: EffectName) -> Cause {
        let receipts = self.commits(|state| self.receipts(state, event, effect));
        let Some(receipt) = receipts.first() else {
            return Cause::Unnamed;
        };
        let swallowed = self
            .attempt_of(*receipt)
            .find_map(|act| act.swallowed_before(effect));
        swallowed.unwrap_or_else(|| Cause::ReceiptAlone {
            receipt: *receipt,
            end: self.end_after(*receipt),
        })
    }

    fn swallowed(
        &self,
        event: EventIndex,
        effect: Option<EffectName>,
        kind: Option<RefusalKind>,
    ) -> Cause {
        let mut matching = self.acts_on(event).filter(|act| act.effect == effect);
        let cause = matching.find_map(|act| {
            let (cause, found) = act.swallowed()?;
            (found == kind).then_some(cause)
        });
        cause.unwrap_or(Cause::Unnamed)
    }

    fn false_success(&self, wanted: DeliveryId) -> Cause {
        let ack = self
            .acts
            .iter()
            .find(|act| matches!(act.action, Action::Acked { delivery } if *delivery == wanted));
        ack.map_or(Cause::Unnamed, |act| Cause::AckedUncommitted {
            ack: act.deed,
        })
    }

    /// The steps after which `count` of the committed rows was higher than before.
    fn commits(&self, count: impl Fn(&State) -> usize) -> Vec<Deed> {
        let mut deeds = vec![];
        for (index, frame) in self.run.frames.iter().enumerate() {
            let grew = count(&frame.state) > count(self.run.state_after(index));
            if let (true, Some(worker)) = (grew, frame.step.worker()) {
                deeds.push(Deed {
                    worker,
                    step: index + 1,
                });
            }
        }
        deeds
    }

    fn tasks(&self, state: &State, event: EventIndex, effect: EffectName) -> usize {
        let origins = state
            .committed
            .tasks
            .iter()
            .filter_map(|task| self.system.origin(&task.id));
        origins
            .filter(|origin| origin.event == event && origin.effect == effect)
            .count()
    }

    fn receipts(&self, state: &State, event: EventIndex, effect: EffectName) -> usize {
        let event_id = self.system.event(event).event_id.as_str();
        let ours = |r: &&crate::schema::Receipt| {
            r.event_id == event_id && r.effect_name == effect.as_str()
        };
        state.committed.receipts.iter().filter(ours).count()
    }

    /// The receipt's commit in the same attempt as `deed`, be it before or after.
    fn receipt_of(&self, deed: Deed, event: EventIndex, effect: EffectName) -> Option<Deed> {
        let receipts = self.commits(|state| self.receipts(state, event, effect));
        let steps: Vec<usize> = self.attempt_of(deed).map(|act| act.deed.step).collect();
        receipts
            .into_iter()
            .find(|receipt| steps.contains(&receipt.step))
    }

    /// The step after `deed` at which its attempt ended before its time.
    fn end_after(&self, deed: Deed) -> Option<usize> {
        let mut later = self
            .attempt_of(deed)
            .filter(|act| act.deed.step > deed.step);
        later.find(|act| act.is_end()).map(|act| act.deed.step)
    }

    /// What the worker of `deed` did with the delivery it had then, from beginning to end.
    fn attempt_of(&self, deed: Deed) -> impl Iterator<Item = &Act<'a>> {
        let since = self.acts.iter().find(|a| a.deed == deed).map(|a| a.since);
        self.acts
            .iter()
            .filter(move |act| act.deed.worker == deed.worker && Some(act.since) == since)
    }

    fn acts_on(&self, event: EventIndex) -> impl Iterator<Item = &Act<'a>> {
        self.acts.iter().filter(move |act| act.event == Some(event))
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::NothingAsked { first, second } => write!(
                f,
                "{} did again at step {} what {} had done at step {}: nothing in this design asks \
                 whether the event was handled before",
                second.worker,
                second.step,
                if first.worker == second.worker {
                    "it".to_owned()
                } else {
                    first.worker.to_string()
                },
                first.step
            ),
            Cause::FlagFalse { first, reader } => write!(
                f,
                "at step {} the flag told {} that this was a first delivery, and so it was: {} task, \
                 committed at step {}, came from another copy of the event",
                reader.step,
                reader.worker,
                whose(first, reader),
                first.step
            ),
            Cause::FlagTrue { reader } => write!(
                f,
                "at step {} {} left the effect out because the flag said redelivered, but no attempt \
                 before it had committed the effect",
                reader.step, reader.worker
            ),
            Cause::CheckBeforeReceipt { check, receipt } => write!(
                f,
                "{} inserted a task because its check at step {} ran before {}'s receipt was \
                 committed at step {}",
                check.worker, check.step, receipt.worker, receipt.step
            ),
            Cause::CheckWithoutReceipt { check, task } => write!(
                f,
                "{}'s check at step {} found no receipt, because {} task of step {} had none",
                check.worker,
                check.step,
                whose(task, check),
                task.step
            ),
            Cause::EffectBeforeClaim { second } => write!(
                f,
                "{}'s task was committed at step {}, before the constraint was asked",
                second.worker, second.step
            ),
            Cause::ReceiptWithoutEffect { receipt, believer } => write!(
                f,
                "at step {} {} took {} receipt of step {} for proof, and its effect was never \
                 committed",
                believer.step,
                believer.worker,
                whose(receipt, believer),
                receipt.step
            ),
            Cause::ReceiptAlone {
                receipt,
                end: Some(end),
            } => write!(
                f,
                "{}'s receipt was committed at step {}, and at step {end} {} stopped before the effect",
                receipt.worker, receipt.step, receipt.worker
            ),
            Cause::ReceiptAlone { receipt, end: None } => write!(
                f,
                "{}'s receipt was committed at step {} and nobody is about to commit the effect",
                receipt.worker, receipt.step
            ),
            Cause::KeyTooWide { finder, key } => write!(
                f,
                "at step {} {} found the key taken, by another {}: the key is too wide",
                finder.step,
                finder.worker,
                match key {
                    Key::Ticket => "event or effect of the same ticket",
                    Key::Event | Key::EventEffect => "effect of the same event",
                }
            ),
            Cause::ErrorReadAsDuplicate { reader, kind } => write!(
                f,
                "at step {} {} read an error as a duplicate, which it was not: {}",
                reader.step,
                reader.worker,
                kind.as_str()
            ),
            Cause::ErrorAcked { reader, kind } => write!(
                f,
                "at step {} {} got an error, and its design acks all the same: {}",
                reader.step,
                reader.worker,
                kind.as_str()
            ),
            Cause::Silenced { writer } => write!(
                f,
                "at step {} {}'s INSERT OR IGNORE wrote no row and SQLite, as it was told, said nothing",
                writer.step, writer.worker
            ),
            Cause::AckedBeforeWork {
                ack,
                end: Some(end),
            } => write!(
                f,
                "{} acked at step {}, before the work, which ended at step {end} with the effect not \
                 committed",
                ack.worker, ack.step
            ),
            Cause::AckedBeforeWork { ack, end: None } => {
                write!(
                    f,
                    "{} acked at step {}, before the work",
                    ack.worker, ack.step
                )
            }
            Cause::WaitInCircle { waits } => {
                for (index, (worker, holders)) in waits.iter().enumerate() {
                    let names: Vec<String> = holders.iter().map(|id| holder_name(*id)).collect();
                    let joint = if index == 0 { "" } else { ", and " };
                    write!(f, "{joint}{worker} waits for {}", names.join(" and "))?;
                }
                f.write_str("; none of them can go on until one rolls back")
            }
            Cause::AckedUncommitted { ack } => write!(
                f,
                "at step {} {} told the broker that it was done, while an effect was not committed",
                ack.step, ack.worker
            ),
            Cause::PublishedBeforeCommit { publish, end } => {
                let Deed { worker, step } = publish;
                write!(
                    f,
                    "{worker} published at step {step}, before the ticket was committed"
                )?;
                stopped(f, *end, "and then the commit never came")
            }
            Cause::CommittedUnpublished { commit, end } => {
                let Deed { worker, step } = commit;
                write!(
                    f,
                    "{worker} committed the ticket at step {step}, before it had published"
                )?;
                stopped(
                    f,
                    *end,
                    "and nothing in the database says that it still had to",
                )
            }
            Cause::RefusalUnheard { publish } => write!(
                f,
                "the broker did not take what {} published at step {}, and nobody waits to hear that",
                publish.worker, publish.step
            ),
            Cause::MarkedTooEarly {
                mark,
                refused: Some(refused),
                ..
            } => write!(
                f,
                "{} marked the row at step {} without hearing the broker, who did not take what {} \
                 sent at step {}",
                mark.worker, mark.step, refused.worker, refused.step
            ),
            Cause::MarkedTooEarly { mark, end, .. } => {
                let Deed { worker, step } = mark;
                write!(
                    f,
                    "{worker} marked the row at step {step}, before it had sent the message"
                )?;
                stopped(f, *end, "and the row tells nobody to send it")
            }
            Cause::ClaimOverruled { write } => write!(
                f,
                "at step {} {} changed a row that was not its own any more, because its statement asks \
                 for the event and not for the claim",
                write.step, write.worker
            ),
            Cause::LeasedForever { claim, end } => {
                let Deed { worker, step } = claim;
                write!(f, "{worker} claimed the row at step {step}")?;
                stopped(f, *end, "and the claim never expires")
            }
            Cause::NobodyRelays => f.write_str("nobody publishes what stands in the outbox"),
            Cause::PublishedAgain { first, second } => write!(
                f,
                "{} published at step {} what the broker had taken at step {}, which a relay cannot \
                 always know, and a receipt is there to absorb",
                second.worker, second.step, first.step
            ),
            Cause::CalledAgain {
                first,
                second,
                had_key,
                asked,
            } => {
                let Deed { worker, step } = second;
                write!(
                    f,
                    "{worker} called the provider at step {step}, though the message had gone out at \
                     step {}",
                    first.step
                )?;
                match (asked, had_key) {
                    (Some(asked), _) => write!(f, ": when it asked, at step {asked}, it had not"),
                    (None, true) => f.write_str(", and the provider does not look at the key"),
                    (None, false) => f.write_str(", and nothing told it so"),
                }
            }
            Cause::CommittedUncalled { commit, end } => {
                let Deed { worker, step } = commit;
                write!(
                    f,
                    "{worker} committed the task at step {step}, before it had called"
                )?;
                stopped(
                    f,
                    *end,
                    "and a later delivery is a duplicate, which calls nobody",
                )
            }
            Cause::CalledBeforeCommit { call, end } => {
                let Deed { worker, step } = call;
                write!(
                    f,
                    "{worker} called at step {step}, before the task was committed"
                )?;
                stopped(f, *end, "and no rollback calls a message back")
            }
            Cause::Unnamed => f.write_str("the steps before show how it came to this"),
        }
    }
}

/// Where a worker stopped, if it did, and what that came to.
fn stopped(f: &mut fmt::Formatter<'_>, end: Option<usize>, so: &str) -> fmt::Result {
    match end {
        Some(end) => write!(f, "; it stopped at step {end}, {so}"),
        None => write!(f, ", {so}"),
    }
}

/// Whose a deed was, seen from another: a worker may meet what it did itself before a crash.
fn whose(deed: &Deed, seen_from: &Deed) -> String {
    if deed.worker == seen_from.worker {
        "its own".to_owned()
    } else {
        format!("{}'s", deed.worker)
    }
}

/// A connection's name for people: its worker's letter, or the operator.
pub fn holder_name(connection: ConnectionId) -> String {
    worker_of(connection).map_or_else(|| "the operator".to_owned(), |worker| worker.to_string())
}
