//! The search of every schedule, beside the page: in a worker, or in small slices where none is to be had.
//!
//! Page and worker are the same module. They exchange the plain values of [`messages`]; the worker runs the
//! [`engine`], and [`task`] is what the page sees of it.

pub mod engine;
pub mod messages;
pub mod task;
pub mod worker;
