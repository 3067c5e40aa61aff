//! A run of `pending-row`, as the page gave it away.
//!
//! After the last step: sent-twice: N called the provider at step 10, though the message had gone out at step 8, and nothing told it so.

use deliver_twice_core::broker::EventIndex;
use deliver_twice_core::design::Design;
use deliver_twice_core::property::Violation;
use deliver_twice_core::run::Run;
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::Schedule;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn pending_row_ends_in_sent_twice() {
    let design: Design = "pending-row".parse().unwrap();
    let scenario = Scenario::default();
    let bounds = Bounds::BY_HAND;
    let schedule = "s1:dA.A5.N.oN.N2.xN.N3";
    let schedule: Schedule = schedule.parse().unwrap();
    let run = Run::exact(design, scenario, bounds, &schedule).unwrap();
    let expected = [Violation::SentTwice {
        event: EventIndex(0),
        messages: 3,
    }];
    assert_eq!(run.violations(), expected);
}
