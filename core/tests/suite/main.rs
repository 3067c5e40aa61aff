//! The integration tests of the core, in one binary: one link instead of many.

mod contract;
mod crash;
mod determinism;
mod diagnosis;
#[cfg(not(target_family = "wasm"))]
mod disk_against_file;
mod explore;
mod lessons;
mod matrix;
mod schedules;
mod sqlite_facts;
