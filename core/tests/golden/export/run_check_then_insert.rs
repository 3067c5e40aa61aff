//! A run of `check-then-insert`, as the page gave it away.
//!
//! After the last step: duplicate-effect: B inserted a task because its check at step 4 ran before A's receipt was committed at step 5.

use deliver_twice_core::broker::EventIndex;
use deliver_twice_core::design::Design;
use deliver_twice_core::event::EffectName;
use deliver_twice_core::property::Violation;
use deliver_twice_core::run::Run;
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::Schedule;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn check_then_insert_ends_in_duplicate_effect() {
    let design: Design = "check-then-insert".parse().unwrap();
    let scenario = Scenario::default();
    let bounds = Bounds::BY_HAND;
    let schedule = "s1:dA.A.dB.B.A.B.A.B.A.B";
    let schedule: Schedule = schedule.parse().unwrap();
    let run = Run::exact(design, scenario, bounds, &schedule).unwrap();
    let expected = [Violation::DuplicateEffect {
        event: EventIndex(0),
        effect: EffectName::Notification,
        tasks: 2,
    }];
    assert_eq!(run.violations(), expected);
}
