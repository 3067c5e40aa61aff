//! The page as a whole: it holds the session, and keeps the address, the language and the play in step.

use std::collections::VecDeque;
use std::rc::Rc;

use gloo::events::EventListener;
use gloo::timers::callback::Timeout;
use gloo::utils::{document_element, window};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::HtmlElement;
use yew::prelude::*;

use crate::comparison::{Comparison, Shared};
use crate::embed::facts::{Fact, Moment};
use crate::embed::port::use_host;
use crate::embed::{self, Embed, Extent, Part, Wish};
use crate::keys::{self, Circumstances, Command};
use crate::messages::{Language, Messages};
use crate::permalink::{self, BadParameter};
use crate::search::task::use_searches;
use crate::session::{Action, Session, Side};
use crate::view::matrix::Matrix;
use crate::view::{self, View};
use crate::words;

/// Milliseconds between two steps of a run that plays by itself.
const PLAY_MS: u32 = 700;

/// The page.
#[component]
pub fn App() -> Html {
    // Reading an address may carry its schedule out, to see how far it fits: once is enough.
    let opened = use_memo((), |()| {
        let (session, bad) = from_address();
        (session, Rc::new(bad))
    });
    let bad = use_state(|| Rc::clone(&opened.1));
    let hosted = use_reducer(|| embed::read(&asked_for()).0.host(opened.0.clone()));
    let embed = Rc::clone(&hosted.embed);
    let session_now = Rc::clone(&hosted.session);
    let messages = use_memo(session_now.language, |language| Messages::of(*language));
    let comparison = use_comparison(&session_now);
    let act = {
        let dispatcher = hosted.dispatcher();
        use_callback((), move |action: Action, ()| {
            dispatcher.dispatch(Wish::Visitor(action))
        })
    };
    let wish = {
        let dispatcher = hosted.dispatcher();
        use_callback((), move |wish: Wish, ()| dispatcher.dispatch(wish))
    };
    use_links(&act, &bad, &embed);
    let comparison = match comparison.as_ref() {
        Ok(comparison) => Shared(Rc::clone(comparison)),
        Err(error) => {
            let why = words::error(&messages, error);
            return html! { <p role="alert">{ messages.fill("page.failed", &[("why", &why)]) }</p> };
        }
    };
    html! {
        <Lab session={session_now} {embed} {messages} {comparison} {act} {wish} bad={Rc::clone(&bad)} />
    }
}

/// What the address asks for, in front of its hash sign and behind it.
fn asked_for() -> String {
    let location = window().location();
    let parts = [location.search(), location.hash()].map(Result::unwrap_or_default);
    parts
        .map(|part| part.trim_start_matches(['?', '#']).to_owned())
        .join("&")
}

/// Both designs' runs under the session's moves. The machines of the comparison before the last are free once
/// the last is on the page, and go on from where they stand: a step costs a step, not the whole run.
#[hook]
fn use_comparison(session: &Rc<Session>) -> Rc<deliver_twice_core::Result<Rc<Comparison>>> {
    let kept = use_mut_ref(VecDeque::<Rc<Comparison>>::new);
    let inputs = (
        session.designs,
        session.scenario,
        session.bounds_by_hand(),
        session.schedule.clone(),
    );
    use_memo(inputs, |_| {
        let mut kept = kept.borrow_mut();
        let free = (kept.len() > 1).then(|| kept.pop_front()).flatten();
        let free = free.and_then(|comparison| Rc::try_unwrap(comparison).ok());
        let made = match free {
            Some(comparison) => comparison.resumed(session),
            None => Comparison::of(session),
        };
        let made = made.map(Rc::new);
        kept.extend(made.iter().map(Rc::clone));
        made
    })
}

/// The session that the address asks for, and what in it was not taken over.
fn from_address() -> (Session, Vec<BadParameter>) {
    let query = asked_for();
    let (session, mut bad) = opened(&query);
    bad.extend(embed::read(&query).1);
    (session, bad)
}

fn opened(query: &str) -> (Session, Vec<BadParameter>) {
    let preferred = window()
        .navigator()
        .language()
        .and_then(|tag| Language::from_tag(&tag));
    permalink::open(query, preferred.unwrap_or(Language::English))
}

