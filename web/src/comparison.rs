//! Both designs, carried out under the same moves: everything the page shows is read from this.

use std::collections::BTreeSet;
use std::rc::Rc;

use deliver_twice_core::Result;
use deliver_twice_core::broker::WorkerId;
use deliver_twice_core::cause::{Cause, explain};
use deliver_twice_core::design::Design;
use deliver_twice_core::plan::Role;
use deliver_twice_core::property::Violation;
use deliver_twice_core::run::{Frame, Moved, Run};
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::{Schedule, Step};
use deliver_twice_core::sql::Answer;
use deliver_twice_core::state::{Origin, State};
use deliver_twice_core::system::{Action, System};
use rusqlite::types::Value;

use crate::session::{Session, Side};

/// One design's run, and the machine that carried it out.
#[derive(Debug)]
pub struct SideRun {
    /// The design.
    pub design: Design,
    /// The machine, for its plan and the names of things.
    pub system: System,
    /// The run, through all the moves of the session.
    pub run: Run,
}

/// Both designs under the same moves.
#[derive(Debug)]
pub struct Comparison {
    sides: [SideRun; 2],
    /// The first move, counted from 1, that the two designs answered differently.
    pub parting: Option<usize>,
}

/// A comparison that components share: equal if it is the same one.
#[derive(Clone, Debug)]
pub struct Shared(pub Rc<Comparison>);

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// A violation that stands at some step, with its cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What is violated.
    pub violation: Violation,
    /// Why.
    pub cause: Cause,
}

impl Comparison {
    /// Carries the moves out on both designs, with as many faults as the bounds have.
    ///
    /// # Errors
    /// Those of the machine: SQLite refused something that no design is meant to fail at.
    pub fn new(
        designs: [Design; 2],
        scenario: Scenario,
        bounds: Bounds,
        schedule: &Schedule,
    ) -> Result<Self> {
        let [left, right] = designs;
        let sides = [
            SideRun::new(left, scenario, bounds, schedule)?,
            SideRun::new(right, scenario, bounds, schedule)?,
        ];
        let parting = parting(&sides[0].run, &sides[1].run);
        Ok(Comparison { sides, parting })
    }

    /// The comparison that a session shows.
    ///
    /// # Errors
    /// As for [`Comparison::new`].
    pub fn of(session: &Session) -> Result<Self> {
        let Session {
            designs,
            scenario,
            schedule,
            ..
        } = session;
        Comparison::new(*designs, *scenario, session.bounds_by_hand(), schedule)
    }

    /// The comparison that a session shows, on the machines of one that is not needed any more. If that shows
    /// the beginning of the same moves, only those that follow are carried out.
    ///
    /// # Errors
    /// As for [`Comparison::new`].
    pub fn resumed(self, session: &Session) -> Result<Self> {
        let is_put_to_the_same = |side: &SideRun| {
            *side.system.scenario() == session.scenario
                && side.run.start.left == session.bounds_by_hand()
        };
        let [left, right] = self.sides;
        let is_same = [left.design, right.design] == session.designs
            && is_put_to_the_same(&left)
            && is_put_to_the_same(&right);
        if !is_same {
            return Comparison::of(session);
        }
        let sides = [left.led(&session.schedule)?, right.led(&session.schedule)?];
        let parting = parting(&sides[0].run, &sides[1].run);
        Ok(Comparison { sides, parting })
    }

    /// One side.
    pub fn side(&self, side: Side) -> &SideRun {
        &self.sides[side as usize]
    }

