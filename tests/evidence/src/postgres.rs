//! PostgreSQL as the database of the laboratory's machine: a session for each worker, and its waits read
//! from the server's own view of its locks.
//!
//! A statement that has to wait stays on its way, as it does in a program. After every step each session
//! is given time until its statement has come back or the server says whom it waits for
//! (`pg_blocking_pids`); no time limit decides. So a step leads to the same state whenever it is taken.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use deliver_twice_core::database::{self, Database, Setting};
use deliver_twice_core::dialect;
use deliver_twice_core::disk::{ConnectionId, LockEvent, LockLevel};
use deliver_twice_core::schema::{self, OutboxRow, Receipt, Tables, Task};
use deliver_twice_core::sql::{Answer, Purpose, Refusal, RefusalKind};
use deliver_twice_core::system::{OPERATOR, Statement};
use rusqlite::types::Value;
use tokio::runtime::Runtime;
use tokio::task::{JoinHandle, LocalSet};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Error, NoTls};

use crate::statement::{self, Typed, in_words};
use crate::{locks, record};

/// For how long the server may take to say something of a statement before that counts as a fault of the
/// set-up.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a transaction of a plan begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isolation {
    /// The server's default.
    ReadCommitted,
    /// One snapshot for the whole transaction.
    RepeatableRead,
    /// As if transactions ran one after the other.
    Serializable,
}

impl Isolation {
    /// All of them, the default first.
    pub const ALL: [Isolation; 3] = [
        Isolation::ReadCommitted,
        Isolation::RepeatableRead,
        Isolation::Serializable,
    ];

    /// As SQL and records write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Isolation::ReadCommitted => "READ COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE READ",
            Isolation::Serializable => "SERIALIZABLE",
        }
    }
}

/// The server's word on a statement that it refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The five characters of its SQLSTATE.
    pub sqlstate: String,
    /// The constraint that was violated, if it was one.
    pub constraint: Option<String>,
}

/// A statement on its way to the server and back.
type Flight = JoinHandle<Result<Answer, Error>>;

struct Session {
    client: Rc<Client>,
    pid: i32,
    is_in_transaction: bool,
    flight: Option<Flight>,
    waits_for: Vec<ConnectionId>,
    last_said: Option<Said>,
}

impl Session {
    fn is_on_its_way(&self) -> bool {
        let flight = self.flight.as_ref();
        flight.is_some_and(|flight| !flight.is_finished())
    }

    /// Waits until its statement has come back or hangs on a lock, and notes whom it waits for.
    async fn settle(
        &mut self,
        observer: &Client,
        ids: &BTreeMap<i32, ConnectionId>,
    ) -> database::Result<()> {
        self.waits_for.clear();
        while self.is_on_its_way() && self.waits_for.is_empty() {
            let holders = locks::blockers(observer, self.pid).await?;
            self.waits_for = holders
                .iter()
                .filter_map(|pid| ids.get(pid))
                .copied()
                .collect();
            self.waits_for.sort_unstable();
        }
        Ok(())
    }
}

/// A schema of its own on a PostgreSQL server, with a session for everybody.
pub struct Postgres {
    runtime: Runtime,
    locals: LocalSet,
    config: Config,
    schema: String,
    isolation: Isolation,
    observer: Rc<Client>,
    sessions: RefCell<BTreeMap<ConnectionId, Session>>,
    has_outbox: bool,
    last_read: RefCell<Option<Tables>>,
    has_changed: Cell<bool>,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres")
            .field("schema", &self.schema)
            .field("isolation", &self.isolation)
            .finish_non_exhaustive()
    }
}

