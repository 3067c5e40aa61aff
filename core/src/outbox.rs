//! The outbox: an event is committed with the ticket it is about, and published afterwards.

pub mod statements;
