//! What a host is told of what the visitor did: facts, each with what it takes to check it by one replay.
//!
//! A fact is read from what was known before and what is known now. Nothing in it is about a person.

use std::collections::BTreeMap;
use std::rc::Rc;

use deliver_twice_core::exercise::Goal;
use deliver_twice_core::run::Moved;
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::{Schedule, Step};
use deliver_twice_core::sql::Answer;
use deliver_twice_core::system;
use serde::Serialize;

use super::memory::Memory;
use crate::comparison::{Shared, SideRun};
use crate::exercise::{self, Cost, Solution, optimum, solution};
use crate::permalink;
use crate::search::messages::Findings;
use crate::search::task::Searches;
use crate::session::{Guess, Session, Side};

/// What is known at a moment.
#[derive(Clone, PartialEq)]
pub struct Moment {
    /// What the visitor is looking at.
    pub session: Rc<Session>,
    /// Both designs' runs.
    pub run: Shared,
    /// What the searches know.
    pub searches: Rc<Searches>,
}

/// What it takes to replay a fact without this page: every id is text of the core.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// The version of this laboratory.
    pub version: &'static str,
    /// The link to it.
    pub query: String,
    /// The two designs.
    pub designs: [String; 2],
    /// The moves, up to where the fact came about.
    pub schedule: String,
    /// What the designs were put to.
    pub scenario: BTreeMap<&'static str, Plain>,
    /// Which faults were allowed.
    pub bounds: BTreeMap<&'static str, Plain>,
}

/// A number or a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Plain {
    /// A number.
    Number(u8),
    /// A name.
    Name(&'static str),
}

/// What a schedule costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effort {
    steps: usize,
    switches: usize,
}

impl From<Cost> for Effort {
    fn from(cost: Cost) -> Self {
        Effort {
            steps: cost.steps,
            switches: cost.switches,
        }
    }
}

/// A fact. Sides are `left` and `right`; steps are counted from 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(
    tag = "name",
    content = "detail",
    rename_all = "lowercase",
    rename_all_fields = "camelCase"
)]
pub enum Fact {
    /// Something else is shown. Sent seldom, whatever the visitor does.
    StateChange {
        /// The state: what a link holds.
        query: String,
        /// How many of the moves are carried out.
        at: usize,
        /// How many moves there are.
        steps: usize,
        /// What a frame needs that takes this one's place, beside the state, to count on.
        kept: Option<String>,
    },
    /// The visitor took a step.
    Step {
        /// Which move it is.
        n: usize,
        /// Its text, such as `dA`.
        step: String,
        /// The worker that it concerns.
        worker: Option<String>,
        /// What SQLite answered on each side: its extended code, 0 for success, nothing if it was not asked.
        rc: [Option<i32>; 2],
    },
    /// The visitor answered the question of a lesson; whether he is right comes later.
    Predict {
        /// The lesson.
        question: &'static str,
        /// The answer.
        answer: u32,
    },
    /// It is known whether he was right.
    Answered {
        /// The host's name for the place.
        item: String,
        /// The lesson.
        question: &'static str,
        /// His answer.
        answer: u32,
        /// The right one.
        truth: u32,
        /// Whether they are the same.
        success: bool,
        /// 1 if they are, and else 0.
        score: f64,
        /// 1.
        max: f64,
        /// How often the question was asked here.
        attempts: u32,
        /// Since it was asked last.
        duration_ms: f64,
        /// What it takes to check it.
        evidence: Evidence,
    },
    /// A side's run came to a verdict.
    Outcome {
        /// The host's name for the place.
        item: String,
        /// The side.
        side: &'static str,
        /// A verdict of the core, or `ok` where the run has ended and nothing is violated.
        verdict: &'static str,
        /// After how many moves.
        at: usize,
        /// How many steps of the side's own that took.
        steps: usize,
        /// How often one actor's step followed another's.
        switches: usize,
        /// How many of them were crashes.
        crashes: usize,
        /// What it takes to check it.
        evidence: Evidence,
    },
    /// The search of a side is over.
    Explored {
        /// The host's name for the place.
        item: String,
        /// The side.
        side: &'static str,
        /// Whether every schedule was tried.
        exhausted: bool,
        /// Complete schedules, in digits: there may be more than a number of JavaScript holds.
        schedules: String,
        /// Those that end in a violation, in digits.
        violating: String,
        /// Distinct states.
        states: u32,
        /// For each verdict the shortest schedule to it.
        shortest: BTreeMap<String, String>,
        /// What it takes to check it.
        evidence: Evidence,
    },
    /// An exercise is solved.
    Completed {
        /// The host's name for the place.
        item: String,
        /// `puzzle` or `repair`.
        kind: &'static str,
        /// Which.
        id: &'static str,
        /// Whether it was the visitor who solved it.
        success: bool,
        /// From 0 to 1: the fewest steps of a puzzle against his own; 1 for a repair.
        scaled: f64,
        /// What his schedule costs, for a puzzle.
        effort: Option<Effort>,
        /// What the best one costs.
        best: Option<Effort>,
        /// How often it was begun here.
        attempts: u32,
        /// Since it was begun last.
        duration_ms: f64,
        /// What it takes to check it.
        evidence: Evidence,
    },
    /// The visitor asked for the link.
    Share {
        /// The link.
        url: String,
    },
    /// Something could not be done.
    Error {
        /// Stable, for programs.
        code: &'static str,
        /// For people, in the visitor's language.
        message: String,
        /// Whether the laboratory goes on.
        recoverable: bool,
    },
}

