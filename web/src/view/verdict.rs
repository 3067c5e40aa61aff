//! What the shown step means for each design.

use deliver_twice_core::broker::{Broker, EventIndex, Kind, Place};
use deliver_twice_core::design::Outside;
use deliver_twice_core::state::State;
use yew::prelude::*;

use super::{View, exercise, search, side_class};
use crate::comparison::{Finding, SideRun};
use crate::embed::Part;
use crate::keys::Command;
use crate::session::{Action, Side};
use crate::waypoints;
use crate::words;

/// Both verdicts, and the sentence that a screen reader speaks.
pub fn show(view: &View<'_>) -> Html {
    html! {
        <>
            <div class="verdicts">
                { panel(view, Side::Left) }
                { every_run(view) }
                { panel(view, Side::Right) }
            </div>
            <p class="unseen" role="status" data-testid="spoken">{ spoken(view) }</p>
        </>
    }
}

/// What leads from this run to every run.
fn every_run(view: &View<'_>) -> Html {
    let keeps_back = view.keeps_back();
    let next = waypoints::next_counterexample(view.session, view.searches);
    let next = next.filter(|_| !keeps_back);
    let is_known = next.is_some();
    let replay = next.map(|next| view.on(Action::Replay(next)));
    html! {
        <div class="middle">
            if view.embed.has(Part::Search) {
                <button
                    disabled={keeps_back} onclick={view.ask(Command::ShowSearch)}
                    data-testid="explore"
                >{ view.say("search") }<kbd>{ "E" }</kbd></button>
            }
            <button disabled={!is_known} onclick={replay} data-testid="next-counterexample">
                { view.say("control.counterexample") }<kbd>{ "V" }</kbd>
            </button>
        </div>
    }
}

/// What a side has come to, in a sign and a number, for the button that brings it to the front.
pub fn badge(view: &View<'_>, side: Side) -> Html {
    let run = view.run.side(side);
    let cursor = view.session.cursor;
    let is_bad = run
        .frame(cursor)
        .is_some_and(|frame| !frame.violations.is_empty());
    let tasks = run.state(cursor).committed.tasks.len().to_string();
    let words = view.messages.fill("verdict.badge", &[("tasks", &tasks)]);
    let sign = if is_bad { "⚠ " } else { "" };
    html! { <small class="badge">{ sign }{ words }</small> }
}

