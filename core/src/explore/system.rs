//! The laboratory's machine as something to search, and the search of one design.

use std::rc::Rc;

use super::{Coverage, Model, Report, Search, Share, Verdicts};
use crate::broker::{Broker, Place, WorkerId};
use crate::cause::explain;
use crate::design::Design;
use crate::disk::{LockLevel, Snapshot};
use crate::error::Result;
use crate::property::{Verdict, violations};
use crate::run::Run;
use crate::scenario::{Bounds, Scenario};
use crate::schedule::{Schedule, Step};
use crate::schema::Tables;
use crate::state::{Exit, Next, Origin, State, Subject};
use crate::system::System;

impl Model for System {
    type Checkpoint = (Snapshot, Rc<State>);

    fn enabled(&self) -> Vec<Step> {
        System::enabled(self)
    }

    fn take(&mut self, step: Step) -> Result<()> {
        self.apply(step).map(|_| ())
    }

    fn digest(&mut self) -> Result<Vec<u8>> {
        self.look_as_workers()?;
        Ok(Digest::of(self))
    }

    fn verdicts(&self) -> Verdicts {
        violations(self)
            .iter()
            .map(|violation| violation.verdict())
            .collect()
    }

    fn checkpoint(&mut self) -> Option<Self::Checkpoint> {
        System::checkpoint(self)
    }

    fn resume(&mut self, checkpoint: &Self::Checkpoint) -> Result<()> {
        self.return_to(checkpoint)
    }
}

/// The bytes that stand for a state. Every field is written in a fixed order and with a length where it
/// can vary, so different states never share their bytes.
struct Digest<'a> {
    system: &'a System,
    bytes: Vec<u8>,
}

impl<'a> Digest<'a> {
    fn of(system: &'a System) -> Vec<u8> {
        let mut digest = Digest {
            system,
            bytes: Vec::with_capacity(128),
        };
        let state = system.state();
        digest.broker(&state.broker);
        for (id, _) in state.workers() {
            digest.worker(state, id);
        }
        digest.tables(&state.committed);
        let Bounds {
            crashes,
            crash_at: _, // the same in every state of a search
            lost_acks,
            lost_replies,
            published_again,
            given_up,
            overruns,
            nacks,
            returns,
            lost_confirms,
            lost_answers,
        } = state.left;
        digest.bytes.extend([
            crashes,
            lost_acks,
            lost_replies,
            published_again,
            given_up,
            overruns,
            nacks,
            returns,
            lost_confirms,
            lost_answers,
        ]);
        digest.bytes.push(state.stale_writes.len() as u8);
        digest
            .bytes
            .extend(state.stale_writes.iter().map(|event| event.0));
        digest.bytes.extend([state.requests, state.clock]);
        digest.bytes.push(state.sent.len() as u8);
        for message in &state.sent {
            digest.origin(&message.task);
        }
        digest.bytes.push(state.swallowed.len() as u8);
        for swallowed in &state.swallowed {
            let effect = swallowed.effect.map_or(255, |effect| effect as u8);
            let kind = swallowed.kind.map_or(255, |kind| kind as u8);
            digest.bytes.extend([swallowed.event.0, effect, kind]);
        }
        digest.bytes.push(state.acked_too_early.len() as u8);
        digest
            .bytes
            .extend(state.acked_too_early.iter().map(|delivery| delivery.0));
        digest.bytes
    }

    fn broker(&mut self, broker: &Broker) {
        self.bytes.push(broker.deliveries().count() as u8);
        for (_, delivery) in broker.deliveries() {
            let place = match delivery.place {
                Place::Queued => 0,
                Place::Acked => 1,
                Place::Parked => 2,
                Place::Unacked(worker) => 3 + worker.0,
            };
            self.bytes.extend([
                delivery.event.0,
                delivery.attempts,
                delivery.redelivered.into(),
                place,
            ]);
        }
    }

    fn worker(&mut self, state: &State, id: WorkerId) {
        let worker = state.worker(id);
        match &worker.job {
            None => self.bytes.push(255),
            Some(job) => {
                self.subject(&job.subject);
                self.bytes.push(job.waits_for.map_or(255, level));
                let (kind, index) = match job.next {
                    Next::Stage(index) => (0, index),
                    Next::Rollback(Exit::SkipTo(index)) => (1, index),
                    Next::Rollback(Exit::GiveBack) => (2, 0),
                    Next::Rollback(Exit::AckAnyway) => (3, 0),
                    Next::GiveBack => (4, 0),
                    Next::AckAnyway => (5, 0),
                };
                self.bytes.extend([kind, index as u8]);
            }
        }
        self.bytes
            .extend([level(worker.lock), worker.in_transaction.into()]);
        match &worker.own {
            None => self.bytes.push(0),
            Some(own) => {
                self.bytes.push(1);
                self.tables(own);
            }
        }
    }

