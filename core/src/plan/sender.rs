//! What a sender does with a pending notification: it calls the provider outside, and marks the row done.

use super::{Bind, Meaning, Role, Stage, When};
use crate::design::{Design, Outside};
use crate::schema;

/// The stages, in order.
pub(super) fn stages(design: Design) -> Vec<Stage> {
    if !design.has_sender() {
        return vec![];
    }
    let pick = Stage::outside(
        Role::Pick,
        schema::PICK_NOTIFICATION,
        &[],
        &[(When::NothingChanged, Meaning::Done)],
    );
    let ask = Stage::outside(
        Role::AskProvider,
        "",
        &[],
        &[(When::Found, Meaning::GoTo(Role::MarkDone))],
    );
    let call = Stage::outside(Role::Call, "", &[], &[]);
    let done = Stage::outside(Role::MarkDone, schema::MARK_DONE, &[Bind::TaskId], &[]);
    match design.outside {
        Outside::Reconciled => vec![pick, ask, call, done],
        _ => vec![pick, call, done],
    }
}
