//! Every named design against every hazard of its chapter: what breaks, in how many schedules, and the
//! shortest.

use std::fmt::{self, Write as _};

use crate::design::{Chapter, Design};
use crate::error::Result;
use crate::explore::{Count, Counterexample, Exploration};
use crate::scenario::{Bounds, CrashAt, Provider, Scenario, TaskRow, Ticket};

/// Something that happens to a design.
#[derive(Clone, Copy, Debug)]
pub struct Hazard {
    /// Its name. Names are identities: golden files and links carry them.
    pub name: &'static str,
    /// What it looks like from outside.
    pub scenario: Scenario,
    /// Which faults it brings.
    pub bounds: Bounds,
}

/// One event, delivered once to one worker.
const ONE: Scenario = Scenario {
    deliveries: 1,
    workers: 1,
    effects: 1,
    versions: 1,
    ticket: Ticket::Present,
    task: TaskRow::Sound,
    ..Scenario::USUAL
};

const ONE_CRASH: Bounds = Bounds {
    crashes: 1,
    ..Bounds::NONE
};

impl Chapter {
    /// The hazards that its designs are put to, in the order in which they are taught.
    pub fn hazards(self) -> &'static [Hazard] {
        match self {
            Chapter::Consumer => &CONSUMER,
            Chapter::Producer => &PRODUCER,
            Chapter::Outside => &OUTSIDE,
        }
    }

    /// The name of the design that its hazards leave alone; but for [`KEYS_IGNORED`], under which the
    /// outside keeps no promise that its best design could build on.
    pub fn best(self) -> &'static str {
        match self {
            Chapter::Consumer => "constraint-arbitration",
            Chapter::Producer => "outbox",
            Chapter::Outside => "pending-row-with-key",
        }
    }
}

/// Every hazard, chapter by chapter.
pub fn hazards() -> impl Iterator<Item = &'static Hazard> {
    Chapter::ALL.into_iter().flat_map(Chapter::hazards)
}

/// The hazard with this name.
pub fn hazard_named(name: &str) -> Option<&'static Hazard> {
    hazards().find(|hazard| hazard.name == name)
}

/// The hazard under which the provider does not look at idempotency keys.
pub const KEYS_IGNORED: &str = "keys-ignored";

/// What happens to consumers.
const CONSUMER: [Hazard; 10] = [
    Hazard {
        name: "race",
        scenario: Scenario {
            deliveries: 2,
            workers: 2,
            ..ONE
        },
        bounds: Bounds::NONE,
    },
    Hazard {
        name: "crash-after-commit",
        scenario: ONE,
        bounds: Bounds {
            crash_at: CrashAt::BeforeAck,
            ..ONE_CRASH
        },
    },
    Hazard {
        name: "crash-between-commits",
        scenario: ONE,
        bounds: Bounds {
            crash_at: CrashAt::BetweenCommits,
            ..ONE_CRASH
        },
    },
    Hazard {
        name: "lost-commit-reply",
        scenario: ONE,
        bounds: Bounds {
            lost_replies: 1,
            ..Bounds::NONE
        },
    },
    Hazard {
        name: "missing-ticket",
        scenario: Scenario {
            ticket: Ticket::Missing,
            ..ONE
        },
        bounds: Bounds::NONE,
    },
    Hazard {
        name: "three-effects",
        scenario: Scenario { effects: 3, ..ONE },
        bounds: Bounds::NONE,
    },
    Hazard {
        name: "second-version",
        scenario: Scenario { versions: 2, ..ONE },
        bounds: Bounds::NONE,
    },
    Hazard {
        name: "wrong-flag",
        scenario: ONE,
        bounds: Bounds {
            published_again: 1,
            ..ONE_CRASH
        },
    },
    Hazard {
        name: "other-constraint",
        scenario: Scenario {
            task: TaskRow::SecondEscalation,
            ..ONE
        },
        bounds: Bounds::NONE,
    },
    Hazard {
        name: "crash-at-work",
        scenario: ONE,
        bounds: ONE_CRASH,
    },
];

/// One ticket and one relay. Nobody consumes: the event is to come into the queue.
const TICKET: Scenario = Scenario { workers: 0, ..ONE };

/// What happens between the producer's transaction and the broker.
const PRODUCER: [Hazard; 7] = [
    Hazard {
        name: "publisher-crash",
        scenario: TICKET,
        bounds: ONE_CRASH,
    },
    Hazard {
        name: "nacked",
        scenario: TICKET,
        bounds: Bounds {
            nacks: 1,
            ..Bounds::NONE
        },
    },
    Hazard {
        name: "returned",
        scenario: TICKET,
        bounds: Bounds {
            returns: 1,
            ..Bounds::NONE
        },
    },
    Hazard {
        name: "lost-confirm",
        scenario: TICKET,
        bounds: Bounds {
            lost_confirms: 1,
            ..Bounds::NONE
        },
    },
    Hazard {
        name: "lost-ticket-reply",
        scenario: TICKET,
        bounds: Bounds {
            lost_replies: 1,
            ..Bounds::NONE
        },
    },
    Hazard {
        name: "slow-relay",
        scenario: Scenario {
            relays: 2,
            ..TICKET
        },
        bounds: Bounds {
            overruns: 1,
            nacks: 1,
            ..Bounds::NONE
        },
    },
    Hazard {
        name: "crash-on-the-whole-way",
        scenario: ONE,
        bounds: ONE_CRASH,
    },
];

