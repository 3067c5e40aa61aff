//! The machine: a broker, workers with a connection each to one database, and an operator.
//!
//! Every driver uses the same two functions. [`System::enabled`] says which steps may happen next, in a
//! fixed total order; [`System::apply`] takes one, with real SQL on real connections, and says what it
//! changed. A page, a test, a link and the search of all schedules differ only in who chooses.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use rusqlite::types::Value;

use crate::broker::{EventIndex, Kind, Place, WorkerId};
use crate::database::{self, Database, Setting, SharedDisk};
use crate::design::Design;
use crate::disk::{ConnectionId, Disk, LockLevel, Snapshot};
use crate::error::{Error, Result};
use crate::event::{EffectName, Event};
use crate::plan::{Bind, Plan, Role, Stage};
use crate::relay::Confirm;
use crate::scenario::{Bounds, CrashAt, Scenario};
use crate::schedule::Step;
use crate::schema::{self, OutboxRow};
use crate::sql::{Answer, Purpose, RefusalKind};
use crate::state::{Exit, Job, Next, Origin, State, Subject, Worker};

mod change;
mod delivery;
mod outside;
mod publication;
mod setup;
mod stage;

pub use change::{Action, Change, Heard, Ran, Statement};
use publication::Holder;
pub(crate) use setup::TENANT;

/// The connection of the operator, who adds the missing ticket.
pub const OPERATOR: ConnectionId = ConnectionId(9);

/// The connection of a worker.
pub fn connection_of(worker: WorkerId) -> ConnectionId {
    ConnectionId(worker.0 + 1)
}

/// The worker with this connection, if it is a worker's.
pub fn worker_of(connection: ConnectionId) -> Option<WorkerId> {
    (connection != ConnectionId::OBSERVER && connection != OPERATOR)
        .then(|| WorkerId(connection.0 - 1))
}

/// Whether the reply to a statement reaches the worker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reply {
    Heard,
    Lost,
}

/// The machine, on SQLite unless it is told otherwise.
#[derive(Debug)]
pub struct System<D: Database = SharedDisk> {
    /// The plans, by the kind of worker that walks them.
    plans: [Plan; 4],
    scenario: Scenario,
    events: Vec<Event>,
    origins: BTreeMap<String, Origin>,
    task_ids: BTreeMap<Origin, String>,
    database: D,
    start: Rc<State>,
    state: State,
}

impl System {
    /// A machine at the start of `scenario`, with faults within `bounds`.
    ///
    /// # Errors
    /// [`Error::NonsenseDesign`] and [`Error::OutOfRange`] for what cannot be; [`Error::Database`] if
    /// SQLite refuses to set the tables up.
    pub fn new(design: Design, scenario: Scenario, bounds: Bounds) -> Result<Self> {
        System::on(SharedDisk::new, design, scenario, bounds)
    }

    /// Back to the start, on the same connections.
    ///
    /// # Errors
    /// [`Error::Database`] if SQLite refuses to roll back what is open.
    pub fn restart(&mut self) -> Result<()> {
        let start = (self.database.start().clone(), Rc::clone(&self.start));
        self.return_to(&start)
    }

    /// The disk, for its lock table and its image.
    pub fn disk(&self) -> &Disk {
        self.database.disk()
    }

    /// The present state and disk, to come back to. `None` while a transaction is open, because that is
    /// in a connection and cannot be kept.
    pub(crate) fn checkpoint(&mut self) -> Option<(Snapshot, Rc<State>)> {
        let mut workers = self.state.workers.iter();
        if workers.any(|worker| worker.in_transaction) {
            return None;
        }
        let image = self.database.snapshot(&self.state.committed);
        Some((image, Rc::new(self.state.clone())))
    }

    /// Comes back to a checkpoint, on the same connections.
    ///
    /// # Errors
    /// [`Error::Database`] if SQLite refuses to roll back what is open.
    pub(crate) fn return_to(&mut self, (image, state): &(Snapshot, Rc<State>)) -> Result<()> {
        let returned = self.database.return_to(image);
        returned.map_err(Error::during("rolling back"))?;
        self.state.clone_from(state);
        Ok(())
    }
}

