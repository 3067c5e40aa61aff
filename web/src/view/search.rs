//! The search of every schedule: its bounds, and what it found for each side.

use deliver_twice_core::design::{Design, Outside};
use deliver_twice_core::property::Verdict;
use deliver_twice_core::scenario::{Bounds, CrashAt, Number, Provider, TaskRow, Ticket};
use deliver_twice_core::schedule::Schedule;
use yew::prelude::*;

use super::{Select, View, scene, side_class};
use crate::embed::Part;
use crate::search::messages::Findings;
use crate::search::task::Stand;
use crate::session::{Action, Side};
use crate::words;

const DIGITS: [&str; 3] = ["0", "1", "2"];

/// The bounds and what the search found, for both sides.
pub fn show(view: &View<'_>) -> Html {
    if view.keeps_back() {
        return html! {};
    }
    html! {
        <section class="searches" id="searches" tabindex="-1" aria-label={view.say("search").to_owned()}>
            <h3>{ view.say("search") }</h3>
            if view.session.exercise.is_none() { { bounds(view) } }
            <div class="searches__sides">{ for view.session.sides().iter().map(|side| result(view, *side)) }</div>
        </section>
    }
}

/// What the search of a side has come to, in as few words as will do: the rest is further down.
pub fn line(view: &View<'_>, side: Side) -> Html {
    let words = match &view.searches.side(side).stand {
        _ if view.keeps_back() || !view.embed.has(Part::Search) => return html! {},
        Stand::Waiting | Stand::Failed(_) => return html! {},
        Stand::Running { states } => view.messages.fill(
            "search.running",
            &[("states", &grouped(&states.to_string()))],
        ),
        Stand::Over(findings) => {
            let is_one = findings.schedules == "1";
            let key = match (findings.exhausted, findings.counterexamples.is_empty()) {
                (true, true) if is_one => "search.line.holds.one",
                (true, true) => "search.line.holds",
                (true, false) if findings.failing == "0" && is_one => "search.on-the-way.one",
                (true, false) if findings.failing == "0" => "search.on-the-way",
                (true, false) if is_one => "search.line.breaks.one",
                (true, false) => "search.line.breaks",
                (false, true) => "search.line.cut",
                (false, false) => "search.line.cut-breaks",
            };
            let (schedules, percent) = (grouped(&findings.schedules), in_percent(findings.percent));
            view.messages
                .fill(key, &[("schedules", &schedules), ("percent", &percent)])
        }
    };
    html! { <p class="verdict__counts" data-testid={format!("line-{}", side_class(side))}>{ words }</p> }
}

/// The controls of the bounds.
fn bounds(view: &View<'_>) -> Html {
    html! {
        <div class="scenario" role="group" aria-label={view.say("search.bounds").to_owned()}>
            <span class="scenario__head">{ view.say("search.bounds") }</span>
            { for offered(view).map(|bound| number(view, bound)) }
            if view.session.bounds.crashes > 0 { { moment(view) } }
        </div>
    }
}

/// The numbers of the bounds that concern one of the designs, or that are not 0.
fn offered<'a>(view: &'a View<'_>) -> impl Iterator<Item = &'static Number<Bounds>> + 'a {
    const NUMBERS: &[Number<Bounds>] = &Bounds::NUMBERS;
    let bounds = view.session.bounds;
    NUMBERS
        .iter()
        .filter(move |number| concerns(view, number.name) || number.of(bounds) > 0)
}

/// Whether a fault can befall one of the two designs.
fn concerns(view: &View<'_>, name: &str) -> bool {
    let any = |has: fn(&Design) -> bool| view.session.any_design(has);
    match name {
        "published-again" => any(|design| !design.has_producer()),
        "nacks" | "returns" => any(Design::has_producer),
        "overruns" | "lost-confirms" => any(Design::has_outbox),
        "lost-answers" => any(|design| design.outside != Outside::None),
        _ => true,
    }
}

fn number(view: &View<'_>, bound: &'static Number<Bounds>) -> Html {
    let Number { name, max, .. } = bound;
    let bounds = view.session.bounds;
    let current = bound.of(bounds);
    let label = match *name {
        "crashes" => "search.crashes",
        "lost-acks" => "search.lost-acks",
        "lost-replies" => "search.lost-replies",
        "published-again" => "search.published-again",
        "given-up" => "search.given-up",
        "overruns" => "search.overruns",
        "nacks" => "search.nacks",
        "returns" => "search.returns",
        "lost-confirms" => "search.lost-confirms",
        _ => "search.lost-answers",
    };
    let act = view.act.clone();
    Select {
        label: view.say(label).to_owned(),
        testid: format!("bounds-{name}"),
        options: DIGITS[..=usize::from(*max)]
            .iter()
            .map(|digit| (*digit, *digit))
            .collect(),
        current: DIGITS[usize::from(current.min(*max))],
        class: "",
    }
    .show(move |value| {
        let number = value.parse().unwrap_or(0);
        act.emit(Action::SetBounds(bound.set(bounds, number)));
        true
    })
}

