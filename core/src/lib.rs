//! Idempotent message consumers on a real SQLite.
#![warn(missing_docs)]

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
use sqlite_wasm_rs as _;

pub mod axis;
pub mod broker;
pub mod cause;
pub mod contract;
mod course;
pub mod database;
pub mod design;
pub mod diagnosis;
pub mod dialect;
pub mod disk;
pub mod error;
pub mod event;
pub mod exercise;
pub mod explore;
pub mod export;
pub mod lesson;
pub mod matrix;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod omitted;
pub mod outbox;
pub mod plan;
pub mod property;
pub mod relay;
pub mod run;
pub mod scenario;
pub mod schedule;
pub mod schema;
pub mod sql;
pub mod state;
pub mod system;

pub use contract::{ApplyError, Outcome, apply_once};
pub use error::{Error, Result};