impl<D: Database> System<D> {
    /// A machine on the database that `open` makes of what has to be in it.
    ///
    /// # Errors
    /// [`Error::NonsenseDesign`] and [`Error::OutOfRange`] for what cannot be; [`Error::Database`] with
    /// what `open` says.
    pub fn on(
        open: impl FnOnce(&Setting) -> database::Result<D>,
        design: Design,
        scenario: Scenario,
        bounds: Bounds,
    ) -> Result<Self> {
        let scenario = scenario.checked()?;
        if let Some(nonsense) = design.nonsense() {
            return Err(Error::NonsenseDesign {
                text: design.to_string(),
                nonsense,
            });
        }
        let kinds = [Kind::Consumer, Kind::Producer, Kind::Relay, Kind::Sender];
        let plans = kinds.map(|kind| Plan::of(kind, design, scenario.effects()));
        let setting = setup::setting(&plans[Kind::Consumer as usize], &scenario);
        let database = open(&setting).map_err(Error::during("setting the tables up"))?;
        let committed = database.committed();
        let committed = committed.map_err(Error::during("reading the tables"))?;
        let workers = setup::cast(design, &scenario).into_iter();
        let state = State {
            broker: setup::published(design, &scenario),
            workers: workers.map(Worker::idle).collect(),
            committed: Rc::new(committed.unwrap_or_default()),
            left: bounds,
            swallowed: Default::default(),
            acked_too_early: Default::default(),
            stale_writes: Default::default(),
            requests: if design.has_producer() {
                scenario.versions
            } else {
                0
            },
            clock: 0,
            sent: vec![],
        };
        let task_ids = setup::task_ids(&scenario);
        let origins = task_ids.iter().map(|(origin, id)| (id.clone(), *origin));
        Ok(System {
            origins: origins.collect(),
            task_ids,
            events: setup::events(design, &scenario),
            start: Rc::new(state.clone()),
            plans,
            scenario,
            database,
            state,
        })
    }

    /// The state it is in.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The plan that its consumers walk.
    pub fn plan(&self) -> &Plan {
        self.plan_of(Kind::Consumer)
    }

    /// The plan that workers of this kind walk.
    pub fn plan_of(&self, kind: Kind) -> &Plan {
        &self.plans[kind as usize]
    }

    /// The design that it was made of.
    pub fn design(&self) -> Design {
        self.plan().design
    }

    /// The stage of a worker's plan with this index.
    fn stage(&self, worker: WorkerId, index: usize) -> &Stage {
        &self.plan_of(worker.kind()).stages[index]
    }

    /// The scenario it was put to.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The database that it runs on.
    pub fn database(&self) -> &D {
        &self.database
    }

    /// An event.
    ///
    /// # Panics
    /// If the scenario has no such event.
    pub fn event(&self, index: EventIndex) -> &Event {
        &self.events[usize::from(index.0)]
    }

    /// Where a task came from; `None` for a task that was there before.
    pub fn origin(&self, task_id: &str) -> Option<Origin> {
        self.origins.get(task_id).copied()
    }

    /// The id of the task that comes from there.
    pub fn task_id(&self, origin: &Origin) -> &str {
        &self.task_ids[origin]
    }

    /// The committed tasks of an effect of an event.
    pub fn tasks_of(&self, event: EventIndex, effect: EffectName) -> usize {
        let origins = self
            .state
            .committed
            .tasks
            .iter()
            .filter_map(|task| self.origin(&task.id));
        origins
            .filter(|origin| origin.event == event && origin.effect == effect)
            .count()
    }

    /// Whether the ticket of an event is committed.
    pub fn has_ticket(&self, event: EventIndex) -> bool {
        let ticket = &self.event(event).ticket_id;
        self.state.committed.tickets.contains(ticket)
    }

    /// The committed row of the outbox for an event.
    pub fn outbox_row(&self, event: EventIndex) -> Option<&OutboxRow> {
        let id = self.event(event).event_id.as_str();
        let mut rows = self.state.committed.outbox.iter();
        rows.find(|row| row.event_id == id)
    }

    /// The events of the scenario, in order.
    pub fn events(&self) -> impl Iterator<Item = EventIndex> + use<D> {
        (0..self.scenario.versions).map(EventIndex)
    }

