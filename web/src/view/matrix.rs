//! Every named design against every hazard, as the core's search found it; each cell can be replayed here.

use std::sync::LazyLock;

use deliver_twice_core::design::{Design, PRESETS};
use deliver_twice_core::diagnosis::hazard_named;
use deliver_twice_core::matrix::HAZARDS;
use deliver_twice_core::property::Verdict;
use deliver_twice_core::schedule::Schedule;
use yew::prelude::*;

use super::{View, search::grouped};
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
}

impl Cell {
    fn read(line: &'static str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (design, hazard) = (words.next()?, words.next()?);
        let (failing, _of, schedules) = (words.next()?, words.next()?, words.next()?);
        let rest: Vec<&str> = words.collect();
        let found = |pair: &[&str]| {
            let verdict = Verdict::ALL
                .into_iter()
                .find(|verdict| verdict.as_str() == pair[0])?;
            Some((verdict, pair[1].parse().ok()?))
        };
        Some(Cell {
            design,
            hazard,
            failing,
            schedules,
            occurs: rest.first() != Some(&"cannot-occur"),
            counterexamples: rest.chunks_exact(2).filter_map(found).collect(),
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

/// The matrix.
pub fn show(view: &View<'_>) -> Html {
    let cells = cells();
    html! {
        <details class="matrix" data-testid="matrix">
            <summary>{ view.say("matrix") }</summary>
            <p class="faint">{ view.say("matrix.text") }</p>
            <div class="matrix__scroll"><table>
                <thead><tr>
                    <td />
                    { for HAZARDS.iter().map(|hazard| html! {
                        <th scope="col">{ view.messages.get(hazard_key(hazard.name)) }</th>
                    }) }
                </tr></thead>
                <tbody>{ for PRESETS.iter().map(|preset| row(view, preset.name, cells)) }</tbody>
            </table></div>
        </details>
    }
}

fn row(view: &View<'_>, design: &'static str, cells: &[Cell]) -> Html {
    html! {
        <tr>
            <th scope="row">{ view.messages.get(words::preset_key(design)) }</th>
            { for cells.iter().filter(|cell| cell.design == design).map(|cell| show_cell(view, cell)) }
        </tr>
    }
}

fn show_cell(view: &View<'_>, cell: &Cell) -> Html {
    let Some((verdict, schedule)) = cell.counterexamples.first() else {
        let (key, sign) = match cell.occurs {
            true => ("matrix.holds", "✓"),
            false => ("matrix.cannot-occur", "–"),
        };
        let schedules = grouped(cell.schedules);
        let title = view.messages.fill(key, &[("schedules", &schedules)]);
        return html! {
            <td class="matrix__fine" title={title.clone()}>
                <span aria-hidden="true">{ sign }</span><span class="unseen">{ title }</span>
            </td>
        };
    };
    let action = cell.open(schedule.clone());
    let act = view.act.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        if let Some(action) = &action {
            act.emit(action.clone());
        }
    });
    html! {
        <td class="matrix__bad">
            <button {onclick} data-testid={format!("cell-{}-{}", cell.design, cell.hazard)}>
                { words::verdict_name(view.messages, *verdict) }
                <small>{ format!("{}/{}", grouped(cell.failing), grouped(cell.schedules)) }</small>
            </button>
        </td>
    }
}

/// The key of a hazard's name.
pub fn hazard_key(name: &str) -> &'static str {
    const KEYS: [&str; 10] = [
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
        assert_eq!(cells.len(), PRESETS.len() * HAZARDS.len());
        for cell in cells {
            let line = MATRIX
                .lines()
                .find(|line| line.contains(cell.design) && line.contains(cell.hazard));
            let is_fine = line.is_some_and(|l| l.ends_with("holds") || l.ends_with("cannot-occur"));
            assert_eq!(
                is_fine,
                cell.counterexamples.is_empty(),
                "{} {}",
                cell.design,
                cell.hazard
            );
            for (_, schedule) in &cell.counterexamples {
                assert!(cell.open(schedule.clone()).is_some());
            }
            hazard_key(cell.hazard);
        }
    }
}
