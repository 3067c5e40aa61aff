//! The address of the page: a session as a query, readable, and short enough for a slide.
//!
//! Whatever is left out has its usual value, and parameters of other pages are ignored.

use deliver_twice_core::Error;
use deliver_twice_core::design::Design;
use deliver_twice_core::exercise::{self, Exercise, Goal};
use deliver_twice_core::lesson;
use deliver_twice_core::run::{Moved, Pause};
use deliver_twice_core::scenario::{Bounds, CrashAt, Number, Provider, Scenario, TaskRow, Ticket};
use deliver_twice_core::schedule::{Schedule, Step};

use crate::comparison::Comparison;
use crate::messages::Language;
use crate::session::{Action, Guess, Session, Side, Theme, USUAL_BOUNDS};

/// Why a parameter of an address was not taken over.
#[derive(Debug)]
pub struct BadParameter {
    /// Its name.
    pub name: &'static str,
    /// Why.
    pub why: Why,
}

/// What is wrong with a parameter.
#[derive(Debug)]
pub enum Why {
    /// The core could not read it.
    Unreadable(Error),
    /// The exercise leaves no choice there.
    Fixed,
    /// A step of the schedule could not be read. Those before it count.
    CutOff {
        /// Which step, counted from 1.
        number: usize,
        /// Its text; empty if the schedule breaks off before it.
        found: String,
        /// What is wrong with it.
        error: Error,
    },
    /// A step of the schedule can be taken in neither design. Those before it count.
    Misfit {
        /// Which step, counted from 1.
        number: usize,
        /// The step.
        step: Step,
        /// Why it does nothing, in each design.
        pauses: [Pause; 2],
    },
    /// It is none of these.
    NotOneOf {
        /// What was found.
        found: String,
        /// What would have been understood.
        choices: String,
    },
}

/// The query for a session, question mark included.
pub fn write(session: &Session) -> String {
    if let Some(lesson) = session.lesson.filter(|_| session.is_asked()) {
        // The question stands for everything: nothing in the address may give its answer away.
        let mut query = format!("?lesson={}", lesson.id);
        query.push_str(&looks(session));
        return query;
    }
    if let Some(exercise) = session.exercise {
        return write_exercise(session, exercise);
    }
    let usual = Scenario::default();
    // A link says what is not as usual, and what is not as in its lesson: whoever reads it begins there.
    let begun = session.lesson.map_or(usual, |lesson| lesson.scenario);
    let begun_bounds = session.lesson.map_or(USUAL_BOUNDS, |lesson| lesson.bounds);
    let Session {
        designs: [left, right],
        scenario,
        schedule,
        cursor,
        ..
    } = session;
    let mut query = format!("?left={left}&right={right}&seq={schedule}&at={cursor}");
    for number in &Scenario::NUMBERS {
        let value = number.of(*scenario);
        if value != number.of(usual) || value != number.of(begun) {
            query.push_str(&format!("&{}={value}", number.name));
        }
    }
    if scenario.ticket != usual.ticket || scenario.ticket != begun.ticket {
        query.push_str(&format!("&ticket={}", scenario.ticket.as_str()));
    }
    if scenario.task != usual.task || scenario.task != begun.task {
        query.push_str(&format!("&task={}", scenario.task.as_str()));
    }
    if scenario.provider != usual.provider || scenario.provider != begun.provider {
        query.push_str(&format!("&provider={}", scenario.provider.as_str()));
    }
    for bound in &Bounds::NUMBERS {
        let value = bound.of(session.bounds);
        if value != bound.of(USUAL_BOUNDS) || value != bound.of(begun_bounds) {
            query.push_str(&format!("&{}={value}", bound.name));
        }
    }
    let usual_moment = USUAL_BOUNDS.crash_at;
    if session.bounds.crash_at != usual_moment || session.bounds.crash_at != begun_bounds.crash_at {
        query.push_str(&format!("&crash-at={}", session.bounds.crash_at.as_str()));
    }
    if let Some(lesson) = session.lesson {
        query.push_str(&format!("&lesson={}", lesson.id));
    }
    if session.shown == Side::Right {
        query.push_str("&side=right");
    }
    query.push_str(&looks(session));
    query
}