    /// Every pair of an event and one of its effects, in order.
    pub fn obligations(&self) -> impl Iterator<Item = (EventIndex, EffectName)> + use<D> {
        let effects = self.scenario.effects();
        (0..self.scenario.versions).flat_map(move |event| {
            effects
                .iter()
                .map(move |effect| (EventIndex(event), *effect))
        })
    }

    /// Who `worker` waits for, in the order of their ids. Empty if it does not wait, or not any more.
    pub fn waits_for(&self, worker: WorkerId) -> Vec<ConnectionId> {
        let job = self.state.worker(worker).job.as_ref();
        let wanted = job.and_then(|job| job.waits_for);
        wanted.map_or(vec![], |wanted| {
            self.database.obstacles(connection_of(worker), wanted)
        })
    }

    /// The steps that may happen next, in the order of [`Step`].
    pub fn enabled(&self) -> Vec<Step> {
        let workers: Vec<WorkerId> = self.state.workers().map(|(id, _)| id).collect();
        let each = |step: fn(WorkerId) -> Step| workers.iter().map(move |id| step(*id));
        let candidates = each(Step::Deliver)
            .chain(each(Step::Work))
            .chain([Step::LeaseExpires, Step::AddTicket])
            .chain(self.events().map(Step::PublishAgain))
            .chain(each(Step::LoseAck))
            .chain(each(Step::LoseReply))
            .chain([Step::LeaseOverrun])
            .chain(each(Step::Nack))
            .chain(each(Step::Return))
            .chain(each(Step::LoseConfirm))
            .chain(each(Step::LoseAnswer))
            .chain(each(Step::GiveUp))
            .chain(each(Step::Crash));
        candidates.filter(|step| self.is_enabled(*step)).collect()
    }

    /// Whether a step may happen next by which the system itself gets on.
    pub fn gets_on(&self) -> bool {
        let mut workers = self.state.workers().map(|(id, _)| id);
        workers.any(|id| self.is_enabled(Step::Work(id)) || self.is_enabled(Step::Deliver(id)))
            || self.is_enabled(Step::LeaseExpires)
    }

    /// Whether `step` may happen next.
    pub fn is_enabled(&self, step: Step) -> bool {
        if step
            .worker()
            .is_some_and(|id| self.state.place_of(id).is_none())
        {
            return false;
        }
        let job = |id: WorkerId| self.state.worker(id).job.as_ref();
        let left = &self.state.left;
        match step {
            Step::Deliver(id) => {
                id.kind() == Kind::Consumer
                    && job(id).is_none()
                    && self.state.broker.head().is_some()
            }
            Step::Work(id) => match job(id) {
                Some(job) => job
                    .waits_for
                    .is_none_or(|wanted| self.database.would_grant(connection_of(id), wanted)),
                None => self.has_something_for(id.kind()),
            },
            Step::LeaseExpires => self.expiring(Holder::Gone).is_some(),
            Step::LeaseOverrun => left.overruns > 0 && self.expiring(Holder::AtWork).is_some(),
            Step::AddTicket => {
                !self.design().has_producer()
                    && self.state.committed.tickets.is_empty()
                    && self.database.would_grant(OPERATOR, LockLevel::Exclusive)
            }
            Step::PublishAgain(event) => {
                event.0 < self.scenario.versions
                    && !self.design().has_producer()
                    && left.published_again > 0
                    && self.state.broker.can_publish()
            }
            Step::LoseAck(id) => {
                left.lost_acks > 0
                    && job(id).is_some_and(|job| {
                        job.handed().is_some_and(|handed| !handed.acked)
                            && self.is_ack(id, job.next)
                    })
            }
            Step::LoseReply(id) => {
                left.lost_replies > 0
                    && job(id).is_some_and(|job| self.commits(id, job.next))
                    && self
                        .database
                        .would_grant(connection_of(id), LockLevel::Exclusive)
            }
            Step::Nack(id) => left.nacks > 0 && self.is_at(id, Role::Publish),
            Step::Return(id) => left.returns > 0 && self.is_at(id, Role::Publish),
            Step::LoseConfirm(id) => left.lost_confirms > 0 && self.is_at(id, Role::HearConfirm),
            Step::LoseAnswer(id) => left.lost_answers > 0 && self.is_at(id, Role::Call),
            Step::GiveUp(id) => {
                left.given_up > 0 && job(id).is_some_and(|job| job.waits_for.is_some())
            }
            Step::Crash(id) => {
                left.crashes > 0 && job(id).is_some_and(|job| self.may_crash(id, job.next))
            }
        }
    }

