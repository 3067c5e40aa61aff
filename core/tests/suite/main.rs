//! The integration tests of the core, in one binary: one link instead of many.

#[cfg(not(target_family = "wasm"))]
mod disk_against_file;
mod sqlite_facts;
mod schedules;