/// The part of an address that says how things are shown, and not what.
fn looks(session: &Session) -> String {
    let mut query = String::new();
    if !session.compares {
        query.push_str("&compare=off");
    }
    if session.theme != Theme::Auto {
        query.push_str(&format!("&theme={}", session.theme.as_str()));
    }
    if session.presents {
        query.push_str("&present=1");
    }
    query.push_str(&format!("&lang={}", session.language.tag()));
    query
}

/// The query for a session at an exercise, which names what the visitor did and leaves the rest to it.
fn write_exercise(session: &Session, exercise: &Exercise) -> String {
    let (name, id) = (kind_of(exercise), exercise.id);
    let mut query = format!("?{name}={id}");
    if !exercise.is_puzzle() {
        query.push_str(&format!("&right={}", session.design(Side::Right)));
    }
    query.push_str(&format!("&seq={}&at={}", session.schedule, session.cursor));
    if session.answer_shown {
        query.push_str("&answer=shown");
    }
    if !exercise.is_puzzle() && session.shown == Side::Left {
        query.push_str("&side=left");
    }
    query.push_str(&looks(session));
    query
}

/// The name of the parameter that carries an exercise.
fn kind_of(exercise: &Exercise) -> &'static str {
    match exercise.goal {
        Goal::Break(_) => "puzzle",
        Goal::Repair { .. } => "repair",
    }
}

/// The session that an address asks for, and what in it could not be understood.
///
/// A lesson may also be asked for as `scenario`. `query` is the part after the question mark or the hash sign. `preferred` is the language of a visitor
/// whose address names none. Nothing is lost for one bad parameter: the others count.
pub fn read(query: &str, preferred: Language) -> (Session, Vec<BadParameter>) {
    let mut session = Session::opening(preferred);
    let mut bad = vec![];
    let mut at = None;
    let mut has_schedule = false;
    let mut is_whole = true;
    // A lesson comes first, wherever it stands: what else is in the address is a change of it.
    for (_, id) in pairs(query).filter(|(name, _)| name == "lesson" || name == "scenario") {
        match lesson::named(&id) {
            Some(lesson) => session = session.after(Action::Teach(lesson)),
            None => {
                let names: Vec<&str> = lesson::built_in().iter().map(|l| l.id).collect();
                bad.push(none_of("lesson", id, &names.join(", ")));
            }
        }
    }
    for (kind, id) in pairs(query).filter(|(name, _)| name == "puzzle" || name == "repair") {
        let of_kind = || exercise::built_in().iter().filter(|e| kind_of(e) == kind);
        match of_kind().find(|exercise| exercise.id == id) {
            Some(exercise) => session = session.after(Action::Exercise(exercise)),
            None => {
                let names: Vec<&str> = of_kind().map(|exercise| exercise.id).collect();
                let name = if kind == "puzzle" { "puzzle" } else { "repair" };
                bad.push(none_of(name, id, &names.join(", ")));
            }
        }
    }
    for (name, value) in pairs(query) {
        if let Some(name) = fixed(&session, &name) {
            bad.push(BadParameter {
                name,
                why: Why::Fixed,
            });
            continue;
        }
        match name.as_str() {
            "left" => read_design(&mut session, Side::Left, &value, &mut bad),
            "right" => read_design(&mut session, Side::Right, &value, &mut bad),
            "seq" => {
                let (schedule, why) = read_schedule(&value);
                session.schedule = schedule;
                session.guess = Guess::Skipped;
                has_schedule = true;
                is_whole = why.is_none();
                bad.extend(why.map(|why| BadParameter { name: "seq", why }));
            }
            "lesson" | "puzzle" | "repair" => {}
            "answer" if session.exercise.is_some() => match value.as_str() {
                "shown" => session.answer_shown = true,
                _ => bad.push(none_of("answer", value, "shown")),
            },
            "at" => at = read_number("at", &value, 0, Schedule::STEPS_MAX, &mut bad),
            "lang" => match Language::from_tag(&value) {
                Some(language) => session.language = language,
                None => bad.push(none_of("lang", value, "en, zh-CN")),
            },
            "side" => match value.as_str() {
                "left" => session.shown = Side::Left,
                "right" => session.shown = Side::Right,
                _ => bad.push(none_of("side", value, "left, right")),
            },
            "compare" => match value.as_str() {
                "on" => session.compares = true,
                "off" => session.compares = false,
                _ => bad.push(none_of("compare", value, "on, off")),
            },
            // The host of a frame says by message which it is.
            "theme" if value == "host" => session.theme = Theme::Auto,
            "theme" => match Theme::named(&value) {
                Some(theme) => session.theme = theme,
                None => {
                    let names = Theme::ALL.map(Theme::as_str).join(", ");
                    bad.push(none_of("theme", value, &names));
                }
            },
            "present" => match value.as_str() {
                "0" => session.presents = false,
                "1" => session.presents = true,
                _ => bad.push(none_of("present", value, "0, 1")),
            },
            "crash-at" => {
                let choice = choice("crash-at", &value, CrashAt::ALL, CrashAt::as_str, &mut bad);
                session.bounds.crash_at = choice.unwrap_or(session.bounds.crash_at);
            }
            name => match Bounds::NUMBERS.iter().find(|bound| bound.name == name) {
                Some(bound) => {
                    if let Some(number) = read_in_range(bound, &value, &mut bad) {
                        session.bounds = bound.set(session.bounds, number);
                    }
                }
                None => read_scenario(&mut session.scenario, name, &value, &mut bad),
            },
        }
    }
    let last = session.schedule.0.len();
    if let Some(at) = at.filter(|at| *at > last && is_whole) {
        bad.push(none_of("at", at.to_string(), &format!("0 … {last}")));
    }
    session.cursor = match at {
        Some(at) => at.min(last),
        None if has_schedule => last,
        None => session.cursor.min(last),
    };
    // The question is about the lesson's own designs, and about what has not happened yet.
    if session.is_asked() && (session.cursor > 0 || !session.is_as_taught()) {
        session.guess = Guess::Skipped;
    }
    (session, bad)
}