/// Follows a link that is put into the address of the open page, or gone back to. The address of a frame
/// belongs to whoever shows it.
#[hook]
fn use_links(act: &Callback<Action>, bad: &UseStateHandle<Rc<Vec<BadParameter>>>, embed: &Embed) {
    let (act, bad, is_embedded) = (act.clone(), bad.setter(), embed.is_embedded);
    use_effect_with((), move |()| {
        let is_top = window()
            .top()
            .ok()
            .flatten()
            .is_some_and(|top| top == window());
        let follow = move |_: &Event| {
            let location = window().location();
            let hash = location.hash().unwrap_or_default();
            // What is put behind the hash sign is a link by itself, or else a place in the page.
            let (session, found) = match hash.as_str() {
                "" => from_address(),
                hash if permalink::is_link(hash) => opened(hash),
                _ => return,
            };
            bad.set(Rc::new(found));
            act.emit(Action::Follow(Box::new(session)));
        };
        let listener =
            (is_top && !is_embedded).then(|| EventListener::new(&window(), "popstate", follow));
        move || drop(listener)
    });
}

/// What the page shows.
#[derive(Clone, Properties)]
struct LabProps {
    session: Rc<Session>,
    embed: Rc<Embed>,
    messages: Rc<Messages>,
    comparison: Shared,
    act: Callback<Action>,
    wish: Callback<Wish>,
    bad: Rc<Vec<BadParameter>>,
}

impl PartialEq for LabProps {
    fn eq(&self, other: &Self) -> bool {
        self.session == other.session
            && self.embed == other.embed
            && self.comparison == other.comparison
            && Rc::ptr_eq(&self.bad, &other.bad)
    }
}

#[component]
fn Lab(props: &LabProps) -> Html {
    let LabProps {
        session,
        embed,
        messages,
        comparison,
        act,
        wish,
        bad,
    } = props.clone();
    let root = use_node_ref();
    let crashing = use_mut_ref(|| false);
    let searches = {
        let moves = session.schedule.0.len();
        let schedules = Side::BOTH.map(|side| comparison.0.side(side).own_schedule(moves));
        use_searches(&session, schedules)
    };
    let query = permalink::write(&session);
    use_address(query.clone(), &session, &embed);
    use_play(&session, &comparison, &act);
    use_cursor_in_view(&session);
    use_focus(&root, &embed);
    let pointed = use_state_eq(|| None);
    let point = {
        let pointed = pointed.setter();
        use_callback((), move |at, ()| pointed.set(at))
    };
    let moment = Moment {
        session: Rc::clone(&session),
        run: comparison.clone(),
        searches: Rc::clone(&searches),
    };
    let tell = use_host(&embed, moment, &messages, &bad, &wish);
    let (copied, command) = use_commands(&query, &act, &embed, &tell);
    let view = View {
        session: &session,
        messages: &messages,
        run: &comparison.0,
        searches: &searches,
        embed: &embed,
        act: &act,
        command: &command,
        copied,
        pointed: *pointed,
        point: &point,
    };
    let keeps_back = view.keeps_back();
    let onkeydown = {
        let (session, comparison) = (Rc::clone(&session), comparison.clone());
        let (searches, command) = (Rc::clone(&searches), command.clone());
        let is_without_keys = embed.is_without_keys;
        Callback::from(move |event: KeyboardEvent| {
            if is_without_keys
                || is_typing(&event)
                || event.ctrl_key()
                || event.meta_key()
                || event.alt_key()
            {
                return;
            }
            let key = event.key();
            let after_x = crashing.replace(key.eq_ignore_ascii_case("x"));
            let around = Circumstances {
                session: &session,
                run: &comparison.0,
                searches: &searches,
                is_wide: view::is_wide(),
                keeps_back,
            };
            if let Some(asked) = keys::command(&around, &key, after_x) {
                event.prevent_default();
                command.emit(asked);
            }
        })
    };
    let class = classes!(
        "lab",
        match (session.sides().len(), session.shown) {
            (1, _) => "lab--left lab--solo",
            (_, Side::Left) => "lab--left",
            (_, Side::Right) => "lab--right",
        },
        (!session.compares).then_some("lab--single"),
        session.presents.then_some("lab--presents"),
        session.is_repair().then_some("lab--repair"),
        embed.is_embedded.then_some("lab--embedded"),
    );
    html! {
        <div
            {class} ref={root} tabindex="-1" {onkeydown}
            onmouseover={point.reform(|_: MouseEvent| None)}
            onfocusin={point.reform(|_: FocusEvent| None)}
            data-testid="lab"
        >
            { view::header::show(&view) }
            <main>
                { view::notices::show(&view, &bad) }
                { view::scene::show(&view) }
                { view::timeline::show(&view) }
                <div class="dock">
                    { view::verdict::show(&view) }
                    { view::controls::show(&view) }
                </div>
                if embed.has(Part::Detail) { { view::detail::show(&view) } }
                if embed.has(Part::Search) { { view::search::show(&view) } }
                if embed.has(Part::Search) { { view::evidence::show(&view) } }
                if embed.has(Part::Tables) { { view::tables::show(&view) } }
                if !view.is_at_work() {
                    if embed.has(Part::Rest) { { view::diagnosis::show(&view) } }
                    if embed.has(Part::Matrix) { <Matrix
                            messages={Rc::clone(&messages)} act={act.clone()}
                            is_open={embed.extent == Extent::Matrix}
                        /> }
                }
                if embed.has(Part::Rest) { { view::export::show(&view, &comparison) } }
            </main>
            if embed.has(Part::Rest) { { view::footer::show(&view) } }
            { view::key_list::show(&view) }
        </div>
    }
}

