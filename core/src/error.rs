//! What can go wrong that is neither an outcome of the laboratory nor a bug in it.

use std::fmt;

use crate::database::Failure;
use crate::design::{Nonsense, PRESETS};
use crate::schedule::Expected;

/// A request that could not be carried out, with where and why. As data, places are counted from 0; in
/// the text for people, characters are counted from 1.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The database refused something that no design is meant to fail at, such as reading the tables.
    Database {
        /// What was being done.
        during: &'static str,
        /// The database's own error.
        source: Failure,
    },
    /// No preset has this name, and it is not a list of six choices either.
    UnknownPreset {
        /// What was found.
        found: String,
    },
    /// A word of a design is no choice on its axis.
    UnknownChoice {
        /// The axis that was expected here.
        axis: &'static str,
        /// What was found.
        found: String,
        /// Where, counted in characters from 0.
        at_char: usize,
        /// What would have been understood.
        choices: Vec<&'static str>,
    },
    /// The choices are known and do not go together.
    NonsenseDesign {
        /// The design's text.
        text: String,
        /// Why.
        nonsense: Nonsense,
    },
    /// A number of a scenario is out of its range.
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// What was found.
        found: u32,
        /// The least allowed.
        min: u32,
        /// The most allowed.
        max: u32,
    },
    /// A schedule's text could not be read.
    BadSchedule {
        /// Where, counted in characters from 0.
        at_char: usize,
        /// What was found; empty at the end of the text.
        found: String,
        /// What would have been understood.
        expected: Expected,
    },
    /// A file of the course, a lesson or an exercise, could not be read.
    BadCourseFile {
        /// Its name.
        id: &'static str,
        /// The key at fault.
        key: String,
        /// Why.
        why: String,
    },
    /// A schedule names a step that is not enabled at that point.
    NotEnabled {
        /// Which step of the schedule, counted from 1.
        number: usize,
        /// What was wanted.
        wanted: String,
        /// What was enabled.
        enabled: Vec<String>,
    },
}

/// The result of a request to the laboratory.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Says what was being done when the database refused.
    pub(crate) fn during<F: Into<Failure>>(during: &'static str) -> impl FnOnce(F) -> Error {
        move |failure| Error::Database {
            during,
            source: failure.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Database { during, source } => write!(f, "{during}: {source}"),
            Error::UnknownPreset { found } => {
                let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
                write!(
                    f,
                    "design `{found}` is unknown; expected one of {}, or six choices joined by dots",
                    names.join(", ")
                )
            }
            Error::UnknownChoice {
                axis: "end",
                found,
                at_char,
                ..
            } => {
                write!(
                    f,
                    "`{found}` at character {} is too much: a design has six choices",
                    at_char + 1
                )
            }
            Error::UnknownChoice {
                axis,
                found,
                at_char,
                choices,
            } => write!(
                f,
                "{axis} `{found}` at character {} is unknown; expected one of {}",
                at_char + 1,
                choices.join(", ")
            ),
            Error::NonsenseDesign { text, nonsense } => {
                write!(f, "design `{text}` makes no sense: {}", nonsense.reason())
            }
            Error::OutOfRange {
                what,
                found,
                min,
                max,
            } => {
                write!(f, "{what} is {found}; expected {min} to {max}")
            }
            Error::BadSchedule {
                at_char,
                found,
                expected,
            } if found.is_empty() => {
                write!(
                    f,
                    "schedule ends at character {}; expected {expected}",
                    at_char + 1
                )
            }
            Error::BadSchedule {
                at_char,
                found,
                expected,
            } => {
                write!(
                    f,
                    "schedule has `{found}` at character {}; expected {expected}",
                    at_char + 1
                )
            }
            Error::BadCourseFile { id, key, why } => write!(f, "{id}: {key}: {why}"),
            Error::NotEnabled {
                number,
                wanted,
                enabled,
            } if enabled.is_empty() => {
                write!(f, "step {number}: wanted `{wanted}`, nothing is enabled")
            }
            Error::NotEnabled {
                number,
                wanted,
                enabled,
            } => {
                write!(
                    f,
                    "step {number}: wanted `{wanted}`, enabled: `{}`",
                    enabled.join("`, `")
                )
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Database { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}
