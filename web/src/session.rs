//! What the visitor is looking at, and how his actions change it. No browser, no clock, no database.

use deliver_twice_core::broker::WorkerId;
use deliver_twice_core::design::{Design, Nonsense};
use deliver_twice_core::diagnosis::Symptom;
use deliver_twice_core::exercise::{Exercise, Goal};
use deliver_twice_core::lesson::Lesson;
use deliver_twice_core::property::Verdict;
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::{Schedule, Step};

use crate::messages::Language;

/// One of the two designs that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The design on the left.
    Left,
    /// The design on the right.
    Right,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Side {
        match self {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        }
    }

    /// Both, in reading order.
    pub const BOTH: [Side; 2] = [Side::Left, Side::Right];
}

/// Whose view of the tables is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// What is committed.
    Committed,
    /// What this worker sees, its own uncommitted rows included.
    Worker(WorkerId),
}

/// Which colours the page has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Those that the visitor's system prefers.
    #[default]
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

impl Theme {
    /// All, in the order in which they are offered.
    pub const ALL: [Theme; 3] = [Theme::Auto, Theme::Light, Theme::Dark];

    /// The name in links and in the style sheet.
    pub fn as_str(self) -> &'static str {
        match self {
            Theme::Auto => "auto",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    /// The theme with this name.
    pub fn named(name: &str) -> Option<Self> {
        Theme::ALL.into_iter().find(|theme| theme.as_str() == name)
    }
}

/// How the visitor stands to the question of the lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// It waits for an answer, and what would give the answer away is not shown.
    Asked,
    /// There is no question, or the visitor went on without.
    Skipped,
    /// This was the answer.
    Given(u32),
}

/// What the visitor is looking at. The link holds the designs, the scenario, the bounds, the lesson or the
/// exercise, the schedule, the cursor, the language, the side and the looks; the rest is of the moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// The two designs.
    pub designs: [Design; 2],
    /// What both are put to.
    pub scenario: Scenario,
    /// Which faults the search of every schedule may use.
    pub bounds: Bounds,
    /// The lesson that is taught, if it is one.
    pub lesson: Option<&'static Lesson>,
    /// How the visitor stands to its question.
    pub guess: Guess,
    /// The exercise that is worked at, if it is one. A puzzle has the same design on both sides and shows
    /// one of them; a repair has the design that fails on the left and the visitor's on the right.
    pub exercise: Option<&'static Exercise>,
    /// Whether the visitor had the exercise solved for him.
    pub answer_shown: bool,
    /// The moves so far, for both.
    pub schedule: Schedule,
    /// How many of the moves are carried out; the others are shown as what came next.
    pub cursor: usize,
    /// The language of the page.
    pub language: Language,
    /// The side that is shown where there is room for one only, or where they are not compared.
    pub shown: Side,
    /// Whether a wide screen shows both sides.
    pub compares: bool,
    /// The colours.
    pub theme: Theme,
    /// Whether the page is shown to a room: large, and with nothing but the run.
    pub presents: bool,
    /// Schedules that the visitor left by acting in the past, the latest last.
    pub branches: Vec<Schedule>,
    /// Whose view of the tables is shown.
    pub viewer: Viewer,
    /// Whether the run plays by itself.
    pub is_playing: bool,
    /// Whether the list of keys is shown.
    pub shows_keys: bool,
    /// What the visitor sees in production and wants explained.
    pub symptom: Option<&'static Symptom>,
    /// Whether each row says what share of its futures ends badly. It gives answers away.
    pub shows_shares: bool,
    /// The side whose last choice was refused, and why.
    pub refused: Option<(Side, Nonsense)>,
}

