//! The page as a part of another page: what that page, the host, asks for in the address.
//!
//! `embed=1` turns it on. Without it the page is itself, shows everything and forbids nothing.

pub mod facts;
pub mod memory;
pub mod port;

use std::rc::Rc;

use yew::Reducible;

use self::memory::Memory;
use crate::permalink::{BadParameter, none_of, pairs};
use crate::session::{Action, Guess, Session};

/// How much there is beside the run itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// The whole page.
    #[default]
    Full,
    /// Nothing.
    Timeline,
    /// What is in the database of each design.
    Compare,
    /// The search of every schedule.
    Explore,
    /// The named designs against the hazards.
    Matrix,
}

/// A part of the page that an extent may leave out. The run, its verdicts and its question never are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What the current step did, in full.
    Detail,
    /// The tables.
    Tables,
    /// The search of every schedule.
    Search,
    /// The named designs against the hazards.
    Matrix,
    /// What belongs to the whole page: the course, the diagnosis, the files to take away, the small print.
    Rest,
}

impl Extent {
    const NAMES: [(&'static str, Extent); 6] = [
        ("timeline", Extent::Timeline),
        ("compare", Extent::Compare),
        ("explore", Extent::Explore),
        // A puzzle is asked for by its own parameter, and has nothing beside it that would give it away.
        ("puzzle", Extent::Timeline),
        ("matrix", Extent::Matrix),
        ("full", Extent::Full),
    ];

    /// Whether this part belongs to it.
    pub fn has(self, part: Part) -> bool {
        match self {
            Extent::Full => true,
            Extent::Timeline => false,
            Extent::Compare => part == Part::Tables,
            Extent::Explore => part == Part::Search,
            Extent::Matrix => part == Part::Matrix,
        }
    }
}

/// Which controls there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Controls {
    /// None. The host drives the run, or nobody.
    None,
    /// Along the run.
    Play,
    /// Along the run, and every step that may happen next.
    Step,
    /// These, and the choice of the designs and the scenario.
    #[default]
    Full,
}

impl Controls {
    const NAMES: [(&'static str, Controls); 4] = [
        ("full", Controls::Full),
        ("step", Controls::Step),
        ("play", Controls::Play),
        ("none", Controls::None),
    ];
}

/// How much the question of a lesson insists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Predict {
    /// It is not asked.
    Off,
    /// It is asked, and can be passed over.
    #[default]
    Ask,
    /// The run waits for an answer.
    Require,
}

impl Predict {
    const NAMES: [(&'static str, Predict); 3] = [
        ("off", Predict::Off),
        ("ask", Predict::Ask),
        ("require", Predict::Require),
    ];
}

/// The most characters of an item's name.
const ITEM_MAX: usize = 200;

/// What the host asks for. The default is a page without a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Embed {
    /// Whether there is a host at all.
    pub is_embedded: bool,
    /// How much is shown.
    pub extent: Extent,
    /// Which controls are shown.
    pub controls: Controls,
    /// How much the question insists.
    pub predict: Predict,
    /// Whether the visitor may look and not act.
    pub is_readonly: bool,
    /// Whether the page leaves the keyboard to the host.
    pub is_without_keys: bool,
    /// The origin that messages come from and go to, as in `https://course.example`.
    pub parent: Option<String>,
    /// The host's own name for this place. It comes back with every event.
    pub item: String,
    /// How far the visitor was in the frame whose place this one takes.
    pub kept: Option<Memory>,
}

