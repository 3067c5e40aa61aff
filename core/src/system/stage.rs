//! A stage of a plan: its statement with its values, what SQLite answered, and where that leads.

use rusqlite::types::Value;

use super::publication::LEASE;
use super::{Action, Heard, Ran, Reply, Statement, System, connection_of};
use crate::broker::{Kind, WorkerId};
use crate::database::Database;
use crate::disk::{ConnectionId, LockLevel};
use crate::error::Result;
use crate::event::EffectName;
use crate::plan::{Bind, Meaning, Plan, Role, Stage};
use crate::sql::{self, Answer, Purpose, RefusalKind};
use crate::state::{Claimed, Exit, Handed, Job, Origin, Subject, Swallowed};

impl<D: Database> System<D> {
    /// Runs the statement of a stage: the one place where a worker's SQL meets SQLite.
    pub(super) fn run_stage(
        &mut self,
        worker: WorkerId,
        index: usize,
        reply: Reply,
    ) -> Result<Action> {
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

    pub(super) fn ask(&self, worker: WorkerId, purpose: Purpose, statement: &Statement) -> Answer {
        self.database.ask(connection_of(worker), purpose, statement)
    }

    /// What the worker makes of an answer, and where that leads it.
    pub(super) fn hear(
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
            self.database.crash(connection_of(worker));
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
    pub(super) fn take_in_hand(&mut self, worker: WorkerId, row: &[String]) {
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
    pub(super) fn last_refusal(&self, worker: WorkerId) -> (LockLevel, Vec<ConnectionId>) {
        let id = connection_of(worker);
        let refused = self.database.last_refusal(id);
        refused.unwrap_or_else(|| {
            (
                LockLevel::Exclusive,
                self.database.obstacles(id, LockLevel::Exclusive),
            )
        })
    }

    /// Notes an error that the design reads as a duplicate or acks, without its being the duplicate that
    /// the receipt's constraint reports; and a row that was not written without a word.
    pub(super) fn note_silence(
        &mut self,
        worker: WorkerId,
        index: usize,
        answer: &Answer,
        means: Meaning,
    ) {
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

    pub(super) fn note_swallowed(
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

    pub(super) fn swallow(
        &mut self,
        worker: WorkerId,
        effect: Option<EffectName>,
        kind: Option<RefusalKind>,
    ) {
        let event = self.state.job_mut(worker).event();
        let event = event.expect("only a consumer swallows, and it has a delivery");
        self.state.swallowed.insert(Swallowed {
            event,
            effect,
            kind,
        });
    }

    /// Sends a worker where the meaning of an answer leads.
    pub(super) fn follow(&mut self, worker: WorkerId, index: usize, means: Meaning) {
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

    pub(super) fn roll_back(&mut self, worker: WorkerId, exit: Exit) -> Result<Action> {
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

    pub(super) fn statement(&self, worker: WorkerId, stage: &Stage) -> Statement {
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

    pub(super) fn value(
        &self,
        bind: Bind,
        worker: WorkerId,
        job: &Job,
        effect: Option<EffectName>,
    ) -> Value {
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
pub(super) fn task_of(job: &Job, effect: Option<EffectName>) -> Origin {
    match &job.subject {
        Subject::Delivery(handed) => origin_of(
            handed,
            effect.expect("a consumer's task belongs to an effect"),
        ),
        Subject::Task(Some(task)) => *task,
        _ => unreachable!("only a consumer and a sender have a task at hand"),
    }
}

pub(super) fn origin_of(handed: &Handed, effect: EffectName) -> Origin {
    Origin {
        event: handed.event,
        effect,
        delivery: handed.delivery,
        attempt: handed.attempt,
    }
}

/// What a worker's code gets when its wait ran out.
pub(super) fn busy() -> Answer {
    refused(
        RefusalKind::Busy,
        rusqlite::ffi::SQLITE_BUSY,
        "database is locked",
    )
}

/// What a worker's code gets when the connection broke before the reply came.
pub(super) fn connection_lost() -> Answer {
    refused(RefusalKind::Io, 0, "connection lost")
}

pub(super) fn refused(kind: RefusalKind, code: i32, message: &str) -> Answer {
    Answer::Refused(sql::Refusal {
        kind,
        code,
        message: message.to_owned(),
    })
}
