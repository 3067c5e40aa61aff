//! From what is seen in production to the designs that produce it, the query that confirms it, and the
//! repair.

use deliver_twice_core::diagnosis::{SYMPTOMS, Symptom};
use yew::prelude::*;

use super::matrix::{Cell, cells, hazard_key};
use super::{Select, View};
use crate::session::Action;
use crate::words;

/// The diagnosis.
pub fn show(view: &View<'_>) -> Html {
    let symptom = view.session.symptom;
    let mut options = vec![("", view.say("diagnosis.none"))];
    options.extend(
        SYMPTOMS
            .iter()
            .map(|symptom| (symptom.name, words_of(view, symptom).0)),
    );
    let act = view.act.clone();
    let select = Select {
        label: view.say("diagnosis.see").to_owned(),
        testid: "symptom".to_owned(),
        options,
        current: symptom.map_or("", |symptom| symptom.name),
        class: "",
    }
    .show(move |name| {
        act.emit(Action::Diagnose(Symptom::named(name)));
        true
    });
    html! {
        <details class="diagnosis" data-testid="diagnosis">
            <summary>{ view.say("diagnosis") }</summary>
            { select }
            { for symptom.map(|symptom| found(view, symptom)) }
        </details>
    }
}

fn found(view: &View<'_>, symptom: &'static Symptom) -> Html {
    let cells = cells();
    let buttons = cells.iter().flat_map(|cell| {
        let fitting = cell
            .counterexamples
            .iter()
            .find(|(verdict, _)| symptom.fits(cell.hazard, *verdict));
        fitting.map(|(_, schedule)| replay(view, cell, schedule))
    });
    html! {
        <>
            <p>{ view.say("diagnosis.designs") }</p>
            <div class="search__replays">{ for buttons }</div>
            if let Some(query) = symptom.query {
                <p>{ view.say("diagnosis.query") }</p>
                <pre><code>{ query }</code></pre>
            } else {
                <p>{ view.say("diagnosis.no-query") }</p>
            }
            <p><b>{ view.say("diagnosis.repair") }</b>{ " " }{ words_of(view, symptom).1 }</p>
        </>
    }
}

fn replay(view: &View<'_>, cell: &Cell, schedule: &deliver_twice_core::schedule::Schedule) -> Html {
    let action = cell.open(schedule.clone());
    let onclick = view.on_some::<MouseEvent>(action);
    let steps = schedule.0.len().to_string();
    let words = view.messages.fill(
        "diagnosis.replay",
        &[
            ("design", view.messages.get(words::preset_key(cell.design))),
            ("hazard", view.messages.get(hazard_key(cell.hazard))),
            ("steps", &steps),
        ],
    );
    html! {
        <button class="small" {onclick} data-testid={format!("diagnosis-{}-{}", cell.design, cell.hazard)}>
            { words }{ " ▸" }
        </button>
    }
}

/// The keys of each symptom's name and of its repair.
const WORDS: [(&str, &str); 12] = [
    ("symptom.two-tasks", "symptom.two-tasks.repair"),
    (
        "symptom.receipt-without-task",
        "symptom.receipt-without-task.repair",
    ),
    (
        "symptom.acked-and-nothing-done",
        "symptom.acked-and-nothing-done.repair",
    ),
    (
        "symptom.other-effect-missing",
        "symptom.other-effect-missing.repair",
    ),
    ("symptom.nothing-moves", "symptom.nothing-moves.repair"),
    (
        "symptom.event-never-arrives",
        "symptom.event-never-arrives.repair",
    ),
    (
        "symptom.event-without-ticket",
        "symptom.event-without-ticket.repair",
    ),
    (
        "symptom.published-and-nobody-got-it",
        "symptom.published-and-nobody-got-it.repair",
    ),
    (
        "symptom.rows-stay-leased",
        "symptom.rows-stay-leased.repair",
    ),
    ("symptom.two-mails", "symptom.two-mails.repair"),
    ("symptom.no-mail", "symptom.no-mail.repair"),
    (
        "symptom.mail-without-task",
        "symptom.mail-without-task.repair",
    ),
];

/// The name of a symptom, and its repair.
fn words_of<'a>(view: &View<'a>, symptom: &Symptom) -> (&'a str, &'a str) {
    let (name, repair) = keys_of(symptom);
    (view.messages.get(name), view.messages.get(repair))
}

fn keys_of(symptom: &Symptom) -> (&'static str, &'static str) {
    let named = WORDS
        .into_iter()
        .find(|(name, _)| name.strip_prefix("symptom.") == Some(symptom.name));
    named.expect("every symptom has a name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symptom_has_a_name_and_the_repair_of_that_name() {
        for symptom in &SYMPTOMS {
            let (name, repair) = keys_of(symptom);
            assert_eq!(repair.strip_suffix(".repair"), Some(name));
        }
    }
}
