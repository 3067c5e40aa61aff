//! The exercise: which one, what it asks for, how the visitor stands with it, and why his repair holds.

use deliver_twice_core::axis::{self, Axis};
use deliver_twice_core::exercise::{Exercise, built_in};
use deliver_twice_core::property::Verdict;
use deliver_twice_core::schedule::Schedule;
use yew::prelude::*;

use super::search::{grouped, in_words as bounds_in_words};
use super::{Select, View, designs};
use crate::exercise::{self, Cost, Grade, Solution, grade, optimum, solution, taken_back};
use crate::search::task::Stand;
use crate::session::{Action, Side};
use crate::words;

/// The choice of an exercise.
pub fn chooser(view: &View<'_>) -> Html {
    let mut options = vec![("", view.say("exercise.none"))];
    let titles: Vec<String> = built_in().iter().map(|e| numbered(view, e)).collect();
    let ids = built_in().iter().map(|exercise| exercise.id);
    options.extend(ids.zip(titles.iter().map(String::as_str)));
    let act = view.act.clone();
    Select {
        label: view.say("exercise").to_owned(),
        testid: "exercise".to_owned(),
        options,
        current: view.session.exercise.map_or("", |exercise| exercise.id),
        class: "select--lesson",
    }
    .show(move |id| {
        let chosen = deliver_twice_core::exercise::named(id);
        act.emit(chosen.map_or(Action::Reopen, Action::Exercise));
        true
    })
}

/// The title of an exercise, with its kind and its number among those.
fn numbered(view: &View<'_>, exercise: &Exercise) -> String {
    let of_kind = built_in()
        .iter()
        .filter(|other| other.is_puzzle() == exercise.is_puzzle());
    let number = of_kind.take_while(|other| other.id != exercise.id).count() + 1;
    let key = match exercise.is_puzzle() {
        true => "exercise.puzzle",
        false => "exercise.repair",
    };
    let title = exercise.words("title", view.session.language.tag());
    view.messages
        .fill(key, &[("number", &number.to_string()), ("title", title)])
}

/// What the exercise says, what it asks for, and how the visitor stands.
pub fn show(view: &View<'_>, exercise: &'static Exercise) -> Html {
    let asks = match view.session.puzzle() {
        Some(verdict) => {
            let verdict = words::verdict_name(view.messages, verdict);
            view.messages.fill("puzzle.asks", &[("verdict", verdict)])
        }
        None => view.say("repair.asks").to_owned(),
    };
    let within = view
        .messages
        .fill("exercise.within", &[("bounds", &bounds_in_words(view))]);
    let is_solved = is_solved(view);
    let class = match is_solved && !view.session.answer_shown {
        true => "question question--solved",
        false => "question",
    };
    html! {
        <section class="scene" data-testid="exercise-text">
            <h2 data-testid="scene">{ numbered(view, exercise) }</h2>
            <p>{ exercise.words("text", view.session.language.tag()) }</p>
            <p class="scene__omits">{ within }</p>
            <div class={class} role="group" aria-label={view.say("exercise").to_owned()} data-testid="task">
                <strong>{ asks }</strong>
                <p data-testid="stand">{ stand(view) }</p>
                if is_solved && view.session.is_repair() { <p data-testid="why">{ why(view) }</p> }
                <div class="question__answers">
                    <button onclick={view.on(Action::Exercise(exercise))} data-testid="exercise-again">
                        { view.say("exercise.again") }
                    </button>
                    if can_be_shown(view) { { show_me(view) } }
                    { for is_solved.then(|| next(view, exercise)) }
                </div>
            </div>
        </section>
    }
}

/// Whether the exercise is solved, by whomever.
pub fn is_solved(view: &View<'_>) -> bool {
    exercise::is_solved(view.session, view.run, view.searches)
}

/// How the puzzle is solved by the moves there are.
fn solved(view: &View<'_>, verdict: Verdict) -> Option<Solution> {
    solution(view.run.side(Side::Left), verdict)
}

/// What a screen reader is told with the step that solves a puzzle, and with the search that finds that a
/// repair holds.
pub fn spoken(view: &View<'_>) -> Option<String> {
    let is_new = match view.session.puzzle() {
        Some(verdict) => solved(view, verdict).is_some_and(|s| s.row == view.session.cursor),
        None => is_solved(view),
    };
    is_new.then(|| stand(view))
}

/// How the visitor stands, in one sentence.
fn stand(view: &View<'_>) -> String {
    match view.session.puzzle() {
        Some(verdict) => puzzle_stand(view, verdict),
        None => repair_stand(view),
    }
}

fn puzzle_stand(view: &View<'_>, verdict: Verdict) -> String {
    let own = view.run.side(Side::Left).own_schedule(view.session.cursor);
    let Some(Solution { cost, .. }) = solved(view, verdict) else {
        return fill_cost(view, "puzzle.so-far", Cost::of(&own), None);
    };
    let Some(best) = best(view, verdict).map(|schedule| Cost::of(&schedule)) else {
        return fill_cost(view, "puzzle.solved.unmeasured", cost, None);
    };
    let key = match (view.session.answer_shown, grade(cost, best)) {
        (true, _) => "puzzle.shown",
        (false, Grade::Best) => "puzzle.solved.best",
        (false, Grade::FewestSteps) => "puzzle.solved.switches",
        (false, Grade::Longer) => "puzzle.solved.longer",
    };
    fill_cost(view, key, cost, Some(best))
}