fn moment(view: &View<'_>) -> Html {
    let bounds = view.session.bounds;
    let words = |moment: CrashAt| match moment {
        CrashAt::AnyMoment => view.say("search.any-moment"),
        CrashAt::BeforeAck => view.say("search.before-ack"),
        CrashAt::BetweenCommits => view.say("search.between-commits"),
    };
    let act = view.act.clone();
    Select {
        label: view.say("search.crash-at").to_owned(),
        testid: "bounds-crash-at".to_owned(),
        options: CrashAt::ALL
            .into_iter()
            .map(|moment| (moment.as_str(), words(moment)))
            .collect(),
        current: bounds.crash_at.as_str(),
        class: "",
    }
    .show(move |value| {
        let crash_at = CrashAt::named(value).unwrap_or(bounds.crash_at);
        act.emit(Action::SetBounds(Bounds { crash_at, ..bounds }));
        true
    })
}

/// What the search of a side has found so far.
fn result(view: &View<'_>, side: Side) -> Html {
    let name = side_class(side);
    let content = match &view.searches.side(side).stand {
        Stand::Waiting => html! { <span class="faint">{ view.say("search.waiting") }</span> },
        Stand::Running { states } => {
            let states = grouped(&states.to_string());
            html! {
                <span class="faint">
                    { view.messages.fill("search.running", &[("states", &states)]) }
                </span>
            }
        }
        Stand::Failed(why) => html! {
            <span>{ view.messages.fill("search.failed", &[("why", why)]) }</span>
        },
        Stand::Over(findings) => over(view, findings),
    };
    html! {
        <div class={classes!("search", name)} data-testid={format!("search-{name}")}>
            <h4>{ words::design(view.messages, &view.session.design(side)) }</h4>
            { content }
        </div>
    }
}

fn over(view: &View<'_>, findings: &Findings) -> Html {
    let broken = !findings.counterexamples.is_empty();
    let is_one = findings.schedules == "1";
    let key = match (findings.exhausted, broken) {
        (true, false) if is_one => "search.holds.one",
        (true, false) => "search.holds",
        (true, true) if findings.failing == "0" && is_one => "search.on-the-way.one",
        (true, true) if findings.failing == "0" => "search.on-the-way",
        (true, true) if is_one => "search.breaks.one",
        (true, true) => "search.breaks",
        (false, false) => "search.cut",
        (false, true) => "search.cut-breaks",
    };
    let states = grouped(&findings.states.to_string());
    let schedules = grouped(&findings.schedules);
    let failing = grouped(&findings.failing);
    let percent = in_percent(findings.percent);
    let bounds = in_words(view);
    let sentence = view.messages.fill(
        key,
        &[
            ("schedules", &schedules),
            ("failing", &failing),
            ("percent", &percent),
            ("states", &states),
            ("bounds", &bounds),
        ],
    );
    let sign = match (findings.exhausted, broken) {
        (_, true) => "⚠ ",
        (true, false) => "✓ ",
        (false, false) => "… ",
    };
    html! {
        <>
            <p class={classes!("search__line", broken.then_some("search__line--bad"))}>
                if broken {
                    <span class="search__bar" aria-hidden="true">
                        <i ~style={format!("width:{:.1}%", findings.percent)} />
                    </span>
                }
                { sign }{ sentence }
            </p>
            <div class="search__replays">
                { for findings.counterexamples.iter().filter_map(|(name, text)| replay(view, name, text)) }
                { for findings.passing.iter().filter_map(|text| passing(view, text, broken)) }
            </div>
        </>
    }
}

/// A button that shows the shortest schedule to a verdict.
fn replay(view: &View<'_>, name: &str, text: &str) -> Option<Html> {
    let verdict = Verdict::ALL
        .into_iter()
        .find(|verdict| verdict.as_str() == name)?;
    let schedule: Schedule = text.parse().ok()?;
    let (steps, switches) = (
        schedule.0.len().to_string(),
        schedule.switches().to_string(),
    );
    let words = view.messages.fill(
        "search.replay",
        &[
            ("verdict", words::verdict_name(view.messages, verdict)),
            ("steps", &steps),
            ("switches", &switches),
        ],
    );
    Some(html! {
        <button class="small" onclick={view.on(Action::Replay(schedule))} data-testid={format!("replay-{name}")}>
            { words }{ " ▸" }
        </button>
    })
}