impl Postgres {
    /// A new schema `schema` on the server with this in its tables; one of that name is dropped.
    ///
    /// # Errors
    /// What the server says.
    pub fn new(
        config: &Config,
        schema: &str,
        isolation: Isolation,
        setting: &Setting,
    ) -> database::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let locals = LocalSet::new();
        let observer = locals.block_on(&runtime, connect(config, "public"))?.client;
        let postgres = Postgres {
            runtime,
            locals,
            config: config.clone(),
            schema: schema.to_owned(),
            isolation,
            observer,
            sessions: RefCell::default(),
            has_outbox: setting.has_outbox,
            last_read: RefCell::default(),
            has_changed: Cell::new(true),
        };
        postgres.set_up(setting)?;
        Ok(postgres)
    }

    fn set_up(&self, setting: &Setting) -> database::Result<()> {
        let schema = &self.schema;
        let mut script = format!(
            "SET client_min_messages = warning; DROP SCHEMA IF EXISTS {schema} CASCADE; \
             CREATE SCHEMA {schema}; SET search_path = {schema};"
        );
        for table in &setting.tables {
            script.push_str(&dialect::in_postgres(table));
        }
        self.block_on(self.observer.batch_execute(&script))?;
        for id in setting.workers.iter().chain([&OPERATOR]) {
            self.open(*id)?;
        }
        for row in &setting.rows {
            if let Answer::Refused(refusal) = self.ask(OPERATOR, Purpose::Write, row) {
                return Err(refusal.message.into());
            }
        }
        Ok(())
    }

    fn open(&self, id: ConnectionId) -> database::Result<()> {
        let session = self.block_on(connect(&self.config, &self.schema))?;
        self.sessions.borrow_mut().insert(id, session);
        Ok(())
    }

    /// The version of the server, such as `15.4`, and what day it is there.
    ///
    /// # Errors
    /// What the server says.
    pub fn version_and_date(&self) -> database::Result<(String, String)> {
        Ok(self.block_on(record::version_and_date(&self.observer))?)
    }

    /// What the server said of the last statement over this connection, if it refused it.
    pub fn last_said(&self, connection: ConnectionId) -> Option<Said> {
        let sessions = self.sessions.borrow();
        sessions.get(&connection)?.last_said.clone()
    }

    /// Sends a statement on its way.
    fn send(&self, session: &Session, purpose: Purpose, statement: &Statement) -> Flight {
        let mut sql = in_words(statement.sql);
        if sql == "BEGIN" {
            sql = format!("BEGIN ISOLATION LEVEL {}", self.isolation.as_str());
        }
        let values = statement.values.iter();
        let values = values.map(|(_, value)| bound(value)).collect();
        let asked = send(Rc::clone(&session.client), purpose, sql, values);
        self.locals.spawn_local(asked)
    }

    /// Waits until every statement on its way has come back or hangs on a lock, and notes whom it waits for.
    fn settle(&self) -> database::Result<()> {
        let mut sessions = self.sessions.borrow_mut();
        let ids = sessions
            .iter()
            .map(|(id, session)| (session.pid, *id))
            .collect();
        let settled = async {
            // One that comes back may let another go on that was found waiting before.
            let mut on_their_way = usize::MAX;
            while on_their_way > sessions.values().filter(|s| s.is_on_its_way()).count() {
                on_their_way = sessions.values().filter(|s| s.is_on_its_way()).count();
                for session in sessions.values_mut() {
                    session.settle(&self.observer, &ids).await?;
                }
            }
            Ok(())
        };
        self.patiently(settled)
    }

    /// Takes the answer of a statement that has come back.
    fn land(&self, connection: ConnectionId, purpose: Purpose, statement: &Statement) -> Answer {
        let mut sessions = self.sessions.borrow_mut();
        let session = sessions
            .get_mut(&connection)
            .expect("a connection of this database");
        let flight = session.flight.take().expect("a statement is on its way");
        let result = self
            .block_on(flight)
            .expect("a statement's task ends by itself");
        if purpose == Purpose::Control {
            let begins = statement.sql.starts_with("BEGIN");
            session.is_in_transaction = begins && result.is_ok();
        }
        session.last_said = result.as_ref().err().and_then(said);
        result.unwrap_or_else(|error| Answer::Refused(refusal(&error)))
    }

    /// Ends the server's process behind a connection, and waits until it is gone.
    ///
    /// A program that dies leaves its statement running: the server sees that nobody listens when it next
    /// has something to say. What a plan does after a crash must not depend on that moment, so the
    /// process is ended here.
    fn end(&self, pid: i32) -> database::Result<()> {
        let observer = &self.observer;
        let gone = async {
            observer
                .query_one("SELECT pg_terminate_backend($1)", &[&pid])
                .await?;
            let alive = "SELECT 1 FROM pg_stat_activity WHERE pid = $1";
            while observer.query_opt(alive, &[&pid]).await?.is_some() {}
            Ok(())
        };
        self.patiently(gone)
    }

    /// Ends the statement that a connection waits with, and hears what the server says of that.
    fn cancel(&self, connection: ConnectionId) -> database::Result<()> {
        let flight = {
            let mut sessions = self.sessions.borrow_mut();
            let session = sessions
                .get_mut(&connection)
                .expect("a connection of this database");
            session.waits_for.clear();
            session
                .flight
                .take()
                .map(|flight| (flight, session.client.cancel_token()))
        };
        if let Some((flight, token)) = flight {
            self.block_on(token.cancel_query(NoTls))?;
            // It was cancelled, or it came back a moment before: the worker does not listen any more.
            let _ = self.block_on(flight)?;
        }
        self.has_changed.set(true);
        self.settle()
    }

    fn replace(&self, connection: ConnectionId) -> database::Result<()> {
        let session = self.sessions.borrow_mut().remove(&connection);
        let session = session.expect("a connection of this database");
        self.end(session.pid)?;
        self.open(connection)?;
        self.has_changed.set(true);
        self.settle()
    }

    fn read(&self) -> database::Result<Tables> {
        let mut tables = Tables::default();
        for row in self.block_on(self.observer.query(schema::READ_TABLES, &[]))? {
            match row.get::<_, i32>(0) {
                0 => tables.tickets.push(row.get(1)),
                1 => tables.receipts.push(Receipt {
                    event_id: row.get(1),
                    effect_name: row.get(2),
                }),
                _ => tables.tasks.push(Task {
                    id: row.get(1),
                    ticket_id: row.get(2),
                    tenant_id: row.get(3),
                    task_type: row.get(4),
                    status: row.get(5),
                }),
            }
        }
        tables.tickets.sort_unstable();
        tables.receipts.sort_unstable();
        tables.tasks.sort_unstable();
        if self.has_outbox {
            for row in self.block_on(self.observer.query(schema::READ_OUTBOX, &[]))? {
                tables.outbox.push(OutboxRow {
                    event_id: row.get(0),
                    state: row.get(1),
                    owner: row.get(2),
                    token: row.get::<_, i32>(3).into(),
                    attempt: row.get::<_, i32>(4).into(),
                    lease_until: row.get(5),
                });
            }
        }
        Ok(tables)
    }

    /// Waits for what the server has to come to by itself, and no longer than [`PATIENCE`].
    fn patiently(
        &self,
        future: impl Future<Output = database::Result<()>>,
    ) -> database::Result<()> {
        self.block_on(async { tokio::time::timeout(PATIENCE, future).await })?
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.locals.block_on(&self.runtime, future)
    }
}

