//! The run as a table: a row for each move, the moves in the middle, a design on either side.

use deliver_twice_core::broker::{Place, WorkerId};
use deliver_twice_core::design::{Design, Outside};
use deliver_twice_core::disk::LockLevel;
use deliver_twice_core::plan::Role;
use deliver_twice_core::property::Violation;
use deliver_twice_core::run::Moved;
use deliver_twice_core::schedule::Step;
use deliver_twice_core::schema::{OutboxRow, Tables};
use deliver_twice_core::sql::Answer;
use deliver_twice_core::state::State;
use deliver_twice_core::system::{self, worker_of};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};
use yew::prelude::*;

use super::{Pointed, View, chip, hourglass, lesson, search, side_class, statements, worker_class};
use crate::comparison::SideRun;
use crate::session::{Action, Side};
use crate::words;

/// The timeline.
pub fn show(view: &View<'_>) -> Html {
    let moves = view.moves_shown();
    let workers = view.run.cast().len();
    html! {
        <div
            class="timeline" ~style={format!("--workers:{workers}")} onkeydown={walk()}
            data-testid="timeline"
        >
            <table>
                <caption class="unseen">{ view.say("table.caption") }</caption>
                <colgroup>{ columns(view, Side::Left) }<col class="col-move" />{ columns(view, Side::Right) }</colgroup>
                <thead><tr>
                    { heads(view, Side::Left) }
                    <th scope="col" class="move">{ view.say("table.move") }</th>
                    { heads(view, Side::Right) }
                </tr></thead>
                <tbody>
                    { row(view, 0) }
                    { for (1..=moves).map(|number| row(view, number)) }
                </tbody>
            </table>
            if view.session.schedule.0.is_empty() { <p class="timeline__empty">{ view.say("table.empty") }</p> }
            { legend(view) }
        </div>
    }
}

/// What the heads' titles say, for a room and for paper, where nobody can point at them.
fn legend(view: &View<'_>) -> Html {
    let columns = in_order(view, Side::Left).filter_map(|column| {
        let (key, title, _) = words_of(column);
        (!title.is_empty()).then(|| (view.messages.get(key), view.messages.get(title)))
    });
    html! {
        <dl class="timeline__legend">
            { for columns.map(|(name, title)| html! { <div><dt>{ name.to_owned() }</dt><dd>{ title.to_owned() }</dd></div> }) }
        </dl>
    }
}

/// The arrows up and down walk from row to row, once the keyboard is in the timeline.
fn walk() -> Callback<KeyboardEvent> {
    Callback::from(|event: KeyboardEvent| {
        let row = event
            .target_dyn_into::<Element>()
            .and_then(|target| target.closest("tbody tr").ok().flatten());
        let next = row.and_then(|row| match event.key().as_str() {
            "ArrowUp" => row.previous_element_sibling(),
            "ArrowDown" => row.next_element_sibling(),
            _ => None,
        });
        let button = next.and_then(|row| row.query_selector(".move__number").ok().flatten());
        if let Some(button) = button.and_then(|button| button.dyn_into::<HtmlElement>().ok()) {
            event.prevent_default();
            // Focus is refused only by what is not on the page any more.
            let _ = button.focus();
        }
    })
}

/// The columns of a side, from the outside in; the right side mirrors the left.
#[derive(Clone, Copy)]
enum Column {
    Sql,
    Share,
    Tickets,
    Outbox,
    Queue,
    Receipts,
    Tasks,
    Outside,
    Locks,
}

const COLUMNS: [Column; 9] = [
    Column::Sql,
    Column::Share,
    Column::Tickets,
    Column::Outbox,
    Column::Queue,
    Column::Receipts,
    Column::Tasks,
    Column::Outside,
    Column::Locks,
];

fn in_order(view: &View<'_>, side: Side) -> impl Iterator<Item = Column> {
    let mut columns = COLUMNS;
    if side == Side::Right {
        columns.reverse();
    }
    columns.into_iter().filter(|column| is_shown(view, *column))
}

