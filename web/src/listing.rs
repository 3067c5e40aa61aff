//! A design's plan as lines to read, and which line each row of a run carried out.

use deliver_twice_core::broker::Kind;
use deliver_twice_core::design::Errors;
use deliver_twice_core::plan::{Plan, Role, Stage};
use deliver_twice_core::run::Moved;
use deliver_twice_core::state::Next;
use deliver_twice_core::system::Action;

use crate::comparison::SideRun;
use crate::session::Side;

/// A line of the plan that workers of one kind walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// Whose plan.
    pub kind: Kind,
    /// Which part of it.
    pub part: Part,
}

/// A part of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The stage with this index.
    Stage(usize),
    /// Undoing what is open, where something is left early.
    Rollback,
    /// Giving the delivery back.
    GiveBack,
    /// Acking it although something failed.
    AckAnyway,
}

impl Line {
    /// A name for elements and tests: a stage's number counted from 1, or a word, after whose it is.
    pub fn name(self) -> String {
        let whose = match self.kind {
            Kind::Consumer => "",
            Kind::Producer => "producer-",
            Kind::Relay => "relay-",
            Kind::Sender => "sender-",
        };
        let which = match self.part {
            Part::Stage(index) => (index + 1).to_string(),
            Part::Rollback => "rollback".to_owned(),
            Part::GiveBack => "give-back".to_owned(),
            Part::AckAnyway => "ack-anyway".to_owned(),
        };
        format!("{whose}{which}")
    }

    /// The stage that it is, if it is one.
    pub fn stage(self, plan: &Plan) -> Option<&Stage> {
        match self.part {
            Part::Stage(index) => plan.stages.get(index),
            Part::Rollback | Part::GiveBack | Part::AckAnyway => None,
        }
    }

    /// The statement, as SQLite gets it. `None` for what asks no database.
    pub fn sql(self, plan: &Plan) -> Option<&'static str> {
        match self.part {
            Part::Stage(index) => Some(plan.stages.get(index)?.sql).filter(|sql| !sql.is_empty()),
            Part::Rollback => Some(Plan::ROLLBACK),
            Part::GiveBack | Part::AckAnyway => None,
        }
    }
}

/// A line of one side's plan: what the pointer or the keyboard is at, and so what is lit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lit {
    /// The side.
    pub side: Side,
    /// The line.
    pub line: Line,
}

/// The lines of a kind's plan: its stages in order, then what a worker does that leaves early.
pub fn lines(plan: &Plan, kind: Kind) -> Vec<Line> {
    let stages = (0..plan.stages.len()).map(Part::Stage);
    let may_be_open = plan.stages.iter().any(|stage| stage.role == Role::Begin);
    let answers = kind == Kind::Consumer;
    let early = [
        may_be_open.then_some(Part::Rollback),
        answers.then_some(Part::GiveBack),
        (answers && plan.design.errors == Errors::AnyAcked).then_some(Part::AckAnyway),
    ];
    let parts = stages.chain(early.into_iter().flatten());
    parts.map(|part| Line { kind, part }).collect()
}