/// Keeps the focus on the page's keys: a button that is pressed and then gone, or of no more use, takes it
/// along. A frame that the visitor is not in leaves the focus where it is.
#[hook]
fn use_focus(root: &NodeRef, embed: &Embed) {
    let root = root.clone();
    let is_embedded = embed.is_embedded;
    use_effect(move || {
        let document = gloo::utils::document();
        if is_embedded && !document.has_focus().unwrap_or(false) {
            return;
        }
        let active = document.active_element();
        let is_lost = active.is_none_or(|element| {
            element.tag_name() == "BODY" || element.matches(":disabled").unwrap_or(false)
        });
        if let (true, Some(element)) = (is_lost, root.cast::<HtmlElement>()) {
            let options = web_sys::FocusOptions::new();
            options.set_prevent_scroll(true);
            let _ = element.focus_with_options(&options);
        }
    });
}

/// Whether a key belongs to a field that the visitor is in. A button keeps its own space bar.
fn is_typing(event: &KeyboardEvent) -> bool {
    let target = event.target_dyn_into::<web_sys::Element>();
    let tag = target.map(|element| element.tag_name()).unwrap_or_default();
    match tag.as_str() {
        "INPUT" | "TEXTAREA" | "SELECT" => true,
        "BUTTON" | "SUMMARY" => event.key() == " " || event.key() == "Enter",
        _ => false,
    }
}

/// What buttons and keys ask for, the session's changes among it, and whether the link to `query`, which is
/// what is shown, was copied.
#[hook]
fn use_commands(
    query: &str,
    act: &Callback<Action>,
    embed: &Embed,
    tell: &Callback<Fact>,
) -> (Option<bool>, Callback<Command>) {
    let copied = use_state(|| (String::new(), None));
    let outcome = copied.1.filter(|_| copied.0 == query);
    let setter = copied.setter();
    let (is_embedded, tell) = (embed.is_embedded, tell.clone());
    let command = use_callback(
        (query.to_owned(), act.clone()),
        move |command: Command, (query, act)| match command {
            Command::Act(action) => act.emit(action),
            Command::ShowSearch => show_search(),
            Command::CopyLink => {
                let (setter, query) = (setter.clone(), query.clone());
                // The address of a frame does not say what is shown.
                let address = match is_embedded {
                    true => full_lab(&query),
                    false => window().location().href().unwrap_or_default(),
                };
                tell.emit(Fact::Share {
                    url: address.clone(),
                });
                view::copy(address, move |copied| setter.set((query, Some(copied))));
            }
        },
    );
    (outcome, command)
}

