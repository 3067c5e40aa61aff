//! A run as a script for `psql`, each worker in a session of its own on a PostgreSQL server.
//!
//! It says what PostgreSQL makes of the same statements in the same order. It need not be what SQLite
//! made of them: PostgreSQL locks rows and not the file.

use crate::dialect::in_postgres;
use crate::plan::Role;
use crate::run::Moved;
use crate::system::{Action, Heard};

use super::sql::{comment, in_full, is_cut_off, rows_of};
use super::story::{Line, Story, with_literals};

/// Written before everything else, after the title.
const HEADER: &str = "\
--
-- Replay it:  psql -X -f this-file.sql    (PostgreSQL 12 or later, with its extension dblink)
-- It makes the schema deliver_twice anew in the database it is run in, and each worker has a session
-- there. dblink lets only a superuser in without a password.
-- The comment before a statement says what SQLite answered in the laboratory; psql prints what PostgreSQL
-- answers. The two may differ: PostgreSQL locks rows and not the file, and where SQLite answers BUSY a
-- session here goes on, or hangs until the other ends. After an error in a transaction PostgreSQL takes
-- nothing but ROLLBACK (25P02 until then).
\\set QUIET on
\\pset tuples_only on
\\pset format unaligned
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS dblink;
DROP SCHEMA IF EXISTS deliver_twice CASCADE;
CREATE SCHEMA deliver_twice;
SET search_path = deliver_twice, public;";

/// How the script talks to the sessions, and sees one that hangs: by the server's own view of the locks.
const SESSIONS: &str = "\
CREATE TABLE sessions (who TEXT PRIMARY KEY, pid INTEGER NOT NULL);
CREATE FUNCTION enter(whom TEXT) RETURNS TEXT LANGUAGE plpgsql AS $$
BEGIN
  PERFORM dblink_connect(whom, format('dbname=%s user=%s port=%s', current_database(), current_user,
    current_setting('port')) || coalesce(' host=' || host(inet_server_addr()), ''));
  PERFORM dblink_exec(whom, 'SET search_path = deliver_twice, public');
  DELETE FROM sessions WHERE who = whom;
  INSERT INTO sessions SELECT whom, pid FROM dblink(whom, 'SELECT pg_backend_pid()') AS t (pid INTEGER);
  RETURN whom || ' opens a session';
END $$;
CREATE FUNCTION hear(whom TEXT) RETURNS TEXT LANGUAGE plpgsql AS $$
DECLARE
  line RECORD;
  said TEXT;
  code TEXT;
  message TEXT;
  holders TEXT;
  tries INTEGER := 0;
BEGIN
  WHILE dblink_is_busy(whom) = 1 AND tries < 500 LOOP
    SELECT string_agg(holder.who, ' and ' ORDER BY holder.who) INTO holders
      FROM sessions asker, sessions holder
      WHERE asker.who = whom AND holder.pid = ANY (pg_blocking_pids(asker.pid));
    IF holders IS NOT NULL THEN
      RETURN 'waits for ' || holders;
    END IF;
    PERFORM pg_sleep(0.01);
    tries := tries + 1;
  END LOOP;
  BEGIN
    FOR line IN SELECT * FROM dblink_get_result(whom) AS t (said TEXT) LOOP
      said := concat_ws('; ', said, line.said);
    END LOOP;
    said := coalesce(said, 'no row');
  EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
    said := code || ' ' || message;
  END;
  PERFORM * FROM dblink_get_result(whom, false) AS t (said TEXT);
  RETURN said;
END $$;
CREATE FUNCTION ask(whom TEXT, statement TEXT) RETURNS TEXT LANGUAGE plpgsql AS $$
BEGIN
  IF dblink_is_busy(whom) = 1 THEN
    RETURN 'still hangs, so this is left out: ' || statement;
  END IF;
  PERFORM dblink_send_query(whom, statement);
  RETURN hear(whom);