    /// Takes a step.
    ///
    /// # Errors
    /// [`Error::Database`] if SQLite refuses what no design is meant to fail at. The machine is then to
    /// be restarted.
    ///
    /// # Panics
    /// If the step is not enabled: that is the caller's to ask.
    pub fn apply(&mut self, step: Step) -> Result<Change> {
        assert!(self.is_enabled(step), "step `{step}` is not enabled");
        let action = match step {
            Step::Deliver(worker) => self.deliver(worker),
            Step::Work(worker) => self.work(worker, Reply::Heard)?,
            Step::LeaseExpires => self.expire(Holder::Gone),
            Step::LeaseOverrun => {
                self.state.left.overruns -= 1;
                self.expire(Holder::AtWork)
            }
            Step::Nack(worker) => {
                self.state.left.nacks -= 1;
                self.publish(worker, Confirm::Nacked)
            }
            Step::Return(worker) => {
                self.state.left.returns -= 1;
                self.publish(worker, Confirm::Returned)
            }
            Step::LoseConfirm(worker) => {
                self.state.left.lost_confirms -= 1;
                self.hear_confirm(worker, Confirm::NoAnswer)
            }
            Step::LoseAnswer(worker) => {
                self.state.left.lost_answers -= 1;
                self.call(worker, Reply::Lost)
            }
            Step::AddTicket => self.add_ticket()?,
            Step::PublishAgain(event) => {
                self.state.left.published_again -= 1;
                Action::Published {
                    delivery: self.state.broker.publish(event),
                }
            }
            Step::LoseAck(worker) => {
                self.state.left.lost_acks -= 1;
                self.lose_ack(worker)
            }
            Step::LoseReply(worker) => {
                self.state.left.lost_replies -= 1;
                self.work(worker, Reply::Lost)?
            }
            Step::GiveUp(worker) => {
                self.state.left.given_up -= 1;
                self.give_up(worker)
            }
            Step::Crash(worker) => {
                self.state.left.crashes -= 1;
                self.crash(worker)?
            }
        };
        let locks = self.database.take_recording();
        self.look(step.worker())?;
        Ok(Change {
            step,
            action,
            locks,
        })
    }

    /// Reads what the step changed: the committed rows, and what the worker at hand sees and holds.
    fn look(&mut self, worker: Option<WorkerId>) -> Result<()> {
        let committed = self.database.committed();
        if let Some(tables) = committed.map_err(Error::during("reading the tables"))? {
            self.state.committed = Rc::new(tables);
        }
        let Some(id) = worker else { return Ok(()) };
        let lock = self.database.lock_level(connection_of(id));
        let in_transaction = self.is_in_transaction(id);
        let worker = self.state.worker_mut(id);
        (worker.lock, worker.in_transaction, worker.own) = (lock, in_transaction, None);
        Ok(())
    }

    /// Looks at the tables through the eyes of every worker that has written and not committed, so that
    /// [`Worker::own`] of the present state is there. It costs queries, so only who shows or compares
    /// states asks for it.
    ///
    /// # Errors
    /// [`Error::Database`] if a table cannot be read.
    pub fn look_as_workers(&mut self) -> Result<()> {
        for worker in &mut self.state.workers {
            if worker.own.is_some() {
                continue;
            }
            let tables = self.database.uncommitted(connection_of(worker.id));
            let tables = tables.map_err(Error::during("reading as the worker"))?;
            worker.own = tables.map(Rc::new);
        }
        self.database.take_recording();
        Ok(())
    }

    fn is_in_transaction(&self, worker: WorkerId) -> bool {
        self.database.is_in_transaction(connection_of(worker))
    }

