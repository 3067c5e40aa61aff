//! The same contract on real servers: PostgreSQL with a connection for each worker, RabbitMQ with its own
//! redelivery.
//!
//! SQLite has one writer at a time, so what it shows is no evidence of what another engine does with two.
//! Here the plans, tables and statements of the core are put to a PostgreSQL server, and events come over
//! a RabbitMQ broker. Nothing of this is linked into the page.

pub mod apply_once;
pub mod broker;
pub mod cable;
pub mod crew;
pub mod digest;
pub mod load;
pub mod locks;
pub mod naive;
pub mod outbox;
pub mod postgres;
pub mod publisher;
pub mod record;
pub mod redelivery;
pub mod relaying;
pub mod replay;
pub mod schedules;
pub mod scratch;
pub mod servers;
pub mod statement;
pub mod tables;

pub use apply_once::{ApplyError, apply_once};
