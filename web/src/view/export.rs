//! A run to take away: one side's, in a format that works without the page.

use deliver_twice_core::export::Export;
use yew::prelude::*;

use super::{Select, View, copy, side_class};
use crate::comparison::{Shared, SideRun};
use crate::session::Side;
use crate::words;

/// The formats, unless a question waits: a whole run would give its answer away.
pub fn show(view: &View<'_>, run: &Shared) -> Html {
    if view.session.is_asked() {
        return html! {};
    }
    html! { <TakeAway run={run.clone()} words={Words::of(view)} /> }
}

/// What the section says.
#[derive(Clone, PartialEq)]
struct Words {
    summary: String,
    text: String,
    side: String,
    sides: [String; 2],
    format: String,
    formats: [String; Export::ALL.len()],
    preview: String,
    copy: String,
    copied: String,
    copy_failed: String,
    download: String,
}

impl Words {
    fn of(view: &View<'_>) -> Self {
        let say = |key| view.messages.get(key).to_owned();
        let side = |side: Side, key| {
            let design = words::design(view.messages, &view.run.side(side).design);
            format!("{}: {design}", view.messages.get(key))
        };
        Words {
            summary: say("export"),
            text: say("export.text"),
            side: say("export.side"),
            sides: [
                side(Side::Left, "design.left"),
                side(Side::Right, "design.right"),
            ],
            format: say("export.format"),
            formats: Export::ALL.map(|export| say(format_key(export))),
            preview: say("export.preview"),
            copy: say("export.copy"),
            copied: say("export.copied"),
            copy_failed: say("export.copy.failed"),
            download: say("export.download"),
        }
    }
}

/// The key of a format's name.
fn format_key(export: Export) -> &'static str {
    match export {
        Export::Mermaid => "export.mermaid",
        Export::PlantUml => "export.plantuml",
        Export::Svg => "export.svg",
        Export::Markdown => "export.markdown",
        Export::Json => "export.json",
        Export::Sql => "export.sql",
        Export::Psql => "export.psql",
        Export::RustTest => "export.rust-test",
    }
}

#[derive(Properties, PartialEq)]
struct TakeAwayProps {
    run: Shared,
    words: Words,
}

/// The section. Closed, it writes nothing.
#[component]
fn TakeAway(props: &TakeAwayProps) -> Html {
    let is_open = use_state(|| false);
    let side = use_state(|| Side::Left);
    let export = use_state(|| Export::Mermaid);
    let ontoggle = {
        let is_open = is_open.clone();
        Callback::from(move |event: Event| {
            let details = event.target_dyn_into::<web_sys::Element>();
            is_open.set(details.is_some_and(|element| element.has_attribute("open")));
        })
    };
    let words = &props.words;
    html! {
        <details class="export" {ontoggle} data-testid="export">
            <summary>{ &words.summary }</summary>
            if *is_open {
                <p class="faint">{ &words.text }</p>
                <div class="export__choices">
                    // A puzzle has one run, and a repair begins with the same design on either side.
                    if Side::BOTH.map(|side| props.run.0.side(side).design) != [props.run.0.side(*side).design; 2] {
                        { choose_side(words, &side) }
                    }
                    { choose_format(words, &export) }
                </div>
                { preview(words, *export, props.run.0.side(*side)) }
            }
        </details>
    }
}

fn choose_side(words: &Words, side: &UseStateHandle<Side>) -> Html {
    let options = Side::BOTH.into_iter().zip(&words.sides);
    let handle = side.clone();
    Select {
        label: words.side.clone(),
        testid: "export-side".to_owned(),
        options: options
            .map(|(side, words)| (side_class(side), words.as_str()))
            .collect(),
        current: side_class(**side),
        class: "",
    }
    .show(move |name| {
        let chosen = Side::BOTH.into_iter().find(|s| side_class(*s) == name);
        chosen.inspect(|chosen| handle.set(*chosen)).is_some()
    })
}

fn choose_format(words: &Words, export: &UseStateHandle<Export>) -> Html {
    let options = Export::ALL.into_iter().zip(&words.formats);
    let handle = export.clone();
    Select {
        label: words.format.clone(),
        testid: "export-format".to_owned(),
        options: options
            .map(|(export, words)| (export.as_str(), words.as_str()))
            .collect(),
        current: export.as_str(),
        class: "",
    }
    .show(move |name| {
        let chosen = Export::named(name);
        chosen.inspect(|chosen| handle.set(*chosen)).is_some()
    })
}

/// The text, and the ways to have it.
fn preview(words: &Words, export: Export, side: &SideRun) -> Html {
    let text = export.text(&side.system, &side.run);
    let file = export.file_name(&side.design);
    // The address holds the file itself: nothing is fetched, and nothing is left to be freed.
    let written = js_sys::encode_uri_component(&text);
    let address = format!("data:{};charset=utf-8,{written}", export.media_type());
    let download = words.download.replace("{file}", &file);
    html! {
        <>
            <textarea
                class="export__preview" readonly=true rows="14" wrap="off" spellcheck="false"
                aria-label={words.preview.clone()} value={text.clone()} data-testid="export-preview"
            />
            <p class="export__ways">
                <Copy {text} words={words.clone()} />
                <a href={address} download={file} data-testid="export-download">{ download }</a>
            </p>
        </>
    }
}

#[derive(Properties, PartialEq)]
struct CopyProps {
    text: String,
    words: Words,
}

/// Copies the text. What it says about that holds until the text is another.
#[component]
fn Copy(props: &CopyProps) -> Html {
    let outcome = use_state(|| None::<(String, bool)>);
    let onclick = {
        let (outcome, text) = (outcome.clone(), props.text.clone());
        Callback::from(move |_: MouseEvent| {
            let (outcome, text) = (outcome.clone(), text.clone());
            copy(text.clone(), move |copied| {
                outcome.set(Some((text, copied)))
            });
        })
    };
    let of_text = outcome.as_ref().filter(|(text, _)| *text == props.text);
    let words = match of_text {
        None => &props.words.copy,
        Some((_, true)) => &props.words.copied,
        Some((_, false)) => &props.words.copy_failed,
    };
    html! { <button {onclick} aria-live="polite" data-testid="export-copy">{ words }</button> }
}