/// The session that an address asks for, as far as its run can be carried out, and what could not be
/// understood or does not fit.
///
/// A step that neither design can take, and neither waits at, is none: what follows it was meant for
/// another state. The steps before it are shown.
pub fn open(query: &str, preferred: Language) -> (Session, Vec<BadParameter>) {
    let (mut session, mut bad) = read(query, preferred);
    let has_schedule = pairs(query).any(|(name, _)| name == "seq");
    // The page reports by itself that the machine cannot carry something out.
    let has_opening_run =
        session.lesson.is_none() && session.exercise.is_none() && !session.is_opening();
    let comparison = (has_schedule || has_opening_run)
        .then(|| Comparison::of(&session).ok())
        .flatten();
    let misfit = comparison.and_then(|comparison| misfit(&comparison, &session.schedule));
    match misfit {
        Some(why) if has_schedule => {
            if let Why::Misfit { number, .. } = why {
                session.schedule.0.truncate(number - 1);
                session.cursor = session.cursor.min(number - 1);
            }
            bad.push(BadParameter { name: "seq", why });
        }
        // Nobody asked for the opening run where it cannot even begin.
        Some(Why::Misfit { number: 1, .. }) => {
            session.schedule = Schedule::default();
            session.cursor = 0;
        }
        _ => {}
    }
    (session, bad)
}

/// Whether a query names anything that this page understands, as opposed to a place in it.
pub fn is_link(query: &str) -> bool {
    let (session, bad) = read(query, Language::English);
    !bad.is_empty() || session != Session::opening(Language::English)
}

/// The first step that does nothing in either design, unless a worker waits there.
fn misfit(comparison: &Comparison, schedule: &Schedule) -> Option<Why> {
    let pause = |side: Side, index: usize| match &comparison.side(side).run.frames[index].moved {
        Moved::Changed(_) | Moved::Nothing(Pause::Waits(_)) => None,
        Moved::Nothing(pause) => Some(pause.clone()),
    };
    let mut steps = schedule.0.iter().enumerate();
    steps.find_map(|(index, step)| {
        Some(Why::Misfit {
            number: index + 1,
            step: *step,
            pauses: [pause(Side::Left, index)?, pause(Side::Right, index)?],
        })
    })
}

