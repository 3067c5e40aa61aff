//! The statements on [`OUTBOX_EVENTS`](crate::schema::OUTBOX_EVENTS), each a single one.
//!
//! The stores run those that are right. The others are designs that look right and are not: the
//! laboratory runs them to show what goes wrong.
//!
//! Where parameters are named in a doc comment, they are in the order of SQLite's numbering.

/// Adds an event, `:event_id :ticket_id :payload`. To be run in the transaction of the business write.
pub const ENQUEUE: &str = "\
INSERT INTO outbox_events (event_id, ticket_id, payload, state) \
VALUES (:event_id, :ticket_id, :payload, 'pending')";

/// Whether an event is in the outbox, in whatever state, `:event_id`: one row, or none.
pub const FIND: &str = "SELECT 1 FROM outbox_events WHERE event_id = :event_id";

/// Leases the first event that is pending, or whose lease is over, `:owner :until :now`.
///
/// Returns `event_id, token, attempt, ticket_id, payload` of it, or no row. A lease is over as soon as
/// the clock has come to its `lease_until`; `:until` has to be later than `:now`.
pub const CLAIM_ONE: &str = "\
UPDATE outbox_events \
SET state = 'leased', owner = :owner, lease_until = :until, token = token + 1, attempt = attempt + 1 \
WHERE position = (\
SELECT position FROM outbox_events \
WHERE state IN ('pending', 'leased') AND (state = 'pending' OR lease_until <= :now) \
ORDER BY position LIMIT 1) \
RETURNING event_id, token, attempt, ticket_id, payload";

/// A claim that never expires, `:owner`. Returns as [`CLAIM_ONE`] does.
///
/// Wrong: an owner that dies takes the event with it.
pub const CLAIM_FOREVER: &str = "\
UPDATE outbox_events \
SET state = 'leased', owner = :owner, lease_until = 9223372036854775807, \
token = token + 1, attempt = attempt + 1 \
WHERE position = (\
SELECT position FROM outbox_events WHERE state = 'pending' ORDER BY position LIMIT 1) \
RETURNING event_id, token, attempt, ticket_id, payload";

/// A claim that marks the event as published in the same step, without parameters. Returns as
/// [`CLAIM_ONE`] does.
///
/// Wrong: an event that is then not published is never tried again.
pub const CLAIM_MARKING_PUBLISHED: &str = "\
UPDATE outbox_events \
SET state = 'published', token = token + 1, attempt = attempt + 1 \
WHERE position = (\
SELECT position FROM outbox_events WHERE state = 'pending' ORDER BY position LIMIT 1) \
RETURNING event_id, token, attempt, ticket_id, payload";

/// The broker has the event, `:event_id :token`. Changes no row if the lease is another's by now.
pub const MARK_PUBLISHED: &str = "\
UPDATE outbox_events SET state = 'published', owner = NULL, lease_until = NULL \
WHERE event_id = :event_id AND state = 'leased' AND token = :token";

/// The event is to be tried again, `:event_id :token`. Changes no row if the lease is another's by now.
pub const RELEASE_FOR_RETRY: &str = "\
UPDATE outbox_events SET state = 'pending', owner = NULL, lease_until = NULL \
WHERE event_id = :event_id AND state = 'leased' AND token = :token";

/// The event is put aside for a person, `:event_id :token`. Changes no row if the lease is another's by
/// now.
pub const PARK: &str = "\
UPDATE outbox_events SET state = 'parked', owner = NULL, lease_until = NULL \
WHERE event_id = :event_id AND state = 'leased' AND token = :token";

/// [`MARK_PUBLISHED`] by the event alone, `:event_id`.
///
/// Wrong: an owner whose lease is over decides over the head of the one who has it now.
pub const MARK_PUBLISHED_UNFENCED: &str = "\
UPDATE outbox_events SET state = 'published', owner = NULL, lease_until = NULL \
WHERE event_id = :event_id";

/// [`RELEASE_FOR_RETRY`] by the event alone, `:event_id`.
///
/// Wrong: it makes even a published event pending again.
pub const RELEASE_FOR_RETRY_UNFENCED: &str = "\
UPDATE outbox_events SET state = 'pending', owner = NULL, lease_until = NULL \
WHERE event_id = :event_id";

/// [`PARK`] by the event alone, `:event_id`.
///
/// Wrong: it puts aside what another relay is publishing, or has published.
pub const PARK_UNFENCED: &str = "\
UPDATE outbox_events SET state = 'parked', owner = NULL, lease_until = NULL \
WHERE event_id = :event_id";

/// Every row in its order, without parameters: `event_id, ticket_id, payload, state, owner, lease_until,
/// token, attempt`.
pub const READ_ROWS: &str = "\
SELECT event_id, ticket_id, payload, state, owner, lease_until, token, attempt \
FROM outbox_events ORDER BY position";
