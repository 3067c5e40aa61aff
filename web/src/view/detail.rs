//! The statements of each design, and of the shown step the values, SQLite's answer and the locks.

use deliver_twice_core::run::Moved;
use deliver_twice_core::sql::{Answer, Refusal};
use deliver_twice_core::system::{Action, Change, Statement};
use yew::prelude::*;

use super::{View, side_class, statements};
use crate::session::Side;
use crate::words;

/// The detail of the shown step on both sides.
pub fn show(view: &View<'_>) -> Html {
    html! {
        <div class="details">{ for Side::BOTH.map(|side| panel(view, side)) }</div>
    }
}

fn panel(view: &View<'_>, side: Side) -> Html {
    let frame = view.run.side(side).frame(view.session.cursor);
    let change = frame.and_then(|frame| match &frame.moved {
        Moved::Changed(change) => Some(change),
        Moved::Nothing(_) => None,
    });
    let name = side_class(side);
    html! {
        <section class={classes!("detail", name)} data-testid={format!("detail-{name}")}>
            <h4>
                { view.say("detail") }
                <small>{ view.messages.fill("tables.after", &[("step", &view.session.cursor.to_string())]) }</small>
            </h4>
            { statements::list(view, side) }
            { for change.and_then(|change| written_out(view, side, change)) }
            if change.and_then(statement).is_none() {
                <p class="faint">{ nothing_run(view, side) }</p>
            }
            { for change.and_then(|change| answer(view, change)) }
            { for change.map(|change| locks(view, change)) }
        </section>
    }
}

/// What the step came to, where no statement says it.
fn nothing_run(view: &View<'_>, side: Side) -> String {
    let cursor = view.session.cursor;
    let note = match cursor {
        0 => view.say("table.start.text").to_owned(),
        _ => words::row(view.messages, view.run.side(side), cursor).note,
    };
    view.messages.fill("detail.none", &[("note", &note)])
}

fn statement(change: &Change) -> Option<&Statement> {
    match &change.action {
        Action::Ran(ran) => Some(&ran.statement),
        Action::TicketAdded(statement) => Some(statement),
        _ => None,
    }
}

/// The statement of a step with its values. The text is left out where the list above has it.
fn written_out(view: &View<'_>, side: Side, change: &Change) -> Option<Html> {
    let statement = statement(change)?;
    let is_listed = view.run.side(side).line(view.session.cursor).is_some();
    Some(html! {
        <>
            if !is_listed { <pre><code>{ statement.sql }</code></pre> }
            if !statement.values.is_empty() {
                <dl class="values">
                    { for words::with_values(statement).into_iter().map(|(name, value)| html! {
                        <div><dt><code>{ name }</code></dt><dd><code>{ value }</code></dd></div>
                    }) }
                </dl>
            }
        </>
    })
}

fn answer(view: &View<'_>, change: &Change) -> Option<Html> {
    let Action::Ran(ran) = &change.action else {
        return None;
    };
    let holders = match &ran.heard {
        deliver_twice_core::system::Heard::Waits { holders } => holders.clone(),
        _ => vec![],
    };
    let words = words::answer(view.messages, &ran.answer, &holders);
    let said = match &ran.answer {
        Answer::Refused(Refusal { message, .. }) => Some(message.clone()),
        _ => None,
    };
    Some(html! {
        <p class="detail__answer">
            <b>{ view.say("detail.answer") }</b>{ " " }{ words }
            if let Some(said) = said { { " · " }<code>{ said }</code> }
        </p>
    })
}

fn locks(view: &View<'_>, change: &Change) -> Html {
    let lines = change.locks.iter().map(|event| {
        html! {
            <li>{ words::lock_event(view.messages, event) }</li>
        }
    });
    html! {
        <div class="detail__locks">
            <b>{ view.say("detail.locks") }</b>
            if change.locks.is_empty() {
                <span class="faint">{ " " }{ view.say("detail.locks.none") }</span>
            } else {
                <ol>{ for lines }</ol>
            }
        </div>
    }
}
