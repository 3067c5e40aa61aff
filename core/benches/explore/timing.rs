//! Works by turns, so that whatever else the machine does hits all of them.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long `work` takes on what `prepare` makes for it.
#[allow(
    clippy::disallowed_methods,
    reason = "a benchmark measures time; nothing in the laboratory depends on what it finds"
)]
pub fn timed<P, T>(prepare: impl FnOnce() -> P, work: impl FnOnce(&mut P) -> T) -> (Duration, T) {
    let mut prepared = prepare();
    let start = Instant::now();
    let result = black_box(work(&mut prepared));
    (start.elapsed(), result)
}

/// How often each work is measured.
const ROUNDS: usize = 31;

/// The least time of each work, in rounds in which all of them are measured: whatever else the machine
/// does only ever adds to it.
pub fn fastest<const N: usize>(mut works: [&mut dyn FnMut() -> Duration; N]) -> [Duration; N] {
    let mut least = [Duration::MAX; N];
    for _ in 0..ROUNDS {
        for (least, work) in least.iter_mut().zip(&mut works) {
            *least = work().min(*least);
        }
    }
    least
}

/// A row of times: the first, and the others with how many times as long the first is.
pub fn compare<const N: usize>(name: &str, times: [Duration; N]) {
    let in_ms = |time: Duration| time.as_secs_f64() * 1e3;
    let first = in_ms(times[0]);
    print!("{name:<26}{first:>8.2} ms");
    for other in times[1..].iter().copied().map(in_ms) {
        print!("{other:>12.2} ms x{:.2}", first / other);
    }
    println!();
}
