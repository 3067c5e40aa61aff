//! What is going on: a headline, what the designs are put to, and the two designs.

use deliver_twice_core::scenario::{Scenario, TaskRow, Ticket};
use yew::prelude::*;

use super::{Select, View, designs, exercise, is_wide, lesson};
use crate::session::{Action, Side, ticket_name, ticket_named, with_number, with_task};

/// The scene.
pub fn show(view: &View<'_>) -> Html {
    let session = view.session;
    let (title, text) = if session.is_opening() {
        let event = "e1 ticket.created";
        let text = view
            .messages
            .fill("scene.opening.text", &[("event", event)]);
        (view.say("scene.opening").to_owned(), text)
    } else {
        (title(view), view.say("scene.text").to_owned())
    };
    html! {
        <>
            <div class="course">{ lesson::chooser(view) }{ exercise::chooser(view) }</div>
            if let Some(taught) = session.lesson {
                { lesson::show(view, taught) }
            } else if let Some(exercise) = session.exercise {
                { exercise::show(view, exercise) }
            } else {
                <section class="scene">
                    <h2 data-testid="scene">{ title }</h2>
                    <p>
                        { text }
                        if !session.is_opening() {
                            <button
                                class="quiet" onclick={view.on(Action::Reopen)} data-testid="reopen"
                            >{ view.say("scene.reopen") }</button>
                        }
                    </p>
                </section>
            }
            if session.exercise.is_none() { { scenario(view) } }
            <div class="segments" role="group">
                { for Side::BOTH.map(|side| designs::segment(view, side)) }
            </div>
            <div class="designs">
                { designs::show(view, Side::Left) }
                <div class="middle">{ view.say("table.moves") }</div>
                { designs::show(view, Side::Right) }
            </div>
        </>
    }
}

/// The controls of what the designs are put to.
fn scenario(view: &View<'_>) -> Html {
    html! {
        <details class="settings" open={is_wide()}>
            <summary>{ view.say("scenario") }</summary>
            <div class="scenario" role="group" aria-label={view.say("scenario").to_owned()}>
                { for NUMBERS.iter().map(|(name, max)| number(view, name, *max)) }
                { ticket(view) }
                { task(view) }
            </div>
        </details>
    }
}

fn title(view: &View<'_>) -> String {
    let Scenario {
        deliveries,
        workers,
        versions,
        ..
    } = view.session.scenario;
    let key = match (versions, deliveries) {
        (1, 1) => "scene.title.once",
        (1, _) => "scene.title.twice",
        _ => "scene.title.versions",
    };
    let (copies, workers) = (deliveries.to_string(), workers.to_string());
    view.messages
        .fill(key, &[("copies", &copies), ("workers", &workers)])
}

/// The numbers of a scenario and their greatest values.
const NUMBERS: [(&str, u8); 4] = [
    ("deliveries", Scenario::DELIVERIES_MAX),
    ("workers", Scenario::WORKERS_MAX),
    ("effects", 3),
    ("versions", Scenario::VERSIONS_MAX),
];

const DIGITS: [&str; 3] = ["1", "2", "3"];

fn number(view: &View<'_>, name: &'static str, max: u8) -> Html {
    let scenario = view.session.scenario;
    let current = match name {
        "deliveries" => scenario.deliveries,
        "workers" => scenario.workers,
        "effects" => scenario.effects,
        _ => scenario.versions,
    };
    let label = match name {
        "deliveries" => "scenario.deliveries",
        "workers" => "scenario.workers",
        "effects" => "scenario.effects",
        _ => "scenario.versions",
    };
    let digits = &DIGITS[..usize::from(max)];
    let act = view.act.clone();
    Select {
        label: view.say(label).to_owned(),
        testid: format!("scenario-{name}"),
        options: digits.iter().map(|digit| (*digit, *digit)).collect(),
        current: DIGITS[usize::from(current - 1)],
        class: "",
    }
    .show(move |value| {
        let number = value.parse().unwrap_or(1);
        act.emit(Action::SetScenario(with_number(scenario, name, number)));
        true
    })
}

fn ticket(view: &View<'_>) -> Html {
    let scenario = view.session.scenario;
    let act = view.act.clone();
    Select {
        label: view.say("scenario.ticket").to_owned(),
        testid: "scenario-ticket".to_owned(),
        options: vec![
            (
                ticket_name(Ticket::Present),
                view.say("scenario.ticket.present"),
            ),
            (
                ticket_name(Ticket::Missing),
                view.say("scenario.ticket.missing"),
            ),
        ],
        current: ticket_name(scenario.ticket),
        class: "",
    }
    .show(move |value| {
        let ticket = ticket_named(value).unwrap_or(scenario.ticket);
        act.emit(Action::SetScenario(Scenario { ticket, ..scenario }));
        true
    })
}

fn task(view: &View<'_>) -> Html {
    let scenario = view.session.scenario;
    let act = view.act.clone();
    let words = |row: TaskRow| view.messages.get(task_key(row));
    Select {
        label: view.say("scenario.task").to_owned(),
        testid: "scenario-task".to_owned(),
        options: TaskRow::ALL
            .iter()
            .map(|row| (row.as_str(), words(*row)))
            .collect(),
        current: scenario.task.as_str(),
        class: "",
    }
    .show(move |value| {
        act.emit(Action::SetScenario(with_task(scenario, value)));
        true
    })
}

/// The key of what is wrong with the tasks.
pub fn task_key(row: TaskRow) -> &'static str {
    match row {
        TaskRow::Sound => "scenario.task.sound",
        TaskRow::UnknownStatus => "scenario.task.unknown-status",
        TaskRow::NoTenant => "scenario.task.no-tenant",
        TaskRow::SecondEscalation => "scenario.task.second-escalation",
    }
}
