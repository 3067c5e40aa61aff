//! The lesson: which one, what it says, what it asks, and how the guess compares with the truth.

use deliver_twice_core::design::Chapter;
use deliver_twice_core::lesson::{About, Lesson, built_in};
use yew::prelude::*;

use super::{Select, View, designs};
use crate::embed::Predict;
use crate::exercise::{end, truth};
use crate::session::{Action, Guess};

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
    let headings = Chapter::ALL.map(|chapter| {
        let before = lessons.iter().filter(|l| l.chapter() < chapter).count();
        let name = view.messages.get(designs::chapter_key(chapter));
        // The first option is that of no lesson.
        (1 + before, name)
    });
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
    .show_under(&headings, move |id| {
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
            let words = match truth(view.session, view.run, view.searches) {
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
                    { for outside_is_apart(view, lesson) }
                </>
            }
        }
    };
    html! { <div class="question" role="group" data-testid="question">{ content }</div> }
}

/// What arrived outside beside what the database holds, where the question was about the former.
fn outside_is_apart(view: &View<'_>, lesson: &Lesson) -> Option<Html> {
    if lesson.asks.about != About::Sent {
        return None;
    }
    let state = end(view.session, view.run, lesson)?;
    let [sent, tasks] = [state.sent.len(), state.committed.tasks.len()].map(|n| n.to_string());
    let words = view
        .messages
        .fill("lesson.outside", &[("sent", &sent), ("tasks", &tasks)]);
    Some(html! { <p data-testid="outside-is-apart">{ words }</p> })
}

fn in_words(view: &View<'_>, lesson: &Lesson, answer: u32) -> String {
    let answer = answer.to_string();
    match lesson.asks.about {
        About::Tasks | About::Published | About::Sent => answer,
        About::TooLate => view.messages.fill("lesson.step", &[("step", &answer)]),
    }
}

/// The row that the guess belongs to, as long as the lesson's schedule is shown.
pub fn guessed_row(view: &View<'_>) -> Option<usize> {
    let (lesson, guess) = guessed(view)?;
    Some(match lesson.asks.about {
        About::Tasks | About::Published | About::Sent => lesson.schedule.0.len(),
        About::TooLate => guess as usize,
    })
}

/// The guess in words, and the truth beside it: the answer above is out of sight where the guess stands.
pub fn guess_in_words(view: &View<'_>) -> Option<String> {
    let (lesson, guess) = guessed(view)?;
    let truth = truth(view.session, view.run, view.searches);
    let key = match truth {
        None => "lesson.guess",
        Some(truth) if truth == guess => "lesson.guess.right",
        Some(_) => "lesson.guess.wrong",
    };
    let guess = in_words(view, lesson, guess);
    let truth = truth.map_or(String::new(), |truth| in_words(view, lesson, truth));
    Some(
        view.messages
            .fill(key, &[("guess", &guess), ("truth", &truth)]),
    )
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
