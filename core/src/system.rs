//! The machine: a broker, workers with a connection each to one disk, and an operator.
//!
//! Every driver uses the same two functions. [`System::enabled`] says which steps may happen next, in a
//! fixed total order; [`System::apply`] takes one, with real SQL on real connections, and says what it
//! changed. A page, a test, a link and the search of all schedules differ only in who chooses.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use rusqlite::types::Value;
use rusqlite::{Params, params_from_iter};
use uuid::Uuid;

use crate::broker::{Broker, DeliveryId, EventIndex, Place, WorkerId};
use crate::design::Design;
use crate::disk::{ConnectionId, Disk, DiskConnection, LockEvent, LockLevel, Snapshot};
use crate::error::{Error, Result};
use crate::event::{EffectName, Event};
use crate::plan::{Bind, Meaning, Plan, Role, Stage};
use crate::scenario::{Bounds, CrashAt, Scenario, TaskRow, Ticket};
use crate::schedule::Step;
use crate::schema::{self, Tables};
use crate::sql::{self, Answer, Purpose, RefusalKind};
use crate::state::{Exit, Job, Next, State, Swallowed, Worker};

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

/// What one step did.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The step.
    pub step: Step,
    /// What happened.
    pub action: Action,
    /// What happened to the locks meanwhile, oldest first.
    pub locks: Vec<LockEvent>,
}

/// What happened in a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A delivery was handed to a worker.
    Delivered {
        /// Which.
        delivery: DeliveryId,
        /// Which attempt it is, counted from 1.
        attempt: u8,
        /// What the flag says.
        redelivered: bool,
    },
    /// A worker looked at the flag.
    ReadFlag {
        /// What the flag says.
        redelivered: bool,
        /// What the design makes of it.
        means: Meaning,
    },
    /// A worker ran a statement.
    Ran(Ran),
    /// A worker acked its delivery.
    Acked {
        /// Which.
        delivery: DeliveryId,
    },
    /// A worker's ack was lost. The broker has the delivery still, and hands it out again.
    AckLost {
        /// Which.
        delivery: DeliveryId,
        /// Where it is now.
        place: Place,
    },
    /// A worker gave its delivery back.
    GaveBack {
        /// Which.
        delivery: DeliveryId,
        /// Where it is now.
        place: Place,
    },
    /// A worker stopped waiting; its code got the BUSY as an error.
    GaveUp {
        /// What the design makes of it.
        means: Meaning,
    },
    /// A worker's process died and its connection was dropped.
    Crashed {
        /// The delivery it had.
        delivery: DeliveryId,
        /// Where that is now.
        place: Place,
        /// Whether a transaction was open, which is gone.
        in_transaction: bool,
    },
    /// The operator added the ticket.
    TicketAdded(Statement),
    /// The producer published an event once more.
    Published {
        /// The new delivery.
        delivery: DeliveryId,
    },
}

/// A statement with what was bound to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The text.
    pub sql: &'static str,
    /// The parameters' names and values, in order.
    pub values: Vec<(&'static str, Value)>,
}

impl Statement {
    /// The values, to be bound in order.
    fn bound(&self) -> impl Params {
        params_from_iter(self.values.iter().map(|(_, value)| value))
    }
}

/// A worker's statement, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// What the stage is for.
    pub role: Role,
    /// The effect it belongs to.
    pub effect: Option<EffectName>,
    /// The statement.
    pub statement: Statement,
    /// What SQLite answered.
    pub answer: Answer,
    /// What became of it.
    pub heard: Heard,
}

/// What a worker made of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It read the answer, and its design takes it to mean this.
    Read(Meaning),
    /// SQLite answered BUSY, and the worker waits for these connections.
    Waits {
        /// Who holds the lock, in the order of their ids.
        holders: Vec<ConnectionId>,
    },
    /// The statement was carried out, but the reply was lost and the connection with it.
    ReplyLost(Meaning),
}

/// Whether the reply to a statement reaches the worker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reply {
    Heard,
    Lost,
}

/// Which task came from where: its id says so, because it was computed from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The event.
    pub event: EventIndex,
    /// The effect.
    pub effect: EffectName,
    /// The delivery that carried the event.
    pub delivery: DeliveryId,
    /// Which attempt at that delivery, counted from 1.
    pub attempt: u8,
}

