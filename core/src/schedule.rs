//! Steps, and the order in which they are taken: as data and as text that a person can read.
//!
//! The text begins with its version, `s1:`, and joins the steps with dots:
//!
//! | text | step |
//! |---|---|
//! | `dA` | the broker hands the head of its queue to worker A |
//! | `A`, `A3` | A takes its next stage; three times |
//! | `t` | the operator adds the missing ticket |
//! | `e` | the lease of a relay that is gone expires |
//! | `l` | the lease of a relay that is still at work expires |
//! | `p1` | the producer publishes event e1 once more |
//! | `kA` | A sends its ack, and it is lost |
//! | `rA` | A's commit is carried out, and the reply is lost |
//! | `nR` | R publishes, and the broker refuses the message |
//! | `uR` | R publishes, and the broker returns the message: no queue takes it |
//! | `cR` | the broker's confirm to R is lost |
//! | `oN` | N calls the provider, and the answer is lost |
//! | `gA` | A gives up waiting |
//! | `xA` | A crashes |
//!
//! Workers are A, B and C, who consume; P, who produces; R and S, who relay; N and M, who send.

use std::fmt;
use std::str::FromStr;

use crate::broker::{EventIndex, Kind, WorkerId};
use crate::error::Error;

/// One atomic thing that may happen next. The order of this type is the order in which
/// [`System::enabled`](crate::system::System::enabled) offers steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The broker hands the head of its queue to a worker.
    Deliver(WorkerId),
    /// A worker takes its next stage.
    Work(WorkerId),
    /// The lease of a relay expires that is no longer at work on the row.
    LeaseExpires,
    /// The operator adds the missing ticket.
    AddTicket,
    /// The producer publishes an event once more.
    PublishAgain(EventIndex),
    /// A worker sends its ack, and it is lost on the way.
    LoseAck(WorkerId),
    /// A worker's commit is carried out, and the reply is lost on the way.
    LoseReply(WorkerId),
    /// The lease of a relay expires while the relay is still at work on the row.
    LeaseOverrun,
    /// A worker publishes, and the broker refuses the message.
    Nack(WorkerId),
    /// A worker publishes, and the broker returns the message, because no queue takes it.
    Return(WorkerId),
    /// The broker's confirm to a worker is lost on the way.
    LoseConfirm(WorkerId),
    /// A worker calls the provider, which does what it is asked, and the answer is lost on the way.
    LoseAnswer(WorkerId),
    /// A worker that waits gives up, as a busy timeout would make it.
    GiveUp(WorkerId),
    /// A worker's process dies, and its connection with it.
    Crash(WorkerId),
}

impl Step {
    /// The worker it is about, if it is about one.
    pub fn worker(self) -> Option<WorkerId> {
        match self {
            Step::Deliver(worker)
            | Step::Work(worker)
            | Step::LoseAck(worker)
            | Step::LoseReply(worker)
            | Step::Nack(worker)
            | Step::Return(worker)
            | Step::LoseConfirm(worker)
            | Step::LoseAnswer(worker)
            | Step::GiveUp(worker)
            | Step::Crash(worker) => Some(worker),
            Step::LeaseExpires | Step::LeaseOverrun | Step::AddTicket | Step::PublishAgain(_) => {
                None
            }
        }
    }

    /// Whether the system itself gets on by it, as opposed to a fault or to someone from outside.
    pub fn is_progress(self) -> bool {
        matches!(self, Step::Deliver(_) | Step::Work(_) | Step::LeaseExpires)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Deliver(worker) => write!(f, "d{worker}"),
            Step::Work(worker) => write!(f, "{worker}"),
            Step::LeaseExpires => f.write_str("e"),
            Step::AddTicket => f.write_str("t"),
            Step::PublishAgain(event) => write!(f, "p{}", event.0 + 1),
            Step::LoseAck(worker) => write!(f, "k{worker}"),
            Step::LoseReply(worker) => write!(f, "r{worker}"),
            Step::LeaseOverrun => f.write_str("l"),
            Step::Nack(worker) => write!(f, "n{worker}"),
            Step::Return(worker) => write!(f, "u{worker}"),
            Step::LoseConfirm(worker) => write!(f, "c{worker}"),
            Step::LoseAnswer(worker) => write!(f, "o{worker}"),
            Step::GiveUp(worker) => write!(f, "g{worker}"),
            Step::Crash(worker) => write!(f, "x{worker}"),
        }
    }
}

