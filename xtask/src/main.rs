//! Sets the machine up, then serves, tests or measures the laboratory.
fn main() {}
