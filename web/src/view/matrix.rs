//! Every named design against every hazard of its chapter, as the core's search found it; each cell can be
//! replayed here.

use std::rc::Rc;
use std::sync::LazyLock;

use deliver_twice_core::design::{Chapter, Design};
use deliver_twice_core::matrix::hazard_named;
use deliver_twice_core::property::Verdict;
use deliver_twice_core::schedule::Schedule;
use yew::prelude::*;

use super::designs::chapter_key;
use super::evidence::outcome;
use super::search::grouped;
use crate::evidence::Evidence;
use crate::messages::Messages;
use crate::session::Action;
use crate::words;

/// The file that the core's tests hold to the search: a line for each cell.
const MATRIX: &str = include_str!("../../../core/tests/golden/matrix.txt");

/// A cell as the file has it.
pub struct Cell {
    /// The preset's name.
    pub design: &'static str,
    /// The hazard's name.
    pub hazard: &'static str,
    failing: &'static str,
    schedules: &'static str,
    /// Whether the hazard can befall the design at all.
    occurs: bool,
    /// For each verdict the shortest schedule to it, the most urgent first.
    pub counterexamples: Vec<(Verdict, Schedule)>,
    /// The same for what happens and is allowed.
    allowed: Vec<(Verdict, Schedule)>,
}

impl Cell {
    fn read(line: &'static str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (design, hazard) = (words.next()?, words.next()?);
        let (failing, _of, schedules) = (words.next()?, words.next()?, words.next()?);
        let rest: Vec<&str> = words.filter(|word| *word != "allowed").collect();
        let found = |pair: &[&str]| {
            let verdict = Verdict::ALL
                .into_iter()
                .find(|verdict| verdict.as_str() == pair[0])?;
            Some((verdict, pair[1].parse().ok()?))
        };
        let pairs = rest.windows(2).filter_map(found);
        let (allowed, counterexamples) = pairs.partition(|(verdict, _)| verdict.is_allowed());
        Some(Cell {
            design,
            hazard,
            failing,
            schedules,
            occurs: rest.first() != Some(&"cannot-occur"),
            counterexamples,
            allowed,
        })
    }

    /// The action that opens this cell's design under its hazard, on a schedule.
    pub fn open(&self, schedule: Schedule) -> Option<Action> {
        let hazard = hazard_named(self.hazard)?;
        Some(Action::Open {
            design: Design::preset(self.design)?,
            scenario: hazard.scenario,
            bounds: hazard.bounds,
            schedule,
        })
    }
}

/// Every cell of the file, which is read once however often the page is drawn.
pub fn cells() -> &'static [Cell] {
    static CELLS: LazyLock<Vec<Cell>> =
        LazyLock::new(|| MATRIX.lines().filter_map(Cell::read).collect());
    &CELLS
}

/// What the matrix is drawn from: the words, and where a click on a cell goes.
#[derive(Clone, Properties)]
pub struct MatrixProps {
    /// The words.
    pub messages: Rc<Messages>,
    /// Where actions go.
    pub act: Callback<Action>,
    /// Whether it is unfolded from the first.
    pub is_open: bool,
}

impl PartialEq for MatrixProps {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.messages, &other.messages)
            && self.act == other.act
            && self.is_open == other.is_open
    }
}

impl MatrixProps {
    fn say<'k>(&self, key: &'k str) -> &'k str {
        self.messages.get(key)
    }

    fn on<E: 'static>(&self, action: Action) -> Callback<E> {
        self.act.reform(move |_| action.clone())
    }
}

/// The matrix. Hundreds of cells that no step changes, so they are drawn anew for another language only.
#[component]
pub fn Matrix(page: &MatrixProps) -> Html {
    let cells = cells();
    html! {
        <details class="matrix" open={page.is_open} data-testid="matrix">
            <summary>{ page.say("matrix") }</summary>
            <p class="faint">{ page.say("matrix.text") }</p>
            <p class="faint">{ page.messages.fill("evidence.matrix", &recorded()) }</p>
            { for Chapter::ALL.into_iter().map(|chapter| table(page, chapter, cells)) }
        </details>
    }
}

