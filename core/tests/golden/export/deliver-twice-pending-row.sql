-- pending-row, s1:dA.A5.N.oN.N2.xN.N3
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
BEGIN; -- step 2, A: done
.print 'step 3, A'
INSERT INTO effect_receipts (event_id, effect_name) VALUES ('e1', 'notification'); -- step 3, A: 1 row changed
.print 'step 4, A'
INSERT INTO business_tasks (id, ticket_id, tenant_id, task_type, status) VALUES ('377a27a0-2a74-5970-8f5c-99ad927cff8a', 'ticket-1', 'tenant-1', 'notification', 'pending'); -- step 4, A: 1 row changed
.print 'step 5, A'
COMMIT; -- step 5, A: committed
-- step 6, A: acks e1#1
.connection 0
.print 'step 7, N'
SELECT id FROM business_tasks WHERE task_type = 'notification' AND status = 'pending' ORDER BY id LIMIT 1; -- step 7, N: returned 377a27a0-2a74-5970-8f5c-99ad927cff8a
-- step 8, N: calls with no key: a message goes out, and the answer is lost; an error, and it leaves things as they are
.print 'step 9, N'
SELECT id FROM business_tasks WHERE task_type = 'notification' AND status = 'pending' ORDER BY id LIMIT 1; -- step 9, N: returned 377a27a0-2a74-5970-8f5c-99ad927cff8a
-- step 10, N: calls with no key: a message goes out
-- step 11, N: crashes
.print 'step 12, N'
SELECT id FROM business_tasks WHERE task_type = 'notification' AND status = 'pending' ORDER BY id LIMIT 1; -- step 12, N: returned 377a27a0-2a74-5970-8f5c-99ad927cff8a
-- step 13, N: calls with no key: a message goes out
.print 'step 14, N'
UPDATE business_tasks SET status = 'done' WHERE id = '377a27a0-2a74-5970-8f5c-99ad927cff8a' AND status = 'pending'; -- step 14, N: 1 row changed
.changes off
.headers on
SELECT event_id, effect_name FROM effect_receipts ORDER BY 1, 2;
SELECT * FROM business_tasks ORDER BY id;
-- receipts: 1, tasks: 1
-- sent-twice: N called the provider at step 10, though the message had gone out at step 8, and nothing told it so