/// Something the visitor does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Takes a step at the cursor.
    Take(Step),
    /// Looks at the run after so many steps.
    GoTo(usize),
    /// Chooses a design.
    SetDesign(Side, Design),
    /// Changes what the designs are put to. The moves stay, as far as they mean anything.
    SetScenario(Scenario),
    /// Changes which faults the search may use.
    SetBounds(Bounds),
    /// Shows a schedule from its first step to its last, in place of the present one.
    Replay(Schedule),
    /// Puts a design on the left to a scenario, and shows a schedule of it.
    Open {
        /// The design.
        design: Design,
        /// The scenario.
        scenario: Scenario,
        /// The bounds of the search.
        bounds: Bounds,
        /// The schedule.
        schedule: Schedule,
    },
    /// Opens a lesson, at its question.
    Teach(&'static Lesson),
    /// Answers the lesson's question, or goes on without.
    Answer(Guess),
    /// Begins an exercise, or begins it again.
    Exercise(&'static Exercise),
    /// Shows a design that solves the repair. What solves a puzzle is a schedule to replay.
    ShowRepair,
    /// Picks what is seen in production.
    Diagnose(Option<&'static Symptom>),
    /// Shows or hides the shares of failing futures.
    ShowShares(bool),
    /// Chooses the language.
    SetLanguage(Language),
    /// Chooses the side that is shown where one is.
    Show(Side),
    /// Shows both sides, or one.
    Compare(bool),
    /// Chooses the colours.
    SetTheme(Theme),
    /// Shows the page to a room, or not any more.
    Present(bool),
    /// Chooses whose view of the tables is shown.
    View(Viewer),
    /// Goes back to a branch that was left; the present one is kept in its place.
    TakeBranch(usize),
    /// Starts or stops playing.
    Play(bool),
    /// Shows or hides the list of keys.
    ShowKeys(bool),
    /// Forgets the moves.
    Restart,
    /// Goes back to the run that the page opens with.
    Reopen,
    /// Follows a link on the open page.
    Follow(Box<Session>),
}

/// The faults that a search may use unless the visitor says otherwise: one crash.
pub const USUAL_BOUNDS: Bounds = Bounds {
    crashes: 1,
    ..Bounds::NONE
};

/// The most branches that are kept.
const BRANCHES_MAX: usize = 5;

impl Session {
    /// What the page opens with: a failure that has just happened, paused on the step that did it.
    pub fn opening(language: Language) -> Self {
        let design = |name| Design::preset(name).expect("the presets' names are identities");
        let schedule = "s1:dA.A.dB.B.A.B.A.B.A.B.A.B2";
        Session {
            designs: [
                design("check-then-insert"),
                design("constraint-arbitration"),
            ],
            scenario: Scenario::default(),
            bounds: USUAL_BOUNDS,
            lesson: None,
            guess: Guess::Skipped,
            exercise: None,
            answer_shown: false,
            schedule: schedule.parse().expect("a schedule written here"),
            cursor: 8,
            language,
            shown: Side::Left,
            compares: true,
            theme: Theme::Auto,
            presents: false,
            branches: vec![],
            viewer: Viewer::Committed,
            is_playing: false,
            shows_keys: false,
            symptom: None,
            shows_shares: false,
            refused: None,
        }
    }

    /// The design on a side.
    pub fn design(&self, side: Side) -> Design {
        self.designs[side as usize]
    }

    /// Whether one of the two designs is so.
    pub fn any_design(&self, is_so: impl Fn(&Design) -> bool) -> bool {
        self.designs.iter().any(is_so)
    }

    /// Whether this is what the page opens with, at whatever step.
    pub fn is_opening(&self) -> bool {
        let opening = Session::opening(self.language);
        self.designs == opening.designs
            && self.scenario == opening.scenario
            && self.schedule == opening.schedule
    }

    /// The verdict that the puzzle asks for, if it is one.
    pub fn puzzle(&self) -> Option<Verdict> {
        match self.exercise?.goal {
            Goal::Break(verdict) => Some(verdict),
            Goal::Repair { .. } => None,
        }
    }

    /// Whether a repair is worked at.
    pub fn is_repair(&self) -> bool {
        self.exercise.is_some_and(|exercise| !exercise.is_puzzle())
    }

    /// The sides that are shown: a puzzle is about one design.
    pub fn sides(&self) -> &'static [Side] {
        match self.puzzle() {
            Some(_) => &[Side::Left],
            None => &Side::BOTH,
        }
    }

    /// Which faults may happen by hand. In a puzzle they are those of the search, whose optimum is the
    /// measure.
    pub fn bounds_by_hand(&self) -> Bounds {
        match self.puzzle() {
            Some(_) => self.bounds,
            None => Bounds::BY_HAND,
        }
    }

    /// Whether the design on a side may be changed to this one.
    pub fn may_become(&self, side: Side, design: &Design) -> bool {
        self.exercise
            .is_none_or(|exercise| side == Side::Right && exercise.may_become(design))
    }

    /// Whether a question waits, so that what gives its answer away is to be kept back.
    pub fn is_asked(&self) -> bool {
        self.guess == Guess::Asked
    }

    /// Whether everything that a question is about is as the lesson has it.
    pub fn is_as_taught(&self) -> bool {
        self.lesson.is_some_and(|lesson| {
            self.designs == lesson.designs
                && self.scenario == lesson.scenario
                && self.bounds == lesson.bounds
        })
    }

    /// The session after an action. Total: an action that makes no sense changes nothing.
    pub fn after(&self, action: Action) -> Session {
        let goes_on = matches!(
            action,
            Action::Take(_)
                | Action::GoTo(1..)
                | Action::Replay(_)
                | Action::TakeBranch(_)
                | Action::Play(true)
                | Action::Restart
        );
        let mut next = Session {
            refused: None,
            ..self.clone()
        };
        // Whoever goes on without answering need not be asked any more.
        if goes_on && next.is_asked() {
            next.guess = Guess::Skipped;
        }
        match action {
            Action::Take(step) => next.take(step),
            Action::GoTo(cursor) => next.cursor = cursor.min(next.schedule.0.len()),
            // What an exercise is about is not for the visitor to change.
            Action::SetDesign(side, design) if !self.may_become(side, &design) => {}
            Action::SetScenario(_) | Action::SetBounds(_) if self.exercise.is_some() => {}
            Action::Show(Side::Right) if self.puzzle().is_some() => {}
            Action::SetDesign(side, design) => match design.nonsense() {
                None => next.set_design(side, design),
                Some(nonsense) => next.refused = Some((side, nonsense)),
            },
            Action::SetScenario(scenario) => next.set_scenario(scenario),
            Action::SetBounds(bounds) => next.bounds = bounds,
            Action::Replay(schedule) => {
                next.answer_shown |= self.puzzle().is_some();
                next.replay(schedule);
            }
            Action::Open {
                design,
                scenario,
                bounds,
                schedule,
            } => {
                next.shown = Side::Left;
                next.leave_course();
                next.designs[Side::Left as usize] = design;
                next.set_scenario(scenario);
                next.bounds = bounds;
                next.replay(schedule);
            }
            Action::Teach(lesson) => next.teach(lesson),
            Action::Answer(guess) => {
                // A narrow screen shows one side, and the answer belongs to the one that was asked about.
                if let (Guess::Given(_), Some(lesson)) = (guess, next.lesson) {
                    next.shown = Side::BOTH[lesson.asks.side];
                }
                next.guess = guess;
                next.cursor = next.schedule.0.len();
            }
            Action::Exercise(exercise) => next.begin(exercise),
            Action::ShowRepair => next.show_repair(),
            Action::Diagnose(symptom) => next.symptom = symptom,
            Action::ShowShares(shown) => next.shows_shares = shown,
            Action::SetLanguage(language) => next.language = language,
            Action::Show(side) => next.shown = side,
            Action::Compare(compares) => next.compares = compares,
            Action::SetTheme(theme) => next.theme = theme,
            Action::Present(presents) => next.presents = presents,
            Action::View(viewer) => next.viewer = viewer,
            Action::TakeBranch(index) => next.take_branch(index),
            Action::Play(playing) => next.is_playing = playing,
            Action::ShowKeys(shown) => next.shows_keys = shown,
            Action::Restart => next.restart(),
            Action::Follow(session) => next = *session,
            Action::Reopen => {
                let opening = Session::opening(self.language);
                next = Session {
                    branches: next.branches,
                    shown: self.shown,
                    compares: self.compares,
                    theme: self.theme,
                    presents: self.presents,
                    ..opening
                };
            }
        }
        if next.is_asked() && !next.is_as_taught() {
            next.guess = Guess::Skipped;
        }
        next
    }

    /// Takes a step at the cursor. The step that comes next anyway only moves the cursor; another one
    /// leaves the old future behind as a branch.
    fn take(&mut self, step: Step) {
        if self.schedule.0.get(self.cursor) != Some(&step) {
            if self.schedule.0.len() >= Schedule::STEPS_MAX && self.cursor >= Schedule::STEPS_MAX {
                return;
            }
            if self.cursor < self.schedule.0.len() {
                self.keep_branch();
            }
            self.schedule.0.truncate(self.cursor);
            self.schedule.0.push(step);
        }
        self.cursor += 1;
    }

    /// Leaves the lesson or the exercise.
    fn leave_course(&mut self) {
        self.lesson = None;
        self.guess = Guess::Skipped;
        self.exercise = None;
        self.answer_shown = false;
    }

    /// Begins an exercise.
    fn begin(&mut self, exercise: &'static Exercise) {
        self.leave_course();
        self.exercise = Some(exercise);
        self.designs = [exercise.design; 2];
        self.set_scenario(exercise.scenario);
        self.bounds = exercise.bounds;
        (self.shown, self.schedule) = match &exercise.goal {
            Goal::Break(_) => (Side::Left, Schedule::default()),
            Goal::Repair { schedule, .. } => (Side::Right, schedule.clone()),
        };
        self.cursor = self.schedule.0.len();
        self.branches.clear();
        self.is_playing = false;
        self.shows_shares = false;
    }

    /// Puts a design that holds in the place of the visitor's.
    fn show_repair(&mut self) {
        let Some(Exercise {
            goal: Goal::Repair { repaired, .. },
            ..
        }) = self.exercise
        else {
            return;
        };
        self.designs[Side::Right as usize] = *repaired;
        self.answer_shown = true;
    }

    /// Opens a lesson, at its question.
    fn teach(&mut self, lesson: &'static Lesson) {
        self.leave_course();
        self.designs = lesson.designs;
        self.set_scenario(lesson.scenario);
        self.bounds = lesson.bounds;
        self.schedule = lesson.schedule.clone();
        self.branches.clear();
        self.cursor = 0;
        self.is_playing = false;
        self.lesson = Some(lesson);
        self.guess = Guess::Asked;
        self.shows_shares = false;
    }

    /// Shows a schedule from its first step to its last.
    fn replay(&mut self, schedule: Schedule) {
        if schedule != self.schedule {
            self.keep_branch();
        }
        self.cursor = schedule.0.len();
        self.schedule = schedule;
        self.is_playing = false;
    }

    /// Chooses a design. A run that it cannot even begin is kept as a branch, and another begins: where a
    /// producer is, nothing is in the queue at the start.
    fn set_design(&mut self, side: Side, design: Design) {
        self.designs[side as usize] = design;
        let begins =
            |first: &Step| (first.worker() == Some(WorkerId::PRODUCER)) == design.has_producer();
        if self.exercise.is_none() && !self.schedule.0.first().is_none_or(begins) {
            self.restart();
        }
    }

    /// Forgets the moves, which stay as a branch.
    fn restart(&mut self) {
        self.keep_branch();
        self.schedule = Schedule::default();
        self.cursor = 0;
        self.is_playing = false;
    }

    fn set_scenario(&mut self, scenario: Scenario) {
        let Ok(scenario) = scenario.checked() else {
            return;
        };
        self.scenario = scenario;
    }

    fn keep_branch(&mut self) {
        if self.schedule.0.is_empty() || self.branches.contains(&self.schedule) {
            return;
        }
        self.branches.push(self.schedule.clone());
        if self.branches.len() > BRANCHES_MAX {
            self.branches.remove(0);
        }
    }

    fn take_branch(&mut self, index: usize) {
        if index >= self.branches.len() {
            return;
        }
        let branch = self.branches.remove(index);
        self.keep_branch();
        let shared = branch
            .0
            .iter()
            .zip(&self.schedule.0)
            .take_while(|(a, b)| a == b)
            .count();
        self.cursor = self.cursor.min(shared);
        self.schedule = branch;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deliver_twice_core::design::Begin;
    use deliver_twice_core::exercise;
    use deliver_twice_core::lesson;

    const A: Step = Step::Work(WorkerId(0));
    const B: Step = Step::Work(WorkerId(1));

    fn opening() -> Session {
        Session::opening(Language::English)
    }

    #[test]
    fn the_step_that_comes_next_anyway_only_moves_the_cursor() {
        let session = opening().after(Action::GoTo(1)).after(Action::Take(A));
        assert_eq!(session.schedule, opening().schedule);
        assert_eq!((session.cursor, session.branches.len()), (2, 0));
    }

    #[test]
    fn acting_in_the_past_keeps_the_old_future_as_a_branch() {
        let session = opening().after(Action::GoTo(2)).after(Action::Take(A));
        assert_eq!((session.schedule.0.len(), session.cursor), (3, 3));
        assert_eq!(session.branches, [opening().schedule]);
        let back = session.after(Action::TakeBranch(0));
        assert_eq!(back.schedule, opening().schedule);
        assert_eq!(back.cursor, 2);
        assert_eq!(back.branches, [session.schedule]);
    }

    #[test]
    fn an_answer_shows_the_side_that_was_asked_about() {
        for lesson in lesson::built_in() {
            let asked = Session::opening(Language::English).after(Action::Teach(lesson));
            let answered = asked.after(Action::Answer(Guess::Given(1)));
            assert_eq!(answered.shown as usize, lesson.asks.side, "{}", lesson.id);
        }
    }

    #[test]
    fn a_design_that_cannot_begin_the_run_begins_another() {
        let design = |name| Design::preset(name).unwrap();
        let left = opening().after(Action::SetDesign(Side::Left, design("outbox")));
        assert_eq!((left.schedule.0.len(), left.cursor), (0, 0));
        assert_eq!(left.branches, [opening().schedule]);
        let stepped = left.after(Action::Take(Step::Work(WorkerId::PRODUCER)));
        let both = stepped.after(Action::SetDesign(Side::Right, design("outbox-unfenced")));
        assert_eq!(both.schedule, stepped.schedule);
        let kept = opening().after(Action::SetDesign(Side::Left, design("no-guard")));
        assert_eq!(kept.schedule, opening().schedule);
    }

    #[test]
    fn a_cursor_stays_within_the_run() {
        assert_eq!(opening().after(Action::GoTo(usize::MAX)).cursor, 13);
        assert_eq!(
            opening()
                .after(Action::Restart)
                .after(Action::Take(B))
                .cursor,
            1
        );
    }

    #[test]
    fn a_replay_shows_the_whole_schedule_and_keeps_the_run_before() {
        let schedule: Schedule = "s1:dA.A2.xA".parse().unwrap();
        let session = opening().after(Action::Replay(schedule.clone()));
        assert_eq!((session.schedule, session.cursor), (schedule, 4));
        assert_eq!(session.branches, [opening().schedule]);
    }

    fn working_at(id: &str) -> Session {
        opening().after(Action::Exercise(exercise::named(id).unwrap()))
    }

    #[test]
    fn a_puzzle_begins_with_one_design_and_no_moves_and_lets_nothing_of_it_be_changed() {
        let session = working_at("two-look-at-once");
        assert_eq!(session.puzzle(), Some(Verdict::DuplicateEffect));
        assert_eq!(
            (session.schedule.0.len(), session.sides()),
            (0, &[Side::Left][..])
        );
        assert_eq!(session.bounds_by_hand(), Bounds::NONE);
        for action in [
            Action::SetDesign(Side::Left, Design::CONTRACT),
            Action::SetDesign(Side::Right, Design::CONTRACT),
            Action::SetScenario(Scenario {
                workers: 1,
                ..session.scenario
            }),
            Action::SetBounds(USUAL_BOUNDS),
            Action::Show(Side::Right),
            Action::ShowRepair,
        ] {
            assert_eq!(session.after(action.clone()), session, "{action:?}");
        }
    }

    #[test]
    fn a_schedule_that_is_replayed_in_a_puzzle_was_shown_until_it_is_begun_again() {
        let schedule: Schedule = "s1:dA.A.dB.B3.A2".parse().unwrap();
        let shown = working_at("two-look-at-once").after(Action::Replay(schedule));
        assert!(shown.answer_shown);
        assert!(
            shown.after(Action::Restart).answer_shown,
            "no branch makes it one's own"
        );
        let again = shown.after(Action::Exercise(shown.exercise.unwrap()));
        assert_eq!(again, working_at("two-look-at-once"));
    }

    #[test]
    fn a_repair_changes_the_right_design_on_the_axes_that_are_open() {
        let session = working_at("nobody-moves");
        let start = session.exercise.unwrap().design;
        assert_eq!((session.designs, session.shown), ([start; 2], Side::Right));
        let immediate = Design {
            begin: Begin::Immediate,
            ..start
        };
        let repaired = session.after(Action::SetDesign(Side::Right, immediate));
        assert_eq!(repaired.designs, [start, immediate]);
        assert_eq!(
            session.after(Action::SetDesign(Side::Left, immediate)),
            session
        );
        assert_eq!(
            session.after(Action::SetDesign(Side::Right, Design::CONTRACT)),
            session
        );
        let shown = session.after(Action::ShowRepair);
        assert_eq!(
            (shown.designs, shown.answer_shown),
            ([start, immediate], true)
        );
        let replayed = repaired.after(Action::Replay(Schedule::default()));
        assert!(!replayed.answer_shown, "a schedule solves no repair");
    }

    #[test]
    fn a_lesson_and_an_exercise_leave_each_other() {
        let lesson = lesson::named("ack-first").unwrap();
        let taught = working_at("ack-too-early").after(Action::Teach(lesson));
        assert_eq!((taught.exercise, taught.lesson), (None, Some(lesson)));
        let back = taught.after(Action::Exercise(exercise::named("ack-too-early").unwrap()));
        assert_eq!((back.lesson, back.is_asked()), (None, false));
        assert_eq!(back.after(Action::Reopen).exercise, None);
    }

    #[test]
    fn a_scenario_out_of_range_changes_nothing() {
        let scenario = Scenario {
            workers: 9,
            ..Scenario::default()
        };
        assert_eq!(opening().after(Action::SetScenario(scenario)), opening());
    }
}
