-- outbox, s1:P4.R.nR.R4.cR.e.R4.dA.A5.dB.B4
--
-- Replay it:  sqlite3 :memory: < this-file.sql    (sqlite3 3.37 or later, for `.connection`)
-- It makes deliver-twice.db anew in the folder where it runs. Connections 1 to 3 are the consumers' A, B
-- and C, 4 is the producer's P. Connection 0 is for all whose every statement commits by itself: the
-- operator, the relays R and S, the senders N and M. Errors belong to the run: the shell reports each and
-- goes on.
-- The comment behind a statement says what SQLite answered in the laboratory. A step without SQL, such
-- as a delivery or an ack, is a comment alone.
.bail off
.open --new deliver-twice.db
PRAGMA foreign_keys = ON;
CREATE TABLE effect_receipts (
  event_id    TEXT NOT NULL,
  effect_name TEXT NOT NULL,
  CONSTRAINT uq_effect_event_name UNIQUE (event_id, effect_name)
) STRICT;
CREATE TABLE tickets (
  id        TEXT NOT NULL PRIMARY KEY,
  tenant_id TEXT NOT NULL
) STRICT;
CREATE TABLE business_tasks (
  id        TEXT NOT NULL PRIMARY KEY,
  ticket_id TEXT NOT NULL REFERENCES tickets (id),
  tenant_id TEXT NOT NULL,
  task_type TEXT NOT NULL,
  status    TEXT NOT NULL CONSTRAINT ck_task_status CHECK (status IN ('pending', 'done', 'escalated'))
) STRICT;
CREATE UNIQUE INDEX uq_task_escalated ON business_tasks (ticket_id) WHERE status = 'escalated';
CREATE TABLE outbox_events (
  position    INTEGER PRIMARY KEY,
  event_id    TEXT NOT NULL,
  ticket_id   TEXT NOT NULL,
  payload     TEXT NOT NULL,
  state       TEXT NOT NULL CONSTRAINT ck_outbox_state CHECK (state IN ('pending', 'leased', 'published', 'parked')),
  owner       TEXT,
  token       INTEGER NOT NULL DEFAULT 0,
  attempt     INTEGER NOT NULL DEFAULT 0,
  lease_until INTEGER,
  CONSTRAINT uq_outbox_event UNIQUE (event_id),
  CONSTRAINT ck_outbox_owner CHECK ((state = 'leased') = (owner IS NOT NULL)),
  CONSTRAINT ck_outbox_lease CHECK ((state = 'leased') = (lease_until IS NOT NULL))
) STRICT;
.connection 1
.open deliver-twice.db
PRAGMA foreign_keys = ON;
SELECT 1 FROM effect_receipts WHERE 0;
.connection 2
.open deliver-twice.db
PRAGMA foreign_keys = ON;
SELECT 1 FROM effect_receipts WHERE 0;
.connection 4
.open deliver-twice.db
PRAGMA foreign_keys = ON;
SELECT 1 FROM effect_receipts WHERE 0;
.changes on
.print 'step 1, P'
BEGIN; -- step 1, P: done
.print 'step 2, P'
INSERT INTO tickets (id, tenant_id) VALUES ('ticket-1', 'tenant-1'); -- step 2, P: 1 row changed
.print 'step 3, P'
INSERT INTO outbox_events (event_id, ticket_id, payload, state) VALUES ('e1', 'ticket-1', 'ticket.created', 'pending'); -- step 3, P: 1 row changed
.print 'step 4, P'
COMMIT; -- step 4, P: committed
.connection 0
.print 'step 5, R'
UPDATE outbox_events SET state = 'leased', owner = 'R', lease_until = 1, token = token + 1, attempt = attempt + 1 WHERE position = (SELECT position FROM outbox_events WHERE state IN ('pending', 'leased') AND (state = 'pending' OR lease_until <= 0) ORDER BY position LIMIT 1) RETURNING event_id, token, attempt, ticket_id, payload; -- step 5, R: returned e1, 1, 1, ticket-1, ticket.created
-- step 6, R: publishes e1: refused (nack)
-- step 7, R: refused (nack) for e1; it will release the row
.print 'step 8, R'
UPDATE outbox_events SET state = 'pending', owner = NULL, lease_until = NULL WHERE event_id = 'e1' AND state = 'leased' AND token = 1; -- step 8, R: 1 row changed; it is done with it
.print 'step 9, R'
UPDATE outbox_events SET state = 'leased', owner = 'R', lease_until = 1, token = token + 1, attempt = attempt + 1 WHERE position = (SELECT position FROM outbox_events WHERE state IN ('pending', 'leased') AND (state = 'pending' OR lease_until <= 0) ORDER BY position LIMIT 1) RETURNING event_id, token, attempt, ticket_id, payload; -- step 9, R: returned e1, 2, 2, ticket-1, ticket.created
-- step 10, R: publishes e1: queued as e1#1
-- step 11, R: no answer for e1; it is done with it
-- step 12, clock: the lease on e1 expires
.print 'step 13, R'
UPDATE outbox_events SET state = 'leased', owner = 'R', lease_until = 2, token = token + 1, attempt = attempt + 1 WHERE position = (SELECT position FROM outbox_events WHERE state IN ('pending', 'leased') AND (state = 'pending' OR lease_until <= 1) ORDER BY position LIMIT 1) RETURNING event_id, token, attempt, ticket_id, payload; -- step 13, R: returned e1, 3, 3, ticket-1, ticket.created
-- step 14, R: publishes e1: queued as e1#2
-- step 15, R: confirmed for e1
.print 'step 16, R'
UPDATE outbox_events SET state = 'published', owner = NULL, lease_until = NULL WHERE event_id = 'e1' AND state = 'leased' AND token = 3; -- step 16, R: 1 row changed; it is done with it
-- step 17, broker: hands e1#1 to A, attempt 1
.connection 1
.print 'step 18, A'
BEGIN; -- step 18, A: done
.print 'step 19, A'
INSERT INTO effect_receipts (event_id, effect_name) VALUES ('e1', 'notification'); -- step 19, A: 1 row changed
.print 'step 20, A'
INSERT INTO business_tasks (id, ticket_id, tenant_id, task_type, status) VALUES ('377a27a0-2a74-5970-8f5c-99ad927cff8a', 'ticket-1', 'tenant-1', 'notification', 'pending'); -- step 20, A: 1 row changed
.print 'step 21, A'
COMMIT; -- step 21, A: committed
-- step 22, A: acks e1#1
-- step 23, broker: hands e1#2 to B, attempt 1
.connection 2
.print 'step 24, B'
BEGIN; -- step 24, B: done
.print 'step 25, B'
INSERT INTO effect_receipts (event_id, effect_name) VALUES ('e1', 'notification'); -- step 25, B: refused, unique constraint (2067); a duplicate to it [UNIQUE constraint failed: effect_receipts.event_id, effect_receipts.effect_name]
.print 'step 26, B'
ROLLBACK; -- step 26, B: rolled back
-- step 27, B: acks e1#2
.connection 0
.changes off
.headers on
SELECT event_id, effect_name FROM effect_receipts ORDER BY 1, 2;
SELECT * FROM business_tasks ORDER BY id;
SELECT event_id, state, owner, token, attempt FROM outbox_events ORDER BY position;
-- receipts: 1, tasks: 1
-- no property is violated
-- allowed, doubled-publication: R published at step 14 what the broker had taken at step 10, which a relay cannot always know, and a receipt is there to absorb
