//! Waiting for a state, bounded in time.

use std::time::{Duration, Instant};

/// How long anything on a page may take before a test fails. Generous, for two busy cores.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// How long to leave the page alone between two looks at it.
const PAUSE: Duration = Duration::from_millis(15);

/// Looks again and again until `look` finds what it wants.
///
/// # Panics
/// After [`PATIENCE`], with `wanted` and what the last look found instead.
#[track_caller]
#[allow(
    clippy::disallowed_methods,
    reason = "a real browser lives in real time"
)]
pub fn until<T>(wanted: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match look() {
            Ok(found) => return found,
            Err(found) if Instant::now() > deadline => {
                panic!(
                    "waited {} s for {wanted}; found {found}",
                    PATIENCE.as_secs()
                )
            }
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}