/// The verdict of the shown side in one line, for a screen that has no room for the panels beside the
/// controls.
pub fn line(view: &View<'_>) -> Html {
    let run = view.run.side(view.session.shown);
    let cursor = view.session.cursor;
    let first = run.frame(cursor).and_then(|frame| frame.violations.first());
    let (class, words) = match first {
        Some(violation) => {
            let title = words::violation(view.messages, run.state(cursor), violation);
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
        None => fine(view, run),
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
            { noted(view, run) }
            <p class="verdict__counts" data-testid={format!("counts-{name}")}>{ counts(view, run) }</p>
            { search::line(view, side) }
        </section>
    }
}

/// What has happened and is allowed.
fn noted(view: &View<'_>, run: &SideRun) -> Html {
    let cursor = view.session.cursor;
    let note = |finding: Finding| {
        let title = words::violation(view.messages, run.state(cursor), &finding.violation);
        let how = words::cause(view.messages, &finding.cause);
        html! { <p class="verdict__noted"><b>{ title }</b>{ " " }{ how }</p> }
    };
    let notes = run.noted(cursor);
    if notes.is_empty() {
        return html! {};
    }
    html! {
        <div role="note" aria-label={view.say("verdict.noted").to_owned()} data-testid="noted">
            { for notes.into_iter().map(note) }
        </div>
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

/// What there is to say while nothing is violated. Only the end of a run gets a tick.
fn fine(view: &View<'_>, run: &SideRun) -> (&'static str, Html) {
    let cursor = view.session.cursor;
    let state = run.state(cursor);
    let m = view.messages;
    let onward = run.run.enabled_after(cursor);
    let is_settled = state.is_settled() && !onward.iter().any(|step| step.is_progress());
    let parked = parked(view, state);
    let is_done = is_settled && parked.is_none() && cursor > 0;
    let title = match (cursor, is_settled, parked) {
        (0, ..) => m.get("verdict.none.start").to_owned(),
        (_, true, Some(parked)) => parked,
        (_, true, None) => settled(view, run, state),
        (_, false, _) => m.fill("verdict.none.running", &[("step", &cursor.to_string())]),
    };
    let (class, sign) = if is_done {
        ("verdict verdict--fine", "✓ ")
    } else {
        ("verdict", "")
    };
    let content = html! {
        <>
            <strong>{ sign }{ title }</strong>
            <p>{ for waits(view, run) }{ " " }{ view.say("verdict.scope") }</p>
        </>
    };
    (class, content)
}

/// What was put aside for a person, a row of the outbox before a delivery.
fn parked(view: &View<'_>, state: &State) -> Option<String> {
    if state
        .committed
        .outbox
        .iter()
        .any(|row| row.state == "parked")
    {
        return Some(view.say("verdict.none.row-parked").to_owned());
    }
    let mut copies = state.broker.deliveries();
    let is_parked = copies.any(|(_, copy)| copy.place == Place::Parked);
    let attempts = Broker::ATTEMPTS_MAX.to_string();
    is_parked.then(|| {
        view.messages
            .fill("verdict.none.parked", &[("attempts", &attempts)])
    })
}

/// What came of everything: the effects, or where nobody consumes, the events that the broker has.
fn settled(view: &View<'_>, run: &SideRun, state: &State) -> String {
    let system = &run.system;
    let is_due = |event| {
        let ticket = &system.event(event).ticket_id;
        !run.design.has_producer() || state.committed.tickets.contains(ticket)
    };
    let mut kinds = state.workers().map(|(id, _)| id.kind());
    if !kinds.any(|kind| kind == Kind::Consumer) {
        if !run.design.has_producer() {
            return view.say("verdict.none.unconsumed").to_owned();
        }
        let due: Vec<EventIndex> = system.events().filter(|event| is_due(*event)).collect();
        let taken = due.iter().filter(|event| state.broker.taken(**event) > 0);
        let [tickets, events] = [due.len(), taken.count()].map(|count| count.to_string());
        let values = [("tickets", tickets.as_str()), ("events", events.as_str())];
        return view.messages.fill("verdict.none.published", &values);
    }
    let wanted = system.obligations().filter(|(event, _)| is_due(*event));
    let tasks = state.committed.tasks.iter();
    let done = tasks.filter(|task| system.origin(&task.id).is_some());
    let [wanted, tasks] = [wanted.count(), done.count()].map(|count| count.to_string());
    let values = [("tasks", tasks.as_str()), ("wanted", wanted.as_str())];
    view.messages.fill("verdict.none.settled", &values)
}

/// Who waits for whom, as a sentence.
fn waits(view: &View<'_>, run: &SideRun) -> Option<String> {
    let frame = run.frame(view.session.cursor)?;
    let workers = frame.state.workers().map(|(worker, _)| worker);
    let waits = workers.zip(&frame.waits);
    let words: Vec<String> = waits
        .filter(|(_, holders)| !holders.is_empty())
        .map(|(worker, holders)| {
            let holders = words::names(view.messages, holders);
            let values = [("worker", worker.to_string()), ("holders", holders)];
            let values = values
                .each_ref()
                .map(|(name, value)| (*name, value.as_str()));
            view.messages.fill("cause.wait", &values)
        })
        .collect();
    if words.is_empty() {
        return None;
    }
    Some(view.messages.fill(
        "verdict.waits",
        &[("waits", &words::listed(view.messages, words.into_iter()))],
    ))
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
    let mut text = view.messages.fill(
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
    );
    if run.design.has_producer() {
        let tickets = state.committed.tickets.len().to_string();
        text += " · ";
        text += &view
            .messages
            .fill("verdict.counts.tickets", &[("tickets", &tickets)]);
    }
    if run.design.has_outbox() {
        let rows = |wanted: &str| {
            let rows = state.committed.outbox.iter();
            rows.filter(|row| row.state == wanted).count().to_string()
        };
        text += " · ";
        text += &view.messages.fill(
            "verdict.counts.outbox",
            &[
                ("pending", &rows("pending")),
                ("leased", &rows("leased")),
                ("published", &rows("published")),
                ("parked", &rows("parked")),
            ],
        );
    }
    if run.design.outside != Outside::None {
        let sent = state.sent.len().to_string();
        text += " · ";
        text += &view
            .messages
            .fill("verdict.counts.outside", &[("sent", &sent)]);
    }
    text
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
    for side in view.session.sides() {
        let run = view.run.side(*side);
        let row = words::row(view.messages, run, number);
        let name = words::design(view.messages, &run.design);
        text += &format!(" {name}: {} {}", row.code.unwrap_or_default(), row.note);
        if let Some(violation) = run.breach(number) {
            let title = words::violation(view.messages, run.state(number), &violation);
            text += &format!(" {title}");
        }
        text.push('.');
    }
    if let Some(solved) = exercise::spoken(view) {
        text += &format!(" {solved}");
    }
    text
}
