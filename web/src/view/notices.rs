//! What of the link could not be taken over.

use yew::prelude::*;

use super::View;
use crate::permalink::BadParameter;
use crate::words;

/// How many notices are shown before the others are folded away.
const SHOWN_MAX: usize = 3;

/// The notices, the first few openly.
pub fn show(view: &View<'_>, bad: &[BadParameter]) -> Html {
    let (first, others) = bad.split_at(bad.len().min(SHOWN_MAX));
    let more = others.len().to_string();
    html! {
        <>
            { for first.iter().map(|bad| notice(view, bad)) }
            if !others.is_empty() {
                <details class="notices" data-testid="bad-link-more">
                    <summary>{ view.messages.fill("link.bad.more", &[("count", &more)]) }</summary>
                    { for others.iter().map(|bad| notice(view, bad)) }
                </details>
            }
        </>
    }
}

fn notice(view: &View<'_>, bad: &BadParameter) -> Html {
    html! {
        <p class="notice" role="alert" data-testid="bad-link">{ words::bad_parameter(view.messages, bad) }</p>
    }
}
