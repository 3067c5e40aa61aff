//! Tests of the built page in a real browser, and of the repository itself.

mod barriers;
mod browser;
mod embed;
mod exercises;
mod export;
mod harness;
mod hosts;
mod lab;
mod lessons;
mod offline;
mod package;
mod papers;
mod program;
mod search;
mod tidy;
mod timeline;
