//! How a visitor stands with an exercise or with the question of a lesson: read from his run and from the
//! searches, and kept nowhere.

use deliver_twice_core::axis::Axis;
use deliver_twice_core::design::Design;
use deliver_twice_core::lesson::{About, Lesson};
use deliver_twice_core::property::Verdict;
use deliver_twice_core::schedule::Schedule;
use deliver_twice_core::state::State;

use crate::comparison::{Comparison, SideRun};
use crate::search::messages::Findings;
use crate::search::task::Searches;
use crate::session::{Session, Side};

/// What a schedule costs: steps first, and then switches from one actor to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// How many steps.
    pub steps: usize,
    /// How often one actor's step follows another's.
    pub switches: usize,
}

impl Cost {
    /// The cost of a schedule.
    pub fn of(schedule: &Schedule) -> Self {
        Cost {
            steps: schedule.0.len(),
            switches: schedule.switches(),
        }
    }
}

/// How a run solves a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The move that brought the verdict about, counted from 1.
    pub row: usize,
    /// What it took to get there. Moves that did nothing cost nothing.
    pub cost: Cost,
}

/// Where a run first comes to a verdict; `None` if it does not.
pub fn solution(run: &SideRun, verdict: Verdict) -> Option<Solution> {
    let is_reached = |violations: &[_]| {
        let mut violations = violations
            .iter()
            .map(deliver_twice_core::property::Violation::verdict);
        violations.any(|found| found == verdict)
    };
    let mut frames = run.run.frames.iter();
    let row = 1 + frames.position(|frame| is_reached(&frame.violations))?;
    Some(Solution {
        row,
        cost: Cost::of(&run.own_schedule(row)),
    })
}

/// How a solution compares with the best there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// Nobody can do it in fewer steps, nor in as many with fewer switches.
    Best,
    /// In as few steps as can be, and with more switches than that takes.
    FewestSteps,
    /// In more steps.
    Longer,
}

/// Grades a solution by the best there is.
pub fn grade(own: Cost, best: Cost) -> Grade {
    match (own.steps > best.steps, own.switches > best.switches) {
        (true, _) => Grade::Longer,
        (false, true) => Grade::FewestSteps,
        (false, false) => Grade::Best,
    }
}

/// The simplest schedule to a verdict, if the search tried every one and found it.
pub fn optimum(findings: &Findings, verdict: Verdict) -> Option<Schedule> {
    let mut found = findings.counterexamples.iter();
    let (_, schedule) = found.find(|(name, _)| findings.exhausted && name == verdict.as_str())?;
    schedule.parse().ok()
}

/// A repair with one of its changes taken back, to see what that change is for. `None` if nothing was
/// changed on this axis, or if the choice that was there makes no sense beside the others.
pub fn taken_back(axis: Axis, [start, repaired]: [Design; 2]) -> Option<Design> {
    let back = axis.taken_from(&start, repaired);
    (back != repaired && back.nonsense().is_none()).then_some(back)
}

/// Whether the exercise is solved, by whomever.
pub fn is_solved(session: &Session, run: &Comparison, searches: &Searches) -> bool {
    match session.puzzle() {
        Some(verdict) => solution(run.side(Side::Left), verdict).is_some(),
        None => {
            let findings = searches.side(Side::Right).findings();
            session.is_repair() && findings.is_some_and(Findings::holds)
        }
    }
}

/// The run of the side that the lesson's question is about, while the visitor keeps to its schedule.
fn asked_about<'a>(session: &Session, run: &'a Comparison, lesson: &Lesson) -> Option<&'a SideRun> {
    let keeps_to_it = session.schedule == lesson.schedule && session.designs == lesson.designs;
    keeps_to_it.then(|| run.side(Side::BOTH[lesson.asks.side]))
}

/// The state at the end of the lesson's schedule, on the side that its question is about.
pub fn end<'a>(session: &Session, run: &'a Comparison, lesson: &Lesson) -> Option<&'a State> {
    Some(asked_about(session, run, lesson)?.state(lesson.schedule.0.len()))
}

/// The right answer to the lesson's question, as the machine or the search computed it. `None` while the
/// search is not over, or once the visitor has left the lesson's schedule.
pub fn truth(session: &Session, run: &Comparison, searches: &Searches) -> Option<u32> {
    let lesson = session.lesson?;
    match lesson.asks.about {
        About::TooLate => {
            let percent = &searches.side(Side::BOTH[lesson.asks.side]).percent;
            too_late(asked_about(session, run, lesson)?, percent, lesson)
        }
        counted => counted.count_in(end(session, run, lesson)?),
    }
}

