//! Why a property was violated: one sentence, found in the steps that led there.

use std::fmt;

use crate::broker::{DeliveryId, EventIndex, WorkerId};
use crate::design::{Arbitration, Key};
use crate::disk::ConnectionId;
use crate::event::EffectName;
use crate::plan::{Meaning, Role};
use crate::property::Violation;
use crate::run::{Frame, Moved, Run};
use crate::sql::{Answer, RefusalKind};
use crate::state::State;
use crate::system::{Action, Heard, Ran, System, worker_of};

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
    /// None of the above. The steps speak for themselves.
    Unnamed,
}

/// Finds the cause of a violation in the run that led to it.
///
/// `system` is the machine that carried the run out; only what does not change in it is read.
pub fn explain(system: &System, run: &Run, violation: &Violation) -> Cause {
    let history = History { system, run };
    match violation {
        Violation::DuplicateEffect { event, effect, .. } => history.duplicate(*event, *effect),
        Violation::LostEffect { event, effect } => history.lost(*event, *effect),
        Violation::Stuck { .. } => history.stuck(),
        Violation::OrphanReceipt { event, effect } => history.orphan(*event, *effect),
        Violation::SwallowedError { event, effect, .. } => {
            history.swallowed(*event, *effect).unwrap_or(Cause::Unnamed)
        }
        Violation::FalseSuccess { delivery } => history.false_success(*delivery),
    }
}

/// The run, asked for who did what when.
struct History<'a> {
    system: &'a System,
    run: &'a Run,
}

/// One step of a worker on a delivery.
struct Act<'a> {
    deed: Deed,
    event: EventIndex,
    action: &'a Action,
}

impl<'a> Act<'a> {
    fn ran(&self) -> Option<&'a Ran> {
        match self.action {
            Action::Ran(ran) => Some(ran),
            _ => None,
        }
    }
}

impl<'a> History<'a> {
    fn duplicate(&self, event: EventIndex, effect: EffectName) -> Cause {
        let tasks = self.commits(|state| self.tasks(state, event, effect));
        let [first, second, ..] = tasks[..] else {
            return Cause::Unnamed;
        };
        let before = |role: Role| {
            let acts = self
                .acts_on(event)
                .filter(|act| act.deed.worker == second.worker && act.deed.step <= second.step);
            let matching = acts.filter(|act| match (role, act.action) {
                (Role::ReadFlag, Action::ReadFlag { .. }) => true,
                (_, Action::Ran(ran)) => ran.role == role && ran.effect == Some(effect),
                _ => false,
            });
            matching.last().map(|act| act.deed)
        };
        match self.system.plan().design.arbitration {
            Arbitration::None => Cause::NothingAsked { first, second },
            Arbitration::TrustRedelivered => match before(Role::ReadFlag) {
                Some(reader) => Cause::FlagFalse { first, reader },
                None => Cause::Unnamed,
            },
            Arbitration::CheckThenInsert => {
                let receipts = self.commits(|state| self.receipts(state, event, effect));
                match (before(Role::Check), receipts.first()) {
                    (Some(check), Some(receipt)) if receipt.step > check.step => {
                        Cause::CheckBeforeReceipt {
                            check,
                            receipt: *receipt,
                        }
                    }
                    (Some(check), _) => Cause::CheckWithoutReceipt { check, task: first },
                    (None, _) => Cause::Unnamed,
                }
            }
            Arbitration::UniqueConstraint
            | Arbitration::OnConflictDoNothing
            | Arbitration::InsertOrIgnore => Cause::EffectBeforeClaim { second },
        }
    }

