//! The parts of the page. Each is a function of the session and the runs, and emits actions.

use yew::Callback;
use yew::prelude::*;

use crate::comparison::Comparison;
use crate::embed::Embed;
use crate::keys::Command;
use crate::listing::Lit;
use crate::messages::Messages;
use crate::search::task::Searches;
use crate::session::{Action, Session, Side};
use deliver_twice_core::broker::{Kind, WorkerId};

pub mod controls;
pub mod designs;
pub mod detail;
pub mod diagnosis;
pub mod evidence;
pub mod exercise;
pub mod export;
pub mod footer;
pub mod header;
pub mod key_list;
pub mod lesson;
pub mod matrix;
pub mod minimap;
pub mod notices;
pub mod scene;
pub mod search;
pub mod statements;
pub mod tables;
pub mod timeline;
pub mod verdict;

/// What every part of the page reads, and where its actions go.
pub struct View<'a> {
    /// What the visitor is looking at.
    pub session: &'a Session,
    /// The words.
    pub messages: &'a Messages,
    /// Both designs' runs.
    pub run: &'a Comparison,
    /// What the searches of every schedule know.
    pub searches: &'a Searches,
    /// What the host of the page asks for.
    pub embed: &'a Embed,
    /// Where actions go.
    pub act: &'a Callback<Action>,
    /// Where else buttons turn.
    pub command: &'a Callback<Command>,
    /// Whether the link to what is shown was put on the clipboard, once that was asked for.
    pub copied: Option<bool>,
    /// What the pointer or the keyboard is at.
    pub pointed: Option<Pointed>,
    /// Where it is told.
    pub point: &'a Callback<Option<Pointed>>,
}

/// What the pointer or the keyboard is at, so that what belongs to it is lit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointed {
    /// A row of the timeline.
    Row(usize),
    /// A line of a plan.
    Line(Lit),
}

impl View<'_> {
    /// A callback that emits the same action whatever the event.
    pub fn on<E: 'static>(&self, action: Action) -> Callback<E> {
        self.act.reform(move |_| action.clone())
    }

    /// The same for a button that may have nothing to do, and is disabled then.
    pub fn on_some<E: 'static>(&self, action: Option<Action>) -> Callback<E> {
        let act = self.act.clone();
        Callback::from(move |_| {
            if let Some(action) = &action {
                act.emit(action.clone());
            }
        })
    }

    /// Whether what gives an answer away is to be kept back: a question waits, or a puzzle is not solved.
    pub fn keeps_back(&self) -> bool {
        let is_puzzle = self.session.puzzle().is_some();
        self.session.is_asked() || (is_puzzle && self.is_at_work())
    }

    /// Whether an exercise is being worked at. What is true of named designs would give its answer away.
    pub fn is_at_work(&self) -> bool {
        let session = self.session;
        session.exercise.is_some() && !session.answer_shown && !exercise::is_solved(self)
    }

    /// A callback that says what the pointer or the keyboard has come to. Everything else on the page says
    /// that it is at nothing, so the event ends here.
    pub fn point<E: AsRef<web_sys::Event> + 'static>(&self, pointed: Pointed) -> Callback<E> {
        self.point.reform(move |event: E| {
            event.as_ref().stop_propagation();
            Some(pointed)
        })
    }

    /// A callback that turns to the page as a whole.
    pub fn ask<E: 'static>(&self, command: Command) -> Callback<E> {
        self.command.reform(move |_| command.clone())
    }

    /// How many moves are shown: none while a question waits, because they would answer it.
    pub fn moves_shown(&self) -> usize {
        if self.session.is_asked() {
            0
        } else {
            self.session.schedule.0.len()
        }
    }

    /// A message.
    pub fn say<'k>(&self, key: &'k str) -> &'k str {
        self.messages.get(key)
    }
}

/// The class that belongs to a side.
pub fn side_class(side: Side) -> &'static str {
    match side {
        Side::Left => "left",
        Side::Right => "right",
    }
}

