//! What is real on the page, and what is a model.

use yew::prelude::*;

use super::View;

/// The footer.
pub fn show(view: &View<'_>) -> Html {
    let engine = view
        .messages
        .fill("footer.engine", &[("version", rusqlite::version())]);
    html! {
        <footer>
            <p data-testid="engine">{ engine }</p>
            <p>{ view.say("footer.model") }</p>
            <p>{ view.say("footer.postgres") }</p>
            <p>{ view.say("footer.world") }</p>
        </footer>
    }
}