    fn subject(&mut self, subject: &Subject) {
        match subject {
            Subject::Delivery(handed) => self.bytes.extend([
                handed.delivery.0,
                handed.attempt,
                handed.redelivered.into(),
                handed.acked.into(),
            ]),
            Subject::Request(event) => self.bytes.push(event.0),
            Subject::Row(None) | Subject::Task(None) => self.bytes.push(255),
            Subject::Row(Some(claimed)) => {
                let confirm = claimed.confirm.map_or(255, |confirm| confirm as u8);
                self.bytes
                    .extend([claimed.event.0, claimed.token, claimed.attempt, confirm]);
            }
            Subject::Task(Some(task)) => self.origin(task),
        }
    }

    fn origin(&mut self, origin: &Origin) {
        self.bytes.extend([
            origin.event.0,
            origin.effect as u8,
            origin.delivery.0,
            origin.attempt,
        ]);
    }

    fn tables(&mut self, tables: &Tables) {
        self.bytes.push(tables.tickets.len() as u8);
        for ticket in &tables.tickets {
            self.text(ticket);
        }
        self.bytes.push(tables.receipts.len() as u8);
        for receipt in &tables.receipts {
            self.text(&receipt.event_id);
            self.text(&receipt.effect_name);
        }
        self.bytes.push(tables.tasks.len() as u8);
        for task in &tables.tasks {
            match self.system.origin(&task.id) {
                // The rest of the row follows from where it comes from.
                Some(origin) => self.origin(&origin),
                None => {
                    self.bytes.push(255);
                    self.text(&task.id);
                }
            }
            self.bytes.push((task.status == "done").into());
        }
        self.bytes.push(tables.outbox.len() as u8);
        for row in &tables.outbox {
            self.text(&row.event_id);
            self.text(&row.state);
            self.text(row.owner.as_deref().unwrap_or(""));
            // Leases count a clock that begins at 0, and that attempts keep small.
            let until = row.lease_until.map_or(255, |until| until.min(254) as u8);
            self.bytes
                .extend([row.token as u8, row.attempt as u8, until]);
        }
    }

    fn text(&mut self, text: &str) {
        self.bytes.push(text.len() as u8);
        self.bytes.extend(text.bytes());
    }
}

fn level(lock: LockLevel) -> u8 {
    lock as u8
}

/// The search of every schedule of one design.
pub struct Exploration {
    search: Search<System>,
    design: Design,
    scenario: Scenario,
    bounds: Bounds,
}

impl Exploration {
    /// The most states a search visits unless it is told otherwise.
    pub const STATES_MAX: u64 = 1_000_000;

    /// A search of `design` in `scenario`, with faults within `bounds`.
    ///
    /// # Errors
    /// Those of [`System::new`].
    pub fn new(
        design: Design,
        scenario: Scenario,
        bounds: Bounds,
        states_max: u64,
    ) -> Result<Self> {
        let system = System::new(design, scenario, bounds)?;
        Ok(Exploration {
            search: Search::new(system, states_max)?,
            design,
            scenario,
            bounds,
        })
    }

    /// Tries up to `steps` further steps, and says how far the search has come.
    ///
    /// # Errors
    /// If SQLite refuses what no design is meant to fail at.
    pub fn advance(&mut self, steps: u64) -> Result<Coverage> {
        self.search.advance(steps)
    }

    /// Goes on until everything is visited or the limit is reached.
    ///
    /// # Errors
    /// As for [`Exploration::advance`].
    pub fn run(&mut self) -> Result<Coverage> {
        self.search.run()
    }

    /// Distinct states reached so far.
    pub fn states(&self) -> u64 {
        self.search.states()
    }

    /// Steps tried so far.
    pub fn transitions(&self) -> u64 {
        self.search.transitions()
    }

    /// Whether a fault, or help from outside, was possible anywhere; see [`Search::meets_a_fault`].
    pub fn meets_a_fault(&self) -> bool {
        self.search.meets_a_fault()
    }

    /// What was found so far.
    pub fn report(&self) -> Report {
        self.search.report()
    }

    /// For each prefix of `schedule`, what share of its futures ends badly; see [`Search::shares`].
    pub fn shares(&self, schedule: &Schedule) -> Vec<Option<Share>> {
        self.search.shares(schedule)
    }

    /// Why `schedule` ends in `verdict`, in one sentence of the core's English.
    ///
    /// # Errors
    /// If the schedule is not one of this design.
    pub fn sentence(&self, verdict: Verdict, schedule: &Schedule) -> Result<Option<String>> {
        let run = Run::exact(self.design, self.scenario, self.bounds, schedule)?;
        let system = System::new(self.design, self.scenario, self.bounds)?;
        let noted = run.frames.last().map_or(&[][..], |frame| &frame.noted);
        let mut all = run.violations().iter().chain(noted);
        let violation = all.find(|violation| violation.verdict() == verdict);
        Ok(violation.map(|violation| explain(&system, &run, violation).to_string()))
    }
}
