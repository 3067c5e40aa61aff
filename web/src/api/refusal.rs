//! Why a request of a program was refused: a code that stays, where, and a sentence.

use deliver_twice_core::Error;

use super::answers::{Code, Position, Refusal};

/// Declares the kinds of mistakes, with their codes.
macro_rules! whys {
    ($($(#[$doc:meta])+ $why:ident = $code:literal,)+) => {
        /// What kind of mistake a request is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Why { $($(#[$doc])+ $why,)+ }

        impl Why {
            /// All of them.
            #[cfg(test)]
            pub const ALL: [Why; [$($code),+].len()] = [$(Why::$why),+];

            /// The code, which stays.
            pub fn as_str(self) -> &'static str {
                match self { $(Why::$why => $code),+ }
            }
        }
    };
}

whys! {
    /// Not what was expected at all: a number for a text, say.
    BadArgument = "bad-argument",
    /// A field that nobody asked for.
    UnknownField = "unknown-field",
    /// A field is missing.
    MissingField = "missing-field",
    /// Fields that do not go together.
    ConflictingFields = "conflicting-fields",
    /// A name of nothing that there is.
    UnknownName = "unknown-name",
    /// A number beyond what is possible.
    OutOfRange = "out-of-range",
    /// A design's text that cannot be read.
    BadDesign = "bad-design",
    /// Choices of a design that do not go together.
    NonsenseDesign = "nonsense-design",
    /// A schedule's text that cannot be read.
    BadSchedule = "bad-schedule",
    /// A step that may not be taken now.
    NotEnabled = "not-enabled",
    /// More of it than is read, or than a run may have.
    TooLong = "too-long",
    /// More laboratories or searches at once than there may be.
    TooManyOpen = "too-many-open",
    /// SQLite refused what no design is meant to fail at.
    Database = "database",
}

/// The result of a request.
pub type Answered<T> = Result<T, Refusal>;

impl Refusal {
    /// A refusal of an argument as a whole. `argument` is its name, or the path of the field in it.
    pub fn new(why: Why, argument: &str, message: String) -> Self {
        Refusal {
            code: Code(why.as_str()),
            position: Position {
                argument: argument.to_owned(),
                character: None,
                step: None,
            },
            message: format!("{argument}: {message}"),
        }
    }

    /// A refusal by the core, of an argument.
    pub fn of(error: &Error, argument: &str) -> Self {
        let (why, character, step) = match error {
            Error::UnknownPreset { .. } => (Why::UnknownName, None, None),
            Error::UnknownChoice { at_char, .. } => (Why::BadDesign, Some(*at_char), None),
            Error::NonsenseDesign { .. } => (Why::NonsenseDesign, None, None),
            Error::OutOfRange { .. } => (Why::OutOfRange, None, None),
            Error::BadSchedule { at_char, .. } => (Why::BadSchedule, Some(*at_char), None),
            Error::NotEnabled { number, .. } => (Why::NotEnabled, None, Some(*number)),
            _ => (Why::Database, None, None),
        };
        let mut refusal = Refusal::new(why, argument, error.to_string());
        refusal.position.character = character.map(|at| at as u32);
        refusal.position.step = step.map(|number| number as u32);
        refusal
    }
}
