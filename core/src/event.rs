//! What a producer emits: an immutable fact, and the effects it must have.

use std::fmt;

use uuid::Uuid;

/// The identity of an event. It is given once, by the producer, and never changes: every delivery of
/// the event, first or tenth, carries the same one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(String);

impl EventId {
    /// An id with this text.
    pub fn new(text: impl Into<String>) -> Self {
        EventId(text.into())
    }

    /// The text that stands in the database.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An event: something that happened to a ticket. Nothing in it changes after it was emitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its identity.
    pub event_id: EventId,
    /// The ticket it is about.
    pub ticket_id: String,
    /// Whose ticket it is. `None` is a producer's mistake that the database refuses (NOT NULL).
    pub tenant_id: Option<String>,
    /// The version of the ticket that this event announces, counted from 1.
    pub version: u32,
    /// The trace it belongs to, in the form of a W3C `traceparent` header.
    pub trace_context: String,
    /// When it happened, as an RFC 3339 time. Nothing is decided by it.
    pub occurred_at: String,
    /// What happened.
    pub payload: Payload,
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// The kind of fact, such as `ticket.created`.
    pub event_type: &'static str,
    /// The status that the tasks of this event start in.
    pub task_status: &'static str,
}

impl Event {
    /// The event that announces `version` (counted from 1) of the laboratory's one ticket.
    pub fn ticket_version(version: u32) -> Self {
        let event_id = EventId::new(format!("e{version}"));
        let trace = Uuid::new_v5(&Uuid::NAMESPACE_OID, event_id.as_str().as_bytes());
        let event_type = if version == 1 {
            "ticket.created"
        } else {
            "ticket.updated"
        };
        Event {
            trace_context: format!("00-{}-{:016x}-01", trace.simple(), version),
            event_id,
            ticket_id: "ticket-1".to_owned(),
            tenant_id: Some("tenant-1".to_owned()),
            version,
            occurred_at: format!("2026-01-05T09:00:{:02}Z", version.min(59)),
            payload: Payload {
                event_type,
                task_status: "pending",
            },
        }
    }
}

/// One of the effects that an event must have, each exactly once and each with its own receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectName {
    /// Someone is to be told.
    Notification,
    /// The search index is to be brought up to date.
    SearchProjection,
    /// The change is to be written into the audit trail.
    Audit,
}

impl EffectName {
    /// All effects, in the order in which a consumer carries them out.
    pub const ALL: [EffectName; 3] = [
        EffectName::Notification,
        EffectName::SearchProjection,
        EffectName::Audit,
    ];

    /// The text that stands in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            EffectName::Notification => "notification",
            EffectName::SearchProjection => "search_projection",
            EffectName::Audit => "audit",
        }
    }
}

impl fmt::Display for EffectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
