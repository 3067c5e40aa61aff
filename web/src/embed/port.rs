//! The messages between the page and its host.
//!
//! Each is `{ns: "delivertwice", v: 1, id, type, payload}`. Until the host has spoken, it is told nothing but
//! that the page is there and how high it is. What does not come from the host's window, and from its origin
//! if the address names one, is not heard; what is unknown or malformed is not answered.

use std::cell::RefCell;
use std::rc::Rc;

use deliver_twice_core::export::Export;
use gloo::events::EventListener;
use gloo::timers::callback::Timeout;
use gloo::utils::window;
use js_sys::{JSON, Reflect};
use serde::{Deserialize, Serialize};
use serde_wasm_bindgen::{Serializer, from_value};
use wasm_bindgen::prelude::*;
use web_sys::{MessageEvent, ResizeObserver, Window};
use yew::prelude::*;

use super::facts::{Fact, Moment, Teller};
use super::{Embed, Wish};
use crate::app::full_lab;
use crate::messages::Messages;
use crate::permalink;
use crate::session::{Action, Session, Side, Theme};
use crate::words;

/// The name of the protocol, in every message.
const NAMESPACE: &str = "delivertwice";

/// The version of the protocol. A change that an older host does not understand raises it.
const VERSION: u32 = 1;

/// The most characters of a message as JSON.
const MESSAGE_MAX: u32 = 65_536;

/// How often the page says hello to a host that does not answer, and how long it waits in between, in ms.
const HELLOS: u32 = 20;
const HELLO_MS: u32 = 500;

/// How long after a change the host hears of it: of many, it hears of the last.
const STATE_MS: u32 = 120;

/// The most calls that wait for a search.
const WAITING_MAX: usize = 8;

/// By how many CSS pixels a height has to change to be told.
const DEAD_BAND: i32 = 4;

/// What a host can do here.
const FEATURES: [&str; 7] = [
    "set",
    "rules",
    "call",
    "theme",
    "visibility",
    "resize",
    "print",
];

#[derive(Serialize)]
struct Hello {
    features: [&'static str; FEATURES.len()],
    version: &'static str,
}

#[derive(Serialize)]
struct Ready {
    version: &'static str,
    item: String,
    state: State,
}

/// What is shown: what a link holds.
#[derive(Serialize, Deserialize)]
struct State {
    query: String,
}

#[derive(Serialize)]
struct Height {
    height: i32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    req_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Nothing,
    Text(String),
    State(State),
    Facts(Vec<Fact>),
}

#[derive(Default, Deserialize)]
struct Init {
    theme: Option<String>,
    lang: Option<String>,
}

#[derive(Deserialize)]
struct Visibility {
    visible: bool,
}

#[derive(Deserialize)]
struct SetState {
    state: State,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call {
    method: String,
    req_id: String,
    #[serde(default)]
    args: Vec<String>,
}

/// There is more to say than a message holds.
#[derive(Debug)]
struct TooLarge;

/// The page's end of the line.
struct Port {
    embed: Rc<Embed>,
    parent: Window,
    id: String,
    /// Where the host is, once it has spoken.
    origin: Option<String>,
    is_ready: bool,
    teller: Teller,
    wish: Callback<Wish>,
    /// What is shown, with the words for it.
    now: Option<(Moment, Rc<Messages>)>,
    /// What the page opened with.
    first: Option<Rc<Session>>,
    /// What of the address was not taken over; told once the host can hear it.
    bad: Rc<Vec<permalink::BadParameter>>,
    /// Calls that wait for the searches.
    waiting: Vec<String>,
    /// The change that the host is about to hear of.
    change: Option<Timeout>,
    height: i32,
}

type SharedPort = Rc<RefCell<Port>>;

/// Connects an embedded page with its host.
#[hook]
pub fn use_host(
    embed: &Rc<Embed>,
    moment: Moment,
    messages: &Rc<Messages>,
    bad: &Rc<Vec<permalink::BadParameter>>,
    wish: &Callback<Wish>,
) -> Callback<Fact> {
    let port = {
        let (embed, wish) = (Rc::clone(embed), wish.clone());
        use_memo((), move |()| Port::open(embed, wish))
    };
    {
        let (port, bad) = (Rc::clone(&port), Rc::clone(bad));
        let messages = Rc::clone(messages);
        use_effect_with((moment, messages), move |(moment, messages)| {
            if let Some(port) = port.as_ref() {
                show(port, moment, messages, &bad);
            }
        });
    }
    {
        let port = Rc::clone(&port);
        use_effect_with((), move |()| {
            let held = port.as_ref().as_ref().map(listen);
            move || drop(held)
        });
    }
    let tell = Rc::clone(&port);
    use_callback((), move |fact: Fact, ()| {
        if let Some(port) = tell.as_ref() {
            port.borrow().tell(&fact);
        }
    })
}

impl Port {
    /// `None` where there is no host.
    fn open(embed: Rc<Embed>, wish: Callback<Wish>) -> Option<SharedPort> {
        let parent = window().parent().ok().flatten()?;
        if !embed.is_embedded || parent == window() {
            return None;
        }
        let id = format!("{:x}", (js_sys::Math::random() * 9e15) as u64);
        Some(Rc::new(RefCell::new(Port {
            teller: Teller::new(&embed.item, embed.kept),
            embed,
            parent,
            id,
            origin: None,
            is_ready: false,
            wish,
            now: None,
            first: None,
            bad: Rc::default(),
            waiting: vec![],
            change: None,
            height: 0,
        })))
    }