/// A worker's letter in its colour.
pub fn chip(worker: WorkerId) -> Html {
    html! { <span class={classes!("who", worker_class(worker))}>{ worker.to_string() }</span> }
}

/// The sign of a wait. Drawn, because few fonts have one.
pub fn hourglass() -> Html {
    html! {
        <svg class="hourglass" viewBox="0 0 10 12" aria-hidden="true">
            <path d="M1 1h8M1 11h8M2 1c0 3 3 3.5 3 5s-3 2-3 5M8 1c0 3-3 3.5-3 5s3 2 3 5" />
        </svg>
    }
}

/// The class that gives a worker its colour.
pub fn worker_class(worker: WorkerId) -> &'static str {
    match (worker.kind(), worker.0) {
        (Kind::Consumer, 0) => "w-a",
        (Kind::Consumer, 1) => "w-b",
        (Kind::Consumer, _) => "w-c",
        (Kind::Producer, _) => "w-p",
        (Kind::Relay, _) => "w-r",
        (Kind::Sender, _) => "w-n",
    }
}

/// Whether there is room for both sides at once. The style sheet draws the line at the same width.
pub fn is_wide() -> bool {
    let width = gloo::utils::window()
        .inner_width()
        .ok()
        .and_then(|width| width.as_f64());
    width.is_none_or(|width| width >= 1000.0)
}

/// Puts a text on the clipboard, and then says whether it is there.
pub fn copy(text: String, then: impl FnOnce(bool) + 'static) {
    let clipboard = gloo::utils::window().navigator().clipboard();
    // Browsers hand it out over https only, and on the machine itself.
    if clipboard.is_undefined() {
        then(false);
        return;
    }
    let written = clipboard.write_text(&text);
    yew::platform::spawn_local(async move {
        then(wasm_bindgen_futures::JsFuture::from(written).await.is_ok());
    });
}

/// A choice among named values: a label and a list, which keeps to `current` whatever was refused.
pub struct Select<'a> {
    /// The label.
    pub label: String,
    /// What tests call it.
    pub testid: String,
    /// Name and words of each value.
    pub options: Vec<(&'static str, &'a str)>,
    /// The value that is chosen.
    pub current: &'static str,
    /// Further classes of the whole.
    pub class: &'static str,
}

impl Select<'_> {
    /// The list; `choose` gets the name of the value that the visitor picks, and says whether it counts.
    pub fn show(self, choose: impl Fn(&str) -> bool + 'static) -> Html {
        self.show_under(&[], choose)
    }

    /// The same, with its values under headings: each has the place of its first value. What is behind
    /// `headings` altogether stands under the last.
    pub fn show_under(
        self,
        headings: &[(usize, &str)],
        choose: impl Fn(&str) -> bool + 'static,
    ) -> Html {
        let current = self.current;
        let onchange = Callback::from(move |event: Event| {
            let Some(list) = event.target_dyn_into::<web_sys::HtmlSelectElement>() else {
                return;
            };
            if !choose(&list.value()) {
                list.set_value(current);
            }
        });
        let option = |(name, words): &(&'static str, &str)| {
            html! {
                <option value={*name} selected={*name == current}>{ words.to_string() }</option>
            }
        };
        let first = headings
            .first()
            .map_or(self.options.len(), |heading| heading.0);
        html! {
            <label class={classes!("select", self.class)}>
                <span class="select__label">{ self.label }</span>
                <select ~value={current} {onchange} data-testid={self.testid}>
                    { for self.options[..first].iter().map(option) }
                    { for headings.iter().enumerate().map(|(index, (start, heading))| {
                        let end = headings.get(index + 1).map_or(self.options.len(), |next| next.0);
                        html! {
                            <optgroup label={heading.to_string()}>
                                { for self.options[*start..end].iter().map(option) }
                            </optgroup>
                        }
                    }) }
                </select>
            </label>
        }
    }
}
