//! The lessons of the course: each a file of data that a test replays and holds to what it claims.
//!
//! A file has lines `key = value`. It names two designs, a scenario, the bounds of the search and an
//! opening schedule; it claims what the schedule and the search come to on either side; it asks one
//! question whose answer the laboratory computes; and it has its words in each language.

use std::sync::LazyLock;

use crate::course::{Fields, Words, verdict_named};
use crate::design::{Chapter, Design};
use crate::error::Result;
use crate::property::Verdict;
use crate::scenario::{Bounds, Scenario};
use crate::schedule::Schedule;
use crate::state::State;

/// Names the files, in the order in which they teach.
macro_rules! lessons {
    ($($id:literal),+ $(,)?) => {
        const FILES: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../lessons/", $id, ".txt")))),+];
    };
}

lessons![
    "same-event-twice",
    "dangerous-line",
    "flag-false",
    "flag-true",
    "check-loses-a-race",
    "constraint-decides",
    "two-commits",
    "three-effects",
    "two-versions",
    "not-every-error",
    "missing-ticket",
    "ack-first",
    "lost-reply",
    "busy-is-no-error",
    "crash-before-publish",
    "ghost-of-a-rollback",
    "row-that-waits",
    "sent-is-not-taken",
    "nowhere-to-go",
    "claimed-is-not-sent",
    "relay-that-is-gone",
    "relay-that-is-late",
    "confirm-lost-on-the-way",
    "mail-is-outside",
    "call-after-commit",
    "sent-and-not-marked",
    "key-that-nobody-reads",
    "ask-before-you-call",
    "asking-loses-a-race",
];

/// What a lesson says a design comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nothing is violated.
    Fine,
    /// This is violated, and it is the most urgent that is.
    Breaks(Verdict),
}

/// What a lesson asks before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asks {
    /// About what.
    pub about: About,
    /// On which side: 0 left, 1 right.
    pub side: usize,
}

/// What the question of a lesson is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// How many tasks are committed at the end of the schedule.
    Tasks,
    /// How many messages the broker has taken from the producer's side by then, whatever became of them.
    Published,
    /// How many messages have arrived outside by then.
    Sent,
    /// At which step every future fails.
    TooLate,
}

impl About {
    const ALL: [About; 4] = [About::Tasks, About::Published, About::Sent, About::TooLate];

    /// The name in files.
    fn as_str(self) -> &'static str {
        match self {
            About::Tasks => "tasks",
            About::Published => "published",
            About::Sent => "sent",
            About::TooLate => "too-late",
        }
    }

    /// The answer that a state gives. `None` if no single state does, but the search alone.
    pub fn count_in(self, state: &State) -> Option<u32> {
        let count = match self {
            About::Tasks => state.committed.tasks.len(),
            About::Published => state.broker.deliveries().count(),
            About::Sent => state.sent.len(),
            About::TooLate => return None,
        };
        Some(count as u32)
    }
}

/// A lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lesson {
    /// Its name in links, for ever.
    pub id: &'static str,
    /// The designs on the left and on the right.
    pub designs: [Design; 2],
    /// What they are put to.
    pub scenario: Scenario,
    /// The bounds of the search.
    pub bounds: Bounds,
    /// The opening schedule.
    pub schedule: Schedule,
    /// What the schedule comes to on either side.
    pub ends: [Claim; 2],
    /// What the search of every schedule comes to on either side.
    pub searches: [Claim; 2],
    /// What it asks.
    pub asks: Asks,
    /// The answers to choose from, the right one among them.
    pub answers: Vec<u32>,
    words: Words,
}

impl Lesson {
    /// The chapter that it belongs to: that of the design which is taught last of the two.
    pub fn chapter(&self) -> Chapter {
        let [left, right] = self.designs.map(|design| design.chapter());
        left.max(right)
    }

    /// What the lesson says under `key` (`title`, `text`, `omits`, `asks`) in the language with this tag.
    pub fn words(&self, key: &'static str, language: &'static str) -> &'static str {
        self.words.get(key, language)
    }
}

/// The lessons that are built in, in the order in which they teach.
///
/// # Panics
/// If one of them cannot be read, which a test excludes.
pub fn built_in() -> &'static [Lesson] {
    static LESSONS: LazyLock<Vec<Lesson>> =
        LazyLock::new(|| lessons().expect("a test reads every lesson that is built in"));
    &LESSONS
}

/// The built-in lesson with this name.
pub fn named(id: &str) -> Option<&'static Lesson> {
    built_in().iter().find(|lesson| lesson.id == id)
}

/// All lessons, in the order in which they teach.
///
/// # Errors
/// [`Error::BadCourseFile`](crate::Error::BadCourseFile) if a file cannot be read, which a test excludes for those that are built in.
pub fn lessons() -> Result<Vec<Lesson>> {
    FILES.iter().map(|(id, text)| read(id, text)).collect()
}

/// Reads a lesson's file.
fn read(id: &'static str, text: &'static str) -> Result<Lesson> {
    let mut file = Fields::read(id, text)?;
    Ok(Lesson {
        id,
        designs: [file.parsed("left")?, file.parsed("right")?],
        scenario: file.scenario()?,
        bounds: file.bounds()?,
        schedule: file.parsed("schedule")?,
        ends: [
            claim(&mut file, "ends-left")?,
            claim(&mut file, "ends-right")?,
        ],
        searches: [
            claim(&mut file, "search-left")?,
            claim(&mut file, "search-right")?,
        ],
        asks: asks(&mut file)?,
        answers: file.list("answers", |answer| answer.parse().ok())?,
        words: file.into_words()?,
    })
}

fn claim(file: &mut Fields, key: &str) -> Result<Claim> {
    let text = file.required(key)?;
    if text == "fine" {
        return Ok(Claim::Fine);
    }
    let verdict = verdict_named(text).ok_or_else(|| file.bad(key, text))?;
    Ok(Claim::Breaks(verdict))
}

/// Reads a question: what it is about, and the side, as in `tasks-left`.
fn asks(file: &mut Fields) -> Result<Asks> {
    let text = file.required("asks")?;
    let about = |name| About::ALL.into_iter().find(|about| about.as_str() == name);
    let asks = |(name, side)| {
        let side = ["left", "right"].iter().position(|known| *known == side)?;
        let about = about(name)?;
        Some(Asks { about, side })
    };
    text.rsplit_once('-')
        .and_then(asks)
        .ok_or_else(|| file.bad("asks", text))
}