/// A message with what a schedule costs in it, and what the best one does.
fn fill_cost(view: &View<'_>, key: &str, own: Cost, best: Option<Cost>) -> String {
    let best = best.unwrap_or(own);
    let [steps, switches] = [own.steps, own.switches].map(|number| number.to_string());
    let [fewest, fewest_switches] = [best.steps, best.switches].map(|number| number.to_string());
    view.messages.fill(
        key,
        &[
            ("steps", &steps),
            ("switches", &switches),
            ("fewest", &fewest),
            ("fewest_switches", &fewest_switches),
        ],
    )
}

fn repair_stand(view: &View<'_>) -> String {
    let findings = match &view.searches.side(Side::Right).stand {
        Stand::Over(findings) => findings,
        Stand::Waiting => return view.say("search.waiting").to_owned(),
        Stand::Running { states } => {
            let states = grouped(&states.to_string());
            return view.messages.fill("search.running", &[("states", &states)]);
        }
        Stand::Failed(why) => return view.messages.fill("search.failed", &[("why", why)]),
    };
    let key = match (findings.exhausted, findings.counterexamples.is_empty()) {
        (true, true) if view.session.answer_shown => "repair.shown",
        (true, true) => "repair.solved",
        (true, false) if findings.failing == "0" => "search.on-the-way",
        (true, false) => "repair.fails",
        (false, true) => "search.cut",
        (false, false) => "search.cut-breaks",
    };
    let (failing, schedules) = (grouped(&findings.failing), grouped(&findings.schedules));
    let states = grouped(&findings.states.to_string());
    view.messages.fill(
        key,
        &[
            ("failing", &failing),
            ("schedules", &schedules),
            ("states", &states),
        ],
    )
}

/// What each change of a repair is for: what the search finds when it alone is taken back.
fn why(view: &View<'_>) -> String {
    let [start, repaired] = view.session.designs;
    let changes = axis::between(&start, &repaired).map(|axis| what_for(view, axis));
    let join = |before: String, after: String| {
        view.messages
            .fill("repair.why.and", &[("before", &before), ("after", &after)])
    };
    let changes = changes.reduce(join).unwrap_or_default();
    view.messages.fill("repair.why", &[("changes", &changes)])
}

/// What one change of a repair is for.
fn what_for(view: &View<'_>, axis: Axis) -> String {
    let designs @ [start, _] = view.session.designs;
    let known = view.searches.taken_back(axis).findings();
    let broken = known.and_then(|findings| findings.counterexamples.first());
    let (key, verdict) = match (taken_back(axis, designs), known, broken) {
        (None, ..) => ("repair.why.tied", ""),
        (_, None, _) => ("repair.why.searching", ""),
        (_, _, Some((name, _))) => ("repair.why.needed", verdict_words(view, name)),
        (_, Some(findings), None) if findings.exhausted => ("repair.why.spare", ""),
        (_, Some(_), None) => ("repair.why.cut", ""),
    };
    let choice = view.messages.get(designs::choice_key(axis.choice(&start)));
    let axis = view.messages.get(designs::axis_key(axis));
    view.messages.fill(
        key,
        &[("axis", axis), ("choice", choice), ("verdict", verdict)],
    )
}

/// The words for a verdict that the search names.
fn verdict_words<'a>(view: &View<'a>, name: &str) -> &'a str {
    let verdict = Verdict::ALL.into_iter().find(|v| v.as_str() == name);
    verdict.map_or("", |verdict| words::verdict_name(view.messages, verdict))
}

/// Whether there is an answer that the visitor has not found himself.
fn can_be_shown(view: &View<'_>) -> bool {
    let is_best = match view.session.puzzle() {
        Some(verdict) => {
            let (own, best) = (solved(view, verdict), best(view, verdict));
            own.zip(best)
                .is_some_and(|(own, best)| grade(own.cost, Cost::of(&best)) == Grade::Best)
        }
        None => is_solved(view),
    };
    !is_best && !view.session.answer_shown
}

/// The simplest schedule that solves the puzzle, once the search has found it.
fn best(view: &View<'_>, verdict: Verdict) -> Option<Schedule> {
    let findings = view.searches.side(Side::Left).findings()?;
    optimum(findings, verdict)
}

/// The button for those who give up. It waits for the search where the search has the answer.
fn show_me(view: &View<'_>) -> Html {
    let action = match view.session.puzzle() {
        Some(verdict) => best(view, verdict).map(Action::Replay),
        None => Some(Action::ShowRepair),
    };
    let disabled = action.is_none();
    let onclick = view.on_some::<MouseEvent>(action);
    html! {
        <button class="quiet" {disabled} {onclick} data-testid="exercise-show">
            { view.say("exercise.show") }
        </button>
    }
}

/// The way on to the next exercise, from the last to the first.
fn next(view: &View<'_>, exercise: &Exercise) -> Html {
    let place = built_in().iter().position(|other| other.id == exercise.id);
    let next = &built_in()[place.map_or(0, |place| place + 1) % built_in().len()];
    html! {
        <button class="primary" onclick={view.on(Action::Exercise(next))} data-testid="exercise-next">
            { numbered(view, next) }{ " ▸" }
        </button>
    }
}