    /// Whether there is something to begin with for an idle worker of this kind, as far as is committed.
    fn has_something_for(&self, kind: Kind) -> bool {
        match kind {
            Kind::Consumer => false,
            Kind::Producer => self.state.requests > 0,
            Kind::Relay => {
                let mut rows = self.state.committed.outbox.iter();
                rows.any(|row| match row.state.as_str() {
                    "pending" => true,
                    "leased" => self.has_expired(row),
                    _ => false,
                })
            }
            Kind::Sender => {
                let mut tasks = self.state.committed.tasks.iter();
                tasks.any(outside::is_pending_notification)
            }
        }
    }

    /// Whether the next stage of a worker is one of this role.
    fn is_at(&self, worker: WorkerId, role: Role) -> bool {
        let job = self.state.worker(worker).job.as_ref();
        job.is_some_and(|job| match job.next {
            Next::Stage(index) => self.stage(worker, index).role == role,
            _ => false,
        })
    }

    /// Gives an idle worker something to do that it finds by itself.
    fn begin(&mut self, worker: WorkerId) {
        let subject = match worker.kind() {
            Kind::Consumer => unreachable!("a consumer begins with a delivery"),
            Kind::Producer => {
                let event = EventIndex(self.scenario.versions - self.state.requests);
                self.state.requests -= 1;
                Subject::Request(event)
            }
            Kind::Relay => Subject::Row(None),
            Kind::Sender => Subject::Task(None),
        };
        self.state.worker_mut(worker).job = Some(Job {
            subject,
            next: Next::Stage(0),
            waits_for: None,
        });
    }

    /// Takes the next stage of a worker's plan, or of its way out.
    fn work(&mut self, worker: WorkerId, reply: Reply) -> Result<Action> {
        if self.state.worker(worker).job.is_none() {
            self.begin(worker);
        }
        let job = self.state.job_mut(worker);
        job.waits_for = None;
        match job.next {
            Next::Stage(index) => match self.stage(worker, index).role {
                Role::ReadFlag => Ok(self.read_flag(worker, index)),
                Role::Ack => Ok(self.ack(worker, index + 1)),
                Role::Publish => Ok(self.publish(worker, Confirm::Confirmed)),
                Role::HearConfirm => {
                    let claimed = self.state.job_mut(worker).claimed();
                    let confirm = claimed.and_then(|claimed| claimed.confirm);
                    let confirm = confirm.expect("a relay hears once it has sent");
                    Ok(self.hear_confirm(worker, confirm))
                }
                Role::AskProvider => Ok(self.ask_provider(worker, index)),
                Role::Call => Ok(self.call(worker, Reply::Heard)),
                _ => self.run_stage(worker, index, reply),
            },
            Next::Rollback(exit) => self.roll_back(worker, exit),
            Next::GiveBack => {
                let delivery = self.finish_delivery(worker);
                Ok(Action::GaveBack {
                    delivery,
                    place: self.state.broker.requeue(delivery),
                })
            }
            Next::AckAnyway => Ok(self.ack(worker, self.plan().stages.len())),
        }
    }

    /// The index of the stage that a worker is at.
    fn place_in_plan(&mut self, worker: WorkerId) -> usize {
        match self.state.job_mut(worker).next {
            Next::Stage(index) => index,
            _ => unreachable!("only a worker at a stage is asked for it"),
        }
    }

    /// Leaves what cannot be finished, by way of a rollback if a transaction is open.
    fn leave(&mut self, worker: WorkerId, exit: Exit) {
        if self.is_in_transaction(worker) {
            self.state.job_mut(worker).next = Next::Rollback(exit);
        } else {
            self.exit(worker, exit);
        }
    }

    fn exit(&mut self, worker: WorkerId, exit: Exit) {
        let handed = self.state.job_mut(worker).handed();
        let has_to_answer = handed.is_some_and(|handed| !handed.acked);
        match exit {
            Exit::SkipTo(index) => self.go_to(worker, index),
            // What is acked cannot be given back: the broker has forgotten it. And nobody but a consumer
            // has a delivery.
            Exit::GiveBack | Exit::AckAnyway if !has_to_answer => self.finish(worker),
            Exit::GiveBack => self.state.job_mut(worker).next = Next::GiveBack,
            Exit::AckAnyway => self.state.job_mut(worker).next = Next::AckAnyway,
        }
    }

