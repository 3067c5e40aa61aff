//! The tables after the shown step, as committed or as a worker sees them.

use std::rc::Rc;

use deliver_twice_core::broker::WorkerId;
use deliver_twice_core::schema::{Receipt, Tables, Task};
use deliver_twice_core::state::State;
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
                { for (0..view.session.scenario.workers).map(|index| {
                    let name = WorkerId(index).to_string();
                    viewer(view, Viewer::Worker(index), view.messages.fill("tables.worker", &[("worker", &name)]))
                }) }
            </div>
            <div class="tables">{ for Side::BOTH.map(|side| panel(view, side)) }</div>
        </>
    }
}

fn viewer(view: &View<'_>, viewer: Viewer, words: String) -> Html {
    let pressed = (view.session.viewer == viewer).to_string();
    let testid = match viewer {
        Viewer::Committed => "view-committed".to_owned(),
        Viewer::Worker(index) => format!("view-{}", WorkerId(index)),
    };
    html! {
        <button aria-pressed={pressed} onclick={view.on(Action::View(viewer))} data-testid={testid}>
            { words }
        </button>
    }
}

/// What the chosen viewer sees in a state.
fn seen(state: &State, viewer: Viewer) -> Rc<Tables> {
    let own = match viewer {
        Viewer::Committed => None,
        Viewer::Worker(index) => state
            .workers
            .get(usize::from(index))
            .and_then(|w| w.own.clone()),
    };
    own.unwrap_or_else(|| Rc::clone(&state.committed))
}

fn panel(view: &View<'_>, side: Side) -> Html {
    let cursor = view.session.cursor;
    let run = view.run.side(side);
    let state = run.state(cursor);
    let now = seen(state, view.session.viewer);
    let before = seen(run.state(cursor.saturating_sub(1)), view.session.viewer);
    let name = side_class(side);
    html! {
        <section class={classes!("tables__side", name)} data-testid={format!("tables-{name}")}>
            { receipts(view, state, &now, &before) }
            { tasks(view, run, state, &now, &before) }
            { for note(view, state).map(|words| html! { <p class="faint">{ words }</p> }) }
        </section>
    }
}

fn note(view: &View<'_>, state: &State) -> Option<String> {
    let Viewer::Worker(index) = view.session.viewer else {
        return None;
    };
    let worker = state.workers.get(usize::from(index))?;
    let name = WorkerId(index).to_string();
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

fn empty(view: &View<'_>, is_empty: bool, columns: usize) -> Html {
    if !is_empty {
        return html! {};
    }
    html! {
        <tr><td class="faint" colspan={columns.to_string()}>{ view.say("tables.empty") }</td></tr>
    }
}
