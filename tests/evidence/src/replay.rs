//! A schedule on one engine or another, statement by statement.

use std::collections::BTreeSet;

use deliver_twice_core::database::{Database, SharedDisk};
use deliver_twice_core::disk::ConnectionId;
use deliver_twice_core::error::Result;
use deliver_twice_core::plan::Role;
use deliver_twice_core::property::Verdict;
use deliver_twice_core::run::{Frame, Moved, Run};
use deliver_twice_core::schedule::{Schedule, Step};
use deliver_twice_core::schema::literal;
use deliver_twice_core::sql::{Answer, RefusalKind};
use deliver_twice_core::system::{Action, Heard, Ran, System, connection_of, worker_of};
use serde_json::{Value, json};

use crate::postgres::{Postgres, Said};

/// The most steps of a run. No plan within any bounds needs half of them.
const STEPS_MAX: usize = 200;

/// An engine that may say more of a refusal than what sort it is.
pub trait Explains: Database {
    /// What it said of the last statement over this connection, if it refused it.
    fn said(&self, connection: ConnectionId) -> Option<Said>;
}

impl Explains for Postgres {
    fn said(&self, connection: ConnectionId) -> Option<Said> {
        self.last_said(connection)
    }
}

impl Explains for SharedDisk {
    /// SQLite says it by a code, which is in the answer.
    fn said(&self, _connection: ConnectionId) -> Option<Said> {
        None
    }
}

/// What happened on an engine, row by row.
#[derive(Debug)]
pub struct Replay {
    /// The rows.
    pub run: Run,
    /// How many of them a schedule asked for. Those behind are what followed by itself.
    pub asked: usize,
    /// For each row, what the engine said of a refusal.
    pub said: Vec<Option<Said>>,
}

impl Replay {
    /// Carries out `schedule` on a machine at its start, and then goes on until nothing is left to do.
    ///
    /// A step that this engine does not offer is noted and changes nothing: where one engine waits, another
    /// may have gone on.
    ///
    /// # Errors
    /// Those of [`System::apply`].
    pub fn of<D: Explains>(system: &mut System<D>, schedule: &Schedule) -> Result<Self> {
        let mut replay = Replay::started(system);
        for step in &schedule.0 {
            replay.take(system, *step)?;
        }
        replay.asked = schedule.0.len();
        replay.go_on(system, |enabled| {
            let progress = enabled.iter().copied().filter(|step| step.is_progress());
            // Whoever has begun goes on before anybody begins.
            progress.min_by_key(|step| (!matches!(step, Step::Work(_)), *step))
        })?;
        Ok(replay)
    }

    /// Takes a step that `choose` picks among those that may happen, until nothing may.
    ///
    /// # Errors
    /// Those of [`System::apply`].
    pub fn chosen<D: Explains>(
        system: &mut System<D>,
        mut choose: impl FnMut(&[Step]) -> Step,
    ) -> Result<Self> {
        let mut replay = Replay::started(system);
        replay.go_on(system, |enabled| {
            (!enabled.is_empty()).then(|| choose(enabled))
        })?;
        replay.asked = replay.run.frames.len();
        Ok(replay)
    }

    fn started<D: Explains>(system: &System<D>) -> Self {
        Replay {
            run: Run::started(system),
            asked: 0,
            said: vec![],
        }
    }

    fn go_on<D: Explains>(
        &mut self,
        system: &mut System<D>,
        mut choose: impl FnMut(&[Step]) -> Option<Step>,
    ) -> Result<()> {
        while self.run.frames.len() < STEPS_MAX
            && let Some(step) = choose(&system.enabled())
        {
            self.take(system, step)?;
        }
        Ok(())
    }

    fn take<D: Explains>(&mut self, system: &mut System<D>, step: Step) -> Result<()> {
        self.run.take(system, step)?;
        let frame = self.run.frames.last();
        let asked = step
            .worker()
            .filter(|_| frame.is_some_and(|frame| ran(frame).is_some()));
        let said = asked.and_then(|worker| system.database().said(connection_of(worker)));
        self.said.push(said);
        Ok(())
    }

    /// What is violated where the schedule ends, the most urgent first.
    pub fn at_end(&self) -> Vec<Verdict> {
        verdicts(self.asked.checked_sub(1).map(|last| &self.run.frames[last]))
    }

    /// What is violated once nothing is left to do.
    pub fn settled(&self) -> Vec<Verdict> {
        verdicts(self.run.frames.last())
    }

    /// What was violated in any state.
    pub fn ever(&self) -> BTreeSet<Verdict> {
        let violations = self.run.frames.iter().flat_map(|frame| &frame.violations);
        violations.map(|violation| violation.verdict()).collect()
    }

