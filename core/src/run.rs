//! A schedule carried out from the start: what each step did, and the state and violations after it.

use std::rc::Rc;

use crate::broker::WorkerId;
use crate::database::Database;
use crate::design::Design;
use crate::disk::ConnectionId;
use crate::error::{Error, Result};
use crate::property::{Violation, violations};
use crate::scenario::{Bounds, Scenario};
use crate::schedule::{Schedule, Step};
use crate::state::State;
use crate::system::{Change, System};

/// One row of a run.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The step that was asked for.
    pub step: Step,
    /// What it did, or why it did nothing.
    pub moved: Moved,
    /// The state after it.
    pub state: Rc<State>,
    /// What is violated in that state.
    pub violations: Vec<Violation>,
    /// What happened and is allowed: no violation, and worth a note.
    pub noted: Vec<Violation>,
    /// For each worker, in the order of their ids, whom it waits for then.
    pub waits: Vec<Vec<ConnectionId>>,
    /// What may happen next.
    pub enabled: Vec<Step>,
}

impl Frame {
    /// Whom a worker waits for. Nobody, if there is no such worker.
    pub fn waits_of(&self, worker: WorkerId) -> &[ConnectionId] {
        let place = self.state.place_of(worker);
        place.map_or(&[], |place| &self.waits[place])
    }
}

/// Whether a step could be taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Moved {
    /// It was.
    Changed(Change),
    /// It could not be, in this design: the row stands for the other design's sake.
    Nothing(Pause),
}

/// Why a step that another design took does nothing here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The worker waits for these.
    Waits(Vec<ConnectionId>),
    /// The worker has no delivery.
    Idle,
    /// The worker has one already.
    Busy,
    /// The queue is empty.
    NothingQueued,
    /// The step makes no sense at this point.
    NotNow,
}

/// A run: the frames after the start.
#[derive(Clone, Debug)]
pub struct Run {
    /// The state at the start.
    pub start: Rc<State>,
    /// What may happen first.
    pub enabled: Vec<Step>,
    /// What followed.
    pub frames: Vec<Frame>,
}

impl Run {
    /// Carries out `schedule`, in which every step must be enabled when its turn comes.
    ///
    /// # Errors
    /// [`Error::NotEnabled`] with what was enabled instead, and the errors of [`System::new`] and
    /// [`System::apply`].
    pub fn exact(
        design: Design,
        scenario: Scenario,
        bounds: Bounds,
        schedule: &Schedule,
    ) -> Result<Run> {
        let mut system = System::new(design, scenario, bounds)?;
        let mut run = Run::started(&system);
        for (index, step) in schedule.0.iter().enumerate() {
            if !system.is_enabled(*step) {
                return Err(Error::NotEnabled {
                    number: index + 1,
                    wanted: step.to_string(),
                    enabled: system.enabled().iter().map(Step::to_string).collect(),
                });
            }
            run.take(&mut system, *step)?;
        }
        Ok(run)
    }

    /// A run of no steps yet.
    pub fn started<D: Database>(system: &System<D>) -> Run {
        Run {
            start: Rc::new(system.state().clone()),
            enabled: system.enabled(),
            frames: vec![],
        }
    }

    /// Takes `step` if the machine offers it, and otherwise notes why nothing happens.
    ///
    /// That is how one sequence of moves drives two designs: the rows stay side by side.
    ///
    /// # Errors
    /// Those of [`System::apply`].
    pub fn take<D: Database>(&mut self, system: &mut System<D>, step: Step) -> Result<()> {
        let moved = if system.is_enabled(step) {
            Moved::Changed(system.apply(step)?)
        } else {
            Moved::Nothing(pause(system, step))
        };
        system.look_as_workers()?;
        let workers = system.state().workers().map(|(id, _)| id);
        let (noted, violations) = violations(system)
            .into_iter()
            .partition(Violation::is_allowed);
        self.frames.push(Frame {
            step,
            moved,
            waits: workers.map(|id| system.waits_for(id)).collect(),
            violations,
            noted,
            enabled: system.enabled(),
            state: Rc::new(system.state().clone()),
        });
        Ok(())
    }

    /// The state after `steps` steps; the start for 0.
    ///
    /// # Panics
    /// If the run has fewer steps.
    pub fn state_after(&self, steps: usize) -> &Rc<State> {
        match steps {
            0 => &self.start,
            _ => &self.frames[steps - 1].state,
        }
    }

    /// What may happen after `steps` steps.
    ///
    /// # Panics
    /// If the run has fewer steps.
    pub fn enabled_after(&self, steps: usize) -> &[Step] {
        match steps {
            0 => &self.enabled,
            _ => &self.frames[steps - 1].enabled,
        }
    }

    /// The run as it was after `steps` steps, or the whole run if it has fewer.
    pub fn until(&self, steps: usize) -> Run {
        let frames = self.frames.iter().take(steps).cloned().collect();
        Run {
            start: Rc::clone(&self.start),
            enabled: self.enabled.clone(),
            frames,
        }
    }

    /// The run without the rows at which nothing happened: its steps are a schedule for
    /// [`Run::exact`].
    pub fn taken(&self) -> Run {
        let is_taken = |frame: &&Frame| matches!(frame.moved, Moved::Changed(_));
        Run {
            start: Rc::clone(&self.start),
            enabled: self.enabled.clone(),
            frames: self.frames.iter().filter(is_taken).cloned().collect(),
        }
    }

    /// The violations after the last step.
    pub fn violations(&self) -> &[Violation] {
        self.frames.last().map_or(&[], |frame| &frame.violations)
    }
}

fn pause<D: Database>(system: &System<D>, step: Step) -> Pause {
    let Some(worker) = step.worker() else {
        return Pause::NotNow;
    };
    if system.state().place_of(worker).is_none() {
        return Pause::NotNow;
    }
    let is_idle = |id: WorkerId| system.state().worker(id).job.is_none();
    match step {
        Step::Deliver(id) if !is_idle(id) => Pause::Busy,
        Step::Deliver(_) => Pause::NothingQueued,
        _ if is_idle(worker) => Pause::Idle,
        Step::Work(id) => Pause::Waits(system.waits_for(id)),
        _ => Pause::NotNow,
    }
}
