//! Every named design against every hazard: what breaks, in how many schedules, and the shortest.

use std::fmt::{self, Write as _};

use crate::design::{Design, PRESETS};
use crate::error::Result;
use crate::explore::{Count, Counterexample, Exploration};
use crate::scenario::{Bounds, CrashAt, Scenario, TaskRow, Ticket};

/// Something that happens to consumers.
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

/// The hazards, in the order in which they are taught.
pub const HAZARDS: [Hazard; 10] = [
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
        write!(f, "{design:26}{hazard:24}{failing:>6} of {schedules:>6}")?;
        for Counterexample { verdict, schedule } in &self.counterexamples {
            write!(f, "  {verdict} {schedule}")?;
        }
        match (self.counterexamples.is_empty(), self.occurs) {
            (false, _) => Ok(()),
            (true, true) => f.write_str("  holds"),
            (true, false) => f.write_str("  cannot-occur"),
        }
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
    })
}

/// Searches every cell, the designs in the order of the presets, and for each the hazards in theirs.
///
/// # Errors
/// As for [`cell`].
pub fn matrix() -> Result<Vec<Cell>> {
    let pairs = PRESETS
        .iter()
        .flat_map(|preset| HAZARDS.iter().map(move |hazard| (preset, hazard)));
    pairs
        .map(|(preset, hazard)| cell(preset.design, preset.name, hazard))
        .collect()
}

/// The matrix as text: a line for each cell.
pub fn as_text(cells: &[Cell]) -> String {
    cells.iter().fold(String::new(), |mut text, cell| {
        let _ = writeln!(text, "{cell}");
        text
    })
}

/// The matrix as a Markdown table: a row for each design, a column for each hazard.
pub fn as_markdown(cells: &[Cell]) -> String {
    let hazards = HAZARDS.map(|hazard| hazard.name.replace('-', " "));
    let mut text = format!("| design | {} |\n", hazards.join(" | "));
    text += &format!("|---|{}\n", "---|".repeat(HAZARDS.len()));
    for preset in PRESETS {
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
    let Some(found) = cell.counterexamples.first() else {
        return if cell.occurs { "✓" } else { "–" }.to_owned();
    };
    format!(
        "**{}** {}/{}",
        found.verdict.as_str().replace('-', " "),
        cell.failing,
        cell.schedules
    )
}
