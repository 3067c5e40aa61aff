//! The programming interface: what a program in JavaScript may ask of the laboratory.
//!
//! [`given`] reads what is handed in and [`answers`] are the plain values that come back, both without a
//! browser; [`lab`] does what is asked, and [`exports`] is the border to JavaScript. The package around it,
//! with its promises and its error class, is in `web/api`.

mod answers;
mod exports;
mod given;
mod lab;
mod refusal;
mod shape;
#[cfg(test)]
mod tests;
