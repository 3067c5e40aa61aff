//! The tables after the shown step, as committed or as a worker sees them.

use std::rc::Rc;

use deliver_twice_core::design::Outside;
use deliver_twice_core::schema::{OutboxRow, Receipt, Tables, Task};
use deliver_twice_core::state::{Message, State};
use yew::prelude::*;

use super::{View, chip, side_class};
use crate::comparison::SideRun;
use crate::session::{Action, Side, Viewer};

/// The tables of both sides, under a choice of whose view they show.
pub fn show(view: &View<'_>) -> Html {
    html! {
        <>
            <div class="viewers" role="group" aria-label={view.say("tables.view").to_owned()}>
                <span>{ view.say("tables.view") }</span>
                { viewer(view, Viewer::Committed, view.say("tables.committed").to_owned()) }
                { for view.run.cast().into_iter().map(|worker| {
                    let name = worker.to_string();
                    let words = view.messages.fill("tables.worker", &[("worker", &name)]);
                    viewer(view, Viewer::Worker(worker), words)
                }) }
            </div>
            <div class="tables">{ for Side::BOTH.map(|side| panel(view, side)) }</div>
        </>
    }
}

fn viewer(view: &View<'_>, viewer: Viewer, words: String) -> Html {
    let pressed = (chosen(view) == viewer).to_string();
    let testid = match viewer {
        Viewer::Committed => "view-committed".to_owned(),
        Viewer::Worker(worker) => format!("view-{worker}"),
    };
    html! {
        <button aria-pressed={pressed} onclick={view.on(Action::View(viewer))} data-testid={testid}>
            { words }
        </button>
    }
}

/// The viewer that is chosen, unless it is a worker that has left the stage.
fn chosen(view: &View<'_>) -> Viewer {
    match view.session.viewer {
        Viewer::Worker(worker) if !view.run.cast().contains(&worker) => Viewer::Committed,
        viewer => viewer,
    }
}

/// What the chosen viewer sees in a state.
fn seen(state: &State, viewer: Viewer) -> Rc<Tables> {
    let own = match viewer {
        Viewer::Committed => None,
        Viewer::Worker(worker) => state.find(worker).and_then(|w| w.own.clone()),
    };
    own.unwrap_or_else(|| Rc::clone(&state.committed))
}

fn panel(view: &View<'_>, side: Side) -> Html {
    let cursor = view.session.cursor;
    let run = view.run.side(side);
    let state = run.state(cursor);
    let viewer = chosen(view);
    let now = seen(state, viewer);
    let before = seen(run.state(cursor.saturating_sub(1)), viewer);
    let name = side_class(side);
    html! {
        <section class={classes!("tables__side", name)} data-testid={format!("tables-{name}")}>
            if view.session.design(side).has_producer() { { tickets(view, state, &now, &before) } }
            { receipts(view, state, &now, &before) }
            { tasks(view, run, state, &now, &before) }
            if view.session.design(side).has_outbox() { { outbox(view, state, &now, &before) } }
            if view.session.design(side).outside != Outside::None { { sent(view, run, cursor) } }
            { for note(view, state).map(|words| html! { <p class="faint">{ words }</p> }) }
        </section>
    }
}

fn note(view: &View<'_>, state: &State) -> Option<String> {
    let Viewer::Worker(worker) = chosen(view) else {
        return None;
    };
    let name = worker.to_string();
    let worker = state.find(worker)?;
    worker
        .own
        .is_none()
        .then(|| view.messages.fill("tables.same", &[("worker", &name)]))
}

/// The class and the words of a row: whether it is new, and whether it is committed.
fn standing(view: &View<'_>, is_new: bool, is_committed: bool) -> (Classes, Html) {
    let class = classes!(
        is_new.then_some("is-new"),
        (!is_committed).then_some("is-open")
    );
    let words = html! {
        <>
            if is_new { <span class="mark">{ "+ " }{ view.say("tables.new") }</span> }
            if !is_committed { <span class="mark">{ view.say("tables.uncommitted") }</span> }
        </>
    };
    (class, words)
}

fn caption(view: &View<'_>, name: &str, count: usize) -> Html {
    let after = view.messages.fill(
        "tables.after",
        &[("step", &view.session.cursor.to_string())],
    );
    html! {
        <caption><code>{ name }</code>{ " " }<b data-testid={format!("count-{name}")}>{ count }</b>
            <small>{ after }</small></caption>
    }
}

/// How many rows before `index` are equal to it: equal rows are told apart by that.
fn rank<T: PartialEq>(rows: &[T], index: usize) -> usize {
    rows[..index]
        .iter()
        .filter(|row| **row == rows[index])
        .count()
}

fn has<T: PartialEq>(rows: &[T], row: &T, rank: usize) -> bool {
    rows.iter().filter(|other| *other == row).count() > rank
}

fn tickets(view: &View<'_>, state: &State, now: &Tables, before: &Tables) -> Html {
    let row = |ticket: &String| {
        let is_new = view.session.cursor > 0 && !before.tickets.contains(ticket);
        let (class, words) = standing(view, is_new, state.committed.tickets.contains(ticket));
        html! { <tr {class}><td>{ ticket }</td><td>{ words }</td></tr> }
    };
    html! {
        <table>
            { caption(view, "tickets", now.tickets.len()) }
            <thead><tr><th scope="col">{ "id" }</th><td /></tr></thead>
            <tbody>
                { for now.tickets.iter().map(row) }
                { empty(view, now.tickets.is_empty(), 2) }
            </tbody>
        </table>
    }
}