fn table(page: &MatrixProps, chapter: Chapter, cells: &[Cell]) -> Html {
    let presets = chapter.presets().iter();
    html! {
        <>
            <h3>{ page.messages.get(chapter_key(chapter)) }</h3>
            if let Some(key) = remark_key(chapter) {
                <p class="faint">{ page.say(key) }</p>
            }
            <div class="matrix__scroll"><table>
                <thead><tr>
                    <td />
                    { for chapter.hazards().iter().map(|hazard| html! {
                        <th scope="col">{ page.messages.get(hazard_key(hazard.name)) }</th>
                    }) }
                </tr></thead>
                <tbody>{ for presets.map(|preset| row(page, preset.name, cells)) }</tbody>
            </table></div>
        </>
    }
}

/// The key of what is to be said about a chapter's table.
fn remark_key(chapter: Chapter) -> Option<&'static str> {
    match chapter {
        Chapter::Consumer => None,
        Chapter::Producer => Some("matrix.producer"),
        Chapter::Outside => Some("matrix.outside"),
    }
}

fn row(page: &MatrixProps, design: &'static str, cells: &[Cell]) -> Html {
    html! {
        <tr>
            <th scope="row">{ page.messages.get(words::preset_key(design)) }</th>
            { for cells.iter().filter(|cell| cell.design == design).map(|cell| show_cell(page, cell)) }
        </tr>
    }
}

/// A cell: a click replays its failure, or puts the design under the hazard at the start of a run.
fn show_cell(page: &MatrixProps, cell: &Cell) -> Html {
    let failure = cell.counterexamples.first();
    let schedule = failure.map_or_else(Schedule::default, |(_, schedule)| schedule.clone());
    let onclick = cell.open(schedule).map(|action| page.on(action));
    let (class, content, title) = match failure {
        Some((verdict, _)) => ("matrix__bad", failing(page, cell, *verdict), None),
        None => {
            let (sign, title) = passing(page, cell);
            let content = html! {
                <><span aria-hidden="true">{ sign }</span><span class="unseen">{ title.clone() }</span></>
            };
            ("matrix__fine", content, Some(title))
        }
    };
    html! {
        <td {class}>
            <button {onclick} {title} data-testid={format!("cell-{}-{}", cell.design, cell.hazard)}>
                { content }
            </button>
            { for cell.allowed.iter().map(|noted| note(page, cell, noted)) }
            { for elsewhere(page, cell) }
        </td>
    }
}

fn recorded() -> [(&'static str, &'static str); 2] {
    let evidence = Evidence::recorded();
    [("engine", &evidence.engine), ("date", evidence.date)]
}

/// What became of the cell on another engine.
fn elsewhere(page: &MatrixProps, cell: &Cell) -> Option<Html> {
    let runs = Evidence::recorded().of_cell(cell.design, cell.hazard)?;
    let counts = [runs.broken, runs.all].map(|count| count.to_string());
    let values = [
        ("broken", counts[0].as_str()),
        ("runs", &counts[1]),
        recorded()[0],
    ];
    let is_here = |verdict: &Verdict| {
        cell.counterexamples
            .iter()
            .any(|(found, _)| found == verdict)
    };
    let only_there: Vec<Verdict> = runs
        .violated
        .iter()
        .copied()
        .filter(|verdict| !is_here(verdict))
        .collect();
    let only = (!only_there.is_empty()).then(|| {
        let outcome = outcome(&page.messages, &only_there);
        page.messages
            .fill("evidence.cell.only", &[("outcome", &outcome)])
    });
    Some(html! {
        <small
            class="matrix__elsewhere" title={page.messages.fill("evidence.cell.words", &values)}
            data-testid={format!("elsewhere-{}-{}", cell.design, cell.hazard)}
        >
            { for only.map(|only| html! { <strong>{ only }{ " " }</strong> }) }
            { page.messages.fill("evidence.cell", &values) }
        </small>
    })
}

