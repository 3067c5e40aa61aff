//! Many events, many consumer processes, some of them killed: one task for each event, and none lost.

use std::path::Path;
use std::time::Duration;

use deliver_twice_evidence::crew::{Job, Kills, Program, consume};
use deliver_twice_evidence::load::Load;
use deliver_twice_evidence::servers::say_not_run;

const EVENTS: usize = 600;

fn job(program: Program) -> Job {
    Job {
        program,
        design: "contract",
        consumers: 3,
        prefetch: 20,
        idle: Duration::from_millis(1_500),
    }
}

fn rust() -> Program {
    Program::rust(Path::new(env!("CARGO_BIN_EXE_scale")))
}

#[test]
fn consumers_that_are_killed_at_work_leave_one_task_for_each_event() {
    let Some(load) = Load::new("contract", EVENTS, 2, 0) else {
        return;
    };
    let kills = Kills { count: 6, seed: 11 };
    let report = consume(&job(rust()), &load, Some(kills)).unwrap();
    assert_eq!(report.killed, 6);
    // Those that were killed had deliveries in hand, which came again.
    assert!(report.redelivered > 0, "{report:?}");
    assert!(report.duplicates > 0, "{report:?}");
    let balance = load.balance();
    assert!(balance.is_even(), "{balance:?}");
    assert_eq!(balance.events, 600);
    load.end();
}

/// The same load without the constraint: two consumers look before either has written.
#[test]
fn consumers_that_look_before_they_write_double_tasks() {
    let Some(load) = Load::new("check-then-insert", EVENTS, 2, 0) else {
        return;
    };
    let job = Job {
        design: "check-then-insert",
        // One delivery at a time, so that the two copies of an event go to two consumers at once.
        prefetch: 1,
        ..job(rust())
    };
    let report = consume(&job, &load, None).unwrap();
    assert_eq!(report.deliveries, 1_200);
    let balance = load.balance();
    assert!(balance.tasks > balance.events, "{balance:?}");
    assert!(!balance.is_even());
    load.end();
}

#[test]
fn a_consumer_written_with_sqlalchemy_keeps_the_contract_too() {
    let Some(programs) = std::env::var_os("PYTHON_CONSUMER") else {
        say_not_run("PYTHON_CONSUMER is not set; `cargo xtask test` sets it");
        return;
    };
    let Some(load) = Load::new("contract", 100, 2, 0) else {
        return;
    };
    let python = Program::python(&Path::new(&programs).join("python"));
    let report = consume(&job(python), &load, None).unwrap();
    assert_eq!((report.applied, report.duplicates), (100, 100));
    assert!(load.balance().is_even());
    load.end();
}