fn receipts(view: &View<'_>, state: &State, now: &Tables, before: &Tables) -> Html {
    let row = |(index, receipt): (usize, &Receipt)| {
        let rank = rank(&now.receipts, index);
        let is_new = view.session.cursor > 0 && !has(&before.receipts, receipt, rank);
        let is_committed = has(&state.committed.receipts, receipt, rank);
        let (class, words) = standing(view, is_new, is_committed);
        html! {
            <tr {class}><td>{ &receipt.event_id }</td><td>{ &receipt.effect_name }</td><td>{ words }</td></tr>
        }
    };
    html! {
        <table>
            { caption(view, "effect_receipts", now.receipts.len()) }
            <thead><tr>
                <th scope="col">{ "event_id" }</th><th scope="col">{ "effect_name" }</th><td />
            </tr></thead>
            <tbody>
                { for now.receipts.iter().enumerate().map(row) }
                { empty(view, now.receipts.is_empty(), 3) }
            </tbody>
        </table>
    }
}

fn tasks(view: &View<'_>, run: &SideRun, state: &State, now: &Tables, before: &Tables) -> Html {
    let row = |task: &Task| {
        let is_new = view.session.cursor > 0 && !before.tasks.contains(task);
        let (class, words) = standing(view, is_new, state.committed.tasks.contains(task));
        let author = run.author(&task.id, view.session.cursor);
        let short: String = task.id.chars().take(8).collect();
        html! {
            <tr {class}>
                <td title={task.id.clone()}>{ short }{ "…" }</td>
                <td class="tables__ticket">{ &task.ticket_id }</td>
                <td>{ &task.task_type }</td>
                <td>{ &task.status }</td>
                <td>{ for author.map(chip) }</td>
                <td>{ words }</td>
            </tr>
        }
    };
    html! {
        <table>
            { caption(view, "business_tasks", now.tasks.len()) }
            <thead><tr>
                <th scope="col">{ "id" }</th>
                <th scope="col" class="tables__ticket">{ "ticket_id" }</th>
                <th scope="col">{ "task_type" }</th><th scope="col">{ "status" }</th>
                <th scope="col">{ view.say("tables.by") }</th><td />
            </tr></thead>
            <tbody>
                { for now.tasks.iter().map(row) }
                { empty(view, now.tasks.is_empty(), 6) }
            </tbody>
        </table>
    }
}

fn outbox(view: &View<'_>, state: &State, now: &Tables, before: &Tables) -> Html {
    let row = |row: &OutboxRow| {
        let is_new = view.session.cursor > 0 && !before.outbox.contains(row);
        let (class, words) = standing(view, is_new, state.committed.outbox.contains(row));
        html! {
            <tr {class}>
                <td>{ &row.event_id }</td>
                <td>{ &row.state }</td>
                <td>{ row.owner.as_deref().unwrap_or("") }</td>
                <td>{ row.token }</td>
                <td>{ row.attempt }</td>
                <td>{ words }</td>
            </tr>
        }
    };
    html! {
        <table>
            { caption(view, "outbox_events", now.outbox.len()) }
            <thead><tr>
                <th scope="col">{ "event_id" }</th><th scope="col">{ "state" }</th>
                <th scope="col">{ "owner" }</th><th scope="col">{ "token" }</th>
                <th scope="col">{ "attempt" }</th><td />
            </tr></thead>
            <tbody>
                { for now.outbox.iter().map(row) }
                { empty(view, now.outbox.is_empty(), 6) }
            </tbody>
        </table>
    }
}

/// What arrived outside: no table, and nothing that a rollback could take back.
fn sent(view: &View<'_>, run: &SideRun, cursor: usize) -> Html {
    let (now, before) = (run.state(cursor), run.state(cursor.saturating_sub(1)));
    let row = |(index, message): (usize, &Message)| {
        let rank = rank(&now.sent, index);
        let is_new = cursor > 0 && !has(&before.sent, message, rank);
        let id = run.task_id(&message.task);
        let has_task = now.committed.tasks.iter().any(|task| task.id == id);
        let short: String = id.chars().take(8).collect();
        html! {
            <tr class={is_new.then_some("is-new")}>
                <td>{ message.task.event.to_string() }</td>
                <td title={id}>{ short }{ "…" }</td>
                <td>
                    { view.say(if has_task { "outside.task.committed" } else { "outside.task.missing" }) }
                </td>
                <td>if is_new { <span class="mark">{ "+ " }{ view.say("tables.new") }</span> }</td>
            </tr>
        }
    };
    html! {
        <table class="outside">
            <caption>{ view.say("outside.arrived") }{ " " }<b data-testid="count-outside">{ now.sent.len() }</b>
                <small>{ view.say("outside.note") }</small></caption>
            <thead><tr>
                <th scope="col">{ view.say("outside.event") }</th>
                <th scope="col">{ view.say("outside.for") }</th>
                <th scope="col">{ view.say("outside.task") }</th><td />
            </tr></thead>
            <tbody>
                { for now.sent.iter().enumerate().map(row) }
                { empty(view, now.sent.is_empty(), 4) }
            </tbody>
        </table>
    }
}

fn empty(view: &View<'_>, is_empty: bool, columns: usize) -> Html {
    if !is_empty {
        return html! {};
    }
    html! {
        <tr><td class="faint" colspan={columns.to_string()}>{ view.say("tables.empty") }</td></tr>
    }
}
