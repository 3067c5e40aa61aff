//! What the producer does with a request: the ticket is written, and its event is to come to the broker.

use super::{Bind, Role, Stage};
use crate::design::{Begin, Design, Publication};
use crate::outbox::statements as outbox;
use crate::schema;

/// The stages, in order.
pub(super) fn stages(design: Design) -> Vec<Stage> {
    let begin = match design.begin {
        Begin::Deferred => "BEGIN",
        Begin::Immediate => "BEGIN IMMEDIATE",
    };
    let begin = Stage::outside(Role::Begin, begin, &[], &[]);
    let binds = &[Bind::TicketId, Bind::TenantId];
    let ticket = Stage::outside(Role::WriteTicket, schema::INSERT_TICKET, binds, &[]);
    let binds = &[Bind::EventId, Bind::TicketId, Bind::Payload];
    let enqueue = Stage::outside(Role::Enqueue, outbox::ENQUEUE, binds, &[]);
    let publish = Stage::outside(Role::Publish, "", &[], &[]);
    let commit = Stage::outside(Role::Commit, "COMMIT", &[], &[]);
    match design.publication {
        Publication::AtStart => vec![],
        Publication::CommitThenPublish => vec![begin, ticket, commit, publish],
        Publication::PublishThenCommit => vec![begin, ticket, publish, commit],
        Publication::Outbox => vec![begin, ticket, enqueue, commit],
    }
}