    fn go_to(&mut self, worker: WorkerId, index: usize) {
        if index < self.plan_of(worker.kind()).stages.len() {
            self.state.job_mut(worker).next = Next::Stage(index);
        } else {
            self.finish(worker);
        }
    }

    /// Makes a worker idle.
    fn finish(&mut self, worker: WorkerId) {
        self.state.worker_mut(worker).job = None;
    }

    fn give_up(&mut self, worker: WorkerId) -> Action {
        self.database.give_up(connection_of(worker));
        let job = self.state.job_mut(worker);
        job.waits_for = None;
        let Next::Stage(index) = job.next else {
            unreachable!("a rollback asks for no lock, so only a stage can wait")
        };
        let means = self.stage(worker, index).read(&stage::busy());
        self.note_swallowed(worker, index, means, Some(RefusalKind::Busy));
        self.follow(worker, index, means);
        Action::GaveUp { means }
    }

    fn crash(&mut self, worker: WorkerId) -> Result<Action> {
        let in_transaction = self.is_in_transaction(worker);
        self.database.crash(connection_of(worker));
        let job = self.state.worker_mut(worker).job.take();
        let job = job.expect("`enabled` offers a crash only to a worker with a job");
        let returned = job.handed().map(|handed| {
            let place = match self.state.broker.delivery(handed.delivery).place {
                Place::Unacked(holder) if holder == worker => {
                    self.state.broker.requeue(handed.delivery)
                }
                elsewhere => elsewhere,
            };
            (handed.delivery, place)
        });
        Ok(Action::Crashed {
            returned,
            in_transaction,
        })
    }

    fn add_ticket(&mut self) -> Result<Action> {
        let event = &self.events[0];
        let statement = Statement {
            sql: schema::INSERT_TICKET,
            values: vec![
                (
                    Bind::TicketId.parameter(),
                    Value::Text(event.ticket_id.clone()),
                ),
                (Bind::TenantId.parameter(), Value::Text(TENANT.to_owned())),
            ],
        };
        let answer = self.database.ask(OPERATOR, Purpose::Write, &statement);
        if let Answer::Refused(refusal) = answer {
            return Err(Error::during("adding the ticket")(refusal.message));
        }
        Ok(Action::TicketAdded(statement))
    }

    /// Whether this is a moment at which the bounds let a worker crash.
    fn may_crash(&self, worker: WorkerId, next: Next) -> bool {
        match self.state.left.crash_at {
            CrashAt::AnyMoment => true,
            CrashAt::BeforeAck => self.is_ack(worker, next),
            CrashAt::BetweenCommits => {
                let Next::Stage(index) = next else {
                    return false;
                };
                let is_own = |block: &&Range<usize>| block.contains(&index);
                let blocks = &self.plan_of(worker.kind()).blocks;
                let Some(block) = blocks.iter().find(is_own) else {
                    return false;
                };
                !self.state.worker(worker).in_transaction && self.has_written(block.start..index)
            }
        }
    }

    /// Whether one of these stages writes. A worker that went through them has committed it, if no
    /// transaction is open.
    fn has_written(&self, stages: Range<usize>) -> bool {
        self.plan().stages[stages]
            .iter()
            .any(|stage| matches!(stage.role, Role::Claim | Role::Apply))
    }

    fn is_ack(&self, worker: WorkerId, next: Next) -> bool {
        match next {
            Next::Stage(index) => self.stage(worker, index).role == Role::Ack,
            Next::AckAnyway => true,
            Next::Rollback(_) | Next::GiveBack => false,
        }
    }

    /// Whether the next statement of a worker makes something durable.
    fn commits(&self, worker: WorkerId, next: Next) -> bool {
        let Next::Stage(index) = next else {
            return false;
        };
        let stage = self.stage(worker, index);
        match stage.role {
            Role::Commit => true,
            _ if stage.purpose() == Some(Purpose::Write) => {
                !self.state.worker(worker).in_transaction
            }
            _ => false,
        }
    }
}
