//! What the page and the worker say to each other: plain values, with every id as text of the core.

use serde::{Deserialize, Serialize};

use deliver_twice_core::axis::Axis;
use deliver_twice_core::scenario::{Bounds, CrashAt, Provider, Scenario, TaskRow, Ticket};

/// How many searches there may be at once: one for each side, and one for each axis on which a repair's
/// change is taken back.
pub const SLOTS: usize = 2 + Axis::COUNT;

/// The slot of the search in which a repair's change on this axis is taken back.
pub fn slot_of(axis: Axis) -> usize {
    2 + axis as usize
}

/// What the page asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Question {
    /// Search a design, instead of what was searched in this slot before.
    Search {
        /// 0 for the left side, 1 for the right; for the others see [`slot_of`].
        slot: usize,
        /// Comes back with every answer, so that one to an older question is known as such.
        number: u32,
        /// The design's text.
        design: String,
        /// The scenario.
        scenario: ScenarioText,
        /// Which faults may happen.
        bounds: BoundsText,
    },
    /// For each prefix of a schedule, what share of its futures ends badly.
    Shares {
        /// 0 for the left side, 1 for the right.
        slot: usize,
        /// The number of the search that is asked.
        number: u32,
        /// The schedule's text.
        schedule: String,
    },
}

/// A scenario as plain values: its numbers in the order of [`Scenario::NUMBERS`], its choices by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenarioText {
    numbers: [u8; Scenario::NUMBERS.len()],
    ticket: String,
    task: String,
    provider: String,
}

/// Bounds as plain values, in the same way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundsText {
    numbers: [u8; Bounds::NUMBERS.len()],
    crash_at: String,
}

impl From<Scenario> for ScenarioText {
    fn from(scenario: Scenario) -> Self {
        ScenarioText {
            numbers: Scenario::NUMBERS.map(|number| number.of(scenario)),
            ticket: scenario.ticket.as_str().to_owned(),
            task: scenario.task.as_str().to_owned(),
            provider: scenario.provider.as_str().to_owned(),
        }
    }
}

impl ScenarioText {
    /// The scenario; what is unknown has its usual value.
    pub fn scenario(&self) -> Scenario {
        let usual = Scenario::default();
        let numbers = Scenario::NUMBERS.iter().zip(self.numbers);
        let scenario = numbers.fold(usual, |whole, (number, value)| number.set(whole, value));
        Scenario {
            ticket: Ticket::named(&self.ticket).unwrap_or(usual.ticket),
            task: TaskRow::named(&self.task).unwrap_or(usual.task),
            provider: Provider::named(&self.provider).unwrap_or(usual.provider),
            ..scenario
        }
    }
}

impl From<Bounds> for BoundsText {
    fn from(bounds: Bounds) -> Self {
        BoundsText {
            numbers: Bounds::NUMBERS.map(|number| number.of(bounds)),
            crash_at: bounds.crash_at.as_str().to_owned(),
        }
    }
}

impl BoundsText {
    /// The bounds; an unknown moment is any.
    pub fn bounds(&self) -> Bounds {
        let numbers = Bounds::NUMBERS.iter().zip(self.numbers);
        let bounds = numbers.fold(Bounds::NONE, |whole, (number, value)| {
            number.set(whole, value)
        });
        Bounds {
            crash_at: CrashAt::named(&self.crash_at).unwrap_or_default(),
            ..bounds
        }
    }
}

/// What the worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// It listens.
    Ready,
    /// The search goes on.
    Progress {
        /// The slot.
        slot: usize,
        /// The question's number.
        number: u32,
        /// Distinct states so far.
        states: u32,
        /// States that were reached and not gone on from yet.
        unexplored: u32,
    },
    /// The search is over.
    Found {
        /// The slot.
        slot: usize,
        /// The question's number.
        number: u32,
        /// What was found.
        findings: Findings,
    },
    /// The shares that were asked for.
    Shares {
        /// The slot.
        slot: usize,
        /// The search's number.
        number: u32,
        /// The schedule they belong to.
        schedule: String,
        /// Per cent of the futures that end badly, after each prefix; `None` beyond the search.
        percent: Vec<Option<f64>>,
    },
    /// It could not be done.
    Failed {
        /// The slot.
        slot: usize,
        /// The question's number.
        number: u32,
        /// Why, in the core's words.
        why: String,
    },
}

/// What a search found. Counts are text, for they may be larger than a number of JavaScript.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Whether every schedule was tried.
    pub exhausted: bool,
    /// Distinct states.
    pub states: u32,
    /// Complete schedules.
    pub schedules: String,
    /// Those that end in a violation.
    pub failing: String,
    /// The same as a part of 100.
    pub percent: f64,
    /// For each verdict that ends any schedule: its name and how many.
    pub verdicts: Vec<(String, String)>,
    /// For each verdict that stands in any state: its name and the shortest schedule to it.
    pub counterexamples: Vec<(String, String)>,
    /// A complete schedule on which nothing is violated, if there is one.
    pub passing: Option<String>,
}

impl Findings {
    /// Whether every schedule was tried and nothing is violated on any.
    pub fn holds(&self) -> bool {
        self.exhausted && self.counterexamples.is_empty()
    }
}