    fn lost(&self, event: EventIndex, effect: EffectName) -> Cause {
        if let Some(cause) = self.swallowed(event, Some(effect)) {
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
                end: self.end_of(act.deed),
            },
            None => Cause::Unnamed,
        }
    }

    fn stuck(&self) -> Cause {
        let Some(frame) = self.run.frames.last() else {
            return Cause::Unnamed;
        };
        let waits = (0..).map(WorkerId).zip(frame.waits.iter().cloned());
        Cause::WaitInCircle {
            waits: waits.filter(|(_, holders)| !holders.is_empty()).collect(),
        }
    }

    fn orphan(&self, event: EventIndex, effect: EffectName) -> Cause {
        if let Some(cause) = self.swallowed(event, Some(effect)) {
            return cause;
        }
        match self
            .commits(|state| self.receipts(state, event, effect))
            .first()
        {
            Some(receipt) => Cause::ReceiptAlone {
                receipt: *receipt,
                end: self.end_of(*receipt),
            },
            None => Cause::Unnamed,
        }
    }

    /// The first error of this effect that surfaced nowhere.
    fn swallowed(&self, event: EventIndex, effect: Option<EffectName>) -> Option<Cause> {
        let ours = |ran: &Ran| effect.is_none() || ran.effect.is_none() || ran.effect == effect;
        self.acts_on(event).find_map(|act| {
            let (kind, means) = match act.action {
                Action::GaveUp { means } => (RefusalKind::Busy, means),
                Action::Ran(ran) if ours(ran) => match (&ran.heard, &ran.answer) {
                    (Heard::ReplyLost(means), _) => (RefusalKind::Io, means),
                    (Heard::Read(means), Answer::Refused(refusal)) => {
                        let arbitrated =
                            ran.role == Role::Claim && refusal.kind == RefusalKind::Unique;
                        if arbitrated {
                            return None;
                        }
                        (refusal.kind, means)
                    }
                    (_, Answer::Changed(0)) if ran.role == Role::Apply => {
                        return Some(Cause::Silenced { writer: act.deed });
                    }
                    _ => return None,
                },
                _ => return None,
            };
            match means {
                Meaning::Duplicate => Some(Cause::ErrorReadAsDuplicate {
                    reader: act.deed,
                    kind,
                }),
                Meaning::AckAnyway => Some(Cause::ErrorAcked {
                    reader: act.deed,
                    kind,
                }),
                Meaning::Proceed | Meaning::GiveBack => None,
            }
        })
    }

    fn false_success(&self, wanted: DeliveryId) -> Cause {
        let mut acts = self.acts();
        let ack = acts
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

    /// The step after `deed` at which its worker crashed, or turned back with an error.
    fn end_of(&self, deed: Deed) -> Option<usize> {
        let mut later = self
            .acts()
            .filter(|a| a.deed.worker == deed.worker && a.deed.step > deed.step);
        let end = later.find(|act| match act.action {
            Action::Crashed { .. } => true,
            Action::Ran(ran) => matches!(ran.answer, Answer::Refused(_)),
            _ => false,
        });
        end.map(|act| act.deed.step)
    }

    fn acts_on(&self, event: EventIndex) -> impl Iterator<Item = Act<'a>> + use<'a> {
        self.acts().filter(move |act| act.event == event)
    }

    /// Every step that a worker took while it had a delivery.
    fn acts(&self) -> impl Iterator<Item = Act<'a>> + use<'a> {
        let run = self.run;
        let act = move |(index, frame): (usize, &'a Frame)| {
            let Moved::Changed(change) = &frame.moved else {
                return None;
            };
            let worker = frame.step.worker()?;
            let before = run.state_after(index);
            let job = before.worker(worker).job.as_ref()?;
            let event = before.broker.delivery(job.delivery).event;
            Some(Act {
                deed: Deed {
                    worker,
                    step: index + 1,
                },
                event,
                action: &change.action,
            })
        };
        run.frames.iter().enumerate().filter_map(act)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::NothingAsked { first, second } => write!(
                f,
                "{} did again at step {} what {} had done at step {}: nothing in this design asks \
                 whether the event was handled before",
                second.worker, second.step, first.worker, first.step
            ),
            Cause::FlagFalse { first, reader } => write!(
                f,
                "at step {} the flag told {} that this was a first delivery, but {}'s task had been \
                 started from the same event and was committed at step {}",
                reader.step, reader.worker, first.worker, first.step
            ),
            Cause::FlagTrue { reader } => write!(
                f,
                "at step {} {} left the effect out because the flag said redelivered, but no attempt \
                 before it had committed anything",
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
                "{}'s check at step {} found no receipt, because {}'s task of step {} never got one",
                check.worker, check.step, task.worker, task.step
            ),
            Cause::EffectBeforeClaim { second } => write!(
                f,
                "{}'s task was committed at step {}, before the constraint was asked",
                second.worker, second.step
            ),
            Cause::ReceiptWithoutEffect { receipt, believer } => write!(
                f,
                "at step {} {} took {}'s receipt of step {} for proof, and its effect was never \
                 committed",
                believer.step, believer.worker, receipt.worker, receipt.step
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
                "at step {} {} took an error for a duplicate that was none: {}",
                reader.step,
                reader.worker,
                kind.as_str()
            ),
            Cause::ErrorAcked { reader, kind } => write!(
                f,
                "at step {} {} got an error and will ack all the same: {}",
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
                "{} acked at step {}, before the work, which ended at step {end} without a commit",
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
                "at step {} {} told the broker \"done\" while an effect was not committed",
                ack.step, ack.worker
            ),
            Cause::Unnamed => f.write_str("the steps before show how it came to this"),
        }
    }
}

/// A connection's name for people: its worker's letter, or the operator.
pub fn holder_name(connection: ConnectionId) -> String {
    worker_of(connection).map_or_else(|| "the operator".to_owned(), |worker| worker.to_string())
}