    /// The steps that were taken.
    pub fn schedule(&self) -> Schedule {
        Schedule(
            self.run
                .taken()
                .frames
                .iter()
                .map(|frame| frame.step)
                .collect(),
        )
    }

    /// Row by row what was asked and what was answered.
    pub fn rows(&self) -> Value {
        let rows = self.run.frames.iter().zip(&self.said).zip(1..);
        rows.map(|((frame, said), number)| row(number, frame, said.as_ref()))
            .collect()
    }
}

fn verdicts(frame: Option<&Frame>) -> Vec<Verdict> {
    let violations = frame.map_or(&[][..], |frame| &frame.violations);
    let mut verdicts: Vec<Verdict> = violations
        .iter()
        .map(|violation| violation.verdict())
        .collect();
    verdicts.dedup();
    verdicts
}

/// The statement of a row, if it ran one.
pub fn ran(frame: &Frame) -> Option<&Ran> {
    match &frame.moved {
        Moved::Changed(change) => match &change.action {
            Action::Ran(ran) => Some(ran),
            _ => None,
        },
        Moved::Nothing(_) => None,
    }
}

/// Whether the statement of a row had to wait, and for whom.
pub fn waits(frame: &Frame) -> Option<&[ConnectionId]> {
    match &ran(frame)?.heard {
        Heard::Waits { holders } => Some(holders),
        _ => None,
    }
}

/// Whether a row is a claim that was refused because the receipt is there.
pub fn is_refused_claim(frame: &Frame) -> bool {
    ran(frame).is_some_and(|ran| {
        ran.role == Role::Claim
            && matches!(&ran.answer, Answer::Refused(refusal) if refusal.kind == RefusalKind::Unique)
    })
}

/// What a row came to, as far as two engines can be held against each other.
pub fn answer(frame: &Frame) -> String {
    if waits(frame).is_some() {
        return "waits".to_owned();
    }
    let Moved::Changed(change) = &frame.moved else {
        return "is not offered".to_owned();
    };
    match &change.action {
        Action::Ran(ran) => match &ran.answer {
            Answer::Done => "done".to_owned(),
            Answer::Rows(rows) => format!("{rows} rows"),
            Answer::Changed(rows) => format!("{rows} changed"),
            Answer::Row(None) => "no row".to_owned(),
            Answer::Row(Some(_)) => "a row".to_owned(),
            Answer::Refused(refusal) => format!("refused: {}", refusal.kind.as_str()),
        },
        Action::Delivered { .. } => "delivered".to_owned(),
        Action::ReadFlag { redelivered, .. } => format!("redelivered = {redelivered}"),
        Action::Acked { .. } => "acked".to_owned(),
        Action::AckLost { .. } => "ack lost".to_owned(),
        Action::GaveBack { .. } => "given back".to_owned(),
        Action::GaveUp { .. } => "gave up".to_owned(),
        Action::Crashed { .. } => "crashed".to_owned(),
        Action::Sent { .. } => "sent".to_owned(),
        Action::HeardConfirm { .. } => "heard the confirm".to_owned(),
        Action::AskedProvider { is_known, .. } => format!("known outside = {is_known}"),
        Action::Called { went_out, .. } => format!("called, went out = {went_out}"),
        Action::LeaseExpired { .. } => "lease expired".to_owned(),
        Action::TicketAdded(_) => "ticket added".to_owned(),
        Action::Published { .. } => "published".to_owned(),
    }
}

fn row(number: u32, frame: &Frame, said: Option<&Said>) -> Value {
    let mut row = json!({
        "n": number,
        "step": frame.step.to_string(),
        "answer": answer(frame),
    });
    if let Some(ran) = ran(frame) {
        row["sql"] = ran.statement.sql.into();
        let values = ran.statement.values.iter();
        let values = values.map(|(name, value)| ((*name).to_owned(), literal(value).into()));
        row["values"] = Value::Object(values.collect());
    }
    if let Some(holders) = waits(frame) {
        let names = holders.iter().map(|id| match worker_of(*id) {
            Some(worker) => worker.to_string(),
            None => "operator".to_owned(),
        });
        row["waits_for"] = names.collect();
    }
    if let Some(said) = said {
        row["sqlstate"] = said.sqlstate.as_str().into();
        row["constraint"] = said.constraint.as_deref().into();
    }
    let violated = verdicts(Some(frame));
    if !violated.is_empty() {
        row["violated"] = names(&violated);
    }
    row
}

/// Verdicts as records write them.
pub fn names<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>) -> Value {
    verdicts
        .into_iter()
        .map(|verdict| verdict.as_str())
        .collect()
}
