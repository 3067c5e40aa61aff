//! The lesson: which one, what it says, what it asks, and how the guess compares with the truth.

use deliver_twice_core::lesson::{Asks, Lesson, built_in};
use yew::prelude::*;

use super::{Select, View};
use crate::embed::Predict;
use crate::session::{Action, Guess, Side};

/// The choice of a lesson.
pub fn chooser(view: &View<'_>) -> Html {
    let tag = view.session.language.tag();
    let lessons = built_in();
    let titles: Vec<String> = (1..)
        .zip(lessons)
        .map(|(number, lesson)| format!("{number}. {}", lesson.words("title", tag)))
        .collect();
    let mut options = vec![("", view.say("lesson.none"))];
    options.extend(
        lessons
            .iter()
            .zip(&titles)
            .map(|(lesson, title)| (lesson.id, title.as_str())),
    );
    let place = view
        .session
        .lesson
        .and_then(|lesson| lessons.iter().position(|l| l.id == lesson.id));
    let act = view.act.clone();
    let select = Select {
        label: view.say("lesson").to_owned(),
        testid: "lesson".to_owned(),
        options,
        current: view.session.lesson.map_or("", |lesson| lesson.id),
        class: "select--lesson",
    }
    .show(move |id| {
        let lesson = built_in().iter().find(|lesson| lesson.id == id);
        act.emit(lesson.map_or(Action::Reopen, Action::Teach));
        true
    });
    let next = lessons.get(place.map_or(0, |place| place + 1));
    let before = place
        .and_then(|place| place.checked_sub(1))
        .map(|place| &lessons[place]);
    html! {
        <div class="lessons">
            { select }
            { turn(view, "lesson.before", "◀", before) }
            { turn(view, "lesson.next", "▶", next) }
        </div>
    }
}

fn turn(view: &View<'_>, key: &'static str, sign: &str, to: Option<&'static Lesson>) -> Html {
    let act = view.act.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        if let Some(lesson) = to {
            act.emit(Action::Teach(lesson));
        }
    });
    html! {
        <button
            {onclick} disabled={to.is_none()} aria-label={view.say(key).to_owned()}
            title={view.say(key).to_owned()} data-testid={key.replace('.', "-")}
        >{ sign }</button>
    }
}

/// What the lesson says and asks.
pub fn show(view: &View<'_>, lesson: &'static Lesson) -> Html {
    let tag = view.session.language.tag();
    html! {
        <section class="scene" data-testid="lesson-text">
            <h2 data-testid="scene">{ lesson.words("title", tag) }</h2>
            <p>{ lesson.words("text", tag) }</p>
            <p class="scene__omits">{ lesson.words("omits", tag) }</p>
            { question(view, lesson) }
        </section>
    }
}

fn question(view: &View<'_>, lesson: &'static Lesson) -> Html {
    let tag = view.session.language.tag();
    let content = match view.session.guess {
        Guess::Skipped => return html! {},
        Guess::Asked => html! {
            <>
                <strong>{ lesson.words("asks", tag) }</strong>
                <div class="question__answers">
                    { for lesson.answers.iter().map(|answer| html! {
                        <button
                            onclick={view.on(Action::Answer(Guess::Given(*answer)))}
                            data-testid={format!("answer-{answer}")}
                        >{ in_words(view, lesson, *answer) }</button>
                    }) }
                    if view.embed.predict != Predict::Require {
                        <button
                            class="quiet" onclick={view.on(Action::Answer(Guess::Skipped))}
                            data-testid="answer-skip"
                        >{ view.say("lesson.skip") }</button>
                    }
                </div>
            </>
        },
        Guess::Given(guess) => {
            let guessed = in_words(view, lesson, guess);
            let words = match truth(view, lesson) {
                None => view.messages.fill("lesson.guess", &[("guess", &guessed)]),
                Some(truth) => {
                    let key = if truth == guess {
                        "lesson.right"
                    } else {
                        "lesson.wrong"
                    };
                    let truth = in_words(view, lesson, truth);
                    view.messages
                        .fill(key, &[("guess", &guessed), ("truth", &truth)])
                }
            };
            html! {
                <>
                    <strong>{ lesson.words("asks", tag) }</strong>
                    <p data-testid="answered">{ words }</p>
                </>
            }
        }
    };
    html! { <div class="question" role="group" data-testid="question">{ content }</div> }
}

fn in_words(view: &View<'_>, lesson: &Lesson, answer: u32) -> String {
    let answer = answer.to_string();
    match lesson.asks {
        Asks::Tasks(_) => answer,
        Asks::TooLate(_) => view.messages.fill("lesson.step", &[("step", &answer)]),
    }
}

/// The side that the question is about.
fn side(asks: Asks) -> Side {
    let (Asks::Tasks(index) | Asks::TooLate(index)) = asks;
    Side::BOTH[index]
}

/// The right answer, as the machine or the search computed it. `None` while the search is not over, or
/// once the visitor has left the lesson's schedule.
fn truth(view: &View<'_>, lesson: &Lesson) -> Option<u32> {
    if view.session.schedule != lesson.schedule || view.session.designs != lesson.designs {
        return None;
    }
    let moves = lesson.schedule.0.len();
    let run = view.run.side(side(lesson.asks));
    match lesson.asks {
        Asks::Tasks(_) => Some(run.state(moves).committed.tasks.len() as u32),
        Asks::TooLate(_) => {
            let percent = &view.searches.side(side(lesson.asks)).percent;
            let is_certain = |number: &usize| {
                let taken = run.own_schedule(*number).0.len();
                percent
                    .get(taken)
                    .copied()
                    .flatten()
                    .is_some_and(|share| share >= 100.0)
            };
            (0..=moves).find(is_certain).map(|number| number as u32)
        }
    }
}

/// The row that the guess belongs to, as long as the lesson's schedule is shown.
pub fn guessed_row(view: &View<'_>) -> Option<usize> {
    let (lesson, guess) = guessed(view)?;
    Some(match lesson.asks {
        Asks::Tasks(_) => lesson.schedule.0.len(),
        Asks::TooLate(_) => guess as usize,
    })
}

/// The guess in words.
pub fn guess_in_words(view: &View<'_>) -> Option<String> {
    let (lesson, guess) = guessed(view)?;
    let guess = in_words(view, lesson, guess);
    Some(view.messages.fill("lesson.guess", &[("guess", &guess)]))
}

fn guessed(view: &View<'_>) -> Option<(&'static Lesson, u32)> {
    let (Some(lesson), Guess::Given(guess)) = (view.session.lesson, view.session.guess) else {
        return None;
    };
    (view.session.schedule == lesson.schedule).then_some((lesson, guess))
}

/// The flag of the guess, if it belongs to this row.
pub fn flag(view: &View<'_>, number: usize) -> Html {
    let Some(words) = guess_in_words(view).filter(|_| guessed_row(view) == Some(number)) else {
        return html! {};
    };
    html! { <span class="move__guess" data-testid="guess">{ "⚑ " }{ words }</span> }
}