/// The steps taken, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Schedule(pub Vec<Step>);

impl Schedule {
    /// What every schedule's text begins with: the version of its form.
    pub const VERSION: &'static str = "s1:";

    /// The most steps that a schedule may have.
    pub const STEPS_MAX: usize = 500;

    /// How often one actor's step follows another's: the fewer, the easier to follow.
    pub fn switches(&self) -> usize {
        self.0
            .windows(2)
            .filter(|pair| pair[0].worker() != pair[1].worker())
            .count()
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::VERSION)?;
        let runs = self
            .0
            .chunk_by(|one, next| one == next && matches!(one, Step::Work(_)));
        for (index, run) in runs.enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            write!(f, "{}", run[0])?;
            if run.len() > 1 {
                write!(f, "{}", run.len())?;
            }
        }
        Ok(())
    }
}

/// What a schedule's text would have had to say where it stopped making sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The version of the form, [`Schedule::VERSION`].
    Version,
    /// A step.
    Step,
    /// A worker's letter.
    Worker,
    /// The letter of a worker that is handed deliveries.
    Consumer,
    /// An event's number.
    Event,
    /// How often a worker steps, or nothing for once.
    Count,
    /// Nothing more in this step.
    EndOfStep,
    /// No more than [`Schedule::STEPS_MAX`] steps in all.
    FewerSteps,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Version => write!(f, "the version `{}`", Schedule::VERSION),
            Expected::Step => f.write_str(
                "a step: a worker's letter; dA, kA, rA, gA, xA; nR, uR, cR; oN; p1; e, l, t",
            ),
            Expected::Worker => f.write_str("a worker: A, B, C, P, R, S, N or M"),
            Expected::Consumer => f.write_str("a consumer: A, B or C"),
            Expected::Event => f.write_str("an event: 1 or 2"),
            Expected::Count => {
                write!(f, "nothing, or a number from 2 to {}", Schedule::STEPS_MAX)
            }
            Expected::EndOfStep => f.write_str("the end of the step"),
            Expected::FewerSteps => write!(f, "at most {} steps", Schedule::STEPS_MAX),
        }
    }
}

/// Where a schedule's text stopped making sense: the character, what stood there, what was expected.
type Bad = (usize, String, Expected);

impl FromStr for Schedule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        read(text).map_err(|(at_char, found, expected)| {
            let found = found.chars().take(40).collect();
            Error::BadSchedule {
                at_char,
                found,
                expected,
            }
        })
    }
}

fn read(text: &str) -> Result<Schedule, Bad> {
    let Some(steps) = text.strip_prefix(Schedule::VERSION) else {
        let head: String = text.chars().take(Schedule::VERSION.len()).collect();
        return Err((0, head, Expected::Version));
    };
    let mut schedule = Schedule::default();
    let mut at = Schedule::VERSION.len();
    if steps.is_empty() {
        return Ok(schedule);
    }
    for word in steps.split('.') {
        let (step, count) = read_word(word, at)?;
        if schedule.0.len() + count > Schedule::STEPS_MAX {
            return Err((at, word.to_owned(), Expected::FewerSteps));
        }
        schedule.0.extend(std::iter::repeat_n(step, count));
        at += word.chars().count() + 1;
    }
    Ok(schedule)
}