/// Compares moment with moment.
pub struct Teller {
    item: String,
    before: Option<Moment>,
    task: Option<&'static str>,
    attempts: u32,
    began_ms: f64,
    /// How far the visitor was in another frame, until that is taken over.
    kept: Option<Memory>,
    /// Whether the other frame told how the task came out, which is yet to be found out here.
    was_told: bool,
}

impl Teller {
    /// Knows nothing yet. `item` comes back with what is graded; `kept` is from the frame before.
    pub fn new(item: &str, kept: Option<Memory>) -> Self {
        Teller {
            item: item.to_owned(),
            before: None,
            task: None,
            attempts: 0,
            began_ms: 0.0,
            kept,
            was_told: false,
        }
    }

    /// How far the visitor is with the task, if there is one.
    pub fn memory(&self, now: &Moment, now_ms: f64) -> Option<Memory> {
        self.task.map(|_| Memory {
            attempts: self.attempts,
            spent_ms: (now_ms - self.began_ms).max(0.0) as u32,
            is_told: self.was_told || marked(now).is_some() || solved(now).is_some(),
            answer: match now.session.guess {
                Guess::Given(answer) => Some(answer),
                Guess::Asked | Guess::Skipped => None,
            },
        })
    }

    /// What is shown and how far the visitor is, to be told whenever one of them is another.
    pub fn change(&self, now: &Moment, now_ms: f64) -> Fact {
        Fact::StateChange {
            query: permalink::write(&now.session),
            at: now.session.cursor,
            steps: now.session.schedule.0.len(),
            kept: self.memory(now, now_ms).map(|memory| memory.to_string()),
        }
    }

    /// The host calls the place something else from now on.
    pub fn rename(&mut self, item: &str) {
        self.item = item.to_owned();
    }

    /// What has come about since the last moment, at `now_ms` on any clock.
    pub fn tell(&mut self, now: &Moment, now_ms: f64) -> Vec<Fact> {
        let before = self.before.replace(now.clone());
        self.count(before.as_ref(), now, now_ms);
        let Some(before) = before else {
            self.was_told &= marked(now).is_none() && solved(now).is_none();
            // What the page opens with is nobody's doing, but for what its search finds.
            return explored(&self.item, None, now);
        };
        let mut facts = vec![];
        facts.extend(step(&before, now));
        facts.extend(predicted(&before, now));
        facts.extend(outcomes(&self.item, &before, now));
        facts.extend(explored(&self.item, Some(&before), now));
        facts.extend(self.answered(&before, now, now_ms));
        facts.extend(self.completed(&before, now, now_ms));
        let is_graded =
            |fact: &Fact| matches!(fact, Fact::Answered { .. } | Fact::Completed { .. });
        if permalink::write(&now.session) != permalink::write(&before.session)
            || facts.iter().any(is_graded)
        {
            facts.push(self.change(now, now_ms));
        }
        facts
    }