/// The machine.
#[derive(Debug)]
pub struct System {
    plan: Plan,
    scenario: Scenario,
    events: Vec<Event>,
    origins: BTreeMap<String, Origin>,
    task_ids: BTreeMap<Origin, String>,
    // Connections before the disk: fields are dropped in this order.
    observer: DiskConnection,
    operator: DiskConnection,
    workers: Vec<DiskConnection>,
    disk: Disk,
    start: (Snapshot, Rc<State>),
    /// The disk for each content of the tables that a checkpoint was taken of.
    images: BTreeMap<Rc<Tables>, Snapshot>,
    state: State,
    writes_seen: u64,
}

impl System {
    /// A machine at the start of `scenario`, with faults within `bounds`.
    ///
    /// # Errors
    /// [`Error::NonsenseDesign`] and [`Error::OutOfRange`] for what cannot be; [`Error::Database`] if
    /// SQLite refuses to set the tables up.
    pub fn new(design: Design, scenario: Scenario, bounds: Bounds) -> Result<Self> {
        let scenario = scenario.checked()?;
        if let Some(nonsense) = design.nonsense() {
            return Err(Error::NonsenseDesign {
                text: design.to_string(),
                nonsense,
            });
        }
        let plan = Plan::compile(design, scenario.effects());
        let disk = Disk::new();
        let connect = |id| {
            disk.connect(id)
                .map_err(Error::during("opening a connection"))
        };
        let operator = connect(OPERATOR)?;
        set_up(&operator, &plan, &scenario).map_err(Error::during("setting the tables up"))?;
        let observer = connect(ConnectionId::OBSERVER)?;
        let workers = (0..scenario.workers)
            .map(|worker| acquainted(connect(connection_of(WorkerId(worker)))?))
            .collect::<Result<Vec<_>>>()?;
        let committed = Tables::read(&observer).map_err(Error::during("reading the tables"))?;
        let state = State {
            broker: published(&scenario),
            workers: vec![Worker::idle(); workers.len()],
            committed: Rc::new(committed),
            left: bounds,
            swallowed: Default::default(),
            acked_too_early: Default::default(),
        };
        disk.take_recording();
        let task_ids = task_ids(&scenario);
        let origins = task_ids.iter().map(|(origin, id)| (id.clone(), *origin));
        Ok(System {
            origins: origins.collect(),
            task_ids,
            events: scenario.events(),
            writes_seen: disk.writes(),
            start: (disk.snapshot(), Rc::new(state.clone())),
            images: BTreeMap::new(),
            plan,
            scenario,
            observer,
            operator,
            workers,
            disk,
            state,
        })
    }

    /// Back to the start, on the same connections.
    ///
    /// # Errors
    /// [`Error::Database`] if SQLite refuses to roll back what is open.
    pub fn restart(&mut self) -> Result<()> {
        let start = self.start.clone();
        self.return_to(&start)
    }