/// Whether a column has something to tell of either design: what stands in one side's row stands in the
/// other's too.
fn is_shown(view: &View<'_>, column: Column) -> bool {
    let any = |has: fn(&Design) -> bool| view.session.any_design(has);
    match column {
        Column::Sql | Column::Queue | Column::Locks => true,
        Column::Share => view.session.shows_shares && !view.keeps_back(),
        Column::Tickets => any(Design::has_producer),
        Column::Outbox => any(Design::has_outbox),
        Column::Receipts | Column::Tasks => view.session.scenario.workers > 0,
        Column::Outside => any(|design| design.outside != Outside::None),
    }
}

fn columns(view: &View<'_>, side: Side) -> Html {
    let class = |column| match column {
        Column::Sql => "col-sql",
        Column::Share | Column::Queue => "col-queue",
        Column::Receipts | Column::Tasks | Column::Outside => "col-number",
        Column::Tickets => "col-number col-tickets",
        Column::Outbox => "col-outbox",
        Column::Locks => "col-locks",
    };
    in_order(view, side)
        .map(|column| html! { <col class={classes!(class(column), side_class(side))} /> })
        .collect()
}

/// The keys of a column's name and of what it says at length, and its class.
fn words_of(column: Column) -> (&'static str, &'static str, &'static str) {
    match column {
        Column::Sql => ("table.sql", "", "sql"),
        Column::Share => ("table.share", "table.share.title", "number share"),
        Column::Queue => ("table.queue", "table.queue.title", "number queue"),
        Column::Receipts => ("table.receipts", "table.receipts.title", "number"),
        Column::Tasks => ("table.tasks", "table.tasks.title", "number"),
        Column::Tickets => ("table.tickets", "table.tickets.title", "number tickets"),
        Column::Outbox => ("table.outbox", "table.outbox.title", "number outbox"),
        Column::Outside => ("table.outside", "table.outside.title", "number"),
        Column::Locks => ("table.locks", "table.locks.title", "locks"),
    }
}

fn heads(view: &View<'_>, side: Side) -> Html {
    let head = |column| {
        let (key, title, class) = words_of(column);
        let brief = match column {
            Column::Receipts => view.say("table.receipts.brief"),
            Column::Locks => view.say("table.locks.brief"),
            _ => view.messages.get(key),
        };
        let title = (!title.is_empty()).then(|| view.messages.get(title).to_owned());
        html! {
            <th scope="col" class={classes!(class, side_class(side))} {title}>
                <span class="for-desks">{ view.messages.get(key) }</span>
                <span class="for-phones">{ brief.to_owned() }</span>
            </th>
        }
    };
    in_order(view, side).map(head).collect()
}

/// The row of a move, counted from 1; row 0 is the start.
fn row(view: &View<'_>, number: usize) -> Html {
    let cursor = view.session.cursor;
    let is_now = number == cursor;
    let breaks = Side::BOTH.map(|side| view.run.side(side).breach(number).is_some());
    let class = classes!(
        "row",
        is_now.then_some("row--now"),
        (number > cursor).then_some("row--after"),
        breaks[0].then_some("row--breaks-left"),
        breaks[1].then_some("row--breaks-right"),
        is_lit(view, Side::Left, number).then_some("row--lit-left"),
        is_lit(view, Side::Right, number).then_some("row--lit-right"),
    );
    html! {
        <tr
            key={number}
            {class}
            aria-current={is_now.then_some("step")}
            onclick={view.on(Action::GoTo(number))}
            onmouseover={view.point(Pointed::Row(number))}
            onfocusin={view.point(Pointed::Row(number))}
            data-testid={format!("row-{number}")}
        >
            { cells(view, Side::Left, number) }
            { middle(view, number) }
            { cells(view, Side::Right, number) }
        </tr>
    }
}

/// Whether a row ran the statement that the pointer or the keyboard is at.
fn is_lit(view: &View<'_>, side: Side, number: usize) -> bool {
    let Some(Pointed::Line(lit)) = view.pointed else {
        return false;
    };
    lit.side == side && view.run.side(side).line(number) == Some(lit.line)
}

