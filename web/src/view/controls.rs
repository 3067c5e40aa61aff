//! The buttons: along the run, and every step that may happen next.

use deliver_twice_core::broker::WorkerId;
use deliver_twice_core::schedule::Step;
use yew::prelude::*;

use super::{View, minimap, verdict, worker_class};
use crate::embed::Controls;
use crate::keys;
use crate::session::{Action, Side};
use crate::waypoints;
use crate::words;

/// The controls.
pub fn show(view: &View<'_>) -> Html {
    let session = view.session;
    let has = view.embed.controls;
    if has == Controls::None {
        return html! {};
    }
    let enabled = view.run.enabled_after(session.cursor);
    let workers = view.run.cast().into_iter();
    let others = enabled.iter().filter(|step| !matches!(step, Step::Work(_)));
    let (deliveries, faults): (Vec<Step>, Vec<Step>) = others.partition(|step| {
        matches!(
            step,
            Step::Deliver(_) | Step::AddTicket | Step::LeaseExpires
        )
    });
    html! {
        <section class="controls" aria-label={view.say("control.moves").to_owned()}>
            { verdict::line(view) }
            <div class="controls__run">
                { travel(view, "control.first", "|◀", "Home", Some(Action::GoTo(0)), "more") }
                { travel(view, "control.back", "◀", "←", back(view), "") }
                if has >= Controls::Step { { for workers.map(|worker| work(view, &enabled, worker)) } }
                { travel(view, "control.forward", "▶", "→", keys::forward(session, view.run), "primary") }
                { travel(view, "control.last", "▶|", "End", Some(Action::GoTo(session.schedule.0.len())), "more") }
                { play(view) }
                { travel(view, "control.decision-before", "◀◇", "[", decision_before(view), "more") }
                { travel(view, "control.decision-after", "◇▶", "]", decision_after(view), "more") }
            </div>
            { minimap::show(view) }
            if has >= Controls::Step {
            <div class="controls__steps" data-testid="steps">
                { for deliveries.into_iter().map(|step| button(view, step, key_of(view, step))) }
                { for faults.into_iter().map(|step| button(view, step, key_of(view, step))) }
                <button class="restart" onclick={view.on(Action::Restart)} data-testid="restart">
                    { view.say("control.restart") }
                </button>
                if view.session.puzzle().is_none() || !view.keeps_back() {
                    <button
                        aria-pressed={session.shows_shares.to_string()}
                        onclick={view.on(Action::ShowShares(!session.shows_shares))}
                        data-testid="shares"
                    >{ view.say("control.shares") }</button>
                }
            </div>
            }
            if !session.branches.is_empty() && has >= Controls::Step {
                <div class="controls__branches">{ for branches(view) }</div>
            }
        </section>
    }
}

fn back(view: &View<'_>) -> Option<Action> {
    view.session.cursor.checked_sub(1).map(Action::GoTo)
}

fn decision_before(view: &View<'_>) -> Option<Action> {
    waypoints::decision_before(view.session, view.run).map(Action::GoTo)
}

fn decision_after(view: &View<'_>) -> Option<Action> {
    waypoints::decision_after(view.session, view.run).map(Action::GoTo)
}

/// A button that moves along the run.
fn travel(
    view: &View<'_>,
    key: &'static str,
    sign: &str,
    shortcut: &str,
    action: Option<Action>,
    class: &'static str,
) -> Html {
    let disabled = action.is_none();
    let onclick = view.on_some::<MouseEvent>(action);
    html! {
        <button
            class={class} {disabled} {onclick}
            data-testid={key.replace("control.", "run-")}
        >
            <span aria-hidden="true">{ sign }</span>
            <span class="controls__word">{ view.say(key) }</span><kbd>{ shortcut }</kbd>
        </button>
    }
}

fn play(view: &View<'_>) -> Html {
    let playing = view.session.is_playing;
    let (sign, key) = if playing {
        ("‖", "control.pause")
    } else {
        ("▷", "control.play")
    };
    html! {
        <button class="more" onclick={view.on(Action::Play(!playing))} data-testid="run-play">
            <span aria-hidden="true">{ sign }</span>{ " " }{ view.say(key) }<kbd>{ "Space" }</kbd>
        </button>
    }
}

/// The button that lets a worker take its next stage. It stays in its place when the worker cannot.
fn work(view: &View<'_>, enabled: &[Step], worker: WorkerId) -> Html {
    let step = Step::Work(worker);
    let is_waiting = Side::BOTH.iter().any(|side| {
        let state = view.run.side(*side).state(view.session.cursor);
        let job = state.find(worker).and_then(|worker| worker.job.as_ref());
        job.is_some_and(|job| job.waits_for.is_some())
    });
    let disabled = !enabled.contains(&step);
    let words = match (disabled, is_waiting) {
        (true, true) => view
            .messages
            .fill("control.waiting", &[("worker", &worker.to_string())]),
        _ => words::control(view.messages, step),
    };
    html! {
        <button
            class={classes!("worker", worker_class(worker))} {disabled}
            onclick={view.on(Action::Take(step))}
            data-testid={format!("step-{step}")}
        >{ words }<kbd>{ worker.0 + 1 }</kbd></button>
    }
}

fn button(view: &View<'_>, step: Step, shortcut: Option<String>) -> Html {
    html! {
        <button
            key={step.to_string()}
            class={step.worker().map(|worker| classes!("small", worker_class(worker)))}
            onclick={view.on(Action::Take(step))}
            data-testid={format!("step-{step}")}
        >
            { words::control(view.messages, step) }
            if let Some(shortcut) = shortcut { <kbd>{ shortcut }</kbd> }
        </button>
    }
}

/// The key that takes this very step, if there is one: a key takes the first step of its kind.
fn key_of(view: &View<'_>, step: Step) -> Option<String> {
    if let Step::Crash(worker) = step {
        return Some(format!("X {}", worker.0 + 1));
    }
    let key = match step {
        Step::Deliver(_) => "D",
        Step::AddTicket => "T",
        Step::PublishAgain(_) => "P",
        Step::LoseAck(_) => "L",
        Step::LoseReply(_) => "R",
        Step::GiveUp(_) => "G",
        Step::Work(_)
        | Step::Crash(_)
        | Step::LeaseExpires
        | Step::LeaseOverrun
        | Step::Nack(_)
        | Step::Return(_)
        | Step::LoseConfirm(_)
        | Step::LoseAnswer(_) => return None,
    };
    let taken = keys::action(view.session, view.run, key, false);
    (taken == Some(Action::Take(step))).then(|| key.to_owned())
}

/// A chip for each run that the visitor left by acting in its past.
fn branches(view: &View<'_>) -> Vec<Html> {
    let chip = |(index, schedule): (usize, &deliver_twice_core::schedule::Schedule)| {
        let title = view.messages.fill(
            "control.branch.title",
            &[("schedule", &schedule.to_string())],
        );
        let number = (index + 1).to_string();
        html! {
            <button class="branch" {title} onclick={view.on(Action::TakeBranch(index))}
                data-testid={format!("branch-{number}")}>
                { "↳ " }{ view.messages.fill("control.branch", &[("number", &number)]) }
                if view.session.presents { <code>{ format!(" {schedule}") }</code> }
            </button>
        }
    };
    view.session.branches.iter().enumerate().map(chip).collect()
}