fn read_word(word: &str, at: usize) -> Result<(Step, usize), Bad> {
    let mut letters = word.chars();
    let first = letters.next().ok_or((at, String::new(), Expected::Step))?;
    let rest = letters.as_str();
    let about = |step: fn(WorkerId) -> Step| match rest.chars().next().and_then(WorkerId::lettered)
    {
        Some(worker) if rest.len() == 1 => Ok((step(worker), 1)),
        _ => Err((at + 1, rest.to_owned(), Expected::Worker)),
    };
    let about_consumer = |step| match about(step)? {
        (step, count) if step.worker().map(WorkerId::kind) == Some(Kind::Consumer) => {
            Ok((step, count))
        }
        _ => Err((at + 1, rest.to_owned(), Expected::Consumer)),
    };
    let alone = |step| match rest {
        "" => Ok((step, 1)),
        _ => Err((at + 1, rest.to_owned(), Expected::EndOfStep)),
    };
    if let Some(worker) = WorkerId::lettered(first) {
        return Ok((Step::Work(worker), read_count(rest, at + 1)?));
    }
    match first {
        'd' => about_consumer(Step::Deliver),
        'k' => about_consumer(Step::LoseAck),
        'r' => about(Step::LoseReply),
        'n' => about(Step::Nack),
        'u' => about(Step::Return),
        'c' => about(Step::LoseConfirm),
        'o' => about(Step::LoseAnswer),
        'g' => about(Step::GiveUp),
        'x' => about(Step::Crash),
        'p' => match rest {
            "1" => Ok((Step::PublishAgain(EventIndex(0)), 1)),
            "2" => Ok((Step::PublishAgain(EventIndex(1)), 1)),
            _ => Err((at + 1, rest.to_owned(), Expected::Event)),
        },
        'e' => alone(Step::LeaseExpires),
        'l' => alone(Step::LeaseOverrun),
        't' => alone(Step::AddTicket),
        _ => Err((at, word.to_owned(), Expected::Step)),
    }
}

fn read_count(text: &str, at: usize) -> Result<usize, Bad> {
    if text.is_empty() {
        return Ok(1);
    }
    let is_number = text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<usize>() {
        Ok(count) if is_number && count > 1 => Ok(count),
        _ => Err((at, text.to_owned(), Expected::Count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn every_step_reads_back_from_its_text() {
        let text = "s1:dA.A2.dB.B12.t.p1.p2.kA.rB.gC.P3.R.nR.uS.cS.e.l.N2.oM.xB.A.A.xB.xB";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!(schedule.to_string(), text.replace("B.A.A.", "B.A2."));
        assert_eq!(schedule.to_string().parse::<Schedule>().unwrap(), schedule);
        assert_eq!("s1:".parse::<Schedule>().unwrap(), Schedule::default());
    }

    #[test]
    fn a_bad_text_says_where_and_what_was_expected() {
        use Expected::*;
        for (text, at, found, wanted) in [
            ("", 0, "", Version),
            ("A.B", 0, "A.B", Version),
            ("s2:A", 0, "s2:", Version),
            ("s1:A..B", 5, "", Step),
            ("s1:A.", 5, "", Step),
            ("s1:dA.D", 6, "D", Step),
            ("s1:dD", 4, "D", Worker),
            ("s1:dP", 4, "P", Consumer),
            ("s1:d", 4, "", Worker),
            ("s1:A1", 4, "1", Count),
            ("s1:A0", 4, "0", Count),
            ("s1:A+2", 4, "+2", Count),
            ("s1:A501", 3, "A501", FewerSteps),
            ("s1:A99999999999999999999", 4, "99999999999999999999", Count),
            ("s1:p3", 4, "3", Event),
            ("s1:tt", 4, "t", EndOfStep),
            ("s1:重", 3, "重", Step),
            ("s1:d重", 4, "重", Worker),
        ] {
            match text.parse::<Schedule>() {
                Err(Error::BadSchedule {
                    at_char,
                    found: seen,
                    expected,
                }) => {
                    assert_eq!(
                        (at_char, seen.as_str(), expected),
                        (at, found, wanted),
                        "{text}"
                    );
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn an_error_counts_characters_from_one_and_says_what_was_expected() {
        for (text, said) in [
            (
                "s1:dD",
                "schedule has `D` at character 5; expected a worker: A, B, C, P, R, S, N or M",
            ),
            (
                "s1:A.",
                "schedule ends at character 6; expected a step: a worker's letter; \
                 dA, kA, rA, gA, xA; nR, uR, cR; oN; p1; e, l, t",
            ),
            (
                "A",
                "schedule has `A` at character 1; expected the version `s1:`",
            ),
            (
                "s1:A1",
                "schedule has `1` at character 5; expected nothing, or a number from 2 to 500",
            ),
        ] {
            assert_eq!(text.parse::<Schedule>().unwrap_err().to_string(), said);
        }
    }

    #[test]
    fn switches_count_changes_of_the_actor() {
        let schedule: Schedule = "s1:dA.A2.dB.B2.A.t".parse().unwrap();
        assert_eq!(schedule.switches(), 3);
    }
}