/// The ids of the statements that a row ran, for a screen reader to read.
fn statements_of(view: &View<'_>, number: usize) -> Option<String> {
    let ran = Side::BOTH.into_iter().filter_map(|side| {
        let line = view.run.side(side).line(number)?;
        Some(statements::id(side, line))
    });
    let ids = ran.collect::<Vec<_>>().join(" ");
    (!ids.is_empty()).then_some(ids)
}

fn middle(view: &View<'_>, number: usize) -> Html {
    let step = number
        .checked_sub(1)
        .and_then(|index| view.session.schedule.0.get(index));
    let jump = view
        .messages
        .fill("control.jump", &[("step", &number.to_string())]);
    html! {
        <th scope="row" class="move">
            <span class="move__line">
                <button
                    class="move__number" aria-label={jump} aria-describedby={statements_of(view, number)}
                    tabindex={if number == view.session.cursor { "0" } else { "-1" }}
                    onclick={view.on(Action::GoTo(number))}
                >{ number }</button>
                if let Some(step) = step {
                    { who(*step) }
                    <span class="move__word">{ words::move_word(view.messages, *step) }</span>
                } else {
                    <span class="move__word">{ view.say("table.start") }</span>
                }
            </span>
            { lesson::flag(view, number) }
            if view.run.parting == Some(number) {
                <span class="move__parting" data-testid="parting">{ view.say("table.parting") }</span>
            }
        </th>
    }
}

/// The sign of a step; none for a worker's own, which its letter stands for.
pub fn sign(step: Step) -> Option<Html> {
    let text = match step {
        Step::Work(_) => return None,
        Step::LeaseExpires | Step::LeaseOverrun => return Some(hourglass()),
        Step::Deliver(_) | Step::PublishAgain(_) => "✉",
        Step::Crash(_) => "✕",
        Step::LoseAck(_)
        | Step::LoseReply(_)
        | Step::Nack(_)
        | Step::Return(_)
        | Step::LoseConfirm(_)
        | Step::LoseAnswer(_) => "≠",
        Step::GiveUp(_) => "↩",
        Step::AddTicket => "+",
    };
    Some(html! { text })
}

fn who(step: Step) -> Html {
    html! {
        <>
            { for sign(step).map(|sign| html! {
                <span class="who w-q" aria-hidden="true">{ sign }</span>
            }) }
            { for step.worker().map(chip) }
        </>
    }
}

fn cells(view: &View<'_>, side: Side, number: usize) -> Html {
    let run = view.run.side(side);
    let now = run.state(number);
    let before = run.state(number.saturating_sub(1));
    let cell = |column| {
        let class = side_class(side);
        match column {
            Column::Sql => sql_cell(view, side, number),
            Column::Share => share_cell(view, side, number),
            Column::Queue => queue_cell(view, class, now),
            Column::Tickets => {
                let class = classes!("tickets", class);
                rows_cell(class, [before, now], |tables| tables.tickets.len(), false)
            }
            Column::Receipts => {
                rows_cell(class, [before, now], |tables| tables.receipts.len(), false)
            }
            Column::Tasks => {
                let is_duplicate =
                    matches!(run.breach(number), Some(Violation::DuplicateEffect { .. }));
                rows_cell(
                    class,
                    [before, now],
                    |tables| tables.tasks.len(),
                    is_duplicate,
                )
            }
            Column::Outbox => outbox_cell(class, now),
            Column::Outside => {
                let is_bad = matches!(
                    run.breach(number),
                    Some(Violation::SentTwice { .. } | Violation::SentInVain { .. })
                );
                number_cell(class, before.sent.len(), now.sent.len(), None, is_bad)
            }
            Column::Locks => lock_cell(view, run, class, number),
        }
    };
    in_order(view, side).map(cell).collect()
}

