-- outbox, s1:P4.R.nR.R4.cR.e.R4.dA.A5.dB.B4
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
CREATE TABLE outbox_events (
  position    INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id    TEXT NOT NULL,
  ticket_id   TEXT NOT NULL,
  payload     TEXT NOT NULL,
  state       TEXT NOT NULL CONSTRAINT ck_outbox_state CHECK (state IN ('pending', 'leased', 'published', 'parked')),
  owner       TEXT,
  token       INTEGER NOT NULL DEFAULT 0,
  attempt     INTEGER NOT NULL DEFAULT 0,
  lease_until BIGINT,
  CONSTRAINT uq_outbox_event UNIQUE (event_id),
  CONSTRAINT ck_outbox_owner CHECK ((state = 'leased') = (owner IS NOT NULL)),
  CONSTRAINT ck_outbox_lease CHECK ((state = 'leased') = (lease_until IS NOT NULL))
);
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
SELECT enter('P');
SELECT enter('R');
SELECT enter('operator');
-- step 1, P: done
SELECT 'step 1, P: ' || ask('P', $sql$BEGIN$sql$);
-- step 2, P: 1 row changed
SELECT 'step 2, P: ' || ask('P', $sql$INSERT INTO tickets (id, tenant_id) VALUES ('ticket-1', 'tenant-1')$sql$);
-- step 3, P: 1 row changed
SELECT 'step 3, P: ' || ask('P', $sql$INSERT INTO outbox_events (event_id, ticket_id, payload, state) VALUES ('e1', 'ticket-1', 'ticket.created', 'pending')$sql$);
-- step 4, P: committed
SELECT 'step 4, P: ' || ask('P', $sql$COMMIT$sql$);
-- step 5, R: returned e1, 1, 1, ticket-1, ticket.created
SELECT 'step 5, R: ' || ask('R', $sql$WITH returned AS (UPDATE outbox_events SET state = 'leased', owner = 'R', lease_until = 1, token = token + 1, attempt = attempt + 1 WHERE position = (SELECT position FROM outbox_events WHERE state IN ('pending', 'leased') AND (state = 'pending' OR lease_until <= 0) ORDER BY position LIMIT 1) RETURNING event_id, token, attempt, ticket_id, payload) SELECT returned::TEXT FROM returned$sql$);
-- step 6, R: publishes e1: refused (nack)
-- step 7, R: refused (nack) for e1; it will release the row
-- step 8, R: 1 row changed; it is done with it
SELECT 'step 8, R: ' || ask('R', $sql$UPDATE outbox_events SET state = 'pending', owner = NULL, lease_until = NULL WHERE event_id = 'e1' AND state = 'leased' AND token = 1$sql$);
-- step 9, R: returned e1, 2, 2, ticket-1, ticket.created
SELECT 'step 9, R: ' || ask('R', $sql$WITH returned AS (UPDATE outbox_events SET state = 'leased', owner = 'R', lease_until = 1, token = token + 1, attempt = attempt + 1 WHERE position = (SELECT position FROM outbox_events WHERE state IN ('pending', 'leased') AND (state = 'pending' OR lease_until <= 0) ORDER BY position LIMIT 1) RETURNING event_id, token, attempt, ticket_id, payload) SELECT returned::TEXT FROM returned$sql$);
-- step 10, R: publishes e1: queued as e1#1
-- step 11, R: no answer for e1; it is done with it
-- step 12, clock: the lease on e1 expires
-- step 13, R: returned e1, 3, 3, ticket-1, ticket.created
SELECT 'step 13, R: ' || ask('R', $sql$WITH returned AS (UPDATE outbox_events SET state = 'leased', owner = 'R', lease_until = 2, token = token + 1, attempt = attempt + 1 WHERE position = (SELECT position FROM outbox_events WHERE state IN ('pending', 'leased') AND (state = 'pending' OR lease_until <= 1) ORDER BY position LIMIT 1) RETURNING event_id, token, attempt, ticket_id, payload) SELECT returned::TEXT FROM returned$sql$);
-- step 14, R: publishes e1: queued as e1#2
-- step 15, R: confirmed for e1
-- step 16, R: 1 row changed; it is done with it
SELECT 'step 16, R: ' || ask('R', $sql$UPDATE outbox_events SET state = 'published', owner = NULL, lease_until = NULL WHERE event_id = 'e1' AND state = 'leased' AND token = 3$sql$);
-- step 17, broker: hands e1#1 to A, attempt 1
-- step 18, A: done
SELECT 'step 18, A: ' || ask('A', $sql$BEGIN$sql$);
-- step 19, A: 1 row changed
SELECT 'step 19, A: ' || ask('A', $sql$INSERT INTO effect_receipts (event_id, effect_name) VALUES ('e1', 'notification')$sql$);
-- step 20, A: 1 row changed
SELECT 'step 20, A: ' || ask('A', $sql$INSERT INTO business_tasks (id, ticket_id, tenant_id, task_type, status) VALUES ('377a27a0-2a74-5970-8f5c-99ad927cff8a', 'ticket-1', 'tenant-1', 'notification', 'pending')$sql$);
-- step 21, A: committed
SELECT 'step 21, A: ' || ask('A', $sql$COMMIT$sql$);
-- step 22, A: acks e1#1
-- step 23, broker: hands e1#2 to B, attempt 1
-- step 24, B: done
SELECT 'step 24, B: ' || ask('B', $sql$BEGIN$sql$);
-- step 25, B: refused, unique constraint (2067); a duplicate to it [UNIQUE constraint failed: effect_receipts.event_id, effect_receipts.effect_name]
SELECT 'step 25, B: ' || ask('B', $sql$INSERT INTO effect_receipts (event_id, effect_name) VALUES ('e1', 'notification')$sql$);
-- step 26, B: rolled back
SELECT 'step 26, B: ' || ask('B', $sql$ROLLBACK$sql$);
-- step 27, B: acks e1#2
SELECT leave('A');
SELECT leave('B');
SELECT leave('P');
SELECT leave('R');
SELECT leave('operator');
SELECT 'receipts: ' || count(*) FROM effect_receipts;
SELECT 'tasks: ' || count(*) FROM business_tasks;
-- In the laboratory: receipts 1, tasks 1.
-- no property is violated
-- allowed, doubled-publication: R published at step 14 what the broker had taken at step 10, which a relay cannot always know, and a receipt is there to absorb
