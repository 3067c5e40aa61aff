//! The name of the page, and what concerns the page as a whole.

use yew::prelude::*;

use super::{Select, View};
use crate::app::full_lab;
use crate::keys::Command;
use crate::permalink;
use crate::session::{Action, Theme};

/// The header.
pub fn show(view: &View<'_>) -> Html {
    if view.embed.is_embedded {
        return bar(view);
    }
    html! {
        <header class="header">
            <h1>{ view.say("page.title") }<i>{ view.say("page.motto") }</i></h1>
            <nav>
                { language(view) }
                { theme(view) }
                <button
                    onclick={view.ask(Command::CopyLink)} aria-live="polite" data-testid="share"
                >{ share(view) }<kbd>{ "S" }</kbd></button>
                <button
                    aria-pressed={view.session.presents.to_string()}
                    onclick={view.on(Action::Present(!view.session.presents))} data-testid="present"
                >{ view.say("page.present") }<kbd>{ "F" }</kbd></button>
                <button class="for-keyboards" onclick={view.on(Action::ShowKeys(!view.session.shows_keys))}>
                    { view.say("page.keys") }<kbd>{ "?" }</kbd>
                </button>
            </nav>
        </header>
    }
}

/// The header inside another page: which page this is, and the way to it.
fn bar(view: &View<'_>) -> Html {
    let address = full_lab(&permalink::write(view.session));
    html! {
        <header class="header">
            <h1>{ view.say("page.title") }</h1>
            <nav>
                { language(view) }
                <button
                    onclick={view.ask(Command::CopyLink)} aria-live="polite" data-testid="share"
                >{ share(view) }</button>
                <a href={address.clone()} target="_blank" rel="noopener" data-testid="full-lab">
                    { view.say("embed.open") }
                </a>
            </nav>
            // A sandbox may keep the clipboard back. This can be selected, and copied by hand.
            if view.copied == Some(false) {
                <input
                    class="header__address" readonly=true value={address}
                    aria-label={view.say("embed.address").to_owned()} data-testid="address"
                />
            }
        </header>
    }
}

/// The other language.
fn language(view: &View<'_>) -> Html {
    let other = view.session.language.other();
    html! {
        <button
            onclick={view.on(Action::SetLanguage(other))}
            lang={other.tag()}
            title={view.say("page.language.label").to_owned()}
            data-testid="language"
        >{ view.say("page.language") }</button>
    }
}

/// Light, dark, or what the visitor's system prefers.
fn theme(view: &View<'_>) -> Html {
    let words = |theme: Theme| match theme {
        Theme::Auto => view.say("page.theme.auto"),
        Theme::Light => view.say("page.theme.light"),
        Theme::Dark => view.say("page.theme.dark"),
    };
    let act = view.act.clone();
    Select {
        label: view.say("page.theme").to_owned(),
        testid: "theme".to_owned(),
        options: Theme::ALL
            .iter()
            .map(|theme| (theme.as_str(), words(*theme)))
            .collect(),
        current: view.session.theme.as_str(),
        class: "select--theme",
    }
    .show(move |name| {
        let chosen = Theme::named(name);
        if let Some(theme) = chosen {
            act.emit(Action::SetTheme(theme));
        }
        chosen.is_some()
    })
}

/// What the button of the link says: what it does, or what came of it.
fn share<'a>(view: &'a View<'_>) -> &'a str {
    match view.copied {
        None => view.say("page.share"),
        Some(true) => view.say("page.shared"),
        Some(false) if view.embed.is_embedded => view.say("embed.copy-by-hand"),
        Some(false) => view.say("page.share.failed"),
    }
}