    /// Says something to the host, unless it is too long for a message. Before the host has spoken, its origin
    /// may be unknown.
    fn try_say<T: Serialize>(&self, kind: &str, payload: &T) -> Result<(), TooLarge> {
        let message = js_sys::Object::new();
        let payload = payload.serialize(&Serializer::json_compatible());
        let payload = payload.expect("what is told is plain data");
        let fields = [
            ("ns", NAMESPACE.into()),
            ("v", VERSION.into()),
            ("id", self.id.as_str().into()),
            ("type", kind.into()),
            ("payload", payload),
        ];
        for (name, value) in fields {
            // A plain object takes any property.
            let _ = Reflect::set(&message, &name.into(), &value);
        }
        let text = JSON::stringify(&message).expect("what is told is plain data");
        if text.length() > MESSAGE_MAX {
            return Err(TooLarge);
        }
        let named = self.embed.parent.as_ref().or(self.origin.as_ref());
        // A host in a sandbox has no origin that a message could be sent to.
        let target = named.filter(|origin| *origin != "null");
        let target = target.map_or("*", String::as_str);
        // Refused only when the host is gone.
        let _ = self.parent.post_message(&message, target);
        Ok(())
    }

    /// Says something short. Only what a host itself has made long could be too long here, and is left out.
    fn say<T: Serialize>(&self, kind: &str, payload: &T) {
        self.try_say(kind, payload).ok();
    }

    fn hello(&self) {
        let (features, version) = (FEATURES, env!("CARGO_PKG_VERSION"));
        self.say("hello", &Hello { features, version });
    }

    fn tell(&self, fact: &Fact) {
        if !self.is_ready {
            return;
        }
        let (Err(TooLarge), Some((_, messages))) = (self.try_say("event", fact), &self.now) else {
            return;
        };
        let error = Fact::Error {
            code: "too-large",
            message: words::too_large(messages, MESSAGE_MAX),
            recoverable: true,
        };
        self.say("event", &error);
    }