END $$;
CREATE FUNCTION leave(whom TEXT) RETURNS TEXT LANGUAGE plpgsql AS $$
BEGIN
  PERFORM dblink_disconnect(whom);
  RETURN whom || '''s session ends';
END $$;";

pub(super) fn text(story: &Story<'_>) -> String {
    let mut script = Script {
        text: format!("-- {}\n{HEADER}\n", story.title()),
    };
    script.set_up(story);
    for line in story.lines() {
        script.step(story, &line);
    }
    script.end(story);
    script.text
}

/// The script as far as it is written.
struct Script {
    text: String,
}

impl Script {
    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The tables, what the run found in them, and a session for everybody.
    fn set_up(&mut self, story: &Story<'_>) {
        for table in story.system.plan().tables() {
            self.push(&in_postgres(table));
        }
        for row in rows_of(&story.run.start) {
            self.push(&format!("{};", with_literals(&row)));
        }
        self.push(SESSIONS);
        let workers = story.run.start.workers().map(|(id, _)| id.to_string());
        for name in workers.chain([OPERATOR_NAME.to_owned()]) {
            self.push(&format!("SELECT enter('{name}');"));
        }
    }

    fn step(&mut self, story: &Story<'_>, line: &Line<'_>) {
        let place = format!("step {}, {}", line.number, line.who);
        self.push(&format!("-- {place}: {}", comment(&in_full(line))));
        let name = session_of(line);
        if let Some(sql) = &line.sql {
            let call = if has_waited(story, line) {
                format!("hear('{name}')")
            } else {
                format!("ask('{name}', {})", quoted(&in_dialect(sql)))
            };
            self.push(&format!("SELECT '{place}: ' || {call};"));
        }
        let has_crashed = matches!(line.change.action, Action::Crashed { .. });
        if has_crashed || is_cut_off(&line.change.action) {
            self.push(&format!("SELECT '{place}: ' || leave('{name}');"));
            self.push(&format!("SELECT '{place}: ' || enter('{name}');"));
        }
    }

    /// Shows what is committed, and what the laboratory made of it.
    fn end(&mut self, story: &Story<'_>) {
        for (worker, _) in story.run.start.workers() {
            self.push(&format!("SELECT leave('{worker}');"));
        }
        self.push(&format!("SELECT leave('{OPERATOR_NAME}');"));
        let last = story.run.state_after(story.run.frames.len());
        let (receipts, tasks) = (last.committed.receipts.len(), last.committed.tasks.len());
        self.push("SELECT 'receipts: ' || count(*) FROM effect_receipts;");
        self.push("SELECT 'tasks: ' || count(*) FROM business_tasks;");
        self.push(&format!(
            "-- In the laboratory: receipts {receipts}, tasks {tasks}."
        ));
        for verdict in story.verdicts() {
            self.push(&format!("-- {}", comment(&verdict)));
        }
    }
}

const OPERATOR_NAME: &str = "operator";

/// The session that a step's statement is run in.
fn session_of(line: &Line<'_>) -> String {
    let worker = line.frame.step.worker();
    worker.map_or_else(|| OPERATOR_NAME.to_owned(), |worker| worker.to_string())
}

/// Whether the step's statement is the one that its worker was waiting with: SQLite is asked again, and
/// PostgreSQL has it still.
fn has_waited(story: &Story<'_>, line: &Line<'_>) -> bool {
    let is_asked_again =
        matches!(&line.change.action, Action::Ran(ran) if ran.role != Role::Rollback);
    let earlier = story.run.frames[..line.number - 1].iter().rev();
    let mut own = earlier.filter(|frame| frame.step.worker() == line.frame.step.worker());
    let waits = own.next().is_some_and(|frame| match &frame.moved {
        Moved::Changed(change) => {
            matches!(&change.action, Action::Ran(ran) if matches!(ran.heard, Heard::Waits { .. }))
        }
        Moved::Nothing(_) => false,
    });
    waits && is_asked_again
}

/// A statement as a session of the script is asked it: whatever it returns, in one column of text.
fn in_dialect(sql: &str) -> String {
    let text = in_postgres(sql);
    if text.contains(" RETURNING ") {
        format!("WITH returned AS ({text}) SELECT returned::TEXT FROM returned")
    } else {
        text
    }
}

/// A text between quotation marks that no text of a statement has in it.
fn quoted(sql: &str) -> String {
    format!("$sql${sql}$sql$")
}