/// A schedule as far as its text can be read, and why no further.
fn read_schedule(text: &str) -> (Schedule, Option<Why>) {
    let error = match text.parse() {
        Ok(schedule) => return (schedule, None),
        Err(error) => error,
    };
    let Error::BadSchedule { at_char, .. } = error else {
        return (Schedule::default(), Some(Why::Unreadable(error)));
    };
    // Messengers cut long links, anywhere.
    let at = text
        .char_indices()
        .nth(at_char)
        .map_or(text.len(), |(at, _)| at);
    let Some(steps) = text.strip_prefix(Schedule::VERSION) else {
        return (Schedule::default(), Some(Why::Unreadable(error)));
    };
    let start = Schedule::VERSION.len();
    let end = text[start..at.max(start)].rfind('.').map(|dot| start + dot);
    let whole = end.map_or(Schedule::VERSION, |end| &text[..end]);
    let schedule: Schedule = whole.parse().unwrap_or_default();
    let rest = end.map_or(steps, |end| &text[end + 1..]);
    let found = rest.split('.').next().unwrap_or_default();
    let why = Why::CutOff {
        number: schedule.0.len() + 1,
        found: found.chars().take(40).collect(),
        error,
    };
    (schedule, Some(why))
}

/// The name of a parameter that would change what the session's exercise is about.
fn fixed(session: &Session, name: &str) -> Option<&'static str> {
    session.exercise?;
    let of_puzzle = ["right", "side"]
        .into_iter()
        .filter(|_| session.puzzle().is_some());
    let mut names = ["left", "crash-at", "ticket", "task", "provider"]
        .into_iter()
        .chain(Scenario::NUMBERS.iter().map(|number| number.name))
        .chain(Bounds::NUMBERS.iter().map(|bound| bound.name))
        .chain(of_puzzle);
    names.find(|fixed| *fixed == name)
}

fn read_design(session: &mut Session, side: Side, value: &str, bad: &mut Vec<BadParameter>) {
    let name = match side {
        Side::Left => "left",
        Side::Right => "right",
    };
    match value.parse::<Design>() {
        Ok(design) if !session.may_become(side, &design) => {
            bad.push(BadParameter {
                name,
                why: Why::Fixed,
            });
        }
        Ok(design) => session.designs[side as usize] = design,
        Err(error) => bad.push(BadParameter {
            name,
            why: Why::Unreadable(error),
        }),
    }
}

fn read_scenario(scenario: &mut Scenario, name: &str, value: &str, bad: &mut Vec<BadParameter>) {
    if let Some(number) = Scenario::NUMBERS.iter().find(|number| number.name == name) {
        if let Some(value) = read_in_range(number, value, bad) {
            *scenario = number.set(*scenario, value);
        }
        return;
    }
    match name {
        "ticket" => {
            let read = choice("ticket", value, Ticket::ALL, Ticket::as_str, bad);
            scenario.ticket = read.unwrap_or(scenario.ticket);
        }
        "task" => {
            let read = choice("task", value, TaskRow::ALL, TaskRow::as_str, bad);
            scenario.task = read.unwrap_or(scenario.task);
        }
        "provider" => {
            let read = choice("provider", value, Provider::ALL, Provider::as_str, bad);
            scenario.provider = read.unwrap_or(scenario.provider);
        }
        // A parameter of somebody else's: messengers add theirs to every link.
        _ => {}
    }
}

fn read_in_range<T: Copy>(
    number: &Number<T>,
    value: &str,
    bad: &mut Vec<BadParameter>,
) -> Option<u8> {
    let Number { name, min, max, .. } = *number;
    read_number(name, value, min.into(), max.into(), bad).map(|number| number as u8)
}

/// The choice with this name.
fn choice<T: Copy, const COUNT: usize>(
    name: &'static str,
    value: &str,
    all: [T; COUNT],
    as_str: fn(T) -> &'static str,
    bad: &mut Vec<BadParameter>,
) -> Option<T> {
    let found = all.into_iter().find(|choice| as_str(*choice) == value);
    if found.is_none() {
        bad.push(none_of(name, value.to_owned(), &all.map(as_str).join(", ")));
    }
    found
}

fn read_number(
    name: &'static str,
    value: &str,
    min: usize,
    max: usize,
    bad: &mut Vec<BadParameter>,
) -> Option<usize> {
    let number = value
        .parse()
        .ok()
        .filter(|number| (min..=max).contains(number));
    if number.is_none() {
        bad.push(none_of(name, value.to_owned(), &format!("{min} … {max}")));
    }
    number
}

