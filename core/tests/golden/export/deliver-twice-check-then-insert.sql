-- check-then-insert, s1:dA.A.dB.B.A.B.A.B.A.B
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
  effect_name TEXT NOT NULL
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
INSERT INTO tickets (id, tenant_id) VALUES ('ticket-1', 'tenant-1');
.connection 1
.open deliver-twice.db
PRAGMA foreign_keys = ON;
SELECT 1 FROM effect_receipts WHERE 0;
.connection 2
.open deliver-twice.db
PRAGMA foreign_keys = ON;
SELECT 1 FROM effect_receipts WHERE 0;
.changes on
-- step 1, broker: hands e1#1 to A, attempt 1
.connection 1
.print 'step 2, A'
SELECT 1 FROM effect_receipts WHERE event_id = 'e1' AND effect_name = 'notification'; -- step 2, A: no row
-- step 3, broker: hands e1#2 to B, attempt 1
.connection 2
.print 'step 4, B'
SELECT 1 FROM effect_receipts WHERE event_id = 'e1' AND effect_name = 'notification'; -- step 4, B: no row
.connection 1
.print 'step 5, A'
INSERT INTO effect_receipts (event_id, effect_name) VALUES ('e1', 'notification'); -- step 5, A: 1 row changed
.connection 2
.print 'step 6, B'
INSERT INTO effect_receipts (event_id, effect_name) VALUES ('e1', 'notification'); -- step 6, B: 1 row changed
.connection 1
.print 'step 7, A'
INSERT INTO business_tasks (id, ticket_id, tenant_id, task_type, status) VALUES ('377a27a0-2a74-5970-8f5c-99ad927cff8a', 'ticket-1', 'tenant-1', 'notification', 'pending'); -- step 7, A: 1 row changed
.connection 2
.print 'step 8, B'
INSERT INTO business_tasks (id, ticket_id, tenant_id, task_type, status) VALUES ('cd05ac36-4201-5f05-ac36-c769d32a8a0e', 'ticket-1', 'tenant-1', 'notification', 'pending'); -- step 8, B: 1 row changed
-- step 9, A: acks e1#1
-- step 10, B: acks e1#2
.connection 0
.changes off
.headers on
SELECT event_id, effect_name FROM effect_receipts ORDER BY 1, 2;
SELECT * FROM business_tasks ORDER BY id;
-- receipts: 2, tasks: 2
-- duplicate-effect: B inserted a task because its check at step 4 ran before A's receipt was committed at step 5
