//! The lessons of the course: each a file of data that a test replays and holds to what it claims.
//!
//! A file has lines `key = value`. It names two designs, a scenario, the bounds of the search and an
//! opening schedule; it claims what the schedule and the search come to on either side; it asks one
//! question whose answer the laboratory computes; and it has its words in each language.

use std::sync::LazyLock;

use crate::course::{Fields, Words, verdict_named};
use crate::design::Design;
use crate::error::Result;
use crate::property::Verdict;
use crate::scenario::{Bounds, Scenario};
use crate::schedule::Schedule;

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
    "mail-is-outside",
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
pub enum Asks {
    /// How many tasks are committed on this side (0 left, 1 right) at the end of the schedule.
    Tasks(usize),
    /// At which step every future of this side fails.
    TooLate(usize),
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
        asks: match file.required("asks")? {
            "tasks-left" => Asks::Tasks(0),
            "tasks-right" => Asks::Tasks(1),
            "too-late-left" => Asks::TooLate(0),
            "too-late-right" => Asks::TooLate(1),
            other => return Err(file.bad("asks", other)),
        },
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
