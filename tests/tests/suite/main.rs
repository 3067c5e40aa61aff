//! Tests of the built page in a real browser, and of the repository itself.

mod browser;
mod exercises;
mod export;
mod harness;
mod lab;
mod lessons;
mod papers;
mod search;
mod tidy;
