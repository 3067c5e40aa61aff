//! The integration tests of the core, in one binary: one link instead of many.

mod around;
mod contract;
mod crash;
mod determinism;
mod diagnosis;
#[cfg(not(target_family = "wasm"))]
mod disk_against_file;
mod end_to_end;
mod exercises;
mod explore;
mod export;
mod lessons;
mod matrix;
mod outbox;
mod relay;
#[allow(dead_code, reason = "its `main` prints what `pass` returns")]
#[path = "../../examples/relay.rs"]
mod relay_example;
#[path = "../golden/export/run_check_then_insert.rs"]
mod run_check_then_insert;
#[path = "../golden/export/run_constraint_arbitration.rs"]
mod run_constraint_arbitration;
#[path = "../golden/export/run_outbox.rs"]
mod run_outbox;
#[path = "../golden/export/run_pending_row.rs"]
mod run_pending_row;
mod schedules;
mod sqlite_facts;
