//! The lessons of the course: each a file of data that a test replays and holds to what it claims.
//!
//! A file has lines `key = value`. It names two designs, a scenario, the bounds of the search and an
//! opening schedule; it claims what the schedule and the search come to on either side; it asks one
//! question whose answer the laboratory computes; and it has its words in each language.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::design::Design;
use crate::error::{Error, Result};
use crate::property::Verdict;
use crate::scenario::{Bounds, Scenario, TaskRow, Ticket};
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
    words: BTreeMap<(&'static str, &'static str), &'static str>,
}

impl Lesson {
    /// What the lesson says under `key` (`title`, `text`, `omits`, `asks`) in the language with this tag.
    pub fn words(&self, key: &'static str, language: &'static str) -> &'static str {
        self.words.get(&(key, language)).copied().unwrap_or("")
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
/// [`Error::BadLesson`] if a file cannot be read, which a test excludes for those that are built in.
pub fn lessons() -> Result<Vec<Lesson>> {
    FILES.iter().map(|(id, text)| read(id, text)).collect()
}

/// Reads a lesson's file.
fn read(id: &'static str, text: &'static str) -> Result<Lesson> {
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut fields: BTreeMap<&str, &'static str> = BTreeMap::new();
    let mut words = BTreeMap::new();
    for line in lines {
        let bad = || Error::BadLesson {
            id,
            key: line.to_owned(),
            why: "no ` = ` in it".to_owned(),
        };
        let (key, value) = line.split_once(" = ").ok_or_else(bad)?;
        match key.split_once('.') {
            Some((key, language)) => words.insert((key, language), value.trim()),
            None => fields.insert(key, value.trim()),
        };
    }
    Fields { id, fields }.lesson(words)
}

/// The fields of a file that are no words.
struct Fields {
    id: &'static str,
    fields: BTreeMap<&'static str, &'static str>,
}

impl Fields {
    fn lesson(
        mut self,
        words: BTreeMap<(&'static str, &'static str), &'static str>,
    ) -> Result<Lesson> {
        let usual = Scenario::default();
        let none = Bounds::NONE;
        let lesson = Lesson {
            id: self.id,
            designs: [self.parsed("left")?, self.parsed("right")?],
            scenario: Scenario {
                deliveries: self.number("deliveries", usual.deliveries)?,
                workers: self.number("workers", usual.workers)?,
                effects: self.number("effects", usual.effects)?,
                versions: self.number("versions", usual.versions)?,
                ticket: match self.fields.remove("ticket") {
                    Some("missing") => Ticket::Missing,
                    Some("present") | None => Ticket::Present,
                    Some(other) => return Err(self.bad("ticket", other)),
                },
                task: match self.fields.remove("task") {
                    None => TaskRow::Sound,
                    Some(name) => TaskRow::named(name).ok_or_else(|| self.bad("task", name))?,
                },
            }
            .checked()?,
            bounds: Bounds {
                crashes: self.number("crashes", none.crashes)?,
                lost_acks: self.number("lost-acks", none.lost_acks)?,
                lost_replies: self.number("lost-replies", none.lost_replies)?,
                published_again: self.number("published-again", none.published_again)?,
                given_up: self.number("given-up", none.given_up)?,
                ..none
            },
            schedule: self.parsed("schedule")?,
            ends: [self.claim("ends-left")?, self.claim("ends-right")?],
            searches: [self.claim("search-left")?, self.claim("search-right")?],
            asks: match self.required("asks")? {
                "tasks-left" => Asks::Tasks(0),
                "tasks-right" => Asks::Tasks(1),
                "too-late-left" => Asks::TooLate(0),
                "too-late-right" => Asks::TooLate(1),
                other => return Err(self.bad("asks", other)),
            },
            answers: self.answers()?,
            words,
        };
        match self.fields.pop_first() {
            None => Ok(lesson),
            Some((key, value)) => Err(self.bad(key, value)),
        }
    }

    fn required(&mut self, key: &str) -> Result<&'static str> {
        self.fields.remove(key).ok_or_else(|| self.bad(key, ""))
    }

    fn parsed<T: std::str::FromStr<Err = Error>>(&mut self, key: &str) -> Result<T> {
        self.required(key)?.parse()
    }

    fn number(&mut self, key: &str, usual: u8) -> Result<u8> {
        match self.fields.remove(key) {
            None => Ok(usual),
            Some(text) => text.parse().map_err(|_| self.bad(key, text)),
        }
    }

    fn claim(&mut self, key: &str) -> Result<Claim> {
        let text = self.required(key)?;
        if text == "fine" {
            return Ok(Claim::Fine);
        }
        let verdict = Verdict::ALL
            .into_iter()
            .find(|verdict| verdict.as_str() == text);
        verdict
            .map(Claim::Breaks)
            .ok_or_else(|| self.bad(key, text))
    }

    fn answers(&mut self) -> Result<Vec<u32>> {
        let text = self.required("answers")?;
        let numbers = text
            .split(", ")
            .map(|answer| answer.parse().map_err(|_| self.bad("answers", text)));
        numbers.collect()
    }

    fn bad(&self, key: &str, found: &str) -> Error {
        let why = if found.is_empty() {
            "it is missing".to_owned()
        } else {
            format!("`{found}` is not understood")
        };
        Error::BadLesson {
            id: self.id,
            key: key.to_owned(),
            why,
        }
    }
}
