//! The exercises of the course: each a file of data that a test searches and holds to what it promises.
//!
//! A puzzle makes the visitor the scheduler: bring a design to a verdict in as few steps as can be. A
//! repair makes him its author: change the design until no schedule fails. The fewest steps, the schedules
//! that fail, and whether a design holds are what the search finds, and stand in no file.

use std::sync::LazyLock;

use crate::axis::{self, Axis};
use crate::course::{Fields, Words};
use crate::design::{Design, Outside};
use crate::error::Result;
use crate::property::Verdict;
use crate::scenario::{Bounds, Scenario};
use crate::schedule::Schedule;

/// Names the files, the easy ones before the hard ones.
macro_rules! exercises {
    ($($id:literal),+ $(,)?) => {
        const FILES: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../exercises/", $id, ".txt")))),+];
    };
}

exercises![
    "done-before-begun",
    "flag-after-crash",
    "two-look-at-once",
    "one-receipt-for-two",
    "receipt-alone",
    "same-ticket-again",
    "effect-alone",
    "two-wait-in-circle",
    "between-two-systems",
    "no-ticket-behind-it",
    "published-it-says",
    "sent-and-sent-again",
    "late-to-its-own-row",
    "ack-too-early",
    "key-too-wide",
    "not-a-duplicate",
    "half-committed",
    "nobody-moves",
    "lost-race",
    "all-wrong-at-once",
    "event-that-never-came",
    "mail-that-came-twice",
    "from-end-to-end",
];

/// What an exercise asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A puzzle: a schedule on which the design comes to this verdict.
    Break(Verdict),
    /// A repair: a design that holds.
    Repair {
        /// The axes on which the design may be changed, in order.
        axes: Vec<Axis>,
        /// One of the designs that hold, for those who give up.
        repaired: Design,
        /// A schedule on which it fails as it is.
        schedule: Schedule,
    },
}

/// An exercise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exercise {
    /// Its name in links, for ever.
    pub id: &'static str,
    /// The design that fails.
    pub design: Design,
    /// What it is put to.
    pub scenario: Scenario,
    /// Which faults may happen, in the search and by hand.
    pub bounds: Bounds,
    /// What is asked for.
    pub goal: Goal,
    words: Words,
}

impl Exercise {
    /// What the exercise says under `key` (`title`, `text`) in the language with this tag.
    pub fn words(&self, key: &'static str, language: &'static str) -> &'static str {
        self.words.get(key, language)
    }

    /// Whether it is a puzzle.
    pub fn is_puzzle(&self) -> bool {
        matches!(self.goal, Goal::Break(_))
    }

    /// Whether the design may be changed on this axis.
    pub fn may_change(&self, axis: Axis) -> bool {
        match &self.goal {
            Goal::Break(_) => false,
            Goal::Repair { axes, .. } => axes.contains(&axis),
        }
    }

    /// Whether a design differs from the one that fails on such axes only, and does as much: who leaves the
    /// producer or the message out has repaired nothing.
    pub fn may_become(&self, design: &Design) -> bool {
        let does = |design: &Design| (design.has_producer(), design.outside != Outside::None);
        axis::between(&self.design, design).all(|axis| self.may_change(axis))
            && does(design) == does(&self.design)
    }

    /// The designs that the one that fails may be changed to, itself among them, in the order of the axes.
    pub fn reachable(&self) -> impl Iterator<Item = Design> {
        let axes: &[Axis] = match &self.goal {
            Goal::Break(_) => &[],
            Goal::Repair { axes, .. } => axes,
        };
        axis::reachable(self.design, axes).filter(|design| self.may_become(design))
    }
}

/// The exercises that are built in: the puzzles and then the repairs, of each the easy ones first.
///
/// # Panics
/// If one of them cannot be read, which a test excludes.
pub fn built_in() -> &'static [Exercise] {
    static EXERCISES: LazyLock<Vec<Exercise>> =
        LazyLock::new(|| exercises().expect("a test reads every exercise that is built in"));
    &EXERCISES
}

/// The built-in exercise with this name.
pub fn named(id: &str) -> Option<&'static Exercise> {
    built_in().iter().find(|exercise| exercise.id == id)
}

/// All exercises, in the order of [`built_in`].
///
/// # Errors
/// [`Error::BadCourseFile`](crate::Error::BadCourseFile) if a file cannot be read, which a test excludes
/// for those that are built in.
pub fn exercises() -> Result<Vec<Exercise>> {
    FILES.iter().map(|(id, text)| read(id, text)).collect()
}

/// Reads an exercise's file.
fn read(id: &'static str, text: &'static str) -> Result<Exercise> {
    let mut file = Fields::read(id, text)?;
    Ok(Exercise {
        id,
        design: file.parsed("design")?,
        scenario: file.scenario()?,
        bounds: file.bounds()?,
        goal: match file.required("exercise")? {
            "puzzle" => Goal::Break(file.verdict("verdict")?),
            "repair" => Goal::Repair {
                axes: file.list("axes", Axis::named)?,
                repaired: file.parsed("repaired")?,
                schedule: file.parsed("schedule")?,
            },
            other => return Err(file.bad("exercise", other)),
        },
        words: file.into_words()?,
    })
}
