//! Idempotent message consumers on a real SQLite.

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
use sqlite_wasm_rs as _;

pub mod disk;