fn sql_cell(view: &View<'_>, side: Side, number: usize) -> Html {
    let run = view.run.side(side);
    let workers = run.state(number).workers.len();
    let words = match number {
        0 => words::RowWords {
            code: None,
            note: view
                .say(match run.design.has_producer() {
                    true => "table.start.producer",
                    false => "table.start.text",
                })
                .to_owned(),
            tone: words::Tone::Idle,
        },
        _ => words::row(view.messages, run, number),
    };
    html! {
        <td class={classes!("sql", side_class(side))} ~style={format!("--lanes:{workers}")}>
            <span class="brackets" aria-hidden="true">
                { for run.state(number).workers().map(|(worker, _)| bracket(run, worker, number)) }
            </span>
            if let Some(code) = words.code { <code>{ code }</code>{ " " } }
            <span class={words.tone.class()}>
                if words.tone == words::Tone::Wait { { hourglass() }{ " " } }
                { words.note }
            </span>
        </td>
    }
}

/// The piece of a worker's transaction bracket that belongs to a row.
fn bracket(run: &SideRun, worker: WorkerId, number: usize) -> Html {
    let is_open = |moves: usize| run.state(moves).worker(worker).in_transaction;
    let shape = match (number > 0 && is_open(number - 1), is_open(number)) {
        (false, false) => "",
        (false, true) => "bracket--opens",
        (true, true) => "bracket--stays",
        (true, false) if committed(run, number) => "bracket--commits",
        (true, false) => "bracket--rolls-back",
    };
    html! { <i class={classes!("bracket", worker_class(worker), shape)} /> }
}

fn committed(run: &SideRun, number: usize) -> bool {
    let Some(Moved::Changed(change)) = run.frame(number).map(|frame| &frame.moved) else {
        return false;
    };
    let system::Action::Ran(ran) = &change.action else {
        return false;
    };
    ran.role == Role::Commit && ran.answer == Answer::Done
}

/// What share of the futures from here ends badly, and whether that is now all of them.
fn share_cell(view: &View<'_>, side: Side, number: usize) -> Html {
    let percent = &view.searches.side(side).percent;
    let run = view.run.side(side);
    let after = |moves: usize| {
        percent
            .get(run.own_schedule(moves).0.len())
            .copied()
            .flatten()
    };
    let class = classes!("number", "share", side_class(side));
    let Some(share) = after(number) else {
        return html! { <td {class} /> };
    };
    let is_certain = |share: f64| share >= 100.0;
    let was_certain = number > 0 && after(number - 1).is_some_and(is_certain);
    let falls_here = number > 0 && is_certain(share) && !was_certain;
    html! {
        <td {class} title={falls_here.then(|| view.say("table.share.certain").to_owned())}>
            <span class={falls_here.then_some("number__bad")}>
                { search::in_percent(share) }{ "%" }
                if falls_here { <span aria-hidden="true">{ "!" }</span> }
            </span>
            <i class="share__bar" ~style={format!("width:{share:.1}%")} aria-hidden="true" />
        </td>
    }
}

fn queue_cell(view: &View<'_>, class: &'static str, state: &State) -> Html {
    let count = |wanted: fn(Place) -> bool| {
        state
            .broker
            .deliveries()
            .filter(|(_, delivery)| wanted(delivery.place))
            .count()
    };
    let queued = count(|place| place == Place::Queued);
    let unacked = count(|place| matches!(place, Place::Unacked(_)));
    let title = view.messages.fill(
        "table.queued",
        &[
            ("queued", &queued.to_string()),
            ("unacked", &unacked.to_string()),
        ],
    );
    html! {
        <td class={classes!("number", "queue", class)} {title}>
            { queued }<span class="number__unacked">{ format!("+{unacked}") }</span>
        </td>
    }
}

/// How many rows of a table are committed, and how many a worker has written beyond that.
fn rows_cell(
    class: impl Into<Classes>,
    [before, now]: [&State; 2],
    count: fn(&Tables) -> usize,
    is_bad: bool,
) -> Html {
    let own = now
        .workers()
        .find_map(|(worker, w)| Some((worker, count(w.own.as_ref()?))));
    number_cell(
        class,
        count(&before.committed),
        count(&now.committed),
        own,
        is_bad,
    )
}