impl SideRun {
    /// The kinds of workers that this side has, in order.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = self.run.start.workers().map(|(id, _)| id.kind()).collect();
        kinds.dedup();
        kinds
    }

    /// The line that a move, counted from 1, carried out on this side. `None` if it carried out none: a
    /// delivery, a fault, a wait.
    pub fn line(&self, number: usize) -> Option<Line> {
        let frame = self.frame(number)?;
        let Moved::Changed(change) = &frame.moved else {
            return None;
        };
        match change.action {
            Action::ReadFlag { .. }
            | Action::Ran(_)
            | Action::Acked { .. }
            | Action::AckLost { .. }
            | Action::GaveBack { .. }
            | Action::Sent { .. }
            | Action::HeardConfirm { .. }
            | Action::AskedProvider { .. }
            | Action::Called { .. } => {}
            Action::Delivered { .. }
            | Action::GaveUp { .. }
            | Action::Crashed { .. }
            | Action::LeaseExpired { .. }
            | Action::TicketAdded(_)
            | Action::Published { .. } => return None,
        }
        let worker = frame.step.worker()?;
        let job = self.state(number - 1).worker(worker).job.as_ref();
        // Whoever had nothing at hand began with the first stage.
        let part = match job.map_or(Next::Stage(0), |job| job.next) {
            Next::Stage(index) => Part::Stage(index),
            Next::Rollback(_) => Part::Rollback,
            Next::GiveBack => Part::GiveBack,
            Next::AckAnyway => Part::AckAnyway,
        };
        let kind = worker.kind();
        Some(Line { kind, part })
    }

    /// The moves up to `moves`, counted from 1, that carried a line out.
    pub fn rows_of(&self, line: Line, moves: usize) -> Vec<usize> {
        let is_it = |number: &usize| self.line(*number) == Some(line);
        (1..=moves).filter(is_it).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Comparison;
    use crate::messages::Language;
    use crate::permalink;
    use deliver_twice_core::design;
    use deliver_twice_core::event::EffectName;

    fn at(query: &str) -> Comparison {
        let (session, bad) = permalink::read(query, Language::English);
        assert!(bad.is_empty(), "{bad:?}");
        Comparison::of(&session).unwrap()
    }

    fn stage(index: usize) -> Line {
        Line {
            kind: Kind::Consumer,
            part: Part::Stage(index),
        }
    }

    #[test]
    fn every_statement_that_a_row_ran_is_the_one_of_its_line() {
        let mut seen = 0;
        for design in design::all() {
            let run = at(&format!(
                "?left={design}&right={design}&ticket=missing&effects=2&seq=s1:dA.A2.dB.B3.A3.B2.t.A9.B9.kA.rB.xA.dA.A9"
            ));
            let side = run.side(Side::Left);
            for number in 1..=side.run.frames.len() {
                let Moved::Changed(change) = &side.frame(number).unwrap().moved else {
                    assert_eq!(side.line(number), None);
                    continue;
                };
                if let Action::Ran(ran) = &change.action {
                    let line = side.line(number).unwrap();
                    let plan = side.system.plan_of(line.kind);
                    assert_eq!(line.sql(plan), Some(ran.statement.sql), "{design} {number}");
                    assert!(lines(plan, line.kind).contains(&line), "{design} {line:?}");
                    assert!(side.rows_of(line, number).contains(&number));
                    seen += 1;
                }
            }
        }
        assert!(seen > 1000, "{seen}");
    }

    #[test]
    fn a_row_that_runs_nothing_has_no_line_and_an_ack_has() {
        let run = at("?left=receipt-first&right=no-guard&seq=s1:dA.A2.xA.dB.B9");
        let side = run.side(Side::Left);
        assert_eq!(side.line(0), None);
        assert_eq!(side.line(1), None);
        assert_eq!(side.line(2), Some(stage(0)));
        assert_eq!(side.line(4), None);
        let ack = run.side(Side::Right).system.plan().stages.len() - 1;
        let right = run.side(Side::Right);
        assert_eq!(right.rows_of(stage(ack), 14).len(), 1);
    }

    #[test]
    fn a_relay_and_a_producer_have_lines_of_their_own() {
        let run = at("?left=outbox&right=commit-then-publish&seq=s1:P4.R4.dA.A2");
        let left = run.side(Side::Left);
        assert_eq!(left.kinds(), [Kind::Consumer, Kind::Producer, Kind::Relay]);
        let names: Vec<String> = (1..=8)
            .filter_map(|number| Some(left.line(number)?.name()))
            .collect();
        let wanted = ["1", "2", "3", "4"];
        let wanted = [
            wanted.map(|n| format!("producer-{n}")),
            wanted.map(|n| format!("relay-{n}")),
        ];
        assert_eq!(names, wanted.concat());
        let right = run.side(Side::Right);
        let publish = right.line(4).unwrap();
        assert_eq!(publish.sql(right.system.plan_of(publish.kind)), None);
        for number in 1..=8 {
            let Some(Moved::Changed(change)) = left.frame(number).map(|frame| &frame.moved) else {
                panic!("row {number} did nothing");
            };
            if let Action::Ran(ran) = &change.action {
                let line = left.line(number).unwrap();
                let plan = left.system.plan_of(line.kind);
                assert_eq!(line.sql(plan), Some(ran.statement.sql), "{number}");
            }
        }
    }

    #[test]
    fn two_transactions_of_one_delivery_are_two_pairs_of_lines() {
        let run = at("?left=receipt-first&right=no-guard&seq=s1:dA.A7");
        let side = run.side(Side::Left);
        let begins = lines(side.system.plan(), Kind::Consumer)
            .into_iter()
            .filter(|line| line.sql(side.system.plan()) == Some("BEGIN"));
        let rows: Vec<_> = begins.map(|line| side.rows_of(line, 8)).collect();
        assert_eq!(rows, [vec![2], vec![5]]);
    }

    #[test]
    fn a_plan_ends_with_what_is_done_early() {
        let plan = Plan::compile(design::Design::CONTRACT, &EffectName::ALL[..1]);
        let all = lines(&plan, Kind::Consumer);
        let parts: Vec<Part> = all.iter().map(|line| line.part).collect();
        assert_eq!(parts[plan.stages.len()..], [Part::Rollback, Part::GiveBack]);
        let relay = Plan::of(Kind::Relay, plan.design, &EffectName::ALL[..1]);
        assert_eq!(lines(&relay, Kind::Relay), []);
    }
}
