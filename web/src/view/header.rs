//! The name of the page, and what concerns the page as a whole.

use gloo::utils::{document_element, window};
use yew::prelude::*;

use super::{View, copy};
use crate::session::Action;

/// The header.
pub fn show(view: &View<'_>) -> Html {
    let other = view.session.language.other();
    html! {
        <header class="header">
            <h1>{ view.say("page.title") }<i>{ view.say("page.motto") }</i></h1>
            <nav>
                <button
                    onclick={view.on(Action::SetLanguage(other))}
                    lang={other.tag()}
                    title={view.say("page.language.label").to_owned()}
                    data-testid="language"
                >{ view.say("page.language") }</button>
                <Theme
                    label={view.say("page.theme").to_owned()}
                    names={["auto", "light", "dark"].map(|name| {
                        view.messages.get(theme_key(name)).to_owned()
                    })}
                />
                <CopyLink
                    label={view.say("page.share").to_owned()}
                    done={view.say("page.shared").to_owned()}
                    failed={view.say("page.share.failed").to_owned()}
                />
                <button class="for-keyboards" onclick={view.on(Action::ShowKeys(!view.session.shows_keys))}>
                    { view.say("page.keys") }<kbd>{ "?" }</kbd>
                </button>
            </nav>
        </header>
    }
}

fn theme_key(name: &str) -> &'static str {
    match name {
        "light" => "page.theme.light",
        "dark" => "page.theme.dark",
        _ => "page.theme.auto",
    }
}

#[derive(Properties, PartialEq)]
struct ThemeProps {
    label: String,
    names: [String; 3],
}

/// Light, dark, or what the visitor's system prefers.
#[component]
fn Theme(props: &ThemeProps) -> Html {
    let index = use_state(|| 0_usize);
    let onclick = {
        let index = index.clone();
        Callback::from(move |_: MouseEvent| {
            let next = (*index + 1) % 3;
            let theme = ["auto", "light", "dark"][next];
            let _ = document_element().set_attribute("data-theme", theme);
            index.set(next);
        })
    };
    html! {
        <button {onclick} data-testid="theme">
            { format!("{}: {}", props.label, props.names[*index]) }
        </button>
    }
}

#[derive(Properties, PartialEq)]
struct CopyProps {
    label: String,
    done: String,
    failed: String,
}

/// Copies the address, which always holds what is shown.
#[component]
fn CopyLink(props: &CopyProps) -> Html {
    let outcome = use_state(|| None);
    let onclick = {
        let outcome = outcome.clone();
        Callback::from(move |_: MouseEvent| {
            let outcome = outcome.clone();
            let address = window().location().href().unwrap_or_default();
            copy(address, move |copied| outcome.set(Some(copied)));
        })
    };
    let words = match *outcome {
        None => &props.label,
        Some(true) => &props.done,
        Some(false) => &props.failed,
    };
    html! { <button {onclick} aria-live="polite">{ words }</button> }
}
