-- pending-row, s1:dA.A5.N.oN.N2.xN.N3
--
-- Replay it:  psql -X -f this-file.sql    (PostgreSQL 12 or later, with its extension dblink)
-- It makes the schema deliver_twice anew in the database it is run in, and each worker has a session
-- there. dblink lets only a superuser in without a password.
-- The comment before a statement says what SQLite answered in the laboratory; psql prints what PostgreSQL
-- answers. The two may differ: PostgreSQL locks rows and not the file, and where SQLite answers BUSY a
-- session here goes on, or hangs until the other ends. After an error in a transaction PostgreSQL takes
-- nothing but ROLLBACK (25P02 until then).
\set QUIET on
\pset tuples_only on
\pset format unaligned
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS dblink;
DROP SCHEMA IF EXISTS deliver_twice CASCADE;
CREATE SCHEMA deliver_twice;
SET search_path = deliver_twice, public;
CREATE TABLE effect_receipts (
  event_id    TEXT NOT NULL,
  effect_name TEXT NOT NULL,
  CONSTRAINT uq_effect_event_name UNIQUE (event_id, effect_name)
);
CREATE TABLE tickets (
  id        TEXT NOT NULL PRIMARY KEY,
  tenant_id TEXT NOT NULL
);
CREATE TABLE business_tasks (
  id        TEXT NOT NULL PRIMARY KEY,
  ticket_id TEXT NOT NULL REFERENCES tickets (id),
  tenant_id TEXT NOT NULL,
  task_type TEXT NOT NULL,
  status    TEXT NOT NULL CONSTRAINT ck_task_status CHECK (status IN ('pending', 'done', 'escalated'))
);
CREATE UNIQUE INDEX uq_task_escalated ON business_tasks (ticket_id) WHERE status = 'escalated';
INSERT INTO tickets (id, tenant_id) VALUES ('ticket-1', 'tenant-1');
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
END $$;
SELECT enter('A');
SELECT enter('B');
SELECT enter('N');
SELECT enter('operator');
-- step 1, broker: hands e1#1 to A, attempt 1
-- step 2, A: done
SELECT 'step 2, A: ' || ask('A', $sql$BEGIN$sql$);
-- step 3, A: 1 row changed
SELECT 'step 3, A: ' || ask('A', $sql$INSERT INTO effect_receipts (event_id, effect_name) VALUES ('e1', 'notification')$sql$);
-- step 4, A: 1 row changed
SELECT 'step 4, A: ' || ask('A', $sql$INSERT INTO business_tasks (id, ticket_id, tenant_id, task_type, status) VALUES ('377a27a0-2a74-5970-8f5c-99ad927cff8a', 'ticket-1', 'tenant-1', 'notification', 'pending')$sql$);
-- step 5, A: committed
SELECT 'step 5, A: ' || ask('A', $sql$COMMIT$sql$);
-- step 6, A: acks e1#1
-- step 7, N: returned 377a27a0-2a74-5970-8f5c-99ad927cff8a
SELECT 'step 7, N: ' || ask('N', $sql$SELECT id FROM business_tasks WHERE task_type = 'notification' AND status = 'pending' ORDER BY id LIMIT 1$sql$);
-- step 8, N: calls with no key: a message goes out, and the answer is lost; an error, and it leaves things as they are
-- step 9, N: returned 377a27a0-2a74-5970-8f5c-99ad927cff8a
SELECT 'step 9, N: ' || ask('N', $sql$SELECT id FROM business_tasks WHERE task_type = 'notification' AND status = 'pending' ORDER BY id LIMIT 1$sql$);
-- step 10, N: calls with no key: a message goes out
-- step 11, N: crashes
SELECT 'step 11, N: ' || leave('N');
SELECT 'step 11, N: ' || enter('N');
-- step 12, N: returned 377a27a0-2a74-5970-8f5c-99ad927cff8a
SELECT 'step 12, N: ' || ask('N', $sql$SELECT id FROM business_tasks WHERE task_type = 'notification' AND status = 'pending' ORDER BY id LIMIT 1$sql$);
-- step 13, N: calls with no key: a message goes out
-- step 14, N: 1 row changed
SELECT 'step 14, N: ' || ask('N', $sql$UPDATE business_tasks SET status = 'done' WHERE id = '377a27a0-2a74-5970-8f5c-99ad927cff8a' AND status = 'pending'$sql$);
SELECT leave('A');
SELECT leave('B');
SELECT leave('N');
SELECT leave('operator');
SELECT 'receipts: ' || count(*) FROM effect_receipts;
SELECT 'tasks: ' || count(*) FROM business_tasks;
-- In the laboratory: receipts 1, tasks 1.
-- sent-twice: N called the provider at step 10, though the message had gone out at step 8, and nothing told it so
