//! Every named design against every hazard, as the core's search found it; each cell can be replayed here.

use deliver_twice_core::design::{Design, PRESETS};
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
struct Cell<'a> {
    design: &'a str,
    hazard: &'a str,
    failing: &'a str,
    schedules: &'a str,
    /// `holds`, `cannot-occur`, or the verdicts joined by commas.
    outcome: &'a str,
    counterexample: Option<Schedule>,
}

impl<'a> Cell<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (design, hazard) = (words.next()?, words.next()?);
        let (failing, _of, schedules) = (words.next()?, words.next()?, words.next()?);
        let outcome = words.next()?;
        let counterexample = words.next().and_then(|text| text.parse().ok());
        Some(Cell {
            design,
            hazard,
            failing,
            schedules,
            outcome,
            counterexample,
        })
    }

    fn verdict(&self) -> Option<Verdict> {
        let first = self.outcome.split(',').next()?;
        Verdict::ALL
            .into_iter()
            .find(|verdict| verdict.as_str() == first)
    }
}

/// The matrix.
pub fn show(view: &View<'_>) -> Html {
    let cells: Vec<Cell<'_>> = MATRIX.lines().filter_map(Cell::read).collect();
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
                <tbody>{ for PRESETS.iter().map(|preset| row(view, preset.name, &cells)) }</tbody>
            </table></div>
        </details>
    }
}

fn row(view: &View<'_>, design: &'static str, cells: &[Cell<'_>]) -> Html {
    html! {
        <tr>
            <th scope="row">{ view.messages.get(words::preset_key(design)) }</th>
            { for cells.iter().filter(|cell| cell.design == design).map(|cell| show_cell(view, cell)) }
        </tr>
    }
}

fn show_cell(view: &View<'_>, cell: &Cell<'_>) -> Html {
    let Some((verdict, schedule)) = cell.verdict().zip(cell.counterexample.clone()) else {
        let (key, sign) = match cell.outcome {
            "holds" => ("matrix.holds", "✓"),
            _ => ("matrix.cannot-occur", "–"),
        };
        let schedules = grouped(cell.schedules);
        let title = view.messages.fill(key, &[("schedules", &schedules)]);
        return html! {
            <td class="matrix__fine" title={title.clone()}>
                <span aria-hidden="true">{ sign }</span><span class="unseen">{ title }</span>
            </td>
        };
    };
    let hazard = HAZARDS
        .into_iter()
        .find(|hazard| hazard.name == cell.hazard);
    let action = Design::preset(cell.design)
        .zip(hazard)
        .map(|(design, hazard)| Action::Open {
            design,
            scenario: hazard.scenario,
            bounds: hazard.bounds,
            schedule,
        });
    let act = view.act.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        if let Some(action) = &action {
            act.emit(action.clone());
        }
    });
    html! {
        <td class="matrix__bad">
            <button {onclick} data-testid={format!("cell-{}-{}", cell.design, cell.hazard)}>
                { words::verdict_name(view.messages, verdict) }
                <small>{ format!("{}/{}", grouped(cell.failing), grouped(cell.schedules)) }</small>
            </button>
        </td>
    }
}

/// The key of a hazard's name.
fn hazard_key(name: &str) -> &'static str {
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
        let cells: Vec<Cell<'_>> = MATRIX.lines().filter_map(Cell::read).collect();
        assert_eq!(cells.len(), PRESETS.len() * HAZARDS.len());
        for cell in &cells {
            assert_eq!(
                cell.verdict().is_some(),
                cell.counterexample.is_some(),
                "{}",
                cell.design
            );
            hazard_key(cell.hazard);
        }
    }
}