/// What the host asks for, and what in it could not be understood.
pub fn read(query: &str) -> (Embed, Vec<BadParameter>) {
    let mut bad = vec![];
    if !pairs(query).any(|(name, value)| name == "embed" && value == "1") {
        return (Embed::default(), bad);
    }
    let mut embed = Embed {
        is_embedded: true,
        extent: Extent::Timeline,
        ..Embed::default()
    };
    for (name, value) in pairs(query) {
        match name.as_str() {
            "view" => choose("view", value, &Extent::NAMES, &mut embed.extent, &mut bad),
            "controls" => choose(
                "controls",
                value,
                &Controls::NAMES,
                &mut embed.controls,
                &mut bad,
            ),
            "predict" => choose(
                "predict",
                value,
                &Predict::NAMES,
                &mut embed.predict,
                &mut bad,
            ),
            "readonly" => choose("readonly", value, &SWITCH, &mut embed.is_readonly, &mut bad),
            "nokeys" => choose(
                "nokeys",
                value,
                &SWITCH,
                &mut embed.is_without_keys,
                &mut bad,
            ),
            "parent" if is_origin(&value) => embed.parent = Some(value),
            "parent" => bad.push(none_of("parent", value, "https://course.example")),
            "kept" => match value.parse() {
                Ok(memory) => embed.kept = Some(memory),
                Err(_) => bad.push(none_of("kept", value, "what a `statechange` had as `kept`")),
            },
            "item" => embed.item = value.chars().take(ITEM_MAX).collect(),
            _ => {}
        }
    }
    if embed.is_readonly {
        embed.controls = embed.controls.min(Controls::Play);
    }
    (embed, bad)
}

const SWITCH: [(&str, bool); 2] = [("0", false), ("1", true)];

