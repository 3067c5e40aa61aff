//! A run of `constraint-arbitration`, as the page gave it away.
//!
//! After the last step: no property is violated.

use deliver_twice_core::design::Design;
use deliver_twice_core::run::Run;
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::Schedule;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn constraint_arbitration_ends_well() {
    let design: Design = "constraint-arbitration".parse().unwrap();
    let scenario = Scenario::default();
    let bounds = Bounds::BY_HAND;
    let schedule = "s1:dA.A.dB.B.A.B.A2.B.A.B2";
    let schedule: Schedule = schedule.parse().unwrap();
    let run = Run::exact(design, scenario, bounds, &schedule).unwrap();
    assert!(run.violations().is_empty(), "{:?}", run.violations());
}
