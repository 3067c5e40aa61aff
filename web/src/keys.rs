//! What each key means. Every key has a button that does the same.

use deliver_twice_core::broker::WorkerId;
use deliver_twice_core::schedule::Step;

use crate::comparison::Comparison;
use crate::search::task::Searches;
use crate::session::{Action, Session};
use crate::waypoints;

/// The keys and the message that says what they do, in the order of the list.
pub const LIST: [(&str, &str); 19] = [
    ("→ ←", "keys.step"),
    ("Home End", "keys.ends"),
    ("[ ]", "keys.decision"),
    ("↑ ↓", "keys.rows"),
    ("1 … 8", "keys.work"),
    ("X 1 … 8", "keys.crash"),
    ("D", "keys.deliver"),
    ("L", "keys.lose-ack"),
    ("R", "keys.lose-reply"),
    ("G", "keys.give-up"),
    ("P", "keys.publish"),
    ("T", "keys.ticket"),
    ("Space", "keys.play"),
    ("E", "keys.explore"),
    ("V", "keys.counterexample"),
    ("C", "keys.compare"),
    ("S", "keys.share"),
    ("F", "keys.present"),
    ("? Esc", "keys.help"),
];

/// Something that is asked for by a key or a button: most of it changes the session.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Changes the session.
    Act(Action),
    /// Brings what the search of every schedule found before the visitor's eyes.
    ShowSearch,
    /// Puts the link to what is shown on the clipboard.
    CopyLink,
}

/// What a key looks at besides itself.
pub struct Circumstances<'a> {
    /// What the visitor is looking at.
    pub session: &'a Session,
    /// Both designs' runs.
    pub run: &'a Comparison,
    /// What the searches of every schedule know.
    pub searches: &'a Searches,
    /// Whether there is room for both sides.
    pub is_wide: bool,
    /// Whether what gives an answer away is to be kept back.
    pub keeps_back: bool,
}

/// What a key asks for. `crashing` is whether the key before was X.
pub fn command(around: &Circumstances<'_>, key: &str, crashing: bool) -> Option<Command> {
    let Circumstances {
        session,
        run,
        searches,
        is_wide,
        keeps_back,
    } = around;
    match key {
        "e" | "E" | "v" | "V" if *keeps_back => None,
        "e" | "E" => Some(Command::ShowSearch),
        "s" | "S" => Some(Command::CopyLink),
        "v" | "V" => {
            let next = waypoints::next_counterexample(session, searches)?;
            Some(Command::Act(Action::Replay(next)))
        }
        "c" | "C" if session.sides().len() == 1 => None,
        "c" | "C" => Some(Command::Act(compare(session, *is_wide))),
        _ => action(session, run, key, crashing).map(Command::Act),
    }
}

/// Shows both sides or one; where there is room for one only, the other one.
pub fn compare(session: &Session, is_wide: bool) -> Action {
    if is_wide {
        Action::Compare(!session.compares)
    } else {
        Action::Show(session.shown.other())
    }
}

/// How a key changes the session, by what is shown alone.
pub fn action(session: &Session, run: &Comparison, key: &str, crashing: bool) -> Option<Action> {
    let enabled = run.enabled_after(session.cursor);
    let first = |wanted: fn(&Step) -> bool| enabled.iter().copied().find(wanted).map(Action::Take);
    let worker = |step: fn(WorkerId) -> Step| {
        let index = key.parse::<u8>().ok()?.checked_sub(1)?;
        let step = step(WorkerId(index));
        enabled.contains(&step).then_some(Action::Take(step))
    };
    match key {
        "ArrowRight" => forward(session, run),
        "ArrowLeft" => Some(Action::GoTo(session.cursor.saturating_sub(1))),
        "Home" => Some(Action::GoTo(0)),
        "End" => Some(Action::GoTo(session.schedule.0.len())),
        "[" => waypoints::decision_before(session, run).map(Action::GoTo),
        "]" => waypoints::decision_after(session, run).map(Action::GoTo),
        "f" | "F" => Some(Action::Present(!session.presents)),
        "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" if crashing => worker(Step::Crash),
        "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" => worker(Step::Work),
        "d" | "D" => first(|step| matches!(step, Step::Deliver(_))),
        "l" | "L" => first(|step| matches!(step, Step::LoseAck(_))),
        "r" | "R" => first(|step| matches!(step, Step::LoseReply(_))),
        "g" | "G" => first(|step| matches!(step, Step::GiveUp(_))),
        "p" | "P" => first(|step| matches!(step, Step::PublishAgain(_))),
        "t" | "T" => first(|step| matches!(step, Step::AddTicket)),
        " " => Some(Action::Play(!session.is_playing)),
        "?" => Some(Action::ShowKeys(!session.shows_keys)),
        "Escape" if session.shows_keys => Some(Action::ShowKeys(false)),
        "Escape" if session.presents => Some(Action::Present(false)),
        _ => None,
    }
}

/// One step on: along the run, or past its end as the system would go on by itself.
pub fn forward(session: &Session, run: &Comparison) -> Option<Action> {
    if session.cursor < session.schedule.0.len() {
        return Some(Action::GoTo(session.cursor + 1));
    }
    run.natural_step(session.cursor).map(Action::Take)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Language;
    use crate::session::Side;

    fn run_of(session: &Session) -> Comparison {
        Comparison::of(session).unwrap()
    }

    #[test]
    fn keys_ask_for_what_is_enabled_and_for_nothing_else() {
        let session = Session::opening(Language::English).after(Action::Restart);
        let run = run_of(&session);
        let asked = |key, crashing| action(&session, &run, key, crashing);
        assert_eq!(
            asked("d", false),
            Some(Action::Take(Step::Deliver(WorkerId(0))))
        );
        assert_eq!(asked("1", false), None);
        assert_eq!(asked("1", true), None);
        assert_eq!(asked("ArrowRight", false), asked("d", false));
        assert_eq!(asked("q", false), None);
    }

    #[test]
    fn a_key_that_gives_an_answer_away_waits_for_the_answer() {
        let mut session = Session::opening(Language::English);
        session.guess = crate::session::Guess::Asked;
        let run = run_of(&session);
        let searches = Searches::default();
        let asked = |key, keeps_back| {
            let around = Circumstances {
                session: &session,
                run: &run,
                searches: &searches,
                is_wide: true,
                keeps_back,
            };
            command(&around, key, false)
        };
        assert_eq!(asked("e", true), None);
        assert_eq!(asked("v", true), None);
        assert_eq!(asked("e", false), Some(Command::ShowSearch));
        assert_eq!(asked("s", true), Some(Command::CopyLink));
    }

    #[test]
    fn where_there_is_room_for_one_side_only_comparing_means_the_other_one() {
        let session = Session::opening(Language::English);
        assert_eq!(compare(&session, true), Action::Compare(false));
        let single = session.after(Action::Compare(false));
        assert_eq!(compare(&single, true), Action::Compare(true));
        assert_eq!(compare(&session, false), Action::Show(Side::Right));
    }

    #[test]
    fn x_and_a_digit_crash_that_worker() {
        let session = Session::opening(Language::English);
        let run = run_of(&session);
        assert_eq!(
            action(&session, &run, "2", true),
            Some(Action::Take(Step::Crash(WorkerId(1))))
        );
    }
}