/// What happens in a cell and is allowed: a note, which replays the shortest schedule to it.
fn note(page: &MatrixProps, cell: &Cell, (verdict, schedule): &(Verdict, Schedule)) -> Html {
    let onclick = cell.open(schedule.clone()).map(|action| page.on(action));
    html! {
        <button class="matrix__note" {onclick} data-testid={format!("note-{}-{}", cell.design, cell.hazard)}>
            { words::verdict_name(&page.messages, *verdict) }
        </button>
    }
}

fn failing(page: &MatrixProps, cell: &Cell, verdict: Verdict) -> Html {
    html! {
        <>
            { words::verdict_name(&page.messages, verdict) }
            <small>{ format!("{}/{}", grouped(cell.failing), grouped(cell.schedules)) }</small>
        </>
    }
}

/// The sign of a cell in which nothing fails, and what it means.
fn passing(page: &MatrixProps, cell: &Cell) -> (&'static str, String) {
    let (sign, key) = match (cell.occurs, cell.schedules) {
        (true, "1") => ("✓", "matrix.holds.one"),
        (true, _) => ("✓", "matrix.holds"),
        (false, _) => ("–", "matrix.cannot-occur"),
    };
    let schedules = grouped(cell.schedules);
    (sign, page.messages.fill(key, &[("schedules", &schedules)]))
}

/// The key of a hazard's name.
pub fn hazard_key(name: &str) -> &'static str {
    const KEYS: [&str; 23] = [
        "hazard.race",
        "hazard.crash-after-commit",
        "hazard.crash-between-commits",
        "hazard.lost-commit-reply",
        "hazard.missing-ticket",
        "hazard.three-effects",
        "hazard.second-version",
        "hazard.wrong-flag",
        "hazard.other-constraint",
        "hazard.crash-at-work",
        "hazard.publisher-crash",
        "hazard.nacked",
        "hazard.returned",
        "hazard.lost-confirm",
        "hazard.lost-ticket-reply",
        "hazard.slow-relay",
        "hazard.crash-on-the-whole-way",
        "hazard.caller-crash",
        "hazard.lost-answer",
        "hazard.lost-task-reply",
        "hazard.two-senders",
        "hazard.busy-sender",
        "hazard.keys-ignored",
    ];
    let named = KEYS
        .into_iter()
        .find(|key| key.strip_prefix("hazard.") == Some(name));
    named.expect("every hazard has a name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_of_the_file_is_read_and_every_failure_can_be_replayed() {
        let cells = cells();
        let count = |chapter: Chapter| chapter.presets().len() * chapter.hazards().len();
        assert_eq!(cells.len(), Chapter::ALL.map(count).iter().sum::<usize>());
        for cell in cells {
            let mut lines = MATRIX.lines();
            let line = lines.find(|line| {
                let mut words = line.split_whitespace();
                (words.next(), words.next()) == (Some(cell.design), Some(cell.hazard))
            });
            let line = line.unwrap();
            let is_fine = line.contains("  holds") || line.contains("  cannot-occur");
            assert_eq!(is_fine, cell.counterexamples.is_empty(), "{line}");
            assert_eq!(
                line.matches("  allowed ").count(),
                cell.allowed.len(),
                "{line}"
            );
            let found = cell.counterexamples.len() + cell.allowed.len();
            assert_eq!(line.matches("s1:").count(), found, "{line}");
            for (_, schedule) in cell.counterexamples.iter().chain(&cell.allowed) {
                assert!(cell.open(schedule.clone()).is_some());
            }
            assert!(cell.open(Schedule::default()).is_some());
            hazard_key(cell.hazard);
        }
    }
}