    /// Counts how often the task was begun.
    fn count(&mut self, before: Option<&Moment>, now: &Moment, now_ms: f64) {
        let is_new = self.task != task(&now.session);
        let begins = is_fresh(&now.session) && !before.is_some_and(|b| is_fresh(&b.session));
        if is_new {
            (self.task, self.attempts) = (task(&now.session), 0);
        }
        if is_new || begins {
            self.attempts += 1;
            self.began_ms = now_ms;
            self.was_told = false;
        }
        // The first moment is the one that the other frame ended with.
        if let (Some(kept), Some(_)) = (self.kept.take(), self.task) {
            self.attempts = kept.attempts;
            self.began_ms = now_ms - f64::from(kept.spent_ms);
            self.was_told = kept.is_told;
        }
    }

    /// Whether this is what the other frame has told already. Asked once, when it is known here too.
    fn is_old_news(&mut self) -> bool {
        std::mem::take(&mut self.was_told)
    }

    fn answered(&mut self, before: &Moment, now: &Moment, now_ms: f64) -> Option<Fact> {
        let (answer, truth) = marked(now)?;
        if marked(before) == Some((answer, truth)) || self.is_old_news() {
            return None;
        }
        let success = answer == truth;
        Some(Fact::Answered {
            item: self.item.clone(),
            question: now.session.lesson?.id,
            answer,
            truth,
            success,
            score: if success { 1.0 } else { 0.0 },
            max: 1.0,
            attempts: self.attempts,
            duration_ms: (now_ms - self.began_ms).max(0.0).round(),
            evidence: evidence(&now.session, &now.session.schedule),
        })
    }

    fn completed(&mut self, before: &Moment, now: &Moment, now_ms: f64) -> Option<Fact> {
        let done = solved(now)?;
        if solved(before).as_ref() == Some(&done) || self.is_old_news() {
            return None;
        }
        let session = &now.session;
        let exercise = session.exercise?;
        let success = !session.answer_shown;
        let best = done.best.map(|best| best.steps as f64);
        let scaled = match (success, best, done.effort) {
            (false, ..) => 0.0,
            (true, Some(best), Some(own)) => (best / own.steps.max(1) as f64).min(1.0),
            (true, ..) => 1.0,
        };
        let kind = match exercise.goal {
            Goal::Break(_) => "puzzle",
            Goal::Repair { .. } => "repair",
        };
        Some(Fact::Completed {
            item: self.item.clone(),
            kind,
            id: exercise.id,
            success,
            scaled,
            effort: done.effort,
            best: done.best,
            attempts: self.attempts,
            duration_ms: (now_ms - self.began_ms).max(0.0).round(),
            evidence: evidence(session, &done.schedule),
        })
    }
}

fn task(session: &Session) -> Option<&'static str> {
    let lesson = session.lesson.map(|lesson| lesson.id);
    lesson.or(session.exercise.map(|exercise| exercise.id))
}

/// Whether the task waits for the visitor's first move.
fn is_fresh(session: &Session) -> bool {
    match session.exercise {
        Some(_) if session.is_repair() => session.designs[0] == session.designs[1],
        Some(_) => session.schedule.0.is_empty(),
        None => session.is_asked(),
    }
}

/// What the core needs to carry a schedule out again.
fn evidence(session: &Session, schedule: &Schedule) -> Evidence {
    let Session {
        scenario, bounds, ..
    } = session;
    let numbers = Scenario::NUMBERS.iter();
    let mut put_to: BTreeMap<&'static str, Plain> = numbers
        .map(|number| (number.name, Plain::Number(number.of(*scenario))))
        .collect();
    put_to.insert("ticket", Plain::Name(scenario.ticket.as_str()));
    put_to.insert("task", Plain::Name(scenario.task.as_str()));
    put_to.insert("provider", Plain::Name(scenario.provider.as_str()));
    let numbers = Bounds::NUMBERS.iter();
    let mut faults: BTreeMap<&'static str, Plain> = numbers
        .map(|bound| (bound.name, Plain::Number(bound.of(*bounds))))
        .collect();
    faults.insert("crash-at", Plain::Name(bounds.crash_at.as_str()));
    Evidence {
        version: env!("CARGO_PKG_VERSION"),
        query: permalink::write(session),
        designs: session.designs.map(|design| design.to_string()),
        schedule: schedule.to_string(),
        scenario: put_to,
        bounds: faults,
    }
}

