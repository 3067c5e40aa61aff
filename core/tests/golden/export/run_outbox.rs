//! A run of `outbox`, as the page gave it away.
//!
//! After the last step: no property is violated.
//! After the last step: allowed, doubled-publication: R published at step 14 what the broker had taken at step 10, which a relay cannot always know, and a receipt is there to absorb.

use deliver_twice_core::design::Design;
use deliver_twice_core::run::Run;
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::Schedule;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn outbox_ends_well() {
    let design: Design = "outbox".parse().unwrap();
    let scenario = Scenario::default();
    let bounds = Bounds::BY_HAND;
    let schedule = "s1:P4.R.nR.R4.cR.e.R4.dA.A5.dB.B4";
    let schedule: Schedule = schedule.parse().unwrap();
    let run = Run::exact(design, scenario, bounds, &schedule).unwrap();
    assert!(run.violations().is_empty(), "{:?}", run.violations());
}
