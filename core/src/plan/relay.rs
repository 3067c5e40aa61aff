//! What a relay does with a row of the outbox: it claims the row, publishes the event, and says in the row
//! what became of it.

use super::{Bind, Meaning, Role, Stage, When};
use crate::design::{Design, Lease, Marking};
use crate::outbox::statements as outbox;
use crate::relay::Confirm;

/// The stages, in order. What is behind the marking is reached by [`Meaning::GoTo`] alone.
pub(super) fn stages(design: Design) -> Vec<Stage> {
    if !design.has_outbox() {
        return vec![];
    }
    let publish = Stage::outside(Role::Publish, "", &[], &[]);
    match design.marking {
        Marking::AfterConfirm => vec![
            lease(design),
            publish,
            hear_confirm(),
            mark(design),
            release(design),
            park(design),
        ],
        Marking::AfterSend => vec![lease(design), publish, mark(design)],
        Marking::WithClaim => vec![lease(design), publish],
    }
}

fn lease(design: Design) -> Stage {
    let (sql, binds): (_, &[Bind]) = match (design.marking, design.lease) {
        (Marking::WithClaim, _) => (outbox::CLAIM_MARKING_PUBLISHED, &[]),
        (_, Lease::Forever) => (outbox::CLAIM_FOREVER, &[Bind::Owner]),
        (_, Lease::Fenced | Lease::Unfenced) => {
            (outbox::CLAIM_ONE, &[Bind::Owner, Bind::Until, Bind::Now])
        }
    };
    let readings = [(When::NothingChanged, Meaning::Done)];
    Stage::outside(Role::Lease, sql, binds, &readings)
}

fn hear_confirm() -> Stage {
    let (release, park) = (Meaning::GoTo(Role::Release), Meaning::GoTo(Role::Park));
    let readings = [
        (When::BrokerAtLast(Confirm::Nacked), park),
        (When::Broker(Confirm::Nacked), release),
        // Sent again it would be returned again.
        (When::Broker(Confirm::Returned), park),
        // It may be in the queue, and it may not: the lease runs out, and the row is tried again.
        (When::Broker(Confirm::NoAnswer), Meaning::Done),
    ];
    Stage::outside(Role::HearConfirm, "", &[], &readings)
}

fn mark(design: Design) -> Stage {
    last(
        design,
        Role::MarkPublished,
        [outbox::MARK_PUBLISHED, outbox::MARK_PUBLISHED_UNFENCED],
    )
}

fn release(design: Design) -> Stage {
    last(
        design,
        Role::Release,
        [
            outbox::RELEASE_FOR_RETRY,
            outbox::RELEASE_FOR_RETRY_UNFENCED,
        ],
    )
}

fn park(design: Design) -> Stage {
    last(design, Role::Park, [outbox::PARK, outbox::PARK_UNFENCED])
}

/// A stage with which the relay is done with the row, whether or not it was still its own.
fn last(design: Design, role: Role, [fenced, unfenced]: [&'static str; 2]) -> Stage {
    let (sql, binds): (_, &[Bind]) = match design.lease {
        Lease::Fenced | Lease::Forever => (fenced, &[Bind::EventId, Bind::Token]),
        Lease::Unfenced => (unfenced, &[Bind::EventId]),
    };
    let readings = [
        (When::Refused, Meaning::GiveBack),
        (When::Otherwise, Meaning::Done),
    ];
    Stage::outside(role, sql, binds, &readings)
}