/// The step that was added to the run, if one was.
fn step(before: &Moment, now: &Moment) -> Option<Fact> {
    let (old, new) = (&before.session.schedule.0, &now.session.schedule.0);
    let n = now.session.cursor;
    let kept = new.split_last().map(|(_, kept)| kept)?;
    if n != new.len() || n != before.session.cursor + 1 || !old.starts_with(kept) || old == new {
        return None;
    }
    let step = new[n - 1];
    Some(Fact::Step {
        n,
        step: step.to_string(),
        worker: step.worker().map(|worker| worker.to_string()),
        rc: Side::BOTH.map(|side| code(now.run.0.side(side), n)),
    })
}

/// SQLite's extended code for what a side's move asked it.
fn code(run: &SideRun, number: usize) -> Option<i32> {
    let Moved::Changed(change) = &run.run.frames.get(number.checked_sub(1)?)?.moved else {
        return None;
    };
    let system::Action::Ran(ran) = &change.action else {
        return None;
    };
    Some(match &ran.answer {
        Answer::Refused(refusal) => refusal.code,
        Answer::Done | Answer::Rows(_) | Answer::Changed(_) | Answer::Row(_) => 0,
    })
}

fn predicted(before: &Moment, now: &Moment) -> Option<Fact> {
    let (lesson, Guess::Given(answer)) = (now.session.lesson?, now.session.guess) else {
        return None;
    };
    before.session.is_asked().then_some(Fact::Predict {
        question: lesson.id,
        answer,
    })
}

/// The visitor's answer and the right one.
fn marked(moment: &Moment) -> Option<(u32, u32)> {
    let Guess::Given(answer) = moment.session.guess else {
        return None;
    };
    let truth = exercise::truth(&moment.session, &moment.run.0, &moment.searches)?;
    Some((answer, truth))
}

/// What a side's run has come to at the cursor.
fn verdict(moment: &Moment, side: Side) -> Option<&'static str> {
    let frames = &moment.run.0.side(side).run.frames;
    let frame = frames.get(moment.session.cursor.checked_sub(1)?)?;
    let violation = frame.violations.first();
    let has_ended = !frame.enabled.iter().any(|step| step.is_progress());
    match violation {
        Some(violation) => Some(violation.verdict().as_str()),
        None => has_ended.then_some("ok"),
    }
}

fn outcomes<'a>(
    item: &'a str,
    before: &'a Moment,
    now: &'a Moment,
) -> impl Iterator<Item = Fact> + 'a {
    // A question that waits shows no run.
    let sides = now
        .session
        .sides()
        .iter()
        .filter(|_| !now.session.is_asked());
    sides.filter_map(move |side| {
        let reached = verdict(now, *side)?;
        let is_same_run = before.session.designs == now.session.designs
            && before.session.scenario == now.session.scenario;
        if is_same_run && !before.session.is_asked() && verdict(before, *side) == Some(reached) {
            return None;
        }
        let at = now.session.cursor;
        let own = now.run.0.side(*side).own_schedule(at);
        let cost = Cost::of(&own);
        let crashes = own.0.iter().filter(|step| matches!(step, Step::Crash(_)));
        Some(Fact::Outcome {
            item: item.to_owned(),
            side: name_of(*side),
            verdict: reached,
            at,
            steps: cost.steps,
            switches: cost.switches,
            crashes: crashes.count(),
            evidence: evidence(&now.session, &own),
        })
    })
}

fn name_of(side: Side) -> &'static str {
    match side {
        Side::Left => "left",
        Side::Right => "right",
    }
}

/// What a side's search found, unless that would give an answer away.
fn found(moment: &Moment, side: Side) -> Option<&Findings> {
    let session = &moment.session;
    let is_at_work = session.puzzle().is_some()
        && !session.answer_shown
        && !exercise::is_solved(session, &moment.run.0, &moment.searches);
    let keeps_back = session.is_asked() || is_at_work;
    moment
        .searches
        .side(side)
        .findings()
        .filter(|_| !keeps_back)
}