    /// The state it is in.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The plan its workers walk.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The scenario it was put to.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The disk, for its lock table and its image.
    pub fn disk(&self) -> &Disk {
        &self.disk
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

    /// Every pair of an event and one of its effects, in order.
    pub fn obligations(&self) -> impl Iterator<Item = (EventIndex, EffectName)> + use<> {
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
            self.disk.obstacles(connection_of(worker), wanted)
        })
    }

    /// The steps that may happen next, in the order of [`Step`].
    pub fn enabled(&self) -> Vec<Step> {
        let workers: Vec<WorkerId> = self.state.workers().map(|(id, _)| id).collect();
        let events = (0..self.scenario.versions).map(EventIndex);
        let candidates = workers.iter().map(|id| Step::Deliver(*id));
        let candidates = candidates.chain(workers.iter().map(|id| Step::Work(*id)));
        let candidates = candidates.chain([Step::AddTicket]);
        let candidates = candidates.chain(events.map(Step::PublishAgain));
        let candidates = candidates.chain(workers.iter().map(|id| Step::LoseAck(*id)));
        let candidates = candidates.chain(workers.iter().map(|id| Step::LoseReply(*id)));
        let candidates = candidates.chain(workers.iter().map(|id| Step::GiveUp(*id)));
        let candidates = candidates.chain(workers.iter().map(|id| Step::Crash(*id)));
        candidates.filter(|step| self.is_enabled(*step)).collect()
    }

    /// Whether a step may happen next by which the system itself gets on.
    pub fn gets_on(&self) -> bool {
        let mut workers = self.state.workers().map(|(id, _)| id);
        workers.any(|id| self.is_enabled(Step::Work(id)) || self.is_enabled(Step::Deliver(id)))
    }

    /// Whether `step` may happen next.
    pub fn is_enabled(&self, step: Step) -> bool {
        if step
            .worker()
            .is_some_and(|id| usize::from(id.0) >= self.state.workers.len())
        {
            return false;
        }
        let job = |id: WorkerId| self.state.worker(id).job.as_ref();
        let left = &self.state.left;
        match step {
            Step::Deliver(id) => job(id).is_none() && self.state.broker.head().is_some(),
            Step::Work(id) => job(id).is_some_and(|job| match job.waits_for {
                Some(wanted) => self.disk.would_grant(connection_of(id), wanted),
                None => true,
            }),
            Step::AddTicket => {
                self.state.committed.tickets.is_empty()
                    && self.disk.would_grant(OPERATOR, LockLevel::Exclusive)
            }
            Step::PublishAgain(event) => {
                event.0 < self.scenario.versions
                    && left.published_again > 0
                    && self.state.broker.can_publish()
            }
            Step::LoseAck(id) => {
                left.lost_acks > 0 && job(id).is_some_and(|job| !job.acked && self.is_ack(job.next))
            }
            Step::LoseReply(id) => {
                left.lost_replies > 0
                    && job(id).is_some_and(|job| self.commits(id, job.next))
                    && self
                        .disk
                        .would_grant(connection_of(id), LockLevel::Exclusive)
            }
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
        let locks = self.disk.take_recording();
        self.look(step.worker())?;
        Ok(Change {
            step,
            action,
            locks,
        })
    }

    /// Reads what the step changed: the committed rows, and what the worker at hand sees and holds.
    fn look(&mut self, worker: Option<WorkerId>) -> Result<()> {
        let writes = self.disk.writes();
        if writes != self.writes_seen {
            self.writes_seen = writes;
            let tables =
                Tables::read(&self.observer).map_err(Error::during("reading the tables"))?;
            self.state.committed = Rc::new(tables);
        }
        let Some(id) = worker else { return Ok(()) };
        let connection = self.connection(id);
        let lock = self.disk.lock_level(connection_of(id));
        let in_transaction = !connection.is_autocommit();
        let worker = self.state.worker_mut(id);
        (worker.lock, worker.in_transaction, worker.own) = (lock, in_transaction, None);
        Ok(())
    }

    /// Looks at the tables through the eyes of every worker that has written and not committed, so that
    /// [`Worker::own`] of the present state is there. It costs queries, so only who shows or compares
    /// states asks for it.
    ///
    /// Only a writer sees anything else than what is committed. Asking a transaction that has not read
    /// yet would make it take a lock, and so change what it is meant to show.
    ///
    /// # Errors
    /// [`Error::Database`] if a table cannot be read.
    pub fn look_as_workers(&mut self) -> Result<()> {
        for index in 0..self.workers.len() {
            let id = WorkerId(index as u8);
            let worker = self.state.worker(id);
            if worker.lock < LockLevel::Reserved || worker.own.is_some() {
                continue;
            }
            let tables = Tables::read(self.connection(id));
            let tables = tables.map_err(Error::during("reading as the worker"))?;
            self.state.worker_mut(id).own = Some(Rc::new(tables));
        }
        self.disk.take_recording();
        Ok(())
    }

    /// The present state and disk, to come back to. `None` while a transaction is open, because that is
    /// in a connection and cannot be kept.
    pub(crate) fn checkpoint(&mut self) -> Option<(Snapshot, Rc<State>)> {
        if self
            .state
            .workers
            .iter()
            .any(|worker| worker.in_transaction)
        {
            return None;
        }
        // Equal rows are kept once, however many states hold them: which of them lies where in the file
        // no statement of a plan can tell.
        let rows = Rc::clone(&self.state.committed);
        let image = self
            .images
            .entry(rows)
            .or_insert_with(|| self.disk.snapshot())
            .clone();
        Some((image, Rc::new(self.state.clone())))
    }

    /// Comes back to a checkpoint, on the same connections.
    ///
    /// # Errors
    /// [`Error::Database`] if SQLite refuses to roll back what is open.
    pub(crate) fn return_to(&mut self, (image, state): &(Snapshot, Rc<State>)) -> Result<()> {
        for connection in self.workers.iter().filter(|c| !c.is_autocommit()) {
            let _ = sql::ask(connection, Purpose::Control, Plan::ROLLBACK, [])
                .map_err(Error::during("rolling back"))?;
        }
        self.disk.restore(image);
        self.state.clone_from(state);
        self.disk.take_recording();
        self.writes_seen = self.disk.writes();
        Ok(())
    }

    fn connection(&self, worker: WorkerId) -> &DiskConnection {
        &self.workers[usize::from(worker.0)]
    }

    fn deliver(&mut self, worker: WorkerId) -> Action {
        let delivery = self.state.broker.deliver(worker);
        let handed = self.state.broker.delivery(delivery);
        let (attempt, redelivered) = (handed.attempts, handed.redelivered);
        self.state.worker_mut(worker).job = Some(Job {
            delivery,
            attempt,
            redelivered,
            next: Next::Stage(0),
            acked: false,
            waits_for: None,
        });
        Action::Delivered {
            delivery,
            attempt,
            redelivered,
        }
    }

    /// Takes the next stage of a worker's plan, or of its way out.
    fn work(&mut self, worker: WorkerId, reply: Reply) -> Result<Action> {
        let job = self.state.job_mut(worker);
        job.waits_for = None;
        match job.next {
            Next::Stage(index) => match self.plan.stages[index].role {
                Role::ReadFlag => Ok(self.read_flag(worker, index)),
                Role::Ack => Ok(self.ack(worker, index + 1)),
                _ => self.run_stage(worker, index, reply),
            },
            Next::Rollback(exit) => self.roll_back(worker, exit),
            Next::GiveBack => {
                let delivery = self.finish(worker);
                Ok(Action::GaveBack {
                    delivery,
                    place: self.state.broker.requeue(delivery),
                })
            }
            Next::AckAnyway => Ok(self.ack(worker, self.plan.stages.len())),
        }
    }

    fn read_flag(&mut self, worker: WorkerId, index: usize) -> Action {
        let redelivered = self.state.job_mut(worker).redelivered;
        let means = self.plan.stages[index].read(&Answer::Rows(redelivered.into()));
        self.follow(worker, index, means);
        Action::ReadFlag { redelivered, means }
    }

    /// Runs the statement of a stage: the one place where a worker's SQL meets SQLite.
    fn run_stage(&mut self, worker: WorkerId, index: usize, reply: Reply) -> Result<Action> {
        let stage = &self.plan.stages[index];
        let statement = self.statement(worker, stage);
        let purpose = stage
            .purpose()
            .expect("a stage that runs a statement has a purpose");
        let (role, effect) = (stage.role, stage.effect);
        let answer = self.ask(worker, purpose, &statement);
        let heard = self.hear(worker, index, &answer, reply)?;
        Ok(Action::Ran(Ran {
            role,
            effect,
            statement,
            answer,
            heard,
        }))
    }

    fn ask(&self, worker: WorkerId, purpose: Purpose, statement: &Statement) -> Answer {
        let connection = self.connection(worker);
        let values = statement.bound();
        sql::answer(sql::ask(connection, purpose, statement.sql, values))
    }

    /// What the worker makes of an answer, and where that leads it.
    fn hear(
        &mut self,
        worker: WorkerId,
        index: usize,
        answer: &Answer,
        reply: Reply,
    ) -> Result<Heard> {
        if let Answer::Refused(refusal) = answer
            && refusal.kind == RefusalKind::Busy
        {
            let (wanted, holders) = self.last_refusal(worker);
            self.state.job_mut(worker).waits_for = Some(wanted);
            return Ok(Heard::Waits { holders });
        }
        if reply == Reply::Lost {
            let means = self.plan.stages[index].read(&connection_lost());
            self.note_swallowed(worker, index, means, Some(RefusalKind::Io));
            self.connection(worker).crash();
            self.follow(worker, index, means);
            return Ok(Heard::ReplyLost(means));
        }
        let means = self.plan.stages[index].read(answer);
        self.note_silence(worker, index, answer, means);
        self.follow(worker, index, means);
        Ok(Heard::Read(means))
    }

    /// The lock that SQLite was just refused for this worker, and who held it.
    fn last_refusal(&self, worker: WorkerId) -> (LockLevel, Vec<ConnectionId>) {
        let id = connection_of(worker);
        let refused = self.disk.last_refusal(id);
        refused.unwrap_or_else(|| {
            (
                LockLevel::Exclusive,
                self.disk.obstacles(id, LockLevel::Exclusive),
            )
        })
    }

    /// Notes an error that the design reads as a duplicate or acks, without its being the duplicate that
    /// the receipt's constraint reports; and a row that was not written without a word.
    fn note_silence(&mut self, worker: WorkerId, index: usize, answer: &Answer, means: Meaning) {
        let stage = &self.plan.stages[index];
        match answer {
            Answer::Refused(refusal) => {
                let arbitrated = stage.role == Role::Claim && refusal.kind == RefusalKind::Unique;
                if !arbitrated {
                    self.note_swallowed(worker, index, means, Some(refusal.kind));
                }
            }
            Answer::Changed(0) if stage.role == Role::Apply => {
                self.swallow(worker, stage.effect, None);
            }
            _ => {}
        }
    }

    fn note_swallowed(
        &mut self,
        worker: WorkerId,
        index: usize,
        means: Meaning,
        kind: Option<RefusalKind>,
    ) {
        if matches!(means, Meaning::Duplicate | Meaning::AckAnyway) {
            self.swallow(worker, self.plan.stages[index].effect, kind);
        }
    }

    fn swallow(&mut self, worker: WorkerId, effect: Option<EffectName>, kind: Option<RefusalKind>) {
        let delivery = self.state.job_mut(worker).delivery;
        let event = self.state.broker.delivery(delivery).event;
        self.state.swallowed.insert(Swallowed {
            event,
            effect,
            kind,
        });
    }

    /// Sends a worker where the meaning of an answer leads.
    fn follow(&mut self, worker: WorkerId, index: usize, means: Meaning) {
        match means {
            Meaning::Proceed => self.go_to(worker, index + 1),
            Meaning::Duplicate => self.leave(worker, Exit::SkipTo(self.plan.after_effect(index))),
            Meaning::GiveBack => self.leave(worker, Exit::GiveBack),
            Meaning::AckAnyway => self.leave(worker, Exit::AckAnyway),
        }
    }

    /// Leaves what cannot be finished, by way of a rollback if a transaction is open.
    fn leave(&mut self, worker: WorkerId, exit: Exit) {
        if self.connection(worker).is_autocommit() {
            self.exit(worker, exit);
        } else {
            self.state.job_mut(worker).next = Next::Rollback(exit);
        }
    }

    fn exit(&mut self, worker: WorkerId, exit: Exit) {
        let acked = self.state.job_mut(worker).acked;
        match exit {
            Exit::SkipTo(index) => self.go_to(worker, index),
            // What is acked cannot be given back: the broker has forgotten it.
            Exit::GiveBack | Exit::AckAnyway if acked => {
                self.finish(worker);
            }
            Exit::GiveBack => self.state.job_mut(worker).next = Next::GiveBack,
            Exit::AckAnyway => self.state.job_mut(worker).next = Next::AckAnyway,
        }
    }

    fn roll_back(&mut self, worker: WorkerId, exit: Exit) -> Result<Action> {
        let statement = Statement {
            sql: Plan::ROLLBACK,
            values: vec![],
        };
        let answer = self.ask(worker, Purpose::Control, &statement);
        self.exit(worker, exit);
        let heard = Heard::Read(match exit {
            Exit::SkipTo(_) => Meaning::Duplicate,
            Exit::GiveBack => Meaning::GiveBack,
            Exit::AckAnyway => Meaning::AckAnyway,
        });
        Ok(Action::Ran(Ran {
            role: Role::Rollback,
            effect: None,
            statement,
            answer,
            heard,
        }))
    }

    fn go_to(&mut self, worker: WorkerId, index: usize) {
        if index < self.plan.stages.len() {
            self.state.job_mut(worker).next = Next::Stage(index);
        } else {
            self.finish(worker);
        }
    }

    /// Makes a worker idle and returns the delivery it had.
    fn finish(&mut self, worker: WorkerId) -> DeliveryId {
        let job = self.state.worker_mut(worker).job.take();
        job.expect("only a worker with a job finishes one").delivery
    }

    fn ack(&mut self, worker: WorkerId, then: usize) -> Action {
        let job = self.state.job_mut(worker);
        job.acked = true;
        let delivery = job.delivery;
        self.state.broker.ack(delivery);
        let event = self.state.broker.delivery(delivery).event;
        let mut effects = self.scenario.effects().iter();
        if effects.any(|effect| self.tasks_of(event, *effect) == 0) {
            self.state.acked_too_early.insert(delivery);
        }
        self.go_to(worker, then);
        Action::Acked { delivery }
    }

    fn lose_ack(&mut self, worker: WorkerId) -> Action {
        let job = self.state.job_mut(worker).clone();
        match job.next {
            // The worker believes that the ack arrived, and goes on.
            Next::Stage(index) => {
                self.state.job_mut(worker).acked = true;
                self.go_to(worker, index + 1);
            }
            _ => {
                self.finish(worker);
            }
        }
        let place = self.state.broker.requeue(job.delivery);
        Action::AckLost {
            delivery: job.delivery,
            place,
        }
    }

    fn give_up(&mut self, worker: WorkerId) -> Action {
        let job = self.state.job_mut(worker);
        job.waits_for = None;
        let Next::Stage(index) = job.next else {
            unreachable!("a rollback asks for no lock, so only a stage can wait")
        };
        let means = self.plan.stages[index].read(&busy());
        self.note_swallowed(worker, index, means, Some(RefusalKind::Busy));
        self.follow(worker, index, means);
        Action::GaveUp { means }
    }

    fn crash(&mut self, worker: WorkerId) -> Result<Action> {
        let in_transaction = !self.connection(worker).is_autocommit();
        self.connection(worker).crash();
        let job = self.state.worker_mut(worker).job.take();
        let delivery = job
            .expect("`enabled` offers a crash only to a worker with a job")
            .delivery;
        let place = match self.state.broker.delivery(delivery).place {
            Place::Unacked(holder) if holder == worker => self.state.broker.requeue(delivery),
            elsewhere => elsewhere,
        };
        Ok(Action::Crashed {
            delivery,
            place,
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
        let values = statement.bound();
        let _ = sql::ask(&self.operator, Purpose::Write, statement.sql, values)
            .map_err(Error::during("adding the ticket"))?;
        Ok(Action::TicketAdded(statement))
    }

    /// Whether this is a moment at which the bounds let a worker crash.
    fn may_crash(&self, worker: WorkerId, next: Next) -> bool {
        match self.state.left.crash_at {
            CrashAt::AnyMoment => true,
            CrashAt::BeforeAck => self.is_ack(next),
            CrashAt::BetweenCommits => {
                let Next::Stage(index) = next else {
                    return false;
                };
                let is_own = |block: &&Range<usize>| block.contains(&index);
                let Some(block) = self.plan.blocks.iter().find(is_own) else {
                    return false;
                };
                !self.state.worker(worker).in_transaction && self.has_written(block.start..index)
            }
        }
    }

    /// Whether one of these stages writes. A worker that went through them has committed it, if no
    /// transaction is open.
    fn has_written(&self, stages: Range<usize>) -> bool {
        self.plan.stages[stages]
            .iter()
            .any(|stage| matches!(stage.role, Role::Claim | Role::Apply))
    }

    fn is_ack(&self, next: Next) -> bool {
        match next {
            Next::Stage(index) => self.plan.stages[index].role == Role::Ack,
            Next::AckAnyway => true,
            Next::Rollback(_) | Next::GiveBack => false,
        }
    }

    /// Whether the next statement of a worker makes something durable.
    fn commits(&self, worker: WorkerId, next: Next) -> bool {
        let Next::Stage(index) = next else {
            return false;
        };
        match self.plan.stages[index].role {
            Role::Commit => true,
            Role::Claim | Role::Apply => !self.state.worker(worker).in_transaction,
            _ => false,
        }
    }

    fn statement(&self, worker: WorkerId, stage: &Stage) -> Statement {
        let job = self
            .state
            .worker(worker)
            .job
            .as_ref()
            .expect("a worker at a stage has a job");
        let values = stage
            .binds
            .iter()
            .map(|bind| (bind.parameter(), self.value(*bind, job, stage.effect)));
        Statement {
            sql: stage.sql,
            values: values.collect(),
        }
    }

    fn value(&self, bind: Bind, job: &Job, effect: Option<EffectName>) -> Value {
        let index = self.state.broker.delivery(job.delivery).event;
        let event = self.event(index);
        let effect = effect.expect("a statement with values belongs to an effect");
        let text = match bind {
            Bind::EventId => event.event_id.as_str().to_owned(),
            Bind::EffectName => effect.as_str().to_owned(),
            Bind::TicketId => event.ticket_id.clone(),
            Bind::TenantId => return event.tenant_id.clone().map_or(Value::Null, Value::Text),
            Bind::TaskId => {
                let origin = Origin {
                    event: index,
                    effect,
                    delivery: job.delivery,
                    attempt: job.attempt,
                };
                self.task_ids[&origin].clone()
            }
            Bind::Status => event.payload.task_status.to_owned(),
        };
        Value::Text(text)
    }
}

/// A worker's connection, once it has read the schema.
///
/// SQLite reads it before the first statement that names a table, under a SHARED lock of its own. In a
/// recording that lock would tell a new connection from a used one, which no design is about.
fn acquainted(connection: DiskConnection) -> Result<DiskConnection> {
    connection
        .prepare("SELECT 1 FROM effect_receipts")
        .map_err(Error::during("reading the schema"))?;
    Ok(connection)
}

/// The tenant that the laboratory's ticket belongs to.
pub(crate) const TENANT: &str = "tenant-1";

/// Creates the tables that the plan needs, and what the scenario finds in them.
fn set_up(operator: &DiskConnection, plan: &Plan, scenario: &Scenario) -> rusqlite::Result<()> {
    // A design that writes no receipts gets the table all the same: an empty one says more than none.
    operator.execute_batch(plan.receipts.unwrap_or(schema::RECEIPTS_UNGUARDED))?;
    operator.execute_batch(schema::BUSINESS)?;
    if scenario.ticket == Ticket::Missing {
        return Ok(());
    }
    let ticket = Event::ticket_version(1).ticket_id;
    operator.execute(schema::INSERT_TICKET, [ticket.as_str(), TENANT])?;
    if scenario.task == TaskRow::SecondEscalation {
        let first = ["task-0", ticket.as_str(), TENANT, "escalation", "escalated"];
        operator.execute(schema::INSERT_TASK, first)?;
    }
    Ok(())
}

/// The broker with what was published at the start: every event once, then every event again.
fn published(scenario: &Scenario) -> Broker {
    let mut broker = Broker::default();
    for _ in 0..scenario.deliveries {
        for event in 0..scenario.versions {
            broker.publish(EventIndex(event));
        }
    }
    broker
}

/// The id of a task: a version 5 UUID of where it comes from, so that the same schedule gives the same.
fn task_id(origin: &Origin) -> String {
    let Origin {
        event,
        effect,
        delivery,
        attempt,
    } = origin;
    let name = format!(
        "{event}/{effect}/delivery {}/attempt {attempt}",
        delivery.0 + 1
    );
    Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).to_string()
}

/// Every task id that may come to be, by its origin.
fn task_ids(scenario: &Scenario) -> BTreeMap<Origin, String> {
    let mut ids = BTreeMap::new();
    for event in (0..scenario.versions).map(EventIndex) {
        for &effect in scenario.effects() {
            for delivery in (0..Broker::DELIVERIES_MAX as u8).map(DeliveryId) {
                for attempt in 1..=Broker::ATTEMPTS_MAX {
                    let origin = Origin {
                        event,
                        effect,
                        delivery,
                        attempt,
                    };
                    ids.insert(origin, task_id(&origin));
                }
            }
        }
    }
    ids
}

/// What a worker's code gets when its wait ran out.
fn busy() -> Answer {
    refused(
        RefusalKind::Busy,
        rusqlite::ffi::SQLITE_BUSY,
        "database is locked",
    )
}

/// What a worker's code gets when the connection broke before the reply came.
fn connection_lost() -> Answer {
    refused(RefusalKind::Io, 0, "connection lost")
}

fn refused(kind: RefusalKind, code: i32, message: &str) -> Answer {
    Answer::Refused(sql::Refusal {
        kind,
        code,
        message: message.to_owned(),
    })
}