/// A parameter that is none of these choices.
pub fn none_of(name: &'static str, found: String, choices: &str) -> BadParameter {
    let found = found.chars().take(60).collect();
    BadParameter {
        name,
        why: Why::NotOneOf {
            found,
            choices: choices.to_owned(),
        },
    }
}

/// The names and values of a query, decoded.
pub fn pairs(query: &str) -> impl Iterator<Item = (String, String)> + '_ {
    let query = query.trim_start_matches(['?', '#']);
    query
        .split('&')
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (decoded(name), decoded(value))
        })
}

/// Text without percent signs. What is no valid encoding stays as it is.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match (first, hex.and_then(|two| u8::from_str_radix(two, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = tail;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use deliver_twice_core::design;

    #[test]
    fn a_session_reads_back_from_its_address() {
        let mut session = Session::opening(Language::Chinese);
        session.scenario = Scenario {
            deliveries: 3,
            workers: 1,
            effects: 3,
            versions: 2,
            ticket: Ticket::Missing,
            task: TaskRow::NoTenant,
            relays: 2,
            senders: 2,
            provider: Provider::IgnoresKeys,
        };
        session.shown = Side::Right;
        session.compares = false;
        session.theme = Theme::Dark;
        session.presents = true;
        session.bounds = Bounds {
            crashes: 2,
            crash_at: CrashAt::BetweenCommits,
            lost_acks: 1,
            lost_replies: 2,
            published_again: 1,
            given_up: 1,
            overruns: 1,
            nacks: 2,
            returns: 1,
            lost_confirms: 2,
            lost_answers: 1,
        };
        for design in design::all().chain(design::all_around_the_contract()) {
            session.designs[0] = design;
            let (read, bad) = read(&write(&session), Language::English);
            assert!(bad.is_empty());
            assert_eq!(read, session);
        }
    }

    #[test]
    fn what_was_changed_in_a_lesson_back_to_the_usual_stays_changed() {
        for lesson in lesson::built_in() {
            let asked = Session::opening(Language::English).after(Action::Teach(lesson));
            let changed = asked
                .after(Action::Answer(Guess::Skipped))
                .after(Action::SetScenario(Scenario::default()))
                .after(Action::SetBounds(USUAL_BOUNDS));
            let (read, bad) = read(&write(&changed), Language::English);
            let is_cut = bad.iter().any(|bad| bad.name == "seq");
            assert!(bad.is_empty() || is_cut, "{}", lesson.id);
            assert_eq!(
                (read.scenario, read.bounds),
                (changed.scenario, changed.bounds),
                "{}",
                lesson.id
            );
        }
    }

    #[test]
    fn the_opening_run_is_left_out_where_neither_design_can_begin_it() {
        for (link, steps) in [
            ("left=outbox&right=commit-then-publish", 0),
            ("workers=0", 0),
            ("left=outbox", 13),
            ("left=no-guard", 13),
            ("", 13),
        ] {
            let (session, bad) = open(link, Language::English);
            assert!(bad.is_empty(), "{link}");
            assert_eq!(session.schedule.0.len(), steps, "{link}");
        }
    }

    #[test]
    fn a_lesson_with_another_design_or_at_a_later_step_asks_nothing_and_keeps_what_it_shows() {
        for changed in ["left=no-guard", "workers=1", "nacks=2", "at=5"] {
            let link = format!("lesson=relay-that-is-late&{changed}");
            let (session, bad) = read(&link, Language::English);
            assert!(bad.is_empty() && !session.is_asked(), "{link}");
            assert_eq!(
                read(&write(&session), Language::English).0,
                session,
                "{link}"
            );
        }
        let lesson = lesson::named("relay-that-is-late").unwrap();
        let asked = Session::opening(Language::English).after(Action::Teach(lesson));
        assert!(asked.is_asked());
        let other = asked.after(Action::SetDesign(Side::Left, lesson.designs[1]));
        assert!(!other.is_asked());
        assert_eq!(read(&write(&other), Language::English).0, other);
    }

    #[test]
    fn every_lesson_has_a_short_link_at_its_question_and_after_it() {
        for lesson in lesson::built_in() {
            let asked = Session::opening(Language::Chinese).after(Action::Teach(lesson));
            let gone_on = asked.after(Action::Answer(Guess::Skipped));
            let shown_to_a_room = gone_on
                .after(Action::SetTheme(Theme::Light))
                .after(Action::Present(true));
            for session in [asked, gone_on, shown_to_a_room] {
                let link = write(&session);
                assert!(link.len() < 300, "{link}");
                let (read, bad) = read(&link, Language::English);
                assert!(bad.is_empty(), "{link}");
                assert_eq!(read, session, "{link}");
            }
        }
    }

    #[test]
    fn every_exercise_has_a_short_link_as_it_begins_and_when_it_is_solved() {
        for exercise in exercise::built_in() {
            let begun = Session::opening(Language::Chinese).after(Action::Exercise(exercise));
            let shown = begun.after(match &exercise.goal {
                Goal::Break(_) => Action::Replay("s1:dA.A2.dB.B2.A.B.A.B.A.B.xA".parse().unwrap()),
                Goal::Repair { .. } => Action::ShowRepair,
            });
            let looked_at = shown.after(Action::GoTo(1)).after(Action::Show(Side::Left));
            for mut session in [begun, shown, looked_at] {
                let link = write(&session);
                assert!(link.len() < 300, "{link}");
                let (read, bad) = read(&link, Language::English);
                assert!(bad.is_empty(), "{link}");
                session.branches.clear();
                assert_eq!(read, session, "{link}");
            }
        }
    }

    #[test]
    fn the_longest_repair_has_a_short_link() {
        let exercise = exercise::named("all-wrong-at-once").unwrap();
        let begun = Session::opening(Language::Chinese).after(Action::Exercise(exercise));
        let longest = design::all()
            .max_by_key(|design| design.to_string().len())
            .unwrap();
        let link = write(&begun.after(Action::SetDesign(Side::Right, longest)));
        assert!(
            link.len() < 300 && link.contains(&longest.to_string()),
            "{link}"
        );
    }

    #[test]
    fn an_exercise_keeps_to_itself_whatever_else_an_address_says() {
        let query = "?right=no-guard&workers=3&repair=nobody-moves&crashes=2&left=no-guard";
        let (session, bad) = read(query, Language::English);
        let exercise = exercise::named("nobody-moves").unwrap();
        let begun = Session::opening(Language::English).after(Action::Exercise(exercise));
        assert_eq!(session, begun);
        assert!(bad.iter().all(|bad| matches!(bad.why, Why::Fixed)));
        let names: Vec<&str> = bad.iter().map(|bad| bad.name).collect();
        assert_eq!(names, ["right", "workers", "crashes", "left"]);
    }

    #[test]
    fn an_unknown_exercise_is_answered_with_those_of_its_kind() {
        for (query, name, known, other) in [
            (
                "?puzzle=lost-race",
                "puzzle",
                "effect-alone",
                "key-too-wide",
            ),
            ("?repair=<b>", "repair", "key-too-wide", "effect-alone"),
            (
                "?repair=lost-race&answer=42",
                "answer",
                "shown",
                "lost-race",
            ),
        ] {
            let (_, bad) = read(query, Language::English);
            let [
                BadParameter {
                    name: found,
                    why: Why::NotOneOf { choices, .. },
                },
            ] = &bad[..]
            else {
                panic!("{query}: {bad:?}")
            };
            assert_eq!(*found, name);
            assert!(
                choices.contains(known) && !choices.contains(other),
                "{choices}"
            );
        }
    }

    #[test]
    fn an_unknown_look_is_answered_with_the_looks_there_are() {
        let (session, bad) = read("?theme=sepia&present=yes&compare=2", Language::English);
        assert_eq!(session, Session::opening(Language::English));
        let names: Vec<&str> = bad.iter().map(|bad| bad.name).collect();
        assert_eq!(names, ["theme", "present", "compare"]);
    }

    #[test]
    fn the_opening_link_is_short() {
        let link = write(&Session::opening(Language::Chinese));
        assert!(link.len() < 150, "{link}");
    }

    #[test]
    fn other_parameters_are_ignored_and_bad_ones_lose_nothing_else() {
        let query =
            "?from=timeline&isappinstalled=0&left=no-guard&right=%3Cb%3E&workers=7&seq=s1:dA.Q";
        let (session, bad) = read(query, Language::English);
        assert_eq!(session.designs[0], Design::preset("no-guard").unwrap());
        assert_eq!(
            session.designs[1],
            Session::opening(Language::English).designs[1]
        );
        assert_eq!(
            bad.iter().map(|b| b.name).collect::<Vec<_>>(),
            ["right", "workers", "seq"]
        );
    }

    #[test]
    fn a_link_that_was_cut_anywhere_shows_the_steps_that_are_left_of_it() {
        let whole = "s1:dA.A3.dB.gB.p1.xA.B12";
        let steps = whole.parse::<Schedule>().unwrap().0;
        for length in 0..=whole.len() {
            let cut = &whole[..length];
            let (session, bad) = read(&format!("?seq={cut}&at=500"), Language::English);
            assert!(steps.starts_with(&session.schedule.0), "{cut}");
            // One notice: what was cut off is why `at` is beyond the end.
            let [bad] = &bad[..] else {
                panic!("{cut}: {bad:?}")
            };
            match (&bad.why, cut.parse::<Schedule>()) {
                (Why::CutOff { number, found, .. }, Err(_)) => {
                    assert_eq!(*number, session.schedule.0.len() + 1, "{cut}");
                    assert!(cut.ends_with(found.as_str()), "{cut}: {found}");
                }
                (Why::Unreadable(_), Err(_)) => assert!(length < 3, "{cut}"),
                (Why::NotOneOf { found, .. }, Ok(read)) => {
                    assert_eq!((bad.name, found.as_str()), ("at", "500"), "{cut}");
                    assert_eq!(session.schedule, read, "{cut}");
                }
                other => panic!("{cut}: {other:?}"),
            }
        }
        let (session, bad) = read("?seq=s1:dA.A2.重.A", Language::English);
        assert_eq!(session.schedule.to_string(), "s1:dA.A2");
        assert!(matches!(&bad[0].why, Why::CutOff { number: 4, found, .. } if found == "重"));
    }

    #[test]
    fn a_place_in_the_page_is_no_link() {
        assert!(is_link("#seq=s1:dA") && is_link("?lesson=unknown") && is_link("#lang=zh"));
        assert!(!is_link("#matrix") && !is_link("") && !is_link("#utm=1"));
    }

    #[test]
    fn a_run_that_no_longer_fits_is_shown_up_to_where_it_does() {
        for (query, holds) in [
            // Nobody but A is there.
            ("?seq=s1:dA.A2.dB.B.A&at=6&workers=1", Some((3, "dB"))),
            // There is one copy, and A has it.
            ("?seq=s1:dA.A.dB.B&deliveries=1", Some((2, "dB"))),
            // It takes this many stages of each design, and then has nothing to do.
            (
                "?left=no-guard&right=no-guard&deliveries=1&seq=s1:dA.A9",
                Some((5, "A")),
            ),
            // The design on the right waits, and the one on the left goes on.
            ("?seq=s1:dA.A.dB.B.A.B.A.B.A.B.A.B2", None),
            // Both wait: that is what both do.
            ("?left=constraint-arbitration&seq=s1:dA.A2.dB.B6", None),
            // An address without a run has the page's own.
            ("?workers=1&deliveries=1", None),
        ] {
            let (session, bad) = open(query, Language::English);
            match (&bad[..], holds) {
                ([], None) => {}
                (
                    [
                        BadParameter {
                            why: Why::Misfit { number, step, .. },
                            ..
                        },
                    ],
                    Some((kept, text)),
                ) => {
                    assert_eq!(
                        (*number, step.to_string().as_str()),
                        (kept + 1, text),
                        "{query}"
                    );
                    assert_eq!(
                        (session.schedule.0.len(), session.cursor),
                        (kept, kept),
                        "{query}"
                    );
                }
                _ => panic!("{query}: {bad:?}"),
            }
        }
    }

    #[test]
    fn rubbish_is_read_without_a_panic() {
        for query in [
            "",
            "?",
            "#%",
            "?%%%=%zz&=&&&at=-1",
            "?seq=%E9%87%8D&at=99999999999999",
            "?a=b=c",
        ] {
            let (session, _) = read(query, Language::English);
            assert!(session.cursor <= session.schedule.0.len());
        }
        let (session, _) = read("?seq=s1:dA", Language::English);
        assert_eq!(session.after(Action::GoTo(9)).cursor, 1);
    }
}