/// What the searches found that was not known before.
pub fn explored(item: &str, before: Option<&Moment>, now: &Moment) -> Vec<Fact> {
    let sides = now.session.sides().iter();
    let news = sides.filter_map(|side| {
        let findings = found(now, *side)?;
        if before.and_then(|before| found(before, *side)) == Some(findings) {
            return None;
        }
        Some(Fact::Explored {
            item: item.to_owned(),
            side: name_of(*side),
            exhausted: findings.exhausted,
            schedules: findings.schedules.clone(),
            violating: findings.failing.clone(),
            states: findings.states,
            shortest: findings.counterexamples.iter().cloned().collect(),
            evidence: evidence(&now.session, &now.session.schedule),
        })
    });
    news.collect()
}

/// How an exercise was solved.
#[derive(PartialEq)]
struct Done {
    id: &'static str,
    is_shown: bool,
    schedule: Schedule,
    effort: Option<Effort>,
    best: Option<Effort>,
}

/// How the exercise is solved, once that can be measured.
fn solved(moment: &Moment) -> Option<Done> {
    let session = &moment.session;
    let (id, is_shown) = (session.exercise?.id, session.answer_shown);
    let Some(verdict) = session.puzzle() else {
        let holds = exercise::is_solved(session, &moment.run.0, &moment.searches);
        return holds.then(|| Done {
            id,
            is_shown,
            schedule: session.schedule.clone(),
            effort: None,
            best: None,
        });
    };
    let run = moment.run.0.side(Side::Left);
    let Solution { row, cost } = solution(run, verdict)?;
    let best = optimum(moment.searches.side(Side::Left).findings()?, verdict);
    Some(Done {
        id,
        is_shown,
        schedule: run.own_schedule(row),
        effort: Some(cost.into()),
        best: best.map(|best| Cost::of(&best).into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Comparison;
    use crate::messages::Language;
    use crate::search::engine::Engine;
    use crate::search::messages::{Answer as Found, Question};
    use crate::search::task::Stand;
    use crate::session::Action;
    use deliver_twice_core::exercise::named;
    use deliver_twice_core::lesson;

    fn moment(session: Session, searches: Searches) -> Moment {
        Moment {
            run: Shared(Rc::new(Comparison::of(&session).unwrap())),
            session: Rc::new(session),
            searches: Rc::new(searches),
        }
    }

    /// What the search of a session's left side finds.
    fn searched(session: &Session) -> Searches {
        let mut engine = Engine::default();
        engine.ask(&Question::Search {
            slot: 0,
            number: 1,
            design: session.designs[0].to_string(),
            scenario: session.scenario.into(),
            bounds: session.bounds.into(),
        });
        for _ in 0..100_000 {
            for answer in engine.advance(200) {
                if let Found::Found { findings, .. } = answer {
                    return Searches::at([Stand::Over(Rc::new(findings)), Stand::Waiting]);
                }
            }
        }
        panic!("the search does not end")
    }

    fn names(facts: &[Fact]) -> Vec<&'static str> {
        let name = |fact: &Fact| match fact {
            Fact::StateChange { .. } => "statechange",
            Fact::Step { .. } => "step",
            Fact::Predict { .. } => "predict",
            Fact::Answered { .. } => "answered",
            Fact::Outcome { .. } => "outcome",
            Fact::Explored { .. } => "explored",
            Fact::Completed { .. } => "completed",
            Fact::Share { .. } => "share",
            Fact::Error { .. } => "error",
        };
        facts.iter().map(name).collect()
    }

    #[test]
    fn each_step_is_told_once_and_the_one_that_breaks_a_design_with_its_verdict() {
        let mut session = Session::opening(Language::English).after(Action::Restart);
        let mut teller = Teller::new("item-7", None);
        assert!(
            teller
                .tell(&moment(session.clone(), Searches::default()), 0.0)
                .is_empty()
        );
        let schedule: Schedule = "s1:dA.A.dB.B.A.B.A.B".parse().unwrap();
        let mut last = vec![];
        for step in &schedule.0 {
            session = session.after(Action::Take(*step));
            last = teller.tell(&moment(session.clone(), Searches::default()), 0.0);
            assert_eq!(names(&last).first(), Some(&"step"), "{step}");
        }
        assert_eq!(names(&last), ["step", "outcome", "statechange"]);
        let Fact::Outcome {
            side,
            verdict,
            at,
            steps,
            crashes,
            evidence,
            item,
            ..
        } = &last[1]
        else {
            panic!("{last:?}")
        };
        assert_eq!((*side, *verdict, *at), ("left", "duplicate-effect", 8));
        assert_eq!((*steps, *crashes, item.as_str()), (8, 0, "item-7"));
        // The evidence alone leads to the same verdict.
        let again = permalink::open(&evidence.query, Language::English).0;
        assert_eq!(verdict_of(&again, &evidence.schedule), "duplicate-effect");
        // Looking back and coming again is a verdict again, and no step.
        session = session.after(Action::GoTo(7));
        let back = teller.tell(&moment(session.clone(), Searches::default()), 0.0);
        assert_eq!(names(&back), ["statechange"]);
        session = session.after(Action::GoTo(8));
        let again = teller.tell(&moment(session, Searches::default()), 0.0);
        assert_eq!(names(&again), ["outcome", "statechange"]);
    }

    fn verdict_of(session: &Session, schedule: &str) -> &'static str {
        let session = session.after(Action::Replay(schedule.parse().unwrap()));
        verdict(&moment(session, Searches::default()), Side::Left).unwrap()
    }

    #[test]
    fn an_answer_is_told_at_once_and_marked_when_the_truth_is_known() {
        let lesson = lesson::named("same-event-twice").unwrap();
        let asked = Session::opening(Language::English).after(Action::Teach(lesson));
        let mut teller = Teller::new("", None);
        let before = moment(asked.clone(), Searches::default());
        assert!(teller.tell(&before, 1_000.0).is_empty());
        let truth = {
            let answered = asked.after(Action::Answer(Guess::Given(lesson.answers[0])));
            let now = moment(answered, searched(&asked));
            exercise::truth(&now.session, &now.run.0, &now.searches).unwrap()
        };
        let answered = asked.after(Action::Answer(Guess::Given(truth)));
        let facts = teller.tell(&moment(answered, searched(&asked)), 3_500.4);
        let names = names(&facts);
        assert!(names.starts_with(&["predict"]), "{names:?}");
        let marked = facts.iter().find_map(|fact| match fact {
            Fact::Answered {
                success,
                score,
                attempts,
                duration_ms,
                ..
            } => Some((*success, *score, *attempts, *duration_ms)),
            _ => None,
        });
        assert_eq!(marked, Some((true, 1.0, 1, 2_500.0)));
        // Asked again, it is a second attempt, and a wrong answer is none.
        teller.tell(&before, 4_000.0);
        let wrong = *lesson
            .answers
            .iter()
            .find(|answer| **answer != truth)
            .unwrap();
        let answered = asked.after(Action::Answer(Guess::Given(wrong)));
        let facts = teller.tell(&moment(answered, searched(&asked)), 5_000.0);
        assert!(facts.iter().any(|fact| matches!(
            fact,
            Fact::Answered {
                success: false,
                attempts: 2,
                ..
            }
        )));
    }

    #[test]
    fn a_puzzle_is_completed_once_with_its_distance_from_the_best_and_keeps_its_answer_back() {
        let puzzle = named("two-look-at-once").unwrap();
        let begun = Session::opening(Language::English).after(Action::Exercise(puzzle));
        let known = searched(&begun);
        let mut teller = Teller::new("p", None);
        assert!(
            teller
                .tell(&moment(begun.clone(), known.clone()), 0.0)
                .is_empty()
        );
        let mut session = begun;
        let mut all = vec![];
        for step in "s1:dA.A.dB.B3.A3.B".parse::<Schedule>().unwrap().0 {
            session = session.after(Action::Take(step));
            all.extend(teller.tell(&moment(session.clone(), known.clone()), 0.0));
        }
        let completed: Vec<&Fact> = all
            .iter()
            .filter(|fact| matches!(fact, Fact::Completed { .. }))
            .collect();
        let [
            Fact::Completed {
                success,
                scaled,
                effort,
                best,
                evidence,
                ..
            },
        ] = completed[..]
        else {
            panic!("{completed:?}")
        };
        let (own, best) = (effort.unwrap(), best.unwrap());
        assert!(*success && *scaled == best.steps as f64 / own.steps as f64);
        assert_eq!(
            (own.steps, evidence.schedule.as_str()),
            (8, "s1:dA.A.dB.B3.A2")
        );
        let explored = all
            .iter()
            .position(|fact| matches!(fact, Fact::Explored { .. }));
        let done = all
            .iter()
            .position(|fact| matches!(fact, Fact::Completed { .. }));
        assert!(explored.is_some_and(|explored| explored + 1 == done.unwrap()));
    }

    #[test]
    fn a_frame_that_takes_anothers_place_counts_on_and_tells_nothing_twice() {
        let lesson = lesson::named("same-event-twice").unwrap();
        let asked = Session::opening(Language::English).after(Action::Teach(lesson));
        let known = searched(&asked);
        let mut teller = Teller::new("", None);
        for now_ms in [1_000.0, 4_000.0] {
            teller.tell(&moment(asked.clone(), Searches::default()), now_ms);
            let given = asked.after(Action::Answer(Guess::Given(lesson.answers[0])));
            teller.tell(&moment(given, known.clone()), now_ms + 500.0);
        }
        let given = asked.after(Action::Answer(Guess::Given(lesson.answers[0])));
        let told = moment(given, known.clone());
        let kept = teller.memory(&told, 6_000.0).unwrap();
        assert_eq!(kept.to_string(), format!("2.2000.1.{}", lesson.answers[0]));

        let session = reopened(&told.session, kept);
        assert_eq!(session.guess, Guess::Given(lesson.answers[0]));
        let mut next = Teller::new("", Some(kept));
        next.tell(&moment(session.clone(), Searches::default()), 100.0);
        let now = moment(session.clone(), known.clone());
        let facts = next.tell(&now, 300.0);
        assert!(!names(&facts).contains(&"answered"), "{facts:?}");
        assert_eq!(next.memory(&now, 400.0).unwrap().spent_ms, 2_300);
        // The next attempt is one more, and is told.
        next.tell(&moment(asked.clone(), Searches::default()), 500.0);
        let given = asked.after(Action::Answer(Guess::Given(lesson.answers[1])));
        let facts = next.tell(&moment(given, known), 900.0);
        let attempts = facts.iter().find_map(|fact| match fact {
            Fact::Answered { attempts, .. } => Some(*attempts),
            _ => None,
        });
        assert_eq!(attempts, Some(3), "{facts:?}");
    }

    /// What a frame opens that takes the place of one with this session.
    fn reopened(session: &Session, kept: Memory) -> Session {
        let link = permalink::write(session);
        let query = format!("embed=1&kept={kept}&{}", link.trim_start_matches('?'));
        let opened = permalink::open(&query, Language::English).0;
        let hosted = crate::embed::read(&query).0.host(opened);
        (*hosted.session).clone()
    }

    #[test]
    fn a_puzzle_that_was_solved_in_the_frame_before_is_not_told_again_once_it_is_measured() {
        let puzzle = named("two-look-at-once").unwrap();
        let begun = Session::opening(Language::English).after(Action::Exercise(puzzle));
        let known = searched(&begun);
        let mut teller = Teller::new("p", None);
        teller.tell(&moment(begun.clone(), known.clone()), 0.0);
        let steps = "s1:dA.A.dB.B3.A3.B".parse::<Schedule>().unwrap().0;
        let take = |session: Session, step: &Step| session.after(Action::Take(*step));
        let solved = moment(steps.iter().fold(begun, take), known.clone());
        assert!(names(&teller.tell(&solved, 1.0)).contains(&"completed"));
        let kept = teller.memory(&solved, 2.0).unwrap();
        let session = reopened(&solved.session, kept);
        let mut next = Teller::new("p", Some(kept));
        next.tell(&moment(session.clone(), Searches::default()), 0.0);
        let facts = next.tell(&moment(session, known), 1.0);
        assert!(!names(&facts).contains(&"completed"), "{facts:?}");
    }
}
