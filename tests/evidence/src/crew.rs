//! Consumers as processes of their own, which can be killed as such.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::load::Load;
use crate::scratch::{Queue, Schema};

/// What a consumer is made of.
#[derive(Clone, Debug)]
pub struct Program {
    /// The command, without what it is to consume.
    command: Vec<OsString>,
}

impl Program {
    /// The consumer of this crate, whose executable is `scale`.
    pub fn rust(scale: &Path) -> Self {
        Program {
            command: vec![scale.into(), "consume".into()],
        }
    }

    /// The consumer written in Python, run by this interpreter.
    pub fn python(interpreter: &Path) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/consumer.py");
        Program {
            command: vec![interpreter.into(), script.into()],
        }
    }
}

/// What consumers of one crew do.
#[derive(Clone, Debug)]
pub struct Job {
    /// What they are made of.
    pub program: Program,
    /// `contract` or `check-then-insert`.
    pub design: &'static str,
    /// How many run at once.
    pub consumers: usize,
    /// How many deliveries each may have unacked.
    pub prefetch: u16,
    /// How long a consumer waits for another delivery before it ends.
    pub idle: Duration,
}

/// Which consumers are killed, and after how much of the work: the same draw for the same seed. What a
/// consumer is doing at that moment is the machine's affair.
#[derive(Clone, Copy, Debug)]
pub struct Kills {
    /// How many are killed in all, each followed by a new one.
    pub count: usize,
    /// Where the draw begins.
    pub seed: u64,
}

impl Kills {
    /// The numbers of receipts after which a consumer is killed, and which of the crew, in order. The first
    /// and the last tenth of the work are left alone.
    fn draw(self, events: i64, consumers: usize) -> Vec<(i64, usize)> {
        let mut numbers = fastrand::Rng::with_seed(self.seed);
        let tenth = events / 10;
        let mut moments: Vec<(i64, usize)> = (0..self.count)
            .map(|_| {
                (
                    tenth + numbers.i64(0..tenth * 8),
                    numbers.usize(..consumers),
                )
            })
            .collect();
        moments.sort_unstable();
        moments
    }
}

/// What the consumers that came to their end say together. One that was killed says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Deliveries that they handled and acked.
    pub deliveries: u64,
    /// Those that the broker called redelivered.
    pub redelivered: u64,
    /// Effects that they applied.
    pub applied: u64,
    /// Deliveries that they found to be duplicates.
    pub duplicates: u64,
    /// From the first delivery of any to the last ack of any, in milliseconds.
    pub milliseconds: u64,
    /// How many consumers were killed.
    pub killed: usize,
}

impl Report {
    /// Deliveries a second, of all consumers together.
    pub fn rate(&self) -> f64 {
        self.deliveries as f64 * 1000.0 / self.milliseconds.max(1) as f64
    }
}

/// Lets a crew work through a load to its end.
///
/// # Errors
/// Those of starting a process, and [`io::ErrorKind::Other`] for one that fails or says nothing.
///
/// # Panics
/// If the work does not come as far as the next kill in a minute.
pub fn consume(job: &Job, load: &Load, kills: Option<Kills>) -> io::Result<Report> {
    let mut crew = Crew(Vec::new());
    for _ in 0..job.consumers {
        crew.0.push(start(job, &load.queue, &load.schema)?);
    }
    let mut report = Report::default();
    let moments = kills.map(|kills| kills.draw(load.events(), job.consumers));
    for (after, place) in moments.unwrap_or_default() {
        load.wait_for_receipts(after);
        // The value's end is SIGKILL: no chance to say anything, to the broker or to the database.
        drop(Crew(vec![crew.0.swap_remove(place)]));
        report.killed += 1;
        crew.0.push(start(job, &load.queue, &load.schema)?);
    }
    let mut first = u64::MAX;
    let mut last = 0;
    while let Some(child) = crew.0.pop() {
        let said = hear(child)?;
        let number = |name: &str| said[name].as_u64().unwrap_or(0);
        report.deliveries += number("deliveries");
        report.redelivered += number("redelivered");
        report.applied += number("applied");
        report.duplicates += number("duplicates");
        if number("deliveries") > 0 {
            first = first.min(number("first"));
            last = last.max(number("last"));
        }
    }
    report.milliseconds = last.saturating_sub(first);
    Ok(report)
}

/// Processes that end with this value, also when a test fails.
struct Crew(Vec<Child>);

impl Drop for Crew {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended by itself needs no end.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn start(job: &Job, queue: &Queue, schema: &Schema) -> io::Result<Child> {
    let (program, arguments) = job.program.command.split_first().expect("a program's name");
    Command::new(program)
        .args(arguments)
        .args(["--database", schema.url(), "--schema", schema.name()])
        .args(["--broker", queue.url(), "--queue", queue.name()])
        .args(["--design", job.design])
        .args(["--prefetch", &job.prefetch.to_string()])
        .args(["--idle", &job.idle.as_millis().to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
}

/// Waits for a consumer's end, and reads the one line that it says.
fn hear(child: Child) -> io::Result<Value> {
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!(
            "a consumer failed: {}",
            output.status
        )));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_are_spread_over_the_work_and_the_same_for_the_same_seed() {
        let kills = Kills { count: 50, seed: 7 };
        let moments = kills.draw(1_000, 4);
        assert_eq!(moments, kills.draw(1_000, 4));
        assert_ne!(moments, Kills { seed: 8, ..kills }.draw(1_000, 4));
        assert_eq!(moments.len(), 50);
        assert!(
            moments
                .iter()
                .all(|(after, place)| (100..900).contains(after) && *place < 4)
        );
        assert!(moments.is_sorted() && moments[0].0 < 300 && moments[49].0 > 700);
    }
}
