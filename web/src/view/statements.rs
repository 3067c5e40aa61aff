//! What each design's consumer runs, statement by statement, lit together with the rows that ran it.

use deliver_twice_core::broker::Kind;
use deliver_twice_core::plan::{Plan, Role};
use yew::prelude::*;

use super::{Pointed, View, chip, side_class};
use crate::listing::{Line, Lit, Part, lines};
use crate::session::{Action, Side};

/// The statements of a side's plans, a list for each kind of worker.
pub fn list(view: &View<'_>, side: Side) -> Html {
    let kinds = view.run.side(side).kinds();
    let is_one = kinds.len() == 1;
    html! {
        <div data-testid={format!("plan-{}", side_class(side))}>
            { for kinds.into_iter().map(|kind| plan_of(view, side, kind, is_one)) }
        </div>
    }
}

/// What workers of a kind do; under their name, unless they are the only kind.
fn plan_of(view: &View<'_>, side: Side, kind: Kind, is_one: bool) -> Html {
    let plan = view.run.side(side).system.plan_of(kind);
    let name = view.say(match kind {
        Kind::Consumer => "plan.consumer",
        Kind::Producer => "plan.producer",
        Kind::Relay => "plan.relay",
        Kind::Sender => "plan.sender",
    });
    html! {
        <>
            if !is_one { <h5 class="plan__whose">{ name }</h5> }
            <ol class="plan" aria-label={name.to_owned()}>
                { for lines(plan, kind).into_iter().map(|line| item(view, side, plan, line)) }
            </ol>
        </>
    }
}

/// The id of a line's element.
pub fn id(side: Side, line: Line) -> String {
    format!("line-{}-{}", side_class(side), line.name())
}

fn item(view: &View<'_>, side: Side, plan: &Plan, line: Line) -> Html {
    let run = view.run.side(side);
    let moves = view.moves_shown();
    let rows = run.rows_of(line, moves);
    let is_now = run.line(view.session.cursor) == Some(line);
    let is_lit = match view.pointed {
        Some(Pointed::Row(row)) => run.line(row) == Some(line),
        Some(Pointed::Line(lit)) => lit == Lit { side, line },
        None => false,
    };
    let class = classes!(
        "line",
        is_now.then_some("line--now"),
        is_lit.then_some("line--lit"),
    );
    let cursor = view.session.cursor;
    let next = rows.iter().find(|row| **row > cursor).or(rows.first());
    let onclick = next.map(|row| view.on(Action::GoTo(*row)));
    let lit = Lit { side, line };
    let indented = is_inside(plan, line);
    html! {
        <li key={line.name()} class={indented.then_some("plan__inside")}>
            <button
                id={id(side, line)} {class} {onclick} disabled={rows.is_empty()}
                aria-current={is_now.then_some("step")}
                onmouseover={view.point(Pointed::Line(lit))}
                onfocusin={view.point(Pointed::Line(lit))}
            >
                <span class="line__what">{ text(view, plan, line) }</span>
                <span class="line__rows">{ rows_in_words(view, side, &rows) }</span>
            </button>
        </li>
    }
}

/// Whether a line stands between a BEGIN and its end.
fn is_inside(plan: &Plan, line: Line) -> bool {
    let Part::Stage(index) = line.part else {
        return false;
    };
    let before = plan.stages.iter().take(index + 1).rev();
    let mut ends = before.map(|stage| stage.role);
    let edge = ends.find(|role| matches!(role, Role::Begin | Role::Commit));
    edge == Some(Role::Begin) && plan.stages[index].role != Role::Begin
}

/// The statement verbatim, or what is done in words where no database is asked.
fn text(view: &View<'_>, plan: &Plan, line: Line) -> Html {
    if let Some(sql) = line.sql(plan) {
        let effect = line.stage(plan).and_then(|stage| stage.effect);
        let is_one_of_many = plan.blocks.len() > 1;
        return html! {
            <>
                <code>{ sql }</code>
                if let Some(effect) = effect.filter(|_| is_one_of_many) {
                    <small>{ format!(" · {effect}") }</small>
                }
            </>
        };
    }
    let key = match (line.part, line.stage(plan).map(|stage| stage.role)) {
        (Part::GiveBack, _) => "plan.give-back",
        (Part::AckAnyway, _) => "plan.ack-anyway",
        (_, Some(Role::ReadFlag)) => "plan.read-flag",
        (_, Some(Role::Publish)) => "plan.publish",
        (_, Some(Role::HearConfirm)) => "row.hear",
        (_, Some(Role::AskProvider)) => "row.ask",
        (_, Some(Role::Call)) => "row.call",
        _ => "plan.ack",
    };
    html! { view.say(key) }
}

/// At which steps it was run, and by whom.
fn rows_in_words(view: &View<'_>, side: Side, rows: &[usize]) -> Html {
    if rows.is_empty() {
        return html! { view.say("plan.never") };
    }
    let by = |row: &usize| {
        let worker = view
            .run
            .side(side)
            .frame(*row)
            .and_then(|f| f.step.worker());
        html! { <span class="line__row">{ *row }{ worker.map(chip) }</span> }
    };
    html! {
        <>
            <span class="unseen">{ view.say("plan.steps") }{ " " }</span>
            { for rows.iter().map(by) }
        </>
    }
}
