//! What PostgreSQL and RabbitMQ do, asked of real servers.
//!
//! A test whose server is not there says so and passes, unless the environment asks for the server
//! (`deliver_twice_evidence::servers`).

mod apply_once;
mod concurrency;
mod confirms;
mod deliveries;
mod outbox;
mod papers;
mod relay;
mod retention;
mod scale;
mod schedules;
mod servers;
