//! How long searches take, and how much of that is SQLite's.
//!
//! `cargo bench -p deliver-twice-core` measures what is compared in one run, by turns, and prints the
//! least time of each. It writes `docs/growth.svg` anew, in which there are no times, so that it stays the same.

#[cfg(not(target_family = "wasm"))]
#[path = "explore/contract.rs"]
mod contract;
#[cfg(not(target_family = "wasm"))]
#[path = "explore/growth.rs"]
mod growth;
#[cfg(not(target_family = "wasm"))]
#[path = "explore/statements.rs"]
mod statements;
#[cfg(not(target_family = "wasm"))]
#[path = "explore/timing.rs"]
mod timing;

#[cfg(not(target_family = "wasm"))]
fn main() {
    // `cargo test --benches` only wants to know whether they run.
    if !std::env::args().any(|argument| argument == "--test") {
        growth::print();
        statements::print();
        contract::print();
    }
    divan::main();
}

/// There is no clock in wasm.
#[cfg(target_family = "wasm")]
fn main() {}

/// The flagship for every design: two copies, two workers, a crash at most.
#[cfg(not(target_family = "wasm"))]
#[divan::bench(args = deliver_twice_core::design::PRESETS.map(|preset| preset.name), sample_count = 20)]
fn flagship(design: &str) -> deliver_twice_core::explore::Report {
    statements::Flagship::of(design).explored()
}