/// After which step of a lesson's schedule every future fails, by the share after each of the side's own.
fn too_late(run: &SideRun, percent: &[Option<f64>], lesson: &Lesson) -> Option<u32> {
    let is_certain = |number: &usize| {
        let taken = run.own_schedule(*number).0.len();
        let share = percent.get(taken).copied().flatten();
        share.is_some_and(|share| share >= 100.0)
    };
    let first = (0..=lesson.schedule.0.len()).find(is_certain);
    first.map(|number| number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Language;
    use crate::session::Action;
    use deliver_twice_core::exercise;

    fn solved(id: &str, schedule: &str) -> Option<Solution> {
        let puzzle = exercise::named(id).unwrap();
        let exercise::Goal::Break(verdict) = puzzle.goal else {
            panic!("{id} is a repair")
        };
        let mut session = Session::opening(Language::English).after(Action::Exercise(puzzle));
        for step in schedule.parse::<Schedule>().unwrap().0 {
            session = session.after(Action::Take(step));
        }
        solution(Comparison::of(&session).unwrap().side(Side::Left), verdict)
    }

    #[test]
    fn a_puzzle_is_solved_by_the_step_that_brings_its_verdict_about() {
        assert_eq!(solved("two-look-at-once", "s1:dA.A.dB.B3.A"), None);
        let cost = Cost {
            steps: 8,
            switches: 2,
        };
        let first = solved("two-look-at-once", "s1:dA.A.dB.B3.A2").unwrap();
        assert_eq!(first, Solution { row: 8, cost });
        let later = solved("two-look-at-once", "s1:dA.A.dB.B3.A3.B").unwrap();
        assert_eq!(later, first);
    }

    #[test]
    fn a_move_that_does_nothing_costs_nothing() {
        let cost = Cost {
            steps: 3,
            switches: 0,
        };
        let solution = solved("done-before-begun", "s1:dA.dA.B.A.xA");
        assert_eq!(solution, Some(Solution { row: 5, cost }));
    }

    #[test]
    fn a_fault_beyond_the_bounds_does_not_happen() {
        assert_eq!(solved("effect-alone", "s1:dA.A3.rA.A.dA.A4"), None);
    }

    #[test]
    fn steps_count_before_switches() {
        let cost = |steps, switches| Cost { steps, switches };
        assert_eq!(grade(cost(8, 2), cost(8, 2)), Grade::Best);
        assert_eq!(grade(cost(8, 3), cost(8, 2)), Grade::FewestSteps);
        assert_eq!(grade(cost(9, 0), cost(8, 2)), Grade::Longer);
    }

    #[test]
    fn the_optimum_is_that_of_a_search_that_tried_everything() {
        let mut findings = Findings {
            exhausted: true,
            states: 9,
            schedules: "2".to_owned(),
            failing: "1".to_owned(),
            percent: 50.0,
            verdicts: vec![],
            counterexamples: vec![("stuck".to_owned(), "s1:dA.A".to_owned())],
            passing: None,
        };
        let found = optimum(&findings, Verdict::Stuck).unwrap();
        assert_eq!(found.to_string(), "s1:dA.A");
        assert_eq!(optimum(&findings, Verdict::LostEffect), None);
        findings.exhausted = false;
        assert_eq!(optimum(&findings, Verdict::Stuck), None);
    }

    #[test]
    fn a_change_is_taken_back_alone_or_not_at_all() {
        let design = |name: &str| name.parse::<Design>().unwrap();
        let pair = [
            design("check-then-insert"),
            design("constraint-arbitration"),
        ];
        assert_eq!(
            taken_back(Axis::Arbitration, pair),
            Some(design("check-in-transaction"))
        );
        assert_eq!(
            taken_back(Axis::Key, pair),
            None,
            "nothing was changed there"
        );
        let immediate =
            "check-then-insert.one-transaction.event-and-effect.target-only.after-commit.immediate";
        let pair = [design("check-then-insert"), design(immediate)];
        assert_eq!(
            taken_back(Axis::Grouping, pair),
            None,
            "nothing begins under autocommit"
        );
    }
}
