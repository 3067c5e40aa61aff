//! The searches that are under way, one in each slot, and their answers. Knows nothing of workers.

use deliver_twice_core::Result;
use deliver_twice_core::design::Design;
use deliver_twice_core::explore::{Count, Coverage, Exploration, Report, Share};
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::Schedule;

use super::messages::{Answer, Findings, Question, SLOTS};

/// The most states a search on the page visits: about what a phone has memory and patience for.
pub const STATES_MAX: u64 = 25_000;

/// One search.
struct Job {
    number: u32,
    exploration: Exploration,
    is_over: bool,
}

/// The searches.
#[derive(Default)]
pub struct Engine {
    jobs: [Option<Job>; SLOTS],
}

impl Engine {
    /// Takes a question in, and answers what can be answered at once.
    pub fn ask(&mut self, question: &Question) -> Option<Answer> {
        match question {
            Question::Search {
                slot,
                number,
                design,
                scenario,
                bounds,
            } => {
                let job = start(design, scenario.scenario(), bounds.bounds());
                let kept = self.jobs.get_mut(*slot)?;
                match job {
                    Ok(exploration) => {
                        *kept = Some(Job {
                            number: *number,
                            exploration,
                            is_over: false,
                        });
                        None
                    }
                    Err(error) => {
                        *kept = None;
                        Some(failed(*slot, *number, &error))
                    }
                }
            }
            Question::Shares {
                slot,
                number,
                schedule,
            } => {
                let job = self.jobs.get(*slot)?.as_ref()?;
                let steps = schedule.parse::<Schedule>().ok()?;
                (job.number == *number && job.is_over).then(|| Answer::Shares {
                    slot: *slot,
                    number: *number,
                    schedule: schedule.clone(),
                    percent: job
                        .exploration
                        .shares(&steps)
                        .into_iter()
                        .map(percent)
                        .collect(),
                })
            }
        }
    }

    /// Whether anything is still to be searched.
    pub fn is_busy(&self) -> bool {
        self.jobs.iter().flatten().any(|job| !job.is_over)
    }

    /// Tries up to `steps` further steps in each slot, and says how far that came.
    pub fn advance(&mut self, steps: u64) -> Vec<Answer> {
        let mut answers = vec![];
        for (slot, kept) in self.jobs.iter_mut().enumerate() {
            let Some(job) = kept.as_mut().filter(|job| !job.is_over) else {
                continue;
            };
            match job.exploration.advance(steps) {
                Ok(Coverage::Running { unexplored }) => answers.push(Answer::Progress {
                    slot,
                    number: job.number,
                    states: job.exploration.states() as u32,
                    unexplored: unexplored as u32,
                }),
                Ok(Coverage::Exhausted | Coverage::Cut { .. }) => {
                    job.is_over = true;
                    let findings = findings(&job.exploration.report());
                    answers.push(Answer::Found {
                        slot,
                        number: job.number,
                        findings,
                    });
                }
                Err(error) => {
                    answers.push(failed(slot, job.number, &error));
                    *kept = None;
                }
            }
        }
        answers
    }
}

fn start(design: &str, scenario: Scenario, bounds: Bounds) -> Result<Exploration> {
    Exploration::new(design.parse::<Design>()?, scenario, bounds, STATES_MAX)
}

fn failed(slot: usize, number: u32, error: &deliver_twice_core::Error) -> Answer {
    Answer::Failed {
        slot,
        number,
        why: error.to_string(),
    }
}

/// A share as a part of 100, which is 100 only if every future fails: no rounding makes it so.
fn percent(share: Option<Share>) -> Option<f64> {
    share.map(|Share { total, failing }| match failing == total {
        true => 100.0,
        false => (failing.share_of(total) * 100.0).min(99.999),
    })
}

