//! What is going on: a headline, what the designs are put to, and the two designs.

use deliver_twice_core::design::{Design, Outside};
use deliver_twice_core::scenario::{Number, Provider, Scenario, TaskRow, Ticket};
use yew::prelude::*;

use super::{Select, View, designs, exercise, is_wide, lesson};
use crate::embed::Part;
use crate::keys;
use crate::session::{Action, Side};

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
            if view.embed.has(Part::Rest) {
                <div class="course">{ lesson::chooser(view) }{ exercise::chooser(view) }</div>
            }
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
            if session.exercise.is_none() && view.embed.has_choices() { { scenario(view) } }
            <div class="segments" role="group">
                { for Side::BOTH.map(|side| designs::segment(view, side)) }
            </div>
            <div class="designs">
                { designs::show(view, Side::Left) }
                { middle(view) }
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
                { for offered(view).map(|which| number(view, which)) }
                if view.session.any_design(|design| design.outside != Outside::None) {
                    { provider(view) }
                }
                // A producer writes the ticket itself.
                if view.session.any_design(|design| !design.has_producer()) {
                    { ticket(view) }
                }
                { task(view) }
            </div>
        </details>
    }
}

/// What stands between the two designs.
fn middle(view: &View<'_>) -> Html {
    html! {
        <div class="middle">
            <button
                class="compare" aria-pressed={view.session.compares.to_string()}
                onclick={view.on(keys::compare(view.session, true))} data-testid="compare"
            >{ view.say("control.compare") }<kbd>{ "C" }</kbd></button>
            <span>{ view.say("table.moves") }</span>
        </div>
    }
}

/// What goes on, in one line: what the designs have to bring about, and how many there are of each actor.
fn title(view: &View<'_>) -> String {
    let Scenario {
        deliveries,
        workers,
        versions,
        relays,
        senders,
        ..
    } = view.session.scenario;
    let any = |has: fn(&Design) -> bool| view.session.any_design(has);
    let sends = any(|design| design.outside != Outside::None);
    let key = match (any(Design::has_producer), sends, versions, deliveries) {
        (true, false, 1, _) => "scene.title.producer",
        (true, false, ..) => "scene.title.producers",
        (true, true, 1, _) => "scene.title.end-to-end",
        (true, true, ..) => "scene.title.ends-to-ends",
        (false, true, 1, 1) => "scene.title.outside",
        (false, true, ..) => "scene.title.outsides",
        (false, false, 1, 1) => "scene.title.once",
        (false, false, 1, _) => "scene.title.twice",
        (false, false, ..) => "scene.title.versions",
    };
    let relays = any(Design::has_outbox).then_some(("scene.relays", relays));
    let senders = any(Design::has_sender).then_some(("scene.senders", senders));
    let actors = [relays, Some(("scene.consumers", workers)), senders];
    let named = actors
        .into_iter()
        .flatten()
        .map(|(key, count)| view.messages.fill(key, &[("count", &count.to_string())]));
    let copies = deliveries.to_string();
    let what = view.messages.fill(key, &[("copies", &copies)]);
    named.fold(what, |before, after| {
        let both = [("before", before.as_str()), ("after", after.as_str())];
        view.messages.fill("scene.title.and", &both)
    })
}

/// The numbers of a scenario that concern one of the designs.
fn offered<'a>(view: &'a View<'_>) -> impl Iterator<Item = &'static Number<Scenario>> + 'a {
    const NUMBERS: &[Number<Scenario>] = &Scenario::NUMBERS;
    let any = |has: fn(&Design) -> bool| view.session.any_design(has);
    NUMBERS.iter().filter(move |number| match number.name {
        "deliveries" => any(|design| !design.has_producer()),
        "relays" => any(Design::has_outbox),
        "senders" => any(Design::has_sender),
        _ => true,
    })
}

const DIGITS: [&str; 4] = ["0", "1", "2", "3"];

fn number(view: &View<'_>, number: &'static Number<Scenario>) -> Html {
    let scenario = view.session.scenario;
    let produces = view.session.any_design(Design::has_producer);
    let label = match number.name {
        "deliveries" => "scenario.deliveries",
        "workers" => "scenario.workers",
        "effects" => "scenario.effects",
        "relays" => "scenario.relays",
        "senders" => "scenario.senders",
        _ if produces => "scenario.tickets",
        _ => "scenario.versions",
    };
    // Without a producer, a scenario without consumers is one in which nothing happens.
    let min = match number.name {
        "workers" if !produces => 1,
        _ => number.min,
    };
    let current = number.of(scenario);
    let digits = &DIGITS[usize::from(min.min(current))..=usize::from(number.max)];
    let act = view.act.clone();
    Select {
        label: view.say(label).to_owned(),
        testid: format!("scenario-{}", number.name),
        options: digits.iter().map(|digit| (*digit, *digit)).collect(),
        current: DIGITS[usize::from(current)],
        class: "",
    }
    .show(move |value| {
        let value = value.parse().unwrap_or(1);
        act.emit(Action::SetScenario(number.set(scenario, value)));
        true
    })
}

fn provider(view: &View<'_>) -> Html {
    let scenario = view.session.scenario;
    let act = view.act.clone();
    let words = |provider| match provider {
        Provider::HonoursKeys => view.say("scenario.provider.honours"),
        Provider::IgnoresKeys => view.say("scenario.provider.ignores"),
    };
    Select {
        label: view.say("scenario.provider").to_owned(),
        testid: "scenario-provider".to_owned(),
        options: Provider::ALL.map(|p| (p.as_str(), words(p))).to_vec(),
        current: scenario.provider.as_str(),
        class: "",
    }
    .show(move |value| {
        let provider = Provider::named(value).unwrap_or(scenario.provider);
        act.emit(Action::SetScenario(Scenario {
            provider,
            ..scenario
        }));
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
                Ticket::Present.as_str(),
                view.say("scenario.ticket.present"),
            ),
            (
                Ticket::Missing.as_str(),
                view.say("scenario.ticket.missing"),
            ),
        ],
        current: scenario.ticket.as_str(),
        class: "",
    }
    .show(move |value| {
        let ticket = Ticket::named(value).unwrap_or(scenario.ticket);
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
        let task = TaskRow::named(value).unwrap_or(scenario.task);
        act.emit(Action::SetScenario(Scenario { task, ..scenario }));
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