    fn state(&self) -> State {
        let query = self
            .now
            .as_ref()
            .map(|(moment, _)| permalink::write(&moment.session));
        State {
            query: query.unwrap_or_default(),
        }
    }
}

/// Takes in what is shown now, and tells what has come about.
fn show(
    shared: &SharedPort,
    moment: &Moment,
    messages: &Rc<Messages>,
    bad: &Rc<Vec<permalink::BadParameter>>,
) {
    let mut port = shared.borrow_mut();
    let is_first = port.now.is_none();
    port.now = Some((moment.clone(), Rc::clone(messages)));
    if is_first {
        port.first = Some(Rc::clone(&moment.session));
        port.bad = Rc::clone(bad);
    }
    let facts = port.teller.tell(moment, now_ms());
    for fact in &facts {
        if let Fact::StateChange { .. } = fact {
            if port.change.is_none() {
                let later = Rc::clone(shared);
                port.change = Some(Timeout::new(STATE_MS, move || tell_change(&later)));
            }
        } else {
            port.tell(fact);
        }
    }
    answer_waiting(&mut port);
}

impl Port {
    fn tell_bad(&self, bad: &[permalink::BadParameter]) {
        let Some((_, messages)) = &self.now else {
            return;
        };
        for bad in bad.iter().take(3) {
            self.tell(&Fact::Error {
                code: "bad-parameter",
                message: words::bad_parameter(messages, bad),
                recoverable: true,
            });
        }
    }
}

fn tell_change(shared: &SharedPort) {
    let mut port = shared.borrow_mut();
    port.change = None;
    let Some((moment, _)) = &port.now else { return };
    port.tell(&port.teller.change(moment, now_ms()));
}

fn now_ms() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

/// What has to be kept for as long as the page listens.
struct Held {
    _listener: EventListener,
    observer: Option<ResizeObserver>,
    _closure: Closure<dyn FnMut()>,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(observer) = &self.observer {
            observer.disconnect();
        }
    }
}

fn listen(shared: &SharedPort) -> Held {
    let heard = Rc::clone(shared);
    let listener = EventListener::new(&window(), "message", move |event| {
        if let Some(event) = event.dyn_ref::<MessageEvent>() {
            hear(&heard, event);
        }
    });
    say_hello(shared, HELLOS);
    let measured = Rc::clone(shared);
    let closure = Closure::<dyn FnMut()>::new(move || tell_height(&measured));
    let observer = ResizeObserver::new(closure.as_ref().unchecked_ref()).ok();
    let lab = gloo::utils::document()
        .query_selector(".lab")
        .ok()
        .flatten();
    if let (Some(observer), Some(lab)) = (&observer, &lab) {
        observer.observe(lab);
    }
    Held {
        _listener: listener,
        observer,
        _closure: closure,
    }
}

/// Says hello until the host answers, so that either side may be there first.
fn say_hello(shared: &SharedPort, times: u32) {
    if times == 0 || shared.borrow().is_ready {
        return;
    }
    shared.borrow().hello();
    let later = Rc::clone(shared);
    Timeout::new(HELLO_MS, move || say_hello(&later, times - 1)).forget();
}

/// Tells how high the page is. An observer is called once for each picture at most.
fn tell_height(shared: &SharedPort) {
    let lab = gloo::utils::document()
        .query_selector(".lab")
        .ok()
        .flatten();
    let Some(lab) = lab.and_then(|lab| lab.dyn_into::<web_sys::HtmlElement>().ok()) else {
        return;
    };
    let height = lab.offset_height();
    let mut port = shared.borrow_mut();
    if (height - port.height).abs() >= DEAD_BAND {
        port.height = height;
        port.say("resize", &Height { height });
    }
}

/// Takes a message in, if it is one and comes from the host.
fn hear(shared: &SharedPort, event: &MessageEvent) {
    {
        let port = shared.borrow();
        let is_parent = event.source().is_some_and(|source| {
            let source: &JsValue = source.as_ref();
            source == AsRef::<JsValue>::as_ref(&port.parent)
        });
        let named = port.embed.parent.as_ref().or(port.origin.as_ref());
        if !is_parent || named.is_some_and(|origin| *origin != event.origin()) {
            return;
        }
    }
    let Some((kind, payload)) = read(&event.data()) else {
        return;
    };
    let is_greeting = matches!(kind.as_str(), "hello" | "init");
    if !is_greeting && !shared.borrow().is_ready {
        return;
    }
    if is_greeting {
        shared.borrow_mut().origin = Some(event.origin());
    }
    match kind.as_str() {
        "hello" => shared.borrow().hello(),
        "init" => init(shared, &payload),
        "theme" => {
            let theme = from_value::<Init>(payload).unwrap_or_default();
            set_looks(shared, &theme);
        }
        "visibility" => {
            if let Ok(Visibility { visible: false }) = from_value(payload) {
                wish(shared, Action::Play(false));
            }
        }
        // Printed is what the frame shows, in full. A sandbox without `allow-modals` keeps it from that.
        "print" => drop(window().print()),
        "set" => {
            if let Ok(SetState { state }) = from_value(payload) {
                set(shared, &state.query);
            }
        }
        "rules" => {
            if let Ok(State { query }) = from_value(payload) {
                set_rules(shared, &query);
            }
        }
        "call" => {
            if let Ok(call) = from_value(payload) {
                answer(shared, call);
            }
        }
        _ => {}
    }
}

/// The kind and the payload of a message, if it is one of this protocol and not too long.
fn read(data: &JsValue) -> Option<(String, JsValue)> {
    let field = |name: &str| Reflect::get(data, &name.into()).ok();
    if !data.is_object()
        || field("ns")?.as_string()? != NAMESPACE
        || field("v")?.as_f64()? != f64::from(VERSION)
    {
        return None;
    }
    // What JSON cannot hold is no message, and what it leaves out is not heard.
    let text = JSON::stringify(data).ok()?;
    if text.length() > MESSAGE_MAX {
        return None;
    }
    let plain = JSON::parse(&text.as_string()?).ok()?;
    let field = |name: &str| Reflect::get(&plain, &name.into()).ok();
    Some((field("type")?.as_string()?, field("payload")?))
}

fn init(shared: &SharedPort, payload: &JsValue) {
    set_looks(shared, &from_value(payload.clone()).unwrap_or_default());
    let mut port = shared.borrow_mut();
    port.is_ready = true;
    let ready = Ready {
        version: env!("CARGO_PKG_VERSION"),
        item: port.embed.item.clone(),
        state: port.state(),
    };
    port.say("ready", &ready);
    let bad = std::mem::take(&mut port.bad);
    port.tell_bad(&bad);
    let height = port.height;
    if height > 0 {
        port.say("resize", &Height { height });
    }
}

/// Follows the host's theme and language. What is no theme and no language changes nothing.
fn set_looks(shared: &SharedPort, looks: &Init) {
    if let Some(theme) = looks.theme.as_deref().and_then(Theme::named) {
        wish(shared, Action::SetTheme(theme));
    }
    let language = looks.lang.as_deref();
    if let Some(language) = language.and_then(crate::messages::Language::from_tag) {
        wish(shared, Action::SetLanguage(language));
    }
}

fn wish(shared: &SharedPort, action: Action) {
    let wish = shared.borrow().wish.clone();
    wish.emit(Wish::Host(action));
}

/// Takes other rules over; where the host is does not change.
fn set_rules(shared: &SharedPort, query: &str) {
    let (mut rules, bad) = super::read(&format!("embed=1&{query}"));
    let wish = {
        let mut port = shared.borrow_mut();
        port.tell_bad(&bad);
        rules.parent = port.embed.parent.clone();
        port.teller.rename(&rules.item);
        port.embed = Rc::new(rules.clone());
        port.wish.clone()
    };
    wish.emit(Wish::Rules(rules));
}

/// Shows another state, as a link would, in the visitor's language and colours unless it names others.
fn set(shared: &SharedPort, query: &str) {
    let Some((moment, _)) = shared.borrow().now.clone() else {
        return;
    };
    let (mut session, bad) = permalink::open(query, moment.session.language);
    if session.theme == Theme::Auto {
        session.theme = moment.session.theme;
    }
    let session = shared.borrow().embed.opened(session);
    shared.borrow().tell_bad(&bad);
    wish(shared, Action::Follow(Box::new(session)));
}

/// Carries a call out and says what came of it. Each call is answered once.
fn answer(shared: &SharedPort, call: Call) {
    let Call {
        method,
        req_id,
        args,
    } = call;
    if method == "explore" {
        let mut port = shared.borrow_mut();
        if port.waiting.len() < WAITING_MAX {
            port.waiting.push(req_id);
            return answer_waiting(&mut port);
        }
        return reply(&port, req_id, Err("busy"));
    }
    let outcome = carry_out(shared, &method, &args);
    reply(&shared.borrow(), req_id, outcome);
}

fn reply(port: &Port, req_id: String, outcome: Result<Value, &'static str>) {
    let (value, error) = match outcome {
        Ok(value) => (Some(value), None),
        Err(code) => (None, Some(code)),
    };
    let mut outcome = Outcome {
        req_id,
        value,
        error,
    };
    if let Err(TooLarge) = port.try_say("result", &outcome) {
        (outcome.value, outcome.error) = (None, Some("too-large"));
        port.say("result", &outcome);
    }
}

/// What a call comes to, or a code that says why it comes to nothing.
fn carry_out(shared: &SharedPort, method: &str, args: &[String]) -> Result<Value, &'static str> {
    let (moment, _) = shared.borrow().now.clone().ok_or("not-ready")?;
    let argument = |index: usize| args.get(index).map(String::as_str).ok_or("bad-argument");
    let session = &moment.session;
    let act = |action: Action| {
        wish(shared, action);
        Ok(Value::Nothing)
    };
    match method {
        "state" => Ok(Value::State(shared.borrow().state())),
        "link" => Ok(Value::Text(full_lab(&permalink::write(session)))),
        "step" => {
            let name = argument(0)?;
            if session.is_asked() {
                return Err("kept-back");
            }
            let mut enabled = moment.run.0.enabled_after(session.cursor).into_iter();
            let step = enabled.find(|step| step.to_string() == name);
            act(Action::Take(step.ok_or("not-enabled")?))
        }
        "goto" => {
            let number = argument(0)?.parse().map_err(|_| "bad-argument")?;
            if session.is_asked() {
                return Err("kept-back");
            }
            act(Action::GoTo(number))
        }
        "run" if session.is_asked() => Err("kept-back"),
        "run" => act(Action::Play(true)),
        "pause" => act(Action::Play(false)),
        "reset" => {
            let first = shared.borrow().first.clone().ok_or("not-ready")?;
            let (language, theme) = (session.language, session.theme);
            let first = Session {
                language,
                theme,
                ..(*first).clone()
            };
            act(Action::Follow(Box::new(first)))
        }
        "exportTrace" => {
            let format = Export::named(argument(0)?).ok_or("bad-argument")?;
            if session.is_asked() {
                return Err("kept-back");
            }
            let side = match args.get(1).map(String::as_str) {
                None | Some("left") => Side::Left,
                Some("right") => Side::Right,
                Some(_) => return Err("bad-argument"),
            };
            let side = moment.run.0.side(side);
            Ok(Value::Text(format.text(&side.system, &side.run)))
        }
        _ => Err("unknown-method"),
    }
}

/// Answers the calls that wait for the searches, once they are over.
fn answer_waiting(port: &mut Port) {
    let Some((moment, _)) = port.now.clone() else {
        return;
    };
    let is_over = moment.session.sides().iter().all(|side| {
        use crate::search::task::Stand;
        let stand = &moment.searches.side(*side).stand;
        matches!(stand, Stand::Over(_) | Stand::Failed(_))
    });
    if !is_over {
        return;
    }
    for req_id in std::mem::take(&mut port.waiting) {
        let facts = super::facts::explored(&port.embed.item, None, &moment);
        let outcome = match facts.is_empty() {
            true => Err("kept-back"),
            false => Ok(Value::Facts(facts)),
        };
        reply(port, req_id, outcome);
    }
}
