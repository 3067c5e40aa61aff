//! A lesson's schedule on another engine, beside what SQLite does with it in this page.

use deliver_twice_core::lesson::Lesson;
use deliver_twice_core::property::{Verdict, Violation};
use yew::prelude::*;

use super::{View, side_class};
use crate::evidence::{Difference, Evidence, How, Outcome};
use crate::messages::Messages;
use crate::session::Side;
use crate::words::{listed, verdict_name};

/// The comparison, as long as the lesson's own schedule is shown and nothing has to be kept back.
pub fn show(view: &View<'_>) -> Html {
    let session = view.session;
    let Some(lesson) = session
        .lesson
        .filter(|lesson| session.schedule == lesson.schedule && session.designs == lesson.designs)
    else {
        return html! {};
    };
    if view.keeps_back() {
        return html! {};
    }
    let evidence = Evidence::recorded();
    let recorded = [
        ("engine", evidence.engine.as_str()),
        ("date", evidence.date),
    ];
    html! {
        <section class="evidence" data-testid="evidence">
            <h3>{ view.say("evidence") }</h3>
            <table>
                <thead><tr>
                    <td />
                    { for Side::BOTH.map(|side| html! {
                        <th scope="col" class={side_class(side)}>
                            { view.say(match side {
                                Side::Left => "design.left",
                                Side::Right => "design.right",
                            }) }
                        </th>
                    }) }
                </tr></thead>
                <tbody>
                    <tr>
                        <th scope="row">{ view.say("evidence.live") }</th>
                        { for Side::BOTH.map(|side| html! {
                            <td class={side_class(side)}>{ here(view, lesson, side) }</td>
                        }) }
                    </tr>
                    <tr data-testid="evidence-recorded">
                        <th scope="row">{ view.messages.fill("evidence.recorded", &recorded) }</th>
                        { for Side::BOTH.map(|side| html! {
                            <td class={side_class(side)}>{ for evidence.of_lesson(lesson.id, side).map(|outcome| there(view, outcome)) }</td>
                        }) }
                    </tr>
                </tbody>
            </table>
        </section>
    }
}

/// What is violated at the end of the schedule in this page.
fn here(view: &View<'_>, lesson: &Lesson, side: Side) -> String {
    let frame = view.run.side(side).frame(lesson.schedule.0.len());
    let violations = frame.map_or(&[][..], |frame| &frame.violations);
    let mut verdicts: Vec<Verdict> = violations.iter().map(Violation::verdict).collect();
    verdicts.dedup();
    in_words(view, &verdicts)
}

/// What was recorded, and where it was otherwise than here.
fn there(view: &View<'_>, outcome: &Outcome) -> Html {
    let after = (outcome.settles != outcome.ends).then(|| {
        fill(
            view,
            "evidence.settles",
            &[("outcome", &in_words(view, &outcome.settles))],
        )
    });
    let levels = ["REPEATABLE READ", "SERIALIZABLE"]
        .into_iter()
        .zip(&outcome.stricter);
    let levels = levels
        .filter(|(_, settles)| **settles != outcome.settles)
        .map(|(level, settles)| {
            fill(
                view,
                "evidence.at-level",
                &[("level", level), ("outcome", &in_words(view, settles))],
            )
        });
    let differs = outcome
        .differs
        .iter()
        .map(|difference| difference_in_words(view, *difference));
    let alike = outcome
        .differs
        .is_empty()
        .then(|| view.say("evidence.alike").to_owned());
    let remarks = after.into_iter().chain(levels).chain(differs).chain(alike);
    html! {
        <>
            { in_words(view, &outcome.ends) }
            <ul>{ for remarks.map(|words| html! { <li>{ words }</li> }) }</ul>
        </>
    }
}

fn difference_in_words(view: &View<'_>, Difference { how, step }: Difference) -> String {
    let key = match how {
        How::BothWait => "evidence.both-wait",
        How::GoesOn => "evidence.goes-on",
        How::Waits => "evidence.waits",
        How::Answers => "evidence.answers",
    };
    fill(view, key, &[("step", &step.to_string())])
}

fn in_words(view: &View<'_>, verdicts: &[Verdict]) -> String {
    outcome(view.messages, verdicts)
}

/// What is violated, as a list; or that nothing is.
pub fn outcome(messages: &Messages, verdicts: &[Verdict]) -> String {
    if verdicts.is_empty() {
        return messages.get("evidence.fine").to_owned();
    }
    let names = verdicts
        .iter()
        .map(|verdict| verdict_name(messages, *verdict).to_owned());
    listed(messages, names)
}

fn fill(view: &View<'_>, key: &str, values: &[(&str, &str)]) -> String {
    view.messages.fill(key, values)
}
