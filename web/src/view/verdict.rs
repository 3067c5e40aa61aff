//! What the shown step means for each design.

use deliver_twice_core::broker::{Broker, Place};
use yew::prelude::*;

use super::{View, side_class};
use crate::comparison::{Finding, SideRun};
use crate::session::Side;
use crate::words;

/// Both verdicts, and the sentence that a screen reader speaks.
pub fn show(view: &View<'_>) -> Html {
    html! {
        <>
            <div class="verdicts">
                { panel(view, Side::Left) }
                <div class="middle" />
                { panel(view, Side::Right) }
            </div>
            <p class="unseen" aria-live="polite" data-testid="spoken">{ spoken(view) }</p>
        </>
    }
}

/// The verdict of the shown side in one line, for a screen that has no room for the panels beside the
/// controls.
pub fn line(view: &View<'_>) -> Html {
    let run = view.run.side(view.session.shown);
    let (class, words) = match run.findings(view.session.cursor).first() {
        Some(finding) => {
            let state = run.state(view.session.cursor);
            let title = words::violation(view.messages, state, &finding.violation);
            ("status status--bad", format!("⚠ {title}"))
        }
        None => ("status", counts(view, run)),
    };
    html! { <p {class} aria-hidden="true">{ words }</p> }
}

fn panel(view: &View<'_>, side: Side) -> Html {
    let cursor = view.session.cursor;
    let run = view.run.side(side);
    let findings = run.findings(cursor);
    let state = run.state(cursor);
    let (class, content) = match findings.split_first() {
        None => ("verdict verdict--fine", fine(view, run)),
        Some((first, others)) => {
            let title = words::violation(view.messages, state, &first.violation);
            let sentence = words::cause(view.messages, &first.cause);
            let content = html! {
                <>
                    <strong>{ format!("⚠ {title}") }</strong>
                    <p>{ sentence }</p>
                    { also(view, run, others) }
                </>
            };
            ("verdict verdict--bad", content)
        }
    };
    let name = side_class(side);
    html! {
        <section class={classes!(class, name)} data-testid={format!("verdict-{name}")}>
            { content }
            <p class="verdict__counts" data-testid={format!("counts-{name}")}>{ counts(view, run) }</p>
        </section>
    }
}

/// What else is violated, each kind once.
fn also(view: &View<'_>, run: &SideRun, others: &[Finding]) -> Html {
    let state = run.state(view.session.cursor);
    if others.is_empty() {
        return html! {};
    }
    html! {
        <details class="verdict__also">
            <summary>{ format!("{} ({})", view.say("verdict.also"), others.len()) }</summary>
            <ul>
                { for others.iter().map(|finding| html! {
                    <li>
                        <b>{ words::violation(view.messages, state, &finding.violation) }</b>
                        { " " }{ words::cause(view.messages, &finding.cause) }
                    </li>
                }) }
            </ul>
        </details>
    }
}

fn fine(view: &View<'_>, run: &SideRun) -> Html {
    let cursor = view.session.cursor;
    let state = run.state(cursor);
    let m = view.messages;
    let wanted = run.system.obligations().count();
    let parked = state
        .broker
        .deliveries()
        .any(|(_, delivery)| delivery.place == Place::Parked);
    let title = match (cursor, state.is_settled()) {
        (0, _) => m.get("verdict.none.start").to_owned(),
        (_, true) if parked => m.fill(
            "verdict.none.parked",
            &[("attempts", &Broker::ATTEMPTS_MAX.to_string())],
        ),
        (_, true) => {
            let done = state
                .committed
                .tasks
                .iter()
                .filter(|t| run.system.origin(&t.id).is_some());
            let (tasks, wanted) = (done.count().to_string(), wanted.to_string());
            m.fill(
                "verdict.none.settled",
                &[("tasks", &tasks), ("wanted", &wanted)],
            )
        }
        (_, false) => m.fill("verdict.none.running", &[("step", &cursor.to_string())]),
    };
    html! {
        <>
            <strong>{ format!("✓ {title}") }</strong>
            <p>{ view.say("verdict.scope") }</p>
        </>
    }
}

/// How many rows and deliveries there are, in words.
fn counts(view: &View<'_>, run: &SideRun) -> String {
    let state = run.state(view.session.cursor);
    let count = |wanted: fn(Place) -> bool| {
        state
            .broker
            .deliveries()
            .filter(|(_, d)| wanted(d.place))
            .count()
            .to_string()
    };
    view.messages.fill(
        "verdict.none.text",
        &[
            ("receipts", &state.committed.receipts.len().to_string()),
            ("tasks", &state.committed.tasks.len().to_string()),
            ("acked", &count(|place| place == Place::Acked)),
            ("queued", &count(|place| place == Place::Queued)),
            (
                "unacked",
                &count(|place| matches!(place, Place::Unacked(_))),
            ),
            ("parked", &count(|place| place == Place::Parked)),
        ],
    )
}

/// The shown step in a few words: those on the screen.
fn spoken(view: &View<'_>) -> String {
    let number = view.session.cursor;
    let Some(step) = number
        .checked_sub(1)
        .and_then(|index| view.session.schedule.0.get(index))
    else {
        return view.say("verdict.none.start").to_owned();
    };
    let worker = step
        .worker()
        .map(|worker| worker.to_string())
        .unwrap_or_default();
    let mut text = format!(
        "{number}. {worker} {}.",
        words::move_word(view.messages, *step)
    );
    for side in Side::BOTH {
        let run = view.run.side(side);
        let row = words::row(view.messages, run, number);
        let name = words::design(view.messages, &run.design);
        text += &format!(" {name}: {} {}", row.code.unwrap_or_default(), row.note);
        if run.breaks(number)
            && let Some(finding) = run.findings(number).first()
        {
            text += &format!(
                " {}",
                words::violation(view.messages, run.state(number), &finding.violation)
            );
        }
        text.push('.');
    }
    text
}