/// The set-up is a real server on this machine. Where it fails in the middle of a run there is nothing to be
/// recorded, so the run ends.
fn sound<T>(result: database::Result<T>) -> T {
    result.unwrap_or_else(|failure| panic!("the PostgreSQL server failed: {failure}"))
}

impl Database for Postgres {
    fn ask(&self, connection: ConnectionId, purpose: Purpose, statement: &Statement) -> Answer {
        self.has_changed.set(true);
        {
            let mut sessions = self.sessions.borrow_mut();
            let session = sessions
                .get_mut(&connection)
                .expect("a connection of this database");
            if session.flight.is_none() {
                session.flight = Some(self.send(session, purpose, statement));
            }
        }
        sound(self.settle());
        let waits = !self.sessions.borrow()[&connection].waits_for.is_empty();
        if waits {
            return Answer::Refused(Refusal {
                kind: RefusalKind::Busy,
                code: 0,
                message: "waits for another transaction".to_owned(),
            });
        }
        let answer = self.land(connection, purpose, statement);
        sound(self.settle());
        answer
    }

    fn is_in_transaction(&self, connection: ConnectionId) -> bool {
        self.sessions.borrow()[&connection].is_in_transaction
    }

    /// PostgreSQL locks rows and keys, never the whole database.
    fn lock_level(&self, _connection: ConnectionId) -> LockLevel {
        LockLevel::None
    }