/// Brings the search of every schedule where it can be seen, and the keyboard to it.
fn show_search() {
    let section = gloo::utils::document().get_element_by_id("searches");
    if let Some(section) = section.and_then(|section| section.dyn_into::<HtmlElement>().ok()) {
        section.scroll_into_view();
        let options = web_sys::FocusOptions::new();
        options.set_prevent_scroll(true);
        // Focus is refused only by what is not on the page any more.
        let _ = section.focus_with_options(&options);
    }
}

/// The address of the whole page at what `query` says.
pub fn full_lab(query: &str) -> String {
    let location = window().location();
    let here = location.href().unwrap_or_default();
    let page = here.split(['?', '#']).next().unwrap_or_default();
    format!("{page}{query}")
}

/// Keeps the address, and what the document says of language and colours, in step with the session.
#[hook]
fn use_address(query: String, session: &Session, embed: &Embed) {
    let (language, theme, is_embedded) = (session.language, session.theme, embed.is_embedded);
    use_effect_with(query, move |query| {
        // The history belongs to the host of a frame. Elsewhere a sandbox may refuse; the page works without.
        let history = window().history().ok().filter(|_| !is_embedded);
        if let Some(history) = history {
            let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(query));
        }
    });
    // Apart from the address: every element's style depends on what the root says, and would be computed anew.
    use_effect_with((language, theme), |(language, theme)| {
        let _ = document_element().set_attribute("lang", language.tag());
        let _ = document_element().set_attribute("data-theme", theme.as_str());
    });
}

/// Takes the next step after a while, as long as the run plays.
#[hook]
fn use_play(session: &Rc<Session>, comparison: &Shared, act: &Callback<Action>) {
    let next = session
        .is_playing
        .then(|| keys::forward(session, &comparison.0));
    let act = act.clone();
    let moment = (session.cursor, session.schedule.0.len(), session.is_playing);
    use_effect_with((moment, next), move |(_, next)| {
        let timer = next.clone().map(|next| {
            let action = next.unwrap_or(Action::Play(false));
            Timeout::new(PLAY_MS, move || act.emit(action))
        });
        move || drop(timer)
    });
}

/// Says to the browser how much of the window's foot the controls cover, so that whatever it scrolls to is
/// seen whole.
fn mind_the_dock() {
    let height = |selector| {
        let found = gloo::utils::document().query_selector(selector).ok()?;
        Some(found?.dyn_into::<HtmlElement>().ok()?.offset_height())
    };
    // Where there is no room for the verdicts beside them, the controls stay alone, and the dock is no box.
    let covered = height(".dock").max(height(".controls")).unwrap_or(0);
    if let Ok(root) = document_element().dyn_into::<HtmlElement>() {
        let (property, foot) = ("scroll-padding-bottom", format!("{covered}px"));
        let is_known = root.style().get_property_value(property).as_ref() == Ok(&foot);
        if !is_known {
            // Refused only for a property that no browser has.
            let _ = root.style().set_property(property, &foot);
        }
    }
}

/// Brings the current row where it can be seen whenever the visitor has moved it.
#[hook]
fn use_cursor_in_view(session: &Rc<Session>) {
    let opened = use_mut_ref(|| false);
    let shown = (
        session.cursor,
        session.schedule.clone(),
        session.designs,
        session.language,
        (session.shown, session.compares, session.presents),
    );
    use_effect_with(shown, move |_| {
        let is_first = !opened.replace(true);
        let row = gloo::utils::document()
            .query_selector("tr.row--now")
            .ok()
            .flatten();
        mind_the_dock();
        if let (false, Some(row)) = (is_first, row) {
            let options = web_sys::ScrollIntoViewOptions::new();
            options.set_block(web_sys::ScrollLogicalPosition::Nearest);
            // In a frame the page around it must stay where it is. A browser that does not know the word
            // scrolls that page too; setting a property of a plain object is not refused.
            let _ = js_sys::Reflect::set(&options, &"container".into(), &"nearest".into());
            row.scroll_into_view_with_scroll_into_view_options(&options);
        }
    });
}