fn choose<T: Copy>(
    name: &'static str,
    value: String,
    choices: &[(&'static str, T)],
    chosen: &mut T,
    bad: &mut Vec<BadParameter>,
) {
    match choices.iter().find(|(name, _)| *name == value) {
        Some((_, choice)) => *chosen = *choice,
        None => {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            bad.push(none_of(name, value, &names.join(", ")));
        }
    }
}

/// Whether a text can be the origin of a page: scheme, host, perhaps a port, and nothing behind.
fn is_origin(text: &str) -> bool {
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| {
        let is_part =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
        !host.is_empty() && host.chars().all(is_part)
    })
}

impl Embed {
    /// Whether a part of the page is shown.
    pub fn has(&self, part: Part) -> bool {
        self.extent.has(part)
    }

    /// Whether the designs and the scenario can be chosen.
    pub fn has_choices(&self) -> bool {
        self.controls == Controls::Full
    }

    /// A session under these rules, opened as the host wants it, with the answer that was given before.
    pub fn host(&self, session: Session) -> Hosted {
        let mut session = self.opened(session);
        let answer = self.kept.and_then(|kept| kept.answer);
        if let (Some(answer), Some(_), false) = (answer, session.lesson, session.is_asked()) {
            session.guess = Guess::Given(answer);
        }
        Hosted {
            embed: Rc::new(self.clone()),
            session: Rc::new(session),
        }
    }

    /// The session as the host wants it opened.
    pub fn opened(&self, session: Session) -> Session {
        match self.predict {
            Predict::Off if session.is_asked() => session.after(Action::Answer(Guess::Skipped)),
            Predict::Off | Predict::Ask | Predict::Require => session,
        }
    }

    /// Whether the visitor may do this.
    pub fn allows(&self, session: &Session, action: &Action) -> bool {
        let waits = self.predict == Predict::Require && session.is_asked();
        match action {
            // How things are shown is always the visitor's choice.
            Action::SetLanguage(_)
            | Action::SetTheme(_)
            | Action::Show(_)
            | Action::Compare(_)
            | Action::Present(_)
            | Action::View(_)
            | Action::ShowKeys(_)
            | Action::Play(false)
            | Action::GoTo(0)
            | Action::Answer(Guess::Given(_)) => true,
            Action::GoTo(_) | Action::Play(true) | Action::Answer(_) => !waits,
            Action::ShowShares(_) | Action::Diagnose(_) => !waits,
            _ => !waits && !self.is_readonly,
        }
    }
}

/// A session under the rules of its host.
#[derive(Clone, PartialEq)]
pub struct Hosted {
    /// The rules.
    pub embed: Rc<Embed>,
    /// The session.
    pub session: Rc<Session>,
}

/// Who wants something done.
pub enum Wish {
    /// The visitor, who has to keep to the rules.
    Visitor(Action),
    /// The host, who made them.
    Host(Action),
    /// The host makes other rules.
    Rules(Embed),
}

impl Reducible for Hosted {
    type Action = Wish;

    fn reduce(self: Rc<Self>, wish: Wish) -> Rc<Self> {
        let action = match wish {
            Wish::Visitor(action) if !self.embed.allows(&self.session, &action) => {
                // What plays by itself has come to an end.
                Action::Play(false)
            }
            Wish::Visitor(action) | Wish::Host(action) => action,
            Wish::Rules(rules) => {
                return Rc::new(Hosted {
                    embed: Rc::new(rules),
                    session: Rc::clone(&self.session),
                });
            }
        };
        Rc::new(Hosted {
            embed: Rc::clone(&self.embed),
            session: Rc::new(self.session.after(action)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Language;
    use deliver_twice_core::broker::WorkerId;
    use deliver_twice_core::lesson;
    use deliver_twice_core::schedule::Step;

    fn asked() -> Session {
        let lesson = &lesson::built_in()[0];
        Session::opening(Language::English).after(Action::Teach(lesson))
    }

    #[test]
    fn a_page_without_a_host_shows_everything_and_forbids_nothing() {
        let (page, bad) = read("?view=matrix&readonly=1&controls=none&item=7");
        assert_eq!((page.clone(), bad.len()), (Embed::default(), 0));
        assert!(page.has(Part::Rest) && page.controls == Controls::Full);
        let take = Action::Take(Step::Work(WorkerId(0)));
        assert!(page.allows(&asked(), &take));
    }

    #[test]
    fn what_the_host_asks_for_is_read_and_what_cannot_be_is_answered() {
        let query = "?embed=1&view=explore&controls=step&predict=require&readonly=1&nokeys=1\
                     &item=week%203&parent=https://course.example:8443&seq=s1:dA";
        let (embed, bad) = read(query);
        assert!(bad.is_empty(), "{bad:?}");
        let wanted = Embed {
            is_embedded: true,
            extent: Extent::Explore,
            controls: Controls::Play,
            predict: Predict::Require,
            is_readonly: true,
            is_without_keys: true,
            parent: Some("https://course.example:8443".to_owned()),
            item: "week 3".to_owned(),
            kept: None,
        };
        assert_eq!(embed, wanted);
        let (embed, bad) = read(
            "?embed=1&view=<b>&controls=&predict=yes&readonly=true&nokeys=2&parent=https://a/b",
        );
        let names: Vec<&str> = bad.iter().map(|bad| bad.name).collect();
        let all = [
            "view", "controls", "predict", "readonly", "nokeys", "parent",
        ];
        assert_eq!(names, all);
        assert_eq!(embed, read("?embed=1").0);
    }

    #[test]
    fn an_origin_has_nothing_behind_it() {
        for good in [
            "https://a.example",
            "http://127.0.0.1:80",
            "http://[::1]:8080",
        ] {
            assert!(is_origin(good), "{good}");
        }
        for bad in [
            "",
            "*",
            "https://",
            "https://a/",
            "javascript:1",
            "https://a@b",
            "null",
        ] {
            assert!(!is_origin(bad), "{bad}");
        }
    }

    #[test]
    fn a_question_that_insists_lets_nobody_go_on_without_an_answer() {
        let (embed, _) = read("?embed=1&predict=require");
        let take = Action::Take(Step::Work(WorkerId(0)));
        let session = asked();
        for action in [
            take.clone(),
            Action::GoTo(1),
            Action::Play(true),
            Action::Answer(Guess::Skipped),
            Action::Restart,
            Action::ShowShares(true),
        ] {
            assert!(!embed.allows(&session, &action), "{action:?}");
        }
        let answer = Action::Answer(Guess::Given(2));
        assert!(embed.allows(&session, &answer));
        assert!(embed.allows(&session.after(answer), &take));
        assert!(embed.opened(session).is_asked());
    }

    #[test]
    fn a_host_may_leave_the_question_out() {
        let (embed, _) = read("?embed=1&predict=off");
        let opened = embed.opened(asked());
        assert!(!opened.is_asked() && opened.cursor == opened.schedule.0.len());
    }

    #[test]
    fn a_visitor_who_may_not_act_may_look() {
        let (embed, _) = read("?embed=1&readonly=1");
        let session = Session::opening(Language::English);
        assert!(embed.allows(&session, &Action::GoTo(3)));
        assert!(embed.allows(&session, &Action::Play(true)));
        assert!(!embed.allows(&session, &Action::Take(Step::Work(WorkerId(0)))));
        assert!(!embed.allows(&session, &Action::Restart));
    }
}