/// A button that shows a schedule on which nothing goes wrong. Of interest only where others do.
fn passing(view: &View<'_>, text: &str, broken: bool) -> Option<Html> {
    let schedule: Schedule = text.parse().ok().filter(|_| broken)?;
    let steps = schedule.0.len().to_string();
    let words = view.messages.fill("search.passing", &[("steps", &steps)]);
    Some(html! {
        <button class="small" onclick={view.on(Action::Replay(schedule))} data-testid="replay-passing">
            { words }{ " ▸" }
        </button>
    })
}

/// The scenario and the bounds in words: what "all schedules" are. Whatever is not as usual is named.
pub fn in_words(view: &View<'_>) -> String {
    let scenario = view.session.scenario;
    let bounds = view.session.bounds;
    let any = |has: fn(&Design) -> bool| view.session.any_design(has);
    let mut parts = vec![];
    let mut name = |key: &str, count: u8| {
        parts.push(view.messages.fill(key, &[("count", &count.to_string())]));
    };
    if any(|design| !design.has_producer()) {
        name("search.within.deliveries", scenario.deliveries);
    }
    name("search.within.workers", scenario.workers);
    if any(Design::has_outbox) {
        name("search.within.relays", scenario.relays);
    }
    if any(Design::has_sender) {
        name("search.within.senders", scenario.senders);
    }
    if scenario.effects > 1 {
        name("search.within.effects", scenario.effects);
    }
    if scenario.versions > 1 {
        name("search.within.versions", scenario.versions);
    }
    for bound in &Bounds::NUMBERS {
        let count = bound.of(bounds);
        if count > 0 {
            name(within(bound.name), count);
        }
    }
    if bounds.crashes > 0 && bounds.crash_at != CrashAt::AnyMoment {
        let key = match bounds.crash_at {
            CrashAt::BetweenCommits => "search.within.between-commits",
            CrashAt::BeforeAck | CrashAt::AnyMoment => "search.within.before-ack",
        };
        parts.push(view.say(key).to_owned());
    }
    if scenario.ticket == Ticket::Missing {
        parts.push(view.say("search.within.ticket").to_owned());
    }
    if scenario.task != TaskRow::Sound {
        parts.push(view.messages.get(scene::task_key(scenario.task)).to_owned());
    }
    if scenario.provider == Provider::IgnoresKeys && any(|d| d.outside != Outside::None) {
        parts.push(view.say("search.within.ignores-keys").to_owned());
    }
    let join = |before: String, after: &String| {
        view.messages.fill(
            "search.within.and",
            &[("before", &before), ("after", after)],
        )
    };
    let (first, rest) = parts
        .split_first()
        .expect("the number of workers is always said");
    rest.iter().fold(first.clone(), join)
}

/// The key of the words that say how many of a fault may happen.
fn within(name: &str) -> &'static str {
    match name {
        "crashes" => "search.within.crashes",
        "lost-acks" => "search.within.lost-acks",
        "lost-replies" => "search.within.lost-replies",
        "published-again" => "search.within.published-again",
        "given-up" => "search.within.given-up",
        "overruns" => "search.within.overruns",
        "nacks" => "search.within.nacks",
        "returns" => "search.within.returns",
        "lost-confirms" => "search.within.lost-confirms",
        _ => "search.within.lost-answers",
    }
}

/// Digits in groups of three.
pub fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share for people: no 0 % for what happens, no 100 % for what may yet not.
pub fn in_percent(percent: f64) -> String {
    match percent {
        p if p > 0.0 && p < 1.0 => "<1".to_owned(),
        p if p > 99.0 && p < 100.0 => ">99".to_owned(),
        p => format!("{p:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_from_the_right() {
        assert_eq!(grouped("7"), "7");
        assert_eq!(grouped("5420428"), "5,420,428");
        assert_eq!(grouped("594628087998"), "594,628,087,998");
    }

    #[test]
    fn a_share_is_rounded_to_nothing_or_all_only_if_it_is() {
        assert_eq!(in_percent(0.0), "0");
        assert_eq!(in_percent(0.2), "<1");
        assert_eq!(in_percent(99.7), ">99");
        assert_eq!(in_percent(100.0), "100");
    }
}
