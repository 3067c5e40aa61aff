//! The whole run in one strip: a mark for each move, and the row that is shown. A slider to the keyboard.

use deliver_twice_core::schedule::Step;
use yew::prelude::*;

use super::{View, lesson, timeline, worker_class};
use crate::session::{Action, Side};
use crate::words;

/// How many moves a page of the slider is.
const PAGE: usize = 5;

/// The strip; nothing while there is nothing to map, or while the run would answer a question.
pub fn show(view: &View<'_>) -> Html {
    let moves = view.session.schedule.0.len();
    if moves == 0 || view.session.is_asked() {
        return html! {};
    }
    let cursor = view.session.cursor;
    let act = view.act.clone();
    let onkeydown = Callback::from(move |event: KeyboardEvent| {
        if let Some(row) = row_for(&event.key(), cursor, moves) {
            event.prevent_default();
            event.stop_propagation();
            act.emit(Action::GoTo(row));
        }
    });
    html! {
        <div
            class="minimap" role="slider" tabindex="0" {onkeydown}
            aria-label={view.say("minimap").to_owned()}
            aria-valuemin="0" aria-valuemax={moves.to_string()} aria-valuenow={cursor.to_string()}
            aria-valuetext={value(view)}
            data-testid="minimap"
        >
            { for (0..=moves).map(|row| mark(view, row)) }
        </div>
    }
}

/// The row that a key of a slider asks for.
fn row_for(key: &str, cursor: usize, moves: usize) -> Option<usize> {
    let row = match key {
        "ArrowRight" | "ArrowUp" => cursor + 1,
        "ArrowLeft" | "ArrowDown" => cursor.saturating_sub(1),
        "PageUp" => cursor + PAGE,
        "PageDown" => cursor.saturating_sub(PAGE),
        "Home" => 0,
        "End" => moves,
        _ => return None,
    };
    Some(row.min(moves))
}

fn value(view: &View<'_>) -> String {
    let (step, steps) = (view.session.cursor, view.session.schedule.0.len());
    view.messages.fill(
        "minimap.value",
        &[
            ("step", &step.to_string()),
            ("steps", &steps.to_string()),
            ("what", &what(view, step)),
        ],
    )
}

/// What a row is, in words: who did what, and what was violated by it.
fn what(view: &View<'_>, row: usize) -> String {
    let mut parts = match step(view, row) {
        None => vec![view.say("table.start").to_owned()],
        Some(step) => {
            let worker = step.worker().map(|worker| worker.to_string());
            let word = words::move_word(view.messages, step).to_owned();
            vec![
                worker
                    .into_iter()
                    .chain([word])
                    .collect::<Vec<_>>()
                    .join(" "),
            ]
        }
    };
    for side in view.session.sides() {
        let run = view.run.side(*side);
        let broken = run.breach(row);
        parts.extend(broken.map(|broken| words::violation(view.messages, run.state(row), &broken)));
    }
    if lesson::guessed_row(view) == Some(row) {
        parts.extend(lesson::guess_in_words(view));
    }
    parts.join(" · ")
}

fn step(view: &View<'_>, row: usize) -> Option<Step> {
    let index = row.checked_sub(1)?;
    view.session.schedule.0.get(index).copied()
}

fn mark(view: &View<'_>, row: usize) -> Html {
    let step = step(view, row);
    let sign = match step {
        None => html! { "·" },
        Some(Step::Work(worker)) => html! { worker.to_string() },
        Some(step) => html! { <>{ for timeline::sign(step) }</> },
    };
    let breaks =
        |side| view.session.sides().contains(&side) && view.run.side(side).breach(row).is_some();
    let breaks = Side::BOTH.map(breaks);
    let cursor = view.session.cursor;
    let class = classes!(
        "place",
        step.and_then(Step::worker).map(worker_class),
        matches!(step, Some(Step::Work(_))).then_some("place--works"),
        matches!(step, Some(Step::Crash(_))).then_some("place--crash"),
        breaks[0].then_some("place--breaks-left"),
        breaks[1].then_some("place--breaks-right"),
        (row == cursor).then_some("place--now"),
        (row > cursor).then_some("place--after"),
    );
    html! {
        <span
            key={row} {class} title={format!("{row} · {}", what(view, row))}
            onclick={view.on(Action::GoTo(row))} data-testid={format!("mark-{row}")}
        >
            { sign }
            if lesson::guessed_row(view) == Some(row) { <i class="place__guess">{ "⚑" }</i> }
            if breaks[0] { <i class="place__breach left">{ "⚠" }</i> }
            if breaks[1] { <i class="place__breach right">{ "⚠" }</i> }
        </span>
    }
}

#[cfg(test)]
mod tests {
    use super::row_for;

    #[test]
    fn the_slider_stays_within_the_run() {
        assert_eq!(row_for("ArrowRight", 13, 13), Some(13));
        assert_eq!(row_for("ArrowLeft", 0, 13), Some(0));
        assert_eq!(row_for("PageUp", 10, 13), Some(13));
        assert_eq!(row_for("PageDown", 10, 13), Some(5));
        assert_eq!(row_for("Home", 10, 13), Some(0));
        assert_eq!(row_for("End", 10, 13), Some(13));
        assert_eq!(row_for("x", 10, 13), None);
    }
}
