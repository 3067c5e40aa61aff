//! Mounts the laboratory's page.
fn main() {}
