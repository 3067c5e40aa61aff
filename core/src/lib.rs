//! Idempotent message consumers on a real SQLite.
