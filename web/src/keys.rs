//! What each key means. Every key has a button that does the same.

use deliver_twice_core::broker::WorkerId;
use deliver_twice_core::schedule::Step;

use crate::comparison::Comparison;
use crate::session::{Action, Session};

/// The keys and the message that says what they do, in the order of the list.
pub const LIST: [(&str, &str); 12] = [
    ("→ ←", "keys.step"),
    ("Home End", "keys.ends"),
    ("1 2 3", "keys.work"),
    ("X 1 2 3", "keys.crash"),
    ("D", "keys.deliver"),
    ("L", "keys.lose-ack"),
    ("R", "keys.lose-reply"),
    ("G", "keys.give-up"),
    ("P", "keys.publish"),
    ("T", "keys.ticket"),
    ("Space", "keys.play"),
    ("? Esc", "keys.help"),
];

/// What a key asks for. `crashing` is whether the key before was X.
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
        "1" | "2" | "3" if crashing => worker(Step::Crash),
        "1" | "2" | "3" => worker(Step::Work),
        "d" | "D" => first(|step| matches!(step, Step::Deliver(_))),
        "l" | "L" => first(|step| matches!(step, Step::LoseAck(_))),
        "r" | "R" => first(|step| matches!(step, Step::LoseReply(_))),
        "g" | "G" => first(|step| matches!(step, Step::GiveUp(_))),
        "p" | "P" => first(|step| matches!(step, Step::PublishAgain(_))),
        "t" | "T" => first(|step| matches!(step, Step::AddTicket)),
        " " => Some(Action::Play(!session.is_playing)),
        "?" => Some(Action::ShowKeys(!session.shows_keys)),
        "Escape" if session.shows_keys => Some(Action::ShowKeys(false)),
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
    fn x_and_a_digit_crash_that_worker() {
        let session = Session::opening(Language::English);
        let run = run_of(&session);
        assert_eq!(
            action(&session, &run, "2", true),
            Some(Action::Take(Step::Crash(WorkerId(1))))
        );
    }
}