/// How far each row of the outbox is, as committed, and what is written beyond that.
fn outbox_cell(class: &'static str, now: &State) -> Html {
    let rows = &now.committed.outbox;
    let own = now
        .workers()
        .find_map(|(worker, w)| Some((worker, w.own.as_ref()?.outbox.len())));
    let row = |row: &OutboxRow| {
        let owner = row.owner.as_deref().and_then(|name| name.chars().next());
        let owner = owner.and_then(WorkerId::lettered);
        html! { <span class="outbox__row">{ &row.state }{ for owner.map(chip) }</span> }
    };
    html! {
        <td class={classes!("number", "outbox", class)}>
            { for rows.iter().map(row) }
            { for own.filter(|(_, count)| *count != rows.len()).map(|(worker, count)| open(worker, count, rows.len())) }
        </td>
    }
}

/// How many rows a worker sees beyond those that are committed.
fn open(worker: WorkerId, own: usize, committed: usize) -> Html {
    html! {
        <span class={classes!("number__open", worker_class(worker))}>
            { format!("({:+})", own as i64 - committed as i64) }
        </span>
    }
}

/// A count of committed rows, and of the rows that a worker has written and not committed.
fn number_cell(
    class: impl Into<Classes>,
    before: usize,
    now: usize,
    own: Option<(WorkerId, usize)>,
    is_duplicate: bool,
) -> Html {
    let tone = match (now > before, is_duplicate) {
        (true, true) => "number__bad",
        (true, false) => "number__more",
        (false, _) => "",
    };
    let beyond = own.filter(|(_, count)| *count != now);
    html! {
        <td class={classes!("number", class.into())}>
            <span class={tone}>{ now }</span>
            { for beyond.map(|(worker, count)| open(worker, count, now)) }
        </td>
    }
}

fn lock_cell(view: &View<'_>, run: &SideRun, class: &'static str, number: usize) -> Html {
    let bar = |worker: WorkerId| {
        let level = run.state(number).worker(worker).lock;
        let waits = run
            .frame(number)
            .map_or(&[][..], |frame| frame.waits_of(worker));
        let name = worker.to_string();
        if !waits.is_empty() {
            let holders = words::names(view.messages, waits);
            let title = view.messages.fill(
                "table.lock.waits",
                &[("worker", &name), ("holders", &holders)],
            );
            let letter = words::lock_letter(level);
            return html! {
                <span class={classes!("lock", "lock--waits", worker_class(worker))} title={title.clone()}>
                    { letter }{ hourglass() }
                    <span class="unseen">{ title }</span>
                </span>
            };
        }
        if level == LockLevel::None {
            return html! { <span class="lock" /> };
        }
        let level_name = words::lock_name(view.messages, level);
        let title = view
            .messages
            .fill("table.lock", &[("worker", &name), ("level", level_name)]);
        html! {
            <span class={classes!("lock", "lock--held", worker_class(worker))} {title}>
                { words::lock_letter(level) }
            </span>
        }
    };
    html! {
        <td class={classes!("locks", class)}>
            <span class="locks__bars">
                { for run.state(number).workers().map(|(worker, _)| bar(worker)) }
                { for links(run, number) }
            </span>
        </td>
    }
}

/// A dotted line from the bar of each worker that waits to the bar of each worker it waits for.
fn links(run: &SideRun, number: usize) -> Vec<Html> {
    let Some(frame) = run.frame(number) else {
        return vec![];
    };
    let place = |worker| frame.state.place_of(worker);
    let pairs = frame.state.workers().flat_map(|(waiter, _)| {
        let holders = frame.waits_of(waiter).iter();
        let holders = holders.filter_map(|holder| place(worker_of(*holder)?));
        holders.filter_map(move |holder| Some((place(waiter)?, holder)))
    });
    let link = |(waiter, holder): (usize, usize)| {
        let (from, to) = (waiter.min(holder), waiter.max(holder));
        let class = if holder < waiter {
            "lock__link lock__link--back"
        } else {
            "lock__link"
        };
        html! { <i {class} ~style={format!("--from:{from};--to:{to}")} aria-hidden="true" /> }
    };
    pairs.map(link).collect()
}
