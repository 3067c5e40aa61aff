//! The outbox in memory, for programs and tests without a database.

use std::num::NonZeroU32;

use super::{
    EventState, Held, Lease, OutboxError, OutboxEvent, OutboxRow, OutboxStore, end_of_lease,
};

/// An outbox in memory. It answers as [`SqliteOutbox`](super::SqliteOutbox) does, but there is no
/// transaction to share with a business write: what is enqueued is there.
#[derive(Clone, Debug, Default)]
pub struct MemoryOutbox {
    /// In the order of enqueuing.
    rows: Vec<OutboxRow>,
}

impl MemoryOutbox {
    /// An outbox without events.
    pub fn new() -> Self {
        MemoryOutbox::default()
    }

    /// Every event with how far it is, in the order of enqueuing.
    pub fn rows(&self) -> &[OutboxRow] {
        &self.rows
    }

    /// Adds an event.
    ///
    /// # Errors
    /// [`OutboxError::AlreadyEnqueued`], and then the first one stays as it is.
    pub fn enqueue(&mut self, event: &OutboxEvent) -> Result<(), OutboxError> {
        if self
            .rows
            .iter()
            .any(|row| row.event.event_id == event.event_id)
        {
            return Err(OutboxError::AlreadyEnqueued {
                event_id: event.event_id.clone(),
            });
        }
        self.rows.push(OutboxRow {
            event: event.clone(),
            state: EventState::Pending,
            token: 0,
            attempt: 0,
        });
        Ok(())
    }

    fn settle(&mut self, lease: &Lease, state: EventState) -> Held {
        let held = self.rows.iter_mut().find(|row| {
            row.event.event_id == lease.event_id
                && matches!(row.state, EventState::Leased { .. })
                && row.token == lease.token
        });
        match held {
            Some(row) => {
                row.state = state;
                Held::Yes
            }
            None => Held::Fenced,
        }
    }
}

impl OutboxStore for MemoryOutbox {
    type Error = OutboxError;

    fn claim(
        &mut self,
        owner: &str,
        now: i64,
        lease: NonZeroU32,
        limit: usize,
    ) -> Result<Vec<Lease>, OutboxError> {
        let until = end_of_lease(now, lease)?;
        let open = self.rows.iter_mut().filter(|row| is_open(row, now));
        let claimed = open.take(limit).map(|row| {
            row.state = EventState::Leased {
                owner: owner.to_owned(),
                until,
            };
            row.token += 1;
            row.attempt += 1;
            Lease {
                event_id: row.event.event_id.clone(),
                ticket_id: row.event.ticket_id.clone(),
                payload: row.event.payload.clone(),
                token: row.token,
                attempt: row.attempt,
                owner: owner.to_owned(),
            }
        });
        Ok(claimed.collect())
    }

    fn mark_published(&mut self, lease: &Lease) -> Result<Held, OutboxError> {
        Ok(self.settle(lease, EventState::Published))
    }

    fn release_for_retry(&mut self, lease: &Lease) -> Result<Held, OutboxError> {
        Ok(self.settle(lease, EventState::Pending))
    }

    fn park(&mut self, lease: &Lease) -> Result<Held, OutboxError> {
        Ok(self.settle(lease, EventState::Parked))
    }
}

/// Whether a claim may take the event.
fn is_open(row: &OutboxRow, now: i64) -> bool {
    match row.state {
        EventState::Pending => true,
        EventState::Leased { until, .. } => until <= now,
        EventState::Published | EventState::Parked => false,
    }
}
