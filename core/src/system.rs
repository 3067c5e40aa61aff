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

use crate::broker::{Broker, DeliveryId, EventIndex, Kind, Place, WorkerId};
use crate::design::{Design, Outside};
use crate::disk::{ConnectionId, Disk, DiskConnection, LockEvent, LockLevel, Snapshot};
use crate::error::{Error, Result};
use crate::event::{EffectName, Event};
use crate::plan::{Bind, Meaning, Plan, Role, Stage};
use crate::relay::Confirm;
use crate::scenario::{Bounds, CrashAt, Provider, Scenario, TaskRow, Ticket};
use crate::schedule::Step;
use crate::schema::{self, OutboxRow, Tables, Task};
use crate::sql::{self, Answer, Purpose, RefusalKind};
use crate::state::{
    Claimed, Exit, Handed, Job, Message, Next, Origin, State, Subject, Swallowed, Worker,
};

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
        /// The delivery it had, if it had one, and where that is now.
        returned: Option<(DeliveryId, Place)>,
        /// Whether a transaction was open, which is gone.
        in_transaction: bool,
    },
    /// A worker sent an event to the broker.
    Sent {
        /// The event.
        event: EventIndex,
        /// What the broker made of it, whether or not anybody hears it.
        confirm: Confirm,
        /// The new delivery, if the broker took it.
        delivery: Option<DeliveryId>,
    },
    /// A relay heard what the broker made of a message, or waited for it in vain.
    HeardConfirm {
        /// The event.
        event: EventIndex,
        /// What it heard.
        confirm: Confirm,
        /// What the design makes of it.
        means: Meaning,
    },
    /// A worker asked the provider whether the message for a task went out.
    AskedProvider {
        /// The task.
        task: Origin,
        /// What the provider answered.
        is_known: bool,
        /// What the design makes of it.
        means: Meaning,
    },
    /// A worker called the provider.
    Called {
        /// The task that it called for.
        task: Origin,
        /// The key that the call carried.
        key: Option<String>,
        /// Whether the message went out. A provider that honours keys does nothing the second time.
        went_out: bool,
        /// Whether the answer came.
        is_answered: bool,
        /// What the design makes of it.
        means: Meaning,
    },
    /// A lease expired.
    LeaseExpired {
        /// The event of the row.
        event: EventIndex,
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

/// The machine.
#[derive(Debug)]
pub struct System {
    /// The plans, by the kind of worker that walks them.
    plans: [Plan; 4],
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
        let kinds = [Kind::Consumer, Kind::Producer, Kind::Relay, Kind::Sender];
        let plans = kinds.map(|kind| Plan::of(kind, design, scenario.effects()));
        let disk = Disk::new();
        let connect = |id| {
            disk.connect(id)
                .map_err(Error::during("opening a connection"))
        };
        let operator = connect(OPERATOR)?;
        set_up(&operator, design, &scenario).map_err(Error::during("setting the tables up"))?;
        let observer = connect(ConnectionId::OBSERVER)?;
        let cast = cast(design, &scenario);
        let workers = cast
            .iter()
            .map(|worker| acquainted(connect(connection_of(*worker))?))
            .collect::<Result<Vec<_>>>()?;
        let committed =
            read_tables(&observer, design).map_err(Error::during("reading the tables"))?;
        let state = State {
            broker: published(design, &scenario),
            workers: cast.into_iter().map(Worker::idle).collect(),
            committed: Rc::new(committed),
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
        disk.take_recording();
        let task_ids = task_ids(&scenario);
        let origins = task_ids.iter().map(|(origin, id)| (id.clone(), *origin));
        Ok(System {
            origins: origins.collect(),
            task_ids,
            events: events(design, &scenario),
            writes_seen: disk.writes(),
            start: (disk.snapshot(), Rc::new(state.clone())),
            images: BTreeMap::new(),
            plans,
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
    pub fn events(&self) -> impl Iterator<Item = EventIndex> + use<> {
        (0..self.scenario.versions).map(EventIndex)
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
                    .is_none_or(|wanted| self.disk.would_grant(connection_of(id), wanted)),
                None => self.has_something_for(id.kind()),
            },
            Step::LeaseExpires => self.expiring(Holder::Gone).is_some(),
            Step::LeaseOverrun => left.overruns > 0 && self.expiring(Holder::AtWork).is_some(),
            Step::AddTicket => {
                !self.design().has_producer()
                    && self.state.committed.tickets.is_empty()
                    && self.disk.would_grant(OPERATOR, LockLevel::Exclusive)
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
                        .disk
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
            let tables = read_tables(&self.observer, self.design())
                .map_err(Error::during("reading the tables"))?;
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
        let design = self.design();
        for (worker, connection) in self.state.workers.iter_mut().zip(&self.workers) {
            if worker.lock < LockLevel::Reserved || worker.own.is_some() {
                continue;
            }
            let tables = read_tables(connection, design);
            let tables = tables.map_err(Error::during("reading as the worker"))?;
            worker.own = Some(Rc::new(tables));
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
        let place = self.state.place_of(worker);
        &self.workers[place.expect("a worker of this scenario")]
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
                tasks.any(is_pending_notification)
            }
        }
    }

    fn has_expired(&self, row: &OutboxRow) -> bool {
        row.lease_until
            .is_some_and(|until| until <= i64::from(self.state.clock))
    }

    /// The event of the first row whose lease has yet to expire and whose holder is as said.
    fn expiring(&self, holder: Holder) -> Option<EventIndex> {
        self.events().find(|event| {
            let row = self.outbox_row(*event);
            row.is_some_and(|row| {
                row.lease_until.is_some_and(|until| until < i64::MAX)
                    && !self.has_expired(row)
                    && self.is_held(*event, row) == (holder == Holder::AtWork)
            })
        })
    }

    /// Whether the relay that claimed the row last is still at work on it.
    fn is_held(&self, event: EventIndex, row: &OutboxRow) -> bool {
        let jobs = self.state.workers.iter().filter_map(|w| w.job.as_ref());
        jobs.filter_map(Job::claimed)
            .any(|claimed| claimed.event == event && i64::from(claimed.token) == row.token)
    }

    fn expire(&mut self, holder: Holder) -> Action {
        let event = self
            .expiring(holder)
            .expect("`enabled` offers an expiry only while a lease can expire");
        self.state.clock += LEASE;
        Action::LeaseExpired { event }
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

    fn deliver(&mut self, worker: WorkerId) -> Action {
        let delivery = self.state.broker.deliver(worker);
        let handed = self.state.broker.delivery(delivery);
        let (attempt, redelivered) = (handed.attempts, handed.redelivered);
        self.state.worker_mut(worker).job = Some(Job {
            subject: Subject::Delivery(Handed {
                delivery,
                event: handed.event,
                attempt,
                redelivered,
                acked: false,
            }),
            next: Next::Stage(0),
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

    /// Sends the event at hand to the broker, who makes this of it.
    fn publish(&mut self, worker: WorkerId, confirm: Confirm) -> Action {
        let index = self.place_in_plan(worker);
        let job = self.state.job_mut(worker);
        let event = job.event().expect("a worker publishes what it has at hand");
        if let Subject::Row(Some(claimed)) = &mut job.subject {
            claimed.confirm = Some(confirm);
        }
        let is_taken = confirm == Confirm::Confirmed;
        let delivery = is_taken.then(|| self.state.broker.publish(event));
        // The stage only sends. Whether anybody hears the answer is a matter of the next one.
        let means = self.stage(worker, index).read(&Answer::Done);
        self.follow(worker, index, means);
        Action::Sent {
            event,
            confirm,
            delivery,
        }
    }

    fn hear_confirm(&mut self, worker: WorkerId, confirm: Confirm) -> Action {
        let index = self.place_in_plan(worker);
        let claimed = self.state.job_mut(worker).claimed().copied();
        let Claimed { event, attempt, .. } = claimed.expect("a relay hears of what it has claimed");
        let means = self.stage(worker, index).hear(confirm, attempt);
        self.follow(worker, index, means);
        Action::HeardConfirm {
            event,
            confirm,
            means,
        }
    }

    fn ask_provider(&mut self, worker: WorkerId, index: usize) -> Action {
        let task = self.task_at_hand(worker);
        let is_known = self.state.sent.iter().any(|message| message.task == task);
        let means = self
            .stage(worker, index)
            .read(&Answer::Rows(is_known.into()));
        self.follow(worker, index, means);
        Action::AskedProvider {
            task,
            is_known,
            means,
        }
    }

    /// Calls the provider for the task at hand. What it does is done, whatever happens to the answer.
    fn call(&mut self, worker: WorkerId, reply: Reply) -> Action {
        let index = self.place_in_plan(worker);
        let task = self.task_at_hand(worker);
        let key = (self.design().outside == Outside::PendingRowWithKey)
            .then(|| self.task_ids[&task].clone());
        let is_known = self.state.sent.iter().any(|message| message.task == task);
        let is_repeated = key.is_some() && is_known;
        let went_out = !(is_repeated && self.scenario.provider == Provider::HonoursKeys);
        if went_out {
            let place = self
                .state
                .sent
                .partition_point(|message| message.task < task);
            self.state.sent.insert(place, Message { task });
        }
        let answer = match reply {
            Reply::Heard => Answer::Done,
            Reply::Lost => connection_lost(),
        };
        let means = self.stage(worker, index).read(&answer);
        if reply == Reply::Lost {
            self.note_swallowed(worker, index, means, Some(RefusalKind::Io));
        }
        self.follow(worker, index, means);
        Action::Called {
            task,
            key,
            went_out,
            is_answered: reply == Reply::Heard,
            means,
        }
    }

    /// The task that a consumer writes or a sender has picked.
    fn task_at_hand(&self, worker: WorkerId) -> Origin {
        let job = self.state.worker(worker).job.as_ref();
        match job.map(|job| &job.subject) {
            Some(Subject::Delivery(handed)) => origin_of(handed, EffectName::Notification),
            Some(Subject::Task(Some(task))) => *task,
            _ => unreachable!("only a consumer and a sender call, and they have a task at hand"),
        }
    }

    fn read_flag(&mut self, worker: WorkerId, index: usize) -> Action {
        let handed = self.state.job_mut(worker).handed();
        let redelivered = handed.is_some_and(|handed| handed.redelivered);
        let means = self
            .stage(worker, index)
            .read(&Answer::Rows(redelivered.into()));
        self.follow(worker, index, means);
        Action::ReadFlag { redelivered, means }
    }

    /// Runs the statement of a stage: the one place where a worker's SQL meets SQLite.
    fn run_stage(&mut self, worker: WorkerId, index: usize, reply: Reply) -> Result<Action> {
        let stage = self.stage(worker, index);
        let statement = self.statement(worker, stage);
        let purpose = stage
            .purpose()
            .expect("a stage that runs a statement has a purpose");
        let (role, effect) = (stage.role, stage.effect);
        let answer = self.ask(worker, purpose, &statement);
        self.note_stale_write(worker, role, &answer);
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

    /// Notes a change of a row that was not the relay's any more.
    fn note_stale_write(&mut self, worker: WorkerId, role: Role, answer: &Answer) {
        let has_changed = matches!(answer, Answer::Changed(1..));
        if !has_changed || !matches!(role, Role::MarkPublished | Role::Release | Role::Park) {
            return;
        }
        let claimed = self.state.job_mut(worker).claimed().copied();
        let claimed = claimed.expect("a relay changes what it has claimed");
        // The committed rows are still those from before the statement.
        let is_its_own = self
            .outbox_row(claimed.event)
            .is_some_and(|row| row.state == "leased" && row.token == i64::from(claimed.token));
        if !is_its_own {
            self.state.stale_writes.insert(claimed.event);
        }
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
            let means = self.stage(worker, index).read(&connection_lost());
            self.note_swallowed(worker, index, means, Some(RefusalKind::Io));
            self.connection(worker).crash();
            self.follow(worker, index, means);
            return Ok(Heard::ReplyLost(means));
        }
        let means = self.stage(worker, index).read(answer);
        if let Answer::Row(Some(row)) = answer {
            self.take_in_hand(worker, row);
        }
        self.note_silence(worker, index, answer, means);
        self.follow(worker, index, means);
        Ok(Heard::Read(means))
    }

    /// Remembers the row that a statement returned: it is what the worker has at hand from now on.
    fn take_in_hand(&mut self, worker: WorkerId, row: &[String]) {
        let subject = match worker.kind() {
            Kind::Relay => {
                let event = self
                    .events()
                    .find(|event| self.event(*event).event_id.as_str() == row[0]);
                let number = |place: usize| row.get(place)?.parse::<u8>().ok();
                let claimed = event.zip(number(1)).zip(number(2));
                Subject::Row(claimed.map(|((event, token), attempt)| Claimed {
                    event,
                    token,
                    attempt,
                    confirm: None,
                }))
            }
            Kind::Sender => Subject::Task(self.origin(&row[0])),
            Kind::Consumer | Kind::Producer => return,
        };
        self.state.job_mut(worker).subject = subject;
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
        let stage = self.stage(worker, index);
        let (role, effect) = (stage.role, stage.effect);
        match answer {
            Answer::Refused(refusal) => {
                let arbitrated = role == Role::Claim && refusal.kind == RefusalKind::Unique;
                if !arbitrated {
                    self.note_swallowed(worker, index, means, Some(refusal.kind));
                }
            }
            Answer::Changed(0) if role == Role::Apply => {
                self.swallow(worker, effect, None);
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
            let effect = self.stage(worker, index).effect;
            self.swallow(worker, effect, kind);
        }
    }

    fn swallow(&mut self, worker: WorkerId, effect: Option<EffectName>, kind: Option<RefusalKind>) {
        let event = self.state.job_mut(worker).event();
        let event = event.expect("only a consumer swallows, and it has a delivery");
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
            Meaning::Duplicate => {
                let end = self.plan_of(worker.kind()).after_effect(index);
                self.leave(worker, Exit::SkipTo(end));
            }
            Meaning::GoTo(role) => {
                let place = self.plan_of(worker.kind()).place_of(role);
                self.go_to(
                    worker,
                    place.expect("a plan has the stages that it leads to"),
                );
            }
            Meaning::Done => self.finish(worker),
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

    /// Makes a consumer idle and returns the delivery it had.
    fn finish_delivery(&mut self, worker: WorkerId) -> DeliveryId {
        let delivery = self.handed(worker).delivery;
        self.finish(worker);
        delivery
    }

    /// The delivery that a consumer has.
    fn handed(&mut self, worker: WorkerId) -> &mut Handed {
        match &mut self.state.job_mut(worker).subject {
            Subject::Delivery(handed) => handed,
            _ => unreachable!("only a consumer is asked for its delivery"),
        }
    }

    fn ack(&mut self, worker: WorkerId, then: usize) -> Action {
        let handed = self.handed(worker);
        handed.acked = true;
        let Handed {
            delivery, event, ..
        } = *handed;
        self.state.broker.ack(delivery);
        let mut effects = self.scenario.effects().iter();
        if effects.any(|effect| self.tasks_of(event, *effect) == 0) {
            self.state.acked_too_early.insert(delivery);
        }
        self.go_to(worker, then);
        Action::Acked { delivery }
    }

    fn lose_ack(&mut self, worker: WorkerId) -> Action {
        let delivery = self.handed(worker).delivery;
        match self.state.job_mut(worker).next {
            // The worker believes that the ack arrived, and goes on.
            Next::Stage(index) => {
                self.handed(worker).acked = true;
                self.go_to(worker, index + 1);
            }
            _ => self.finish(worker),
        }
        let place = self.state.broker.requeue(delivery);
        Action::AckLost { delivery, place }
    }

    fn give_up(&mut self, worker: WorkerId) -> Action {
        let job = self.state.job_mut(worker);
        job.waits_for = None;
        let Next::Stage(index) = job.next else {
            unreachable!("a rollback asks for no lock, so only a stage can wait")
        };
        let means = self.stage(worker, index).read(&busy());
        self.note_swallowed(worker, index, means, Some(RefusalKind::Busy));
        self.follow(worker, index, means);
        Action::GaveUp { means }
    }

    fn crash(&mut self, worker: WorkerId) -> Result<Action> {
        let in_transaction = !self.connection(worker).is_autocommit();
        self.connection(worker).crash();
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
        let values = statement.bound();
        let _ = sql::ask(&self.operator, Purpose::Write, statement.sql, values)
            .map_err(Error::during("adding the ticket"))?;
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

    fn statement(&self, worker: WorkerId, stage: &Stage) -> Statement {
        let job = self
            .state
            .worker(worker)
            .job
            .as_ref()
            .expect("a worker at a stage has a job");
        let values = stage.binds.iter().map(|bind| {
            (
                bind.parameter(),
                self.value(*bind, worker, job, stage.effect),
            )
        });
        Statement {
            sql: stage.sql,
            values: values.collect(),
        }
    }

    fn value(&self, bind: Bind, worker: WorkerId, job: &Job, effect: Option<EffectName>) -> Value {
        let clock = i64::from(self.state.clock);
        match bind {
            Bind::Owner => return Value::Text(worker.to_string()),
            Bind::Now => return Value::Integer(clock),
            Bind::Until => return Value::Integer(clock + i64::from(LEASE)),
            Bind::Token => {
                let claimed = job.claimed().expect("a token comes with a claim");
                return Value::Integer(claimed.token.into());
            }
            Bind::TaskId => return Value::Text(self.task_ids[&task_of(job, effect)].clone()),
            _ => {}
        }
        let index = job
            .event()
            .expect("a statement with values is about an event");
        let event = self.event(index);
        let effect_name = || effect.expect("a statement that names an effect belongs to one");
        let text = match bind {
            Bind::EventId => event.event_id.as_str().to_owned(),
            Bind::EffectName => effect_name().as_str().to_owned(),
            Bind::TicketId => event.ticket_id.clone(),
            Bind::TenantId => return event.tenant_id.clone().map_or(Value::Null, Value::Text),
            Bind::Status => event.payload.task_status.to_owned(),
            Bind::Payload => event.payload.event_type.to_owned(),
            Bind::Owner | Bind::Now | Bind::Until | Bind::Token | Bind::TaskId => {
                unreachable!("these were looked at above")
            }
        };
        Value::Text(text)
    }
}

/// The task that a job's statement is about.
fn task_of(job: &Job, effect: Option<EffectName>) -> Origin {
    match &job.subject {
        Subject::Delivery(handed) => origin_of(
            handed,
            effect.expect("a consumer's task belongs to an effect"),
        ),
        Subject::Task(Some(task)) => *task,
        _ => unreachable!("only a consumer and a sender have a task at hand"),
    }
}

fn origin_of(handed: &Handed, effect: EffectName) -> Origin {
    Origin {
        event: handed.event,
        effect,
        delivery: handed.delivery,
        attempt: handed.attempt,
    }
}

/// Whether a relay is still at work on the row that it claimed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    AtWork,
    Gone,
}

/// For how long a row is claimed, by the clock that only expiry moves.
const LEASE: u8 = 1;

/// Whether a sender has something to do for this row. [`schema::PICK_NOTIFICATION`] asks the same.
fn is_pending_notification(task: &Task) -> bool {
    task.task_type == EffectName::Notification.as_str() && task.status == "pending"
}

/// The workers that a design and a scenario bring, in the order of their ids.
fn cast(design: Design, scenario: &Scenario) -> Vec<WorkerId> {
    let numbered = |first: u8, count: u8| (first..first + count).map(WorkerId);
    let relays = if design.has_outbox() {
        scenario.relays
    } else {
        0
    };
    let senders = if design.has_sender() {
        scenario.senders
    } else {
        0
    };
    numbered(0, scenario.workers)
        .chain(design.has_producer().then_some(WorkerId::PRODUCER))
        .chain(numbered(WorkerId::FIRST_RELAY.0, relays))
        .chain(numbered(WorkerId::FIRST_SENDER.0, senders))
        .collect()
}

/// The events of a scenario. A producer writes a ticket for each.
fn events(design: Design, scenario: &Scenario) -> Vec<Event> {
    let mut events = scenario.events();
    if design.has_producer() {
        for (event, number) in events.iter_mut().zip(1..) {
            event.ticket_id = format!("ticket-{number}");
        }
    }
    events
}

/// Reads the tables that a design has.
fn read_tables(connection: &DiskConnection, design: Design) -> rusqlite::Result<Tables> {
    if design.has_outbox() {
        Tables::read_with_outbox(connection)
    } else {
        Tables::read(connection)
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

/// Creates the tables that the design needs, and what the scenario finds in them.
fn set_up(operator: &DiskConnection, design: Design, scenario: &Scenario) -> rusqlite::Result<()> {
    // A design that writes no receipts gets the table all the same: an empty one says more than none.
    let receipts = Plan::compile(design, scenario.effects()).receipts;
    operator.execute_batch(receipts.unwrap_or(schema::RECEIPTS_UNGUARDED))?;
    operator.execute_batch(schema::BUSINESS)?;
    if design.has_outbox() {
        operator.execute_batch(schema::OUTBOX_EVENTS)?;
    }
    if scenario.ticket == Ticket::Missing || design.has_producer() {
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

/// The broker with what was published at the start: every event once, then every event again. Where a
/// producer is looked at, nothing was.
fn published(design: Design, scenario: &Scenario) -> Broker {
    let mut broker = Broker::default();
    if design.has_producer() {
        return broker;
    }
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
