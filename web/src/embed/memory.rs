//! What a frame that gives way leaves to the one that takes its place, beside the link to what it showed.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// How far the visitor is with the task of a frame. Its text goes through the host, who does not read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// How often the task was begun.
    pub attempts: u32,
    /// How long ago it was begun last, in ms.
    pub spent_ms: u32,
    /// Whether the host was told how it came out.
    pub is_told: bool,
    /// The visitor's answer, if the task is a question and he gave one.
    pub answer: Option<u32>,
}

impl Display for Memory {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let is_told = u32::from(self.is_told);
        write!(f, "{}.{}.{is_told}", self.attempts, self.spent_ms)?;
        self.answer.map_or(Ok(()), |answer| write!(f, ".{answer}"))
    }
}

/// A text that is no memory.
#[derive(Debug, PartialEq, Eq)]
pub struct Forgotten;

impl FromStr for Memory {
    type Err = Forgotten;

    fn from_str(text: &str) -> Result<Self, Forgotten> {
        let numbers: Result<Vec<u32>, _> = text.split('.').map(str::parse).collect();
        match numbers.map_err(|_| Forgotten)?[..] {
            [attempts, spent_ms, told @ (0 | 1), ref answer @ ..] if answer.len() < 2 => {
                Ok(Memory {
                    attempts,
                    spent_ms,
                    is_told: told == 1,
                    answer: answer.first().copied(),
                })
            }
            _ => Err(Forgotten),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_comes_back_from_its_text_and_rubbish_does_not() {
        for text in ["1.0.0", "3.41000.1.2"] {
            assert_eq!(text.parse::<Memory>().unwrap().to_string(), text);
        }
        for rubbish in [
            "",
            "1",
            "1.2",
            "1.2.3",
            "1.2.1.4.5",
            "a.2.1",
            "1.-2.1",
            "1.99999999999.1",
        ] {
            assert_eq!(rubbish.parse::<Memory>(), Err(Forgotten), "{rubbish}");
        }
    }
}
