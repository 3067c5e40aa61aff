//! The list of keys.

use yew::prelude::*;

use super::View;
use crate::keys;
use crate::session::Action;

/// The list, if it is asked for.
pub fn show(view: &View<'_>) -> Html {
    if !view.session.shows_keys {
        return html! {};
    }
    html! {
        <div class="keys" role="dialog" aria-label={view.say("keys.title").to_owned()} data-testid="keys">
            <h3>{ view.say("keys.title") }</h3>
            <dl>
                { for keys::LIST.iter().map(|(key, words)| html! {
                    <div><dt><kbd>{ *key }</kbd></dt><dd>{ view.messages.get(words) }</dd></div>
                }) }
            </dl>
            <button onclick={view.on(Action::ShowKeys(false))}>{ view.say("keys.close") }<kbd>{ "Esc" }</kbd></button>
        </div>
    }
}