/// What happens between the database and the provider outside.
const OUTSIDE: [Hazard; 6] = [
    Hazard {
        name: "caller-crash",
        scenario: ONE,
        bounds: ONE_CRASH,
    },
    Hazard {
        name: "lost-answer",
        scenario: ONE,
        bounds: Bounds {
            lost_answers: 1,
            ..Bounds::NONE
        },
    },
    Hazard {
        name: "lost-task-reply",
        scenario: ONE,
        bounds: Bounds {
            lost_replies: 1,
            ..Bounds::NONE
        },
    },
    Hazard {
        name: "two-senders",
        scenario: Scenario { senders: 2, ..ONE },
        bounds: Bounds::NONE,
    },
    Hazard {
        name: "busy-sender",
        scenario: Scenario {
            deliveries: 2,
            ..ONE
        },
        bounds: Bounds {
            given_up: 1,
            ..Bounds::NONE
        },
    },
    Hazard {
        name: KEYS_IGNORED,
        scenario: Scenario {
            provider: Provider::IgnoresKeys,
            ..ONE
        },
        bounds: ONE_CRASH,
    },
];

/// What a hazard does to a design.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The preset's name.
    pub design: &'static str,
    /// The hazard's name.
    pub hazard: &'static str,
    /// Whether the hazard can befall this design at all: a design that commits once cannot crash between
    /// two commits.
    pub occurs: bool,
    /// Complete schedules.
    pub schedules: Count,
    /// Those that end with something violated.
    pub failing: Count,
    /// For every verdict that stands in some state, the most urgent first, the shortest schedule to it.
    pub counterexamples: Vec<Counterexample>,
    /// The same for what happens and is allowed.
    pub allowed: Vec<Counterexample>,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell {
            design,
            hazard,
            schedules,
            failing,
            ..
        } = self;
        write!(f, "{design:25} {hazard:23} {failing:>6} of {schedules:>6}")?;
        for Counterexample { verdict, schedule } in &self.counterexamples {
            write!(f, "  {verdict} {schedule}")?;
        }
        match (self.counterexamples.is_empty(), self.occurs) {
            (false, _) => {}
            (true, true) => f.write_str("  holds")?,
            (true, false) => f.write_str("  cannot-occur")?,
        }
        for Counterexample { verdict, schedule } in &self.allowed {
            write!(f, "  allowed {verdict} {schedule}")?;
        }
        Ok(())
    }
}

/// Searches one cell.
///
/// # Errors
/// If SQLite refuses what no design is meant to fail at.
pub fn cell(design: Design, name: &'static str, hazard: &Hazard) -> Result<Cell> {
    let states_max = Exploration::STATES_MAX;
    let mut exploration = Exploration::new(design, hazard.scenario, hazard.bounds, states_max)?;
    exploration.run()?;
    let report = exploration.report();
    Ok(Cell {
        design: name,
        hazard: hazard.name,
        occurs: hazard.bounds == Bounds::NONE || exploration.meets_a_fault(),
        schedules: report.schedules,
        failing: report.failing,
        counterexamples: report.counterexamples,
        allowed: report.allowed,
    })
}

/// Searches every cell of a chapter, the designs in the order of its presets, and for each the hazards in
/// theirs.
///
/// # Errors
/// As for [`cell`].
pub fn matrix_of(chapter: Chapter) -> Result<Vec<Cell>> {
    let pairs = chapter.presets().iter().flat_map(|preset| {
        let hazards = chapter.hazards().iter();
        hazards.map(move |hazard| (preset, hazard))
    });
    pairs
        .map(|(preset, hazard)| cell(preset.design, preset.name, hazard))
        .collect()
}

/// Searches every cell, chapter by chapter.
///
/// # Errors
/// As for [`cell`].
pub fn matrix() -> Result<Vec<Cell>> {
    let chapters = Chapter::ALL.into_iter().map(matrix_of);
    chapters.collect::<Result<Vec<_>>>().map(|all| all.concat())
}

/// The matrix as text: a line for each cell.
pub fn as_text(cells: &[Cell]) -> String {
    cells.iter().fold(String::new(), |mut text, cell| {
        let _ = writeln!(text, "{cell}");
        text
    })
}

/// A chapter of the matrix as a Markdown table: a row for each design, a column for each hazard.
pub fn as_markdown(chapter: Chapter, cells: &[Cell]) -> String {
    let hazards = chapter.hazards().iter();
    let names: Vec<String> = hazards
        .map(|hazard| hazard.name.replace('-', " "))
        .collect();
    let mut text = format!("| design | {} |\n", names.join(" | "));
    text += &format!("|---|{}\n", "---|".repeat(names.len()));
    for preset in chapter.presets() {
        let row: Vec<String> = cells
            .iter()
            .filter(|cell| cell.design == preset.name)
            .map(in_words)
            .collect();
        text += &format!("| `{}` | {} |\n", preset.name, row.join(" | "));
    }
    text
}

fn in_words(cell: &Cell) -> String {
    let mut words = match cell.counterexamples.first() {
        Some(found) => format!(
            "**{}** {}/{}",
            found.verdict.as_str().replace('-', " "),
            cell.failing,
            cell.schedules
        ),
        None => if cell.occurs { "✓" } else { "–" }.to_owned(),
    };
    for noted in &cell.allowed {
        words += &format!(" ({})", noted.verdict.as_str().replace('-', " "));
    }
    words
}
