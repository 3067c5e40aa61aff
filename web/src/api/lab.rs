//! A laboratory and a search as a program drives them.

use std::sync::atomic::{AtomicU32, Ordering};

use deliver_twice_core::cause::{explain, holder_name};
use deliver_twice_core::explore::{self, Count, Coverage, Exploration};
use deliver_twice_core::export::{self, Export};
use deliver_twice_core::run::{Frame, Moved, Run};
use deliver_twice_core::schedule::{Schedule, Step};
use deliver_twice_core::schema;
use deliver_twice_core::system::{self, Action, System};

use super::answers::{
    Counterexample, CoverageName, DeliveryState, EnabledStep, Exported, Findings, Format, Progress,
    Refusal, State, Statement, StepTaken, VerdictCount, VerdictName, Violation, Worker, keyed,
};
use super::given::{self, Given, Request};
use super::refusal::{Answered, Why};

/// A place among those that may be open at once. Each has memory of its own, and a page has only so much.
struct Place(&'static AtomicU32);

impl Place {
    fn take(taken: &'static AtomicU32, most: u32, what: &str) -> Answered<Self> {
        let place = taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
            (taken < most).then_some(taken + 1)
        });
        place.map(|_| Place(taken)).map_err(|_| {
            let message = format!("{most} {what} are open; free one first");
            Refusal::new(Why::TooManyOpen, "options", message)
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A machine with its run, of which every step was taken.
pub struct Lab {
    system: System,
    run: Run,
    _place: Place,
}

impl Lab {
    /// The most that may be open at once.
    pub const OPEN_MAX: u32 = 64;

    /// A laboratory as the options ask for.
    ///
    /// # Errors
    /// What is wrong with the options; `too-many-open`.
    pub fn open(options: Given) -> Answered<Self> {
        static OPEN: AtomicU32 = AtomicU32::new(0);
        let request = given::lab_options(options)?;
        let place = Place::take(&OPEN, Self::OPEN_MAX, "laboratories")?;
        let Request {
            design,
            scenario,
            bounds,
            ..
        } = request;
        let system = System::new(design, scenario, bounds)
            .map_err(|error| Refusal::of(&error, "options"))?;
        let mut lab = Lab {
            run: Run::started(&system),
            system,
            _place: place,
        };
        if let Some(schedule) = request.schedule {
            lab.carry_out(&schedule, Unfit::Refused, "options.schedule")?;
        }
        Ok(lab)
    }

    /// The steps that may happen next, in their fixed order.
    pub fn enabled(&self) -> Vec<EnabledStep> {
        let length = self.run.frames.len();
        let steps = self.run.enabled_after(length).iter();
        steps.map(EnabledStep::from).collect()
    }

    /// Takes a step.
    ///
    /// # Errors
    /// `bad-schedule` for what is no step, `not-enabled`, `too-long` for one more than a run may have.
    pub fn step(&mut self, step: Given) -> Answered<StepTaken> {
        let step = given::step(step, "step")?;
        self.take(step, "step")?;
        Ok(self.taken_from(self.run.frames.len()).remove(0))
    }

    /// The steps that were taken, in order.
    pub fn steps(&self) -> Vec<StepTaken> {
        self.taken_from(1)
    }

    /// Goes back to the start and carries a schedule out. If that cannot be done, nothing is changed.
    ///
    /// # Errors
    /// `bad-schedule`; `not-enabled` with the number of the step, unless such steps are left out.
    pub fn replay(&mut self, schedule: Given, unfit: Unfit) -> Answered<State> {
        let schedule = given::schedule(schedule, "schedule")?;
        let before = self.schedule();
        if let Err(refusal) = self.carry_out(&schedule, unfit, "schedule") {
            self.carry_out(&before, Unfit::Refused, "schedule")?;
            return Err(refusal);
        }
        Ok(self.state())
    }

    /// Goes back to the state after so many steps, and forgets those that came after it.
    ///
    /// # Errors
    /// `bad-argument`, `out-of-range`.
    pub fn go_to(&mut self, steps: Given) -> Answered<State> {
        let most = self.run.frames.len();
        let steps = steps.whole("steps", 0, most as u32)?;
        let kept = Schedule(self.schedule().0[..steps as usize].to_vec());
        self.carry_out(&kept, Unfit::Refused, "steps")?;
        Ok(self.state())
    }

    /// Takes the last step back. At the start there is none, and nothing is changed.
    ///
    /// # Errors
    /// `database`.
    pub fn undo(&mut self) -> Answered<State> {
        let steps = self.run.frames.len().saturating_sub(1);
        self.go_to(Given::Number(steps as f64))
    }

    /// The state it is in.
    pub fn state(&self) -> State {
        let state = self.system.state();
        let [violations, noted] = self.found(self.run.frames.len());
        let worker = |(id, worker)| Worker::of(worker, &self.system.waits_for(id));
        State {
            at: self.run.frames.len() as u32,
            schedule: self.schedule().to_string(),
            design: self.system.design().to_string(),
            scenario: (*self.system.scenario()).into(),
            left: state.left.into(),
            enabled: self.enabled(),
            is_settled: state.is_settled(),
            workers: state.workers().map(worker).collect(),
            deliveries: state.broker.deliveries().map(DeliveryState::from).collect(),
            tables: state.committed.as_ref().into(),
            sent: state.sent.iter().map(Into::into).collect(),
            violations,
            noted,
        }
    }

    /// The run, to take away.
    ///
    /// # Errors
    /// `bad-argument`, `unknown-name`.
    pub fn export(&self, format: Given) -> Answered<Exported> {
        let name = format.name("format")?;
        let format = Export::named(&name).ok_or_else(|| {
            let found: String = name.chars().take(40).collect();
            let known = Export::ALL.map(Export::as_str).join(", ");
            let message = format!("`{found}` is unknown; expected one of {known}");
            Refusal::new(Why::UnknownName, "format", message)
        })?;
        Ok(Exported {
            format: Format(format.as_str()),
            file_name: format.file_name(&self.system.design()),
            media_type: format.media_type(),
            text: format.text(&self.system, &self.run),
        })
    }

    /// The steps that were taken.
    fn schedule(&self) -> Schedule {
        Schedule(self.run.frames.iter().map(|frame| frame.step).collect())
    }

    /// Goes back to the start and takes these steps.
    fn carry_out(&mut self, schedule: &Schedule, unfit: Unfit, argument: &str) -> Answered<()> {
        self.system
            .restart()
            .map_err(|error| Refusal::of(&error, argument))?;
        self.run = Run::started(&self.system);
        for (index, step) in schedule.0.iter().enumerate() {
            if unfit == Unfit::LeftOut && !self.system.is_enabled(*step) {
                continue;
            }
            self.take(*step, argument).map_err(|mut refusal| {
                refusal.position.step = Some(index as u32 + 1);
                refusal
            })?;
        }
        Ok(())
    }

    fn take(&mut self, step: Step, argument: &str) -> Answered<()> {
        if !self.system.is_enabled(step) {
            let enabled: Vec<String> = self.system.enabled().iter().map(Step::to_string).collect();
            let message = format!(
                "`{step}` may not be taken now; enabled: {}",
                enabled.join(", ")
            );
            return Err(Refusal::new(Why::NotEnabled, argument, message));
        }
        if self.run.frames.len() >= Schedule::STEPS_MAX {
            let message = format!("a run has at most {} steps", Schedule::STEPS_MAX);
            return Err(Refusal::new(Why::TooLong, argument, message));
        }
        self.run
            .take(&mut self.system, step)
            .map_err(|error| Refusal::of(&error, argument))
    }

    /// The steps that were taken, from this number on.
    fn taken_from(&self, first: usize) -> Vec<StepTaken> {
        let told = export::told(&self.system, &self.run);
        let numbered = (1..).zip(&self.run.frames).zip(told).skip(first - 1);
        numbered
            .map(|((number, frame), told)| {
                let [violations, noted] = self.found(number);
                let worker = frame.step.worker();
                let waits_for = worker.map_or(&[][..], |id| frame.waits_of(id));
                StepTaken {
                    number: number as u32,
                    step: frame.step.to_string(),
                    who: told.who,
                    says: told.says,
                    statement: statement(frame),
                    waits_for: waits_for.iter().map(|id| holder_name(*id)).collect(),
                    violations,
                    noted,
                }
            })
            .collect()
    }

    /// What is violated after so many steps, and what is noted.
    fn found(&self, steps: usize) -> [Vec<Violation>; 2] {
        let Some(frame) = steps.checked_sub(1).map(|last| &self.run.frames[last]) else {
            return [vec![], vec![]];
        };
        let until = self.run.until(steps);
        [&frame.violations, &frame.noted].map(|found| {
            let told = found.iter().map(|violation| Violation {
                verdict: VerdictName(violation.verdict().as_str()),
                property: violation.verdict().property(),
                cause: explain(&self.system, &until, violation).to_string(),
            });
            told.collect()
        })
    }
}

/// What becomes of a step of a schedule that may not be taken when its turn comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The schedule is refused.
    Refused,
    /// The step is left out: the schedule was written for two designs, and this is the other's.
    LeftOut,
}

/// The statement that a step ran, if it ran one.
fn statement(frame: &Frame) -> Option<Statement> {
    let Moved::Changed(change) = &frame.moved else {
        return None;
    };
    let system::Statement { sql, values } = match &change.action {
        Action::Ran(ran) => &ran.statement,
        Action::TicketAdded(statement) => statement,
        _ => return None,
    };
    let values = values
        .iter()
        .map(|(name, value)| (*name, schema::literal(value)));
    Some(Statement {
        sql,
        values: keyed(values),
    })
}

/// A search of every schedule, in slices.
pub struct Search {
    exploration: Exploration,
    _place: Place,
}

impl Search {
    /// The most that may be open at once.
    pub const OPEN_MAX: u32 = 8;
    /// The most steps of one slice.
    pub const SLICE_MAX: u32 = 100_000;

    /// A search as the options ask for.
    ///
    /// # Errors
    /// What is wrong with the options; `too-many-open`.
    pub fn open(options: Given) -> Answered<Self> {
        static OPEN: AtomicU32 = AtomicU32::new(0);
        let request = given::search_options(options)?;
        let place = Place::take(&OPEN, Self::OPEN_MAX, "searches")?;
        let Request {
            design,
            scenario,
            bounds,
            states_max,
            ..
        } = request;
        let exploration = Exploration::new(design, scenario, bounds, states_max.into())
            .map_err(|error| Refusal::of(&error, "options"))?;
        Ok(Search {
            exploration,
            _place: place,
        })
    }

    /// Tries up to so many further steps, and says how far the search has come.
    ///
    /// # Errors
    /// `bad-argument`, `out-of-range`, `database`.
    pub fn advance(&mut self, steps: Given) -> Answered<Progress> {
        let steps = steps.whole("steps", 1, Self::SLICE_MAX)?;
        let coverage = self
            .exploration
            .advance(steps.into())
            .map_err(|error| Refusal::of(&error, "options"))?;
        let (unexplored, is_over) = match coverage {
            Coverage::Exhausted => (0, true),
            Coverage::Running { unexplored } => (unexplored, false),
            Coverage::Cut { unexplored, .. } => (unexplored, true),
        };
        Ok(Progress {
            states: self.exploration.states() as u32,
            steps: self.exploration.transitions() as f64,
            unexplored: unexplored as u32,
            is_over,
        })
    }

    /// What was found so far.
    ///
    /// # Errors
    /// `database`.
    pub fn findings(&self) -> Answered<Findings> {
        let report = self.exploration.report();
        let counted = report
            .verdicts
            .iter()
            .filter(|count| count.schedules > Count::ZERO);
        let coverage = match report.coverage {
            Coverage::Exhausted => "exhausted",
            Coverage::Running { .. } | Coverage::Cut { .. } => "cut",
        };
        Ok(Findings {
            holds: report.holds(),
            coverage: CoverageName(coverage),
            states: report.states as u32,
            schedules: report.schedules.to_string(),
            failing: report.failing.to_string(),
            failing_share: report.failing.share_of(report.schedules),
            verdicts: counted
                .map(|count| VerdictCount {
                    verdict: VerdictName(count.verdict.as_str()),
                    schedules: count.schedules.to_string(),
                })
                .collect(),
            counterexamples: self.told(&report.counterexamples)?,
            allowed: self.told(&report.allowed)?,
            passing: report.passing.as_ref().map(Schedule::to_string),
            says: report.in_words(),
        })
    }

    fn told(&self, found: &[explore::Counterexample]) -> Answered<Vec<Counterexample>> {
        let told = found.iter().map(|found| {
            let cause = self
                .exploration
                .sentence(found.verdict, &found.schedule)
                .map_err(|error| Refusal::of(&error, "options"))?;
            Ok(Counterexample {
                verdict: VerdictName(found.verdict.as_str()),
                schedule: found.schedule.to_string(),
                steps: found.schedule.0.len() as u32,
                cause: cause.unwrap_or_default(),
            })
        });
        told.collect()
    }
}
