//! A run as a script for the `sqlite3` shell, each worker that begins transactions on a connection of its
//! own.

use rusqlite::types::Value;

use crate::broker::{Kind, WorkerId};
use crate::schema;
use crate::sql::Answer;
use crate::state::State;
use crate::system::{Action, Heard, Statement, TENANT, connection_of};

use super::story::{Line, Story, with_literals};

/// The database file that the script makes, in the folder where the shell runs.
const FILE: &str = "deliver-twice.db";

/// Written before everything else, after the title.
const HEADER: &str = "\
--
-- Replay it:  sqlite3 :memory: < this-file.sql    (sqlite3 3.37 or later, for `.connection`)
-- It makes deliver-twice.db anew in the folder where it runs. Connections 1 to 3 are the consumers' A, B
-- and C, 4 is the producer's P. Connection 0 is for all whose every statement commits by itself: the
-- operator, the relays R and S, the senders N and M. Errors belong to the run: the shell reports each and
-- goes on.
-- The comment behind a statement says what SQLite answered in the laboratory. A step without SQL, such
-- as a delivery or an ack, is a comment alone.
";

pub(super) fn text(story: &Story<'_>) -> String {
    let mut script = Script {
        text: format!("-- {}\n{HEADER}", story.title()),
        connection: SHARED,
    };
    script.set_up(story);
    let own = |(worker, _)| shell_connection(worker);
    for connection in story.run.start.workers().filter_map(own) {
        script.connect(connection);
    }
    script.push(".changes on");
    for line in story.lines() {
        script.step(&line);
    }
    script.end(story);
    script.text
}

/// The script as far as it is written.
struct Script {
    text: String,
    /// The connection that the shell is on.
    connection: u8,
}

impl Script {
    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The tables, and what the run found in them.
    fn set_up(&mut self, story: &Story<'_>) {
        self.push(".bail off");
        self.push(&format!(".open --new {FILE}"));
        self.push("PRAGMA foreign_keys = ON;");
        for table in story.system.plan().tables() {
            self.push(table);
        }
        for row in rows_of(&story.run.start) {
            self.push(&format!("{};", with_literals(&row)));
        }
    }

    /// Opens a worker's connection, with the schema read as in the laboratory.
    fn connect(&mut self, connection: u8) {
        self.switch(connection);
        self.push(&format!(".open {FILE}"));
        self.push("PRAGMA foreign_keys = ON;");
        self.push("SELECT 1 FROM effect_receipts WHERE 0;");
    }

    /// Goes to a connection, if the shell is not there.
    fn switch(&mut self, connection: u8) {
        if self.connection != connection {
            self.push(&format!(".connection {connection}"));
            self.connection = connection;
        }
    }

    fn step(&mut self, line: &Line<'_>) {
        let place = format!("step {}, {}", line.number, line.who);
        let Some(sql) = &line.sql else {
            self.push(&format!("-- {place}: {}", comment(&line.answer)));
            if matches!(line.change.action, Action::Crashed { .. }) {
                self.crash(line);
            }
            return;
        };
        let worker = line.frame.step.worker();
        self.switch(worker.and_then(shell_connection).unwrap_or(SHARED));
        self.push(&format!(".print '{place}'"));
        self.push(&format!("{sql}; -- {place}: {}", comment(&in_full(line))));
        if is_cut_off(&line.change.action) {
            self.crash(line);
        }
    }

    /// Ends a worker's connection, which rolls back what is open, and opens another in its place.
    fn crash(&mut self, line: &Line<'_>) {
        let Some(own) = line.frame.step.worker().and_then(shell_connection) else {
            return;
        };
        self.switch(SHARED);
        self.push(&format!(".connection close {own}"));
        self.switch(own);
        self.push(&format!(".open {FILE}"));
        self.push("PRAGMA foreign_keys = ON;");
    }

    /// Shows what is committed, and what the laboratory made of it. A transaction that is still open could
    /// stand in the way of that.
    fn end(&mut self, story: &Story<'_>) {
        self.switch(SHARED);
        self.push(".changes off");
        let last = story.run.state_after(story.run.frames.len());
        for (worker, _) in last.workers().filter(|(_, worker)| worker.in_transaction) {
            self.push(&format!("-- the transaction of {worker} is still open"));
            let own = shell_connection(worker).expect("who begins has a connection of its own");
            self.push(&format!(".connection close {own}"));
        }
        self.push(".headers on");
        self.push("SELECT event_id, effect_name FROM effect_receipts ORDER BY 1, 2;");
        self.push("SELECT * FROM business_tasks ORDER BY id;");
        if story.design().has_outbox() {
            self.push("SELECT event_id, state, owner, token, attempt FROM outbox_events ORDER BY position;");
        }
        let (receipts, tasks) = (last.committed.receipts.len(), last.committed.tasks.len());
        self.push(&format!("-- receipts: {receipts}, tasks: {tasks}"));
        for verdict in story.verdicts() {
            self.push(&format!("-- {}", comment(&verdict)));
        }
    }
}

/// The rows that are there before the first step, as statements.
pub(super) fn rows_of(state: &State) -> Vec<Statement> {
    let text = |text: &str| Value::Text(text.to_owned());
    let tickets = state.committed.tickets.iter().map(|id| Statement {
        sql: schema::INSERT_TICKET,
        values: vec![(":ticket_id", text(id)), (":tenant_id", text(TENANT))],
    });
    let tasks = state.committed.tasks.iter().map(|task| Statement {
        sql: schema::INSERT_TASK,
        values: vec![
            (":task_id", text(&task.id)),
            (":ticket_id", text(&task.ticket_id)),
            (":tenant_id", text(&task.tenant_id)),
            (":effect_name", text(&task.task_type)),
            (":status", text(&task.status)),
        ],
    });
    tickets.chain(tasks).collect()
}

/// The shell's connection of everybody whose every statement commits by itself, the operator among them.
const SHARED: u8 = 0;

/// The shell's connection of a worker that begins transactions; `None` for one that does not. The shell
/// has five connections, which are too few for a connection each.
fn shell_connection(worker: WorkerId) -> Option<u8> {
    match worker.kind() {
        Kind::Consumer | Kind::Producer => Some(connection_of(worker).0),
        Kind::Relay | Kind::Sender => None,
    }
}

/// Whether the worker's connection ends with the step although its statement was carried out.
pub(super) fn is_cut_off(action: &Action) -> bool {
    matches!(action, Action::Ran(ran) if matches!(ran.heard, Heard::ReplyLost(_)))
}

/// The answer, with SQLite's own words if it refused.
pub(super) fn in_full(line: &Line<'_>) -> String {
    match &line.change.action {
        Action::Ran(ran) => match &ran.answer {
            Answer::Refused(refusal) => format!("{} [{}]", line.answer, refusal.message),
            _ => line.answer.clone(),
        },
        _ => line.answer.clone(),
    }
}

/// Text that stays in its comment.
pub(super) fn comment(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