fn findings(report: &Report) -> Findings {
    let named = report.counterexamples.iter();
    let counted = report
        .verdicts
        .iter()
        .filter(|count| count.schedules > Count::ZERO);
    Findings {
        exhausted: report.coverage == Coverage::Exhausted,
        states: report.states as u32,
        schedules: report.schedules.to_string(),
        failing: report.failing.to_string(),
        percent: report.failing.share_of(report.schedules) * 100.0,
        verdicts: counted
            .map(|count| (count.verdict.to_string(), count.schedules.to_string()))
            .collect(),
        counterexamples: named
            .map(|found| (found.verdict.to_string(), found.schedule.to_string()))
            .collect(),
        passing: report.passing.as_ref().map(Schedule::to_string),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::messages::slot_of;
    use deliver_twice_core::axis::Axis;

    fn question(slot: usize, number: u32, design: &str) -> Question {
        let bounds = Bounds {
            crashes: 1,
            ..Bounds::NONE
        };
        Question::Search {
            slot,
            number,
            design: design.to_owned(),
            scenario: Scenario::default().into(),
            bounds: bounds.into(),
        }
    }

    fn finish(engine: &mut Engine) -> Vec<Answer> {
        let mut last = vec![];
        for _ in 0..10_000 {
            if !engine.is_busy() {
                return last;
            }
            let answers = engine.advance(50);
            last.extend(
                answers
                    .into_iter()
                    .filter(|a| !matches!(a, Answer::Progress { .. })),
            );
        }
        panic!("the search does not end");
    }

    #[test]
    fn both_sides_are_searched_in_turns_and_each_reports_once() {
        let mut engine = Engine::default();
        assert_eq!(engine.ask(&question(0, 1, "check-then-insert")), None);
        assert_eq!(engine.ask(&question(1, 2, "constraint-arbitration")), None);
        let answers = finish(&mut engine);
        let found = |wanted: usize| {
            answers.iter().find_map(|answer| match answer {
                Answer::Found { slot, findings, .. } if *slot == wanted => Some(findings.clone()),
                _ => None,
            })
        };
        assert_eq!(answers.len(), 2);
        assert!(
            found(0)
                .unwrap()
                .counterexamples
                .iter()
                .any(|(name, _)| name == "duplicate-effect")
        );
        let right = found(1).unwrap();
        assert!(right.exhausted && right.counterexamples.is_empty() && right.failing == "0");
    }

    #[test]
    fn a_repairs_changes_are_searched_beside_the_sides() {
        let mut engine = Engine::default();
        engine.ask(&question(1, 1, "constraint-arbitration"));
        engine.ask(&question(slot_of(Axis::Begin), 2, "check-in-transaction"));
        let answers = finish(&mut engine);
        let slots = answers.iter().filter_map(|answer| match answer {
            Answer::Found { slot, findings, .. } => Some((*slot, findings.holds())),
            _ => None,
        });
        let mut found: Vec<(usize, bool)> = slots.collect();
        found.sort_unstable();
        assert_eq!(found, [(1, true), (slot_of(Axis::Begin), false)]);
    }

    #[test]
    fn a_new_question_takes_the_place_of_the_old_one() {
        let mut engine = Engine::default();
        engine.ask(&question(0, 1, "effect-first"));
        engine.advance(10);
        engine.ask(&question(0, 2, "constraint-arbitration"));
        let answers = finish(&mut engine);
        assert!(matches!(answers[..], [Answer::Found { number: 2, .. }]));
    }

    #[test]
    fn shares_rise_to_all_where_failure_cannot_be_avoided_any_more() {
        let mut engine = Engine::default();
        engine.ask(&question(0, 1, "check-then-insert"));
        finish(&mut engine);
        let schedule = "s1:dA.A.dB.B.A2".to_owned();
        let shares = Question::Shares {
            slot: 0,
            number: 1,
            schedule: schedule.clone(),
        };
        let Some(Answer::Shares { percent, .. }) = engine.ask(&shares) else {
            panic!("no answer")
        };
        assert_eq!(percent.len(), 7);
        assert!(percent[0].unwrap() < 100.0);
        let old = Question::Shares {
            slot: 0,
            number: 9,
            schedule,
        };
        assert_eq!(engine.ask(&old), None);
    }

    #[test]
    fn a_question_that_makes_no_sense_is_answered_with_why() {
        let answer = Engine::default().ask(&question(0, 1, "no-such-design"));
        assert!(matches!(answer, Some(Answer::Failed { .. })));
        assert_eq!(Engine::default().ask(&question(SLOTS, 1, "no-guard")), None);
    }
}
