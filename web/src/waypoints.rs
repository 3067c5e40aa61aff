//! Where a reader of a run may want to stop: its decisions, and the next counterexample.

use deliver_twice_core::schedule::{Schedule, Step};

use crate::comparison::Comparison;
use crate::search::task::Searches;
use crate::session::Session;

/// The rows after which the run was decided, in order: somebody else's turn came although the worker at work
/// could have gone on, or a fault struck, or the visitor has also gone another way from there.
pub fn decisions(session: &Session, run: &Comparison) -> Vec<usize> {
    let steps = &session.schedule.0;
    let is_switch = |row: usize| {
        let before = row.checked_sub(1).and_then(|index| steps[index].worker());
        before.is_some_and(|worker| {
            steps[row].worker() != Some(worker)
                && run.enabled_after(row).contains(&Step::Work(worker))
        })
    };
    let forks = session.branches.iter().map(|branch| shared(branch, steps));
    let forks: Vec<usize> = forks.collect();
    let is_decided = |row: &usize| {
        let next = steps.get(*row);
        next.is_some_and(|step| !step.is_progress() || is_switch(*row)) || forks.contains(row)
    };
    (0..=steps.len()).filter(is_decided).collect()
}

/// How many steps a branch has in common with a schedule.
fn shared(branch: &Schedule, steps: &[Step]) -> usize {
    let pairs = branch.0.iter().zip(steps);
    pairs.take_while(|(one, other)| one == other).count()
}

/// The last decision before the cursor.
pub fn decision_before(session: &Session, run: &Comparison) -> Option<usize> {
    let before = |row: &usize| *row < session.cursor;
    decisions(session, run).into_iter().rfind(before)
}

/// The first decision after the cursor.
pub fn decision_after(session: &Session, run: &Comparison) -> Option<usize> {
    let after = |row: &usize| *row > session.cursor;
    decisions(session, run).into_iter().find(after)
}

/// The counterexample after the one that is shown, both sides' in turn; the first if none is.
/// `None` while none is known.
pub fn next_counterexample(session: &Session, searches: &Searches) -> Option<Schedule> {
    let mut all: Vec<Schedule> = vec![];
    for side in session.sides() {
        let found = searches.side(*side).findings().into_iter();
        let found = found.flat_map(|findings| &findings.counterexamples);
        let schedules = found.filter_map(|(_, text)| text.parse().ok());
        for schedule in schedules {
            if !all.contains(&schedule) {
                all.push(schedule);
            }
        }
    }
    let shown = all.iter().position(|found| *found == session.schedule);
    let next = shown.map_or(0, |index| index + 1);
    (!all.is_empty()).then(|| all.swap_remove(next % all.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Language;
    use crate::permalink;
    use crate::search::messages::Findings;
    use crate::search::task::Stand;
    use crate::session::Action;

    fn at(query: &str) -> (Session, Comparison) {
        let (session, bad) = permalink::read(query, Language::English);
        assert!(bad.is_empty(), "{bad:?}");
        let run = Comparison::of(&session).unwrap();
        (session, run)
    }

    #[test]
    fn a_run_without_a_choice_has_no_decision() {
        let (session, run) = at("?seq=s1:dA.A9&workers=1&deliveries=1");
        assert_eq!(decisions(&session, &run), [0_usize; 0]);
        assert_eq!(decision_after(&session, &run), None);
    }

    #[test]
    fn a_switch_from_a_worker_that_could_go_on_is_a_decision_and_a_fault_is() {
        let (session, run) = at("?seq=s1:dA.A2.dB.B.xA&at=0");
        assert_eq!(decisions(&session, &run), [3, 5]);
        assert_eq!(decision_after(&session, &run), Some(3));
        assert_eq!(decision_before(&session, &run), None);
        let there = session.after(Action::GoTo(5));
        assert_eq!(decision_before(&there, &run), Some(3));
        assert_eq!(decision_after(&there, &run), None);
    }

    #[test]
    fn where_a_branch_was_left_is_a_decision() {
        let (session, _) = at("?seq=s1:dA.A3&at=1");
        let session = session.after(Action::Take("s1:dB".parse::<Schedule>().unwrap().0[0]));
        let run = Comparison::of(&session).unwrap();
        assert_eq!(session.branches.len(), 1);
        assert!(decisions(&session, &run).contains(&1));
    }

    fn found(schedules: [&[&str]; 2]) -> Searches {
        let over = |texts: &[&str]| {
            let named = texts
                .iter()
                .map(|text| ("stuck".to_owned(), (*text).to_owned()));
            let findings = Findings {
                counterexamples: named.collect(),
                ..Findings::default()
            };
            Stand::Over(findings.into())
        };
        Searches::at(schedules.map(over))
    }

    #[test]
    fn counterexamples_come_round_and_none_comes_twice() {
        let searches = found([&["s1:dA.A", "s1:dA.A2"], &["s1:dA.A", "s1:dB"]]);
        let mut session = Session::opening(Language::English);
        let mut shown = vec![];
        for _ in 0..4 {
            let next = next_counterexample(&session, &searches).unwrap();
            shown.push(next.to_string());
            session = session.after(Action::Replay(next));
        }
        assert_eq!(shown, ["s1:dA.A", "s1:dA.A2", "s1:dB", "s1:dA.A"]);
    }

    #[test]
    fn no_counterexample_comes_before_the_search_is_over() {
        let session = Session::opening(Language::English);
        assert_eq!(next_counterexample(&session, &Searches::default()), None);
        let searches = found([&[], &[]]);
        assert_eq!(next_counterexample(&session, &searches), None);
    }
}