    fn would_grant(&self, connection: ConnectionId, wanted: LockLevel) -> bool {
        self.obstacles(connection, wanted).is_empty()
    }

    fn obstacles(&self, connection: ConnectionId, _wanted: LockLevel) -> Vec<ConnectionId> {
        self.sessions.borrow()[&connection].waits_for.clone()
    }

    fn last_refusal(&self, connection: ConnectionId) -> Option<(LockLevel, Vec<ConnectionId>)> {
        let holders = self.obstacles(connection, LockLevel::Exclusive);
        (!holders.is_empty()).then_some((LockLevel::Exclusive, holders))
    }

    fn give_up(&self, connection: ConnectionId) {
        sound(self.cancel(connection));
    }

    fn crash(&self, connection: ConnectionId) {
        sound(self.replace(connection));
    }

    fn committed(&self) -> database::Result<Option<Tables>> {
        if !self.has_changed.replace(false) {
            return Ok(None);
        }
        let tables = self.read()?;
        let is_new = self.last_read.borrow().as_ref() != Some(&tables);
        self.last_read.replace(Some(tables.clone()));
        Ok(is_new.then_some(tables))
    }

    /// A session whose statement is on its way cannot be asked, and a broken transaction refuses.
    fn uncommitted(&self, _connection: ConnectionId) -> database::Result<Option<Tables>> {
        Ok(None)
    }

    fn take_recording(&self) -> Vec<LockEvent> {
        vec![]
    }
}

impl Drop for Postgres {
    /// Takes the schema away again. Sessions that are still in a transaction would stand in the way.
    fn drop(&mut self) {
        let pids: Vec<i32> = self
            .sessions
            .borrow()
            .values()
            .map(|session| session.pid)
            .collect();
        for pid in pids {
            let _ = self.end(pid); // a server that is gone has no schema either
        }
        let script = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.schema);
        let _ = self.block_on(self.observer.batch_execute(&script));
    }
}

/// Opens a session whose tables are those of `schema`.
async fn connect(config: &Config, schema: &str) -> database::Result<Session> {
    let (client, connection) = config.connect(NoTls).await?;
    // It ends with the client, and what goes wrong with it every statement says.
    tokio::task::spawn_local(async move { connection.await.ok() });
    client
        .batch_execute(&format!("SET search_path = {schema}"))
        .await?;
    let pid = locks::process_of(&client).await?;
    Ok(Session {
        client: Rc::new(client),
        pid,
        is_in_transaction: false,
        flight: None,
        waits_for: vec![],
        last_said: None,
    })
}

/// Runs one statement. It owns what it needs, because it may be on its way for long.
async fn send(
    client: Rc<Client>,
    purpose: Purpose,
    sql: String,
    values: Vec<(Box<dyn ToSql + Sync>, Type)>,
) -> Result<Answer, Error> {
    let values: Vec<Typed<'_>> = values
        .iter()
        .map(|(value, wanted)| (value.as_ref(), wanted.clone()))
        .collect();
    statement::ask(&client, purpose, &sql, &values).await
}

/// A value of a plan, and how it goes over the wire.
fn bound(value: &Value) -> (Box<dyn ToSql + Sync>, Type) {
    match value {
        Value::Null => (Box::new(None::<String>), Type::TEXT),
        Value::Text(text) => (Box::new(text.clone()), Type::TEXT),
        Value::Integer(number) => (Box::new(*number), Type::INT8),
        Value::Real(_) | Value::Blob(_) => unreachable!("no plan binds {value:?}"),
    }
}

/// A refusal as data: the server's code decides, and its message is for people.
fn refusal(error: &Error) -> Refusal {
    let Some(server) = error.as_db_error() else {
        return Refusal {
            kind: RefusalKind::Io,
            code: 0,
            message: error.to_string(),
        };
    };
    Refusal {
        kind: statement::kind_of(server.code()),
        code: 0,
        message: format!("{} {}", server.code().code(), server.message()),
    }
}

fn said(error: &Error) -> Option<Said> {
    let server = error.as_db_error()?;
    Some(Said {
        sqlstate: server.code().code().to_owned(),
        constraint: server.constraint().map(str::to_owned),
    })
}
