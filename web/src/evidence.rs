//! What PostgreSQL made of the same schedules: recorded on a real server, and kept as a file that tests
//! hold to the records.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use deliver_twice_core::property::Verdict;

use crate::session::Side;

const FILE: &str = include_str!("../evidence.txt");

/// What was recorded.
#[derive(Debug, Default)]
pub struct Evidence {
    /// The engine and its version.
    pub engine: String,
    /// The day of the recording, such as `2026-12-02`.
    pub date: &'static str,
    lessons: BTreeMap<&'static str, Outcome>,
    cells: BTreeMap<&'static str, Runs>,
}

/// What became of one side of a lesson.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    /// What was violated where the lesson's schedule ends, the most urgent first.
    pub ends: Vec<Verdict>,
    /// What was violated once nothing was left to do.
    pub settles: Vec<Verdict>,
    /// The same at REPEATABLE READ and at SERIALIZABLE.
    pub stricter: [Vec<Verdict>; 2],
    /// Where the engine did otherwise than SQLite, in the order of the steps.
    pub differs: Vec<Difference>,
}

/// Something that the engine did otherwise than SQLite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What.
    pub how: How,
    /// At which step, counted from 1.
    pub step: u32,
}

/// What an engine did otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Both wait, for different things.
    BothWait,
    /// SQLite waits and it goes on.
    GoesOn,
    /// It waits and SQLite goes on.
    Waits,
    /// It answers something else.
    Answers,
}

/// The schedules that were run for a cell of the matrix.
#[derive(Debug, PartialEq)]
pub struct Runs {
    /// What was violated in any of them, the most urgent first.
    pub violated: Vec<Verdict>,
    /// How many of them something was violated in.
    pub broken: u32,
    /// How many there were.
    pub all: u32,
}

impl Evidence {
    /// What was recorded, read once.
    pub fn recorded() -> &'static Evidence {
        static EVIDENCE: LazyLock<Evidence> = LazyLock::new(|| Evidence::read(FILE));
        &EVIDENCE
    }

    /// What became of a side of a lesson.
    pub fn of_lesson(&self, lesson: &str, side: Side) -> Option<&Outcome> {
        let side = ["left", "right"][side as usize];
        self.lessons.get(format!("{lesson}.{side}").as_str())
    }

    /// What became of a cell.
    pub fn of_cell(&self, design: &str, hazard: &str) -> Option<&Runs> {
        self.cells.get(format!("{design}.{hazard}").as_str())
    }

    /// Reads a file. A line that is not understood is left out; a test sees to it that there is none.
    fn read(text: &'static str) -> Self {
        let mut evidence = Evidence::default();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        for (key, value) in lines.filter_map(|line| line.split_once(" = ")) {
            let parts: Vec<&str> = value.split(" | ").collect();
            match (key, &parts[..]) {
                ("engine", _) => evidence.engine = value.to_owned(),
                ("version", _) => evidence.engine = format!("{} {value}", evidence.engine),
                ("date", _) => evidence.date = value,
                (_, [ends, settles, repeatable, serializable, differs]) => {
                    let outcome = Outcome {
                        ends: verdicts(ends),
                        settles: verdicts(settles),
                        stricter: [verdicts(repeatable), verdicts(serializable)],
                        differs: differences(differs),
                    };
                    evidence.lessons.insert(key, outcome);
                }
                (_, [violated, broken, all]) => {
                    if let (Ok(broken), Ok(all)) = (broken.parse(), all.parse()) {
                        let violated = verdicts(violated);
                        let runs = Runs {
                            violated,
                            broken,
                            all,
                        };
                        evidence.cells.insert(key, runs);
                    }
                }
                _ => {}
            }
        }
        evidence
    }
}

fn verdicts(text: &str) -> Vec<Verdict> {
    let named = |name| {
        Verdict::ALL
            .into_iter()
            .find(|verdict| verdict.as_str() == name)
    };
    text.split(' ').filter_map(named).collect()
}

fn differences(text: &str) -> Vec<Difference> {
    let words: Vec<&str> = text.split(' ').collect();
    let read = |pair: &[&str]| {
        let how = match pair[0] {
            "both-wait" => How::BothWait,
            "goes-on" => How::GoesOn,
            "waits" => How::Waits,
            "answers" => How::Answers,
            _ => return None,
        };
        Some(Difference {
            how,
            step: pair[1].parse().ok()?,
        })
    };
    words.chunks_exact(2).filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::matrix;
    use deliver_twice_core::lesson;

    #[test]
    fn every_lesson_and_every_cell_was_recorded_and_every_line_is_read() {
        let evidence = Evidence::recorded();
        assert!(
            evidence.engine.starts_with("PostgreSQL 1"),
            "{}",
            evidence.engine
        );
        assert_eq!(evidence.date.len(), "2026-12-02".len());
        for lesson in lesson::built_in() {
            for side in Side::BOTH {
                assert!(
                    evidence.of_lesson(lesson.id, side).is_some(),
                    "{}",
                    lesson.id
                );
            }
        }
        for cell in matrix::cells() {
            let runs = evidence
                .of_cell(cell.design, cell.hazard)
                .expect(cell.hazard);
            assert_eq!(
                runs.violated.is_empty(),
                runs.broken == 0,
                "{} {}",
                cell.design,
                cell.hazard
            );
            assert!(runs.broken <= runs.all && runs.all > 0);
        }
        let lines = FILE.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(lines, 3 + evidence.lessons.len() + evidence.cells.len());
    }

    #[test]
    fn a_line_is_read_as_it_is_meant() {
        let text = "busy.left = fine | duplicate-effect | duplicate-effect | fine | both-wait 6 goes-on 8\n\
                    a.race = lost-effect false-success | 3 | 15\n";
        let evidence = Evidence::read(text);
        let outcome = evidence.of_lesson("busy", Side::Left).unwrap();
        assert_eq!(outcome.ends, []);
        assert_eq!(outcome.settles, [Verdict::DuplicateEffect]);
        assert_eq!(outcome.stricter, [vec![Verdict::DuplicateEffect], vec![]]);
        let how = |how, step| Difference { how, step };
        assert_eq!(
            outcome.differs,
            [how(How::BothWait, 6), how(How::GoesOn, 8)]
        );
        let runs = evidence.of_cell("a", "race").unwrap();
        assert_eq!((runs.broken, runs.all), (3, 15));
        assert_eq!(runs.violated, [Verdict::LostEffect, Verdict::FalseSuccess]);
    }
}