    /// The workers of both sides, in the order of their ids.
    pub fn cast(&self) -> Vec<WorkerId> {
        let sides = self.sides.iter();
        let workers = sides.flat_map(|side| side.run.start.workers().map(|(id, _)| id));
        workers.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// What may happen next on either side after so many moves, in the order of steps.
    pub fn enabled_after(&self, moves: usize) -> Vec<Step> {
        let sides = self.sides.iter();
        let mut steps: Vec<Step> = sides
            .flat_map(|side| side.run.enabled_after(moves).iter().copied())
            .collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// The step that a run takes by itself after so many moves: one that gets the system on, by another
    /// worker than the last if there is a choice.
    pub fn natural_step(&self, moves: usize) -> Option<Step> {
        let last = moves
            .checked_sub(1)
            .and_then(|i| self.sides[0].run.frames[i].step.worker());
        let steps = self.enabled_after(moves);
        let mut progress = steps.iter().copied().filter(|step| step.is_progress());
        let other = progress.clone().find(|step| step.worker() != last);
        other.or_else(|| progress.next())
    }
}

impl SideRun {
    fn new(
        design: Design,
        scenario: Scenario,
        bounds: Bounds,
        schedule: &Schedule,
    ) -> Result<Self> {
        let system = System::new(design, scenario, bounds)?;
        let side = SideRun {
            design,
            run: Run::started(&system),
            system,
        };
        side.led(schedule)
    }

    /// The same machine at the end of this schedule: from where it stands if that is on the way, and from the
    /// start if it is not.
    fn led(mut self, schedule: &Schedule) -> Result<Self> {
        let frames = &self.run.frames;
        let is_on_the_way = frames.len() <= schedule.0.len()
            && frames
                .iter()
                .zip(&schedule.0)
                .all(|(frame, step)| frame.step == *step);
        if !is_on_the_way {
            self.system.restart()?;
            self.run = Run::started(&self.system);
        }
        for step in &schedule.0[self.run.frames.len()..] {
            self.run.take(&mut self.system, *step)?;
        }
        Ok(self)
    }

    /// The steps that this side really took within so many moves: a schedule of its own.
    pub fn own_schedule(&self, moves: usize) -> Schedule {
        let frames = self.run.frames.iter().take(moves);
        let taken = frames.filter(|frame| matches!(frame.moved, Moved::Changed(_)));
        Schedule(taken.map(|frame| frame.step).collect())
    }

    /// The state after so many moves.
    pub fn state(&self, moves: usize) -> &State {
        self.run.state_after(moves)
    }

    /// The row of a move, counted from 1.
    pub fn frame(&self, number: usize) -> Option<&Frame> {
        number
            .checked_sub(1)
            .and_then(|index| self.run.frames.get(index))
    }

    /// What is violated after so many moves, and why.
    pub fn findings(&self, moves: usize) -> Vec<Finding> {
        self.explained(moves, |frame| &frame.violations)
    }

    /// What has happened within so many moves and is allowed, and how it came to it.
    pub fn noted(&self, moves: usize) -> Vec<Finding> {
        self.explained(moves, |frame| &frame.noted)
    }

    fn explained(&self, moves: usize, of: fn(&Frame) -> &Vec<Violation>) -> Vec<Finding> {
        let run = self.run.until(moves);
        let find = |violation: &Violation| Finding {
            violation: violation.clone(),
            cause: explain(&self.system, &run, violation),
        };
        let last = run.frames.last();
        last.map_or(vec![], |frame| of(frame).iter().map(find).collect())
    }

    /// The id of a task, by where it comes from.
    pub fn task_id(&self, origin: &Origin) -> String {
        self.system.task_id(origin).to_owned()
    }

    /// What is violated after a move, counted from 1, that was not before it: the first such.
    pub fn breach(&self, number: usize) -> Option<Violation> {
        let frame = self.frame(number)?;
        let before = number
            .checked_sub(2)
            .map_or(&[][..], |i| &self.run.frames[i].violations[..]);
        let mut new = frame.violations.iter().filter(|v| !before.contains(v));
        new.next().cloned()
    }

    /// The worker that wrote the task with this id, within so many moves.
    pub fn author(&self, task_id: &str, moves: usize) -> Option<WorkerId> {
        self.run.frames.iter().take(moves).rev().find_map(|frame| {
            let Moved::Changed(change) = &frame.moved else { return None };
            let Action::Ran(ran) = &change.action else { return None };
            let is_it = ran.role == Role::Apply
                && matches!(ran.answer, Answer::Changed(1..))
                && matches!(ran.statement.values.first(), Some((_, Value::Text(id))) if id == task_id);
            if is_it { change.step.worker() } else { None }
        })
    }
}

/// The first move that one design took and the other did not, or that SQLite answered differently.
fn parting(left: &Run, right: &Run) -> Option<usize> {
    let mut pairs = left.frames.iter().zip(&right.frames);
    pairs
        .position(|(l, r)| gist(l) != gist(r))
        .map(|index| index + 1)
}

/// What a row says, apart from names and values.
fn gist(frame: &Frame) -> String {
    match &frame.moved {
        Moved::Nothing(_) => "nothing".to_owned(),
        Moved::Changed(change) => match &change.action {
            Action::Ran(ran) => format!("{:?} {:?}", ran.statement.sql, ran.answer),
            other => format!("{other:?}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Language;
    use deliver_twice_core::property::Verdict;

    fn of(session: &Session) -> Comparison {
        Comparison::of(session).unwrap()
    }

    fn opening() -> (Session, Comparison) {
        let session = Session::opening(Language::English);
        let comparison = of(&session);
        (session, comparison)
    }

    #[test]
    fn the_page_opens_on_the_step_that_makes_the_duplicate() {
        let (session, comparison) = opening();
        let left = comparison.side(Side::Left);
        assert!(left.breach(session.cursor).is_some());
        assert_eq!(
            left.findings(session.cursor)[0].violation.verdict(),
            Verdict::DuplicateEffect
        );
        assert!(
            left.findings(session.cursor - 1)
                .iter()
                .all(|finding| { finding.violation.verdict() != Verdict::DuplicateEffect })
        );
        assert!(
            comparison
                .side(Side::Right)
                .findings(session.cursor)
                .is_empty()
        );
    }

    #[test]
    fn the_opening_run_ends_with_two_tasks_on_one_side_and_one_on_the_other() {
        let (session, comparison) = opening();
        let end = session.schedule.0.len();
        let tasks = |side| comparison.side(side).state(end).committed.tasks.len();
        assert_eq!((tasks(Side::Left), tasks(Side::Right)), (2, 1));
        assert!(
            Side::BOTH
                .iter()
                .all(|side| comparison.side(*side).state(end).is_settled())
        );
    }

    #[test]
    fn a_machine_that_goes_on_comes_to_what_a_new_one_comes_to() {
        let links = [
            "?seq=s1:dA.A2",
            "?seq=s1:dA.A2.dB.B2.xA",
            "?seq=s1:dA.A2.dB.B2.xA.dA.A3.B",
            "?seq=s1:dA.A",
            "?seq=s1:dB.B3.A.gA",
            "?seq=s1:",
            "?seq=s1:dA.A&workers=3",
            "?seq=s1:P4.R4.dA.A3&left=outbox&right=outbox",
            "?seq=s1:P4.R2.xR.e.R4&left=outbox&right=outbox",
        ];
        let mut kept: Option<Comparison> = None;
        for link in links {
            let (session, bad) = crate::permalink::read(link, Language::English);
            assert!(bad.is_empty(), "{bad:?}");
            let anew = of(&session);
            let resumed = kept.map_or_else(|| Comparison::of(&session), |k| k.resumed(&session));
            let resumed = resumed.unwrap();
            for side in Side::BOTH {
                let runs = [&anew, &resumed].map(|run| format!("{:?}", run.side(side).run));
                assert_eq!(runs[0], runs[1], "{link}");
            }
            assert_eq!(anew.parting, resumed.parting);
            kept = Some(resumed);
        }
    }

    #[test]
    fn the_designs_part_where_one_looks_and_the_other_begins() {
        assert_eq!(opening().1.parting, Some(2));
    }

    #[test]
    fn a_run_by_itself_comes_to_an_end() {
        let (mut session, _) = opening();
        session = session.after(crate::session::Action::Restart);
        for _ in 0..100 {
            let comparison = of(&session);
            let Some(step) = comparison.natural_step(session.cursor) else {
                return;
            };
            session = session.after(crate::session::Action::Take(step));
        }
        panic!("it goes on after {}", session.schedule);
    }
}
