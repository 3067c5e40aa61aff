//! What a program hands in, read field by field: nothing is taken for granted, and whatever is wrong is
//! named with its path.

use deliver_twice_core::design::Design;
use deliver_twice_core::exercise;
use deliver_twice_core::lesson;
use deliver_twice_core::scenario::{Bounds, CrashAt, Number, Provider, Scenario, TaskRow, Ticket};
use deliver_twice_core::schedule::{Schedule, Step};

use super::answers::Refusal;
use super::refusal::{Answered, Why};
use super::shape::camel;
use crate::search::engine::STATES_MAX;
use crate::session::USUAL_BOUNDS;

/// A value of JavaScript, as far as anything is made of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// `undefined` or `null`: left out.
    Nothing,
    /// A number.
    Number(f64),
    /// A text of at most [`Given::TEXT_MAX`] units.
    Text(String),
    /// An object's own fields, in its order.
    Fields(Vec<(String, Given)>),
    /// A text, or an object, that has more in it than any request.
    TooLong,
    /// Something else: what it is, and that of an object which would not be read.
    Other(&'static str),
}

impl Given {
    /// The most UTF-16 units of a text that is read. Every schedule of 500 steps is shorter.
    pub const TEXT_MAX: u32 = 4_000;
    /// The most bytes of a name. Every design's choices together are shorter.
    pub const NAME_MAX: usize = 400;
    /// The most fields of an object that is read.
    pub const FIELDS_MAX: u32 = 64;
    /// How deep objects are read: options, and scenario or bounds in them.
    pub const DEPTH_MAX: u32 = 2;

    /// What it is, in words.
    fn kind(&self) -> &'static str {
        match self {
            Given::Nothing => "nothing",
            Given::Number(_) => "a number",
            Given::Text(_) => "a text",
            Given::Fields(_) => "an object",
            Given::TooLong => "something too long",
            Given::Other(kind) => kind,
        }
    }

    /// A text that may not be left out.
    ///
    /// # Errors
    /// `bad-argument`, `too-long`.
    pub fn text(self, argument: &str) -> Answered<String> {
        match self {
            Given::Text(text) => Ok(text),
            other => Err(other.is_not("a text", argument)),
        }
    }

    /// A name, or another text of one line. Refusals repeat it, so it is a short one.
    ///
    /// # Errors
    /// As for [`Given::text`].
    pub fn name(self, argument: &str) -> Answered<String> {
        match self {
            Given::Text(text) if text.len() > Self::NAME_MAX => Given::TooLong.name(argument),
            other => other.text(argument),
        }
    }

    /// A whole number in a range.
    ///
    /// # Errors
    /// `bad-argument`, `out-of-range`.
    pub fn whole(self, argument: &str, min: u32, max: u32) -> Answered<u32> {
        let number = match self {
            Given::Number(number) => number,
            other => return Err(other.is_not("a number", argument)),
        };
        let is_in_range = (f64::from(min)..=f64::from(max)).contains(&number);
        if !is_in_range || number.fract() != 0.0 {
            let message = format!("is {number}; expected a whole number from {min} to {max}");
            return Err(Refusal::new(Why::OutOfRange, argument, message));
        }
        Ok(number as u32)
    }

    fn is_not(&self, wanted: &str, argument: &str) -> Refusal {
        let why = match self {
            Given::TooLong => Why::TooLong,
            _ => Why::BadArgument,
        };
        let message = format!("is {}; expected {wanted}", self.kind());
        Refusal::new(why, argument, message)
    }
}

/// A schedule.
///
/// # Errors
/// `bad-argument`, `too-long`, `bad-schedule` with the character.
pub fn schedule(given: Given, argument: &str) -> Answered<Schedule> {
    let text = given.text(argument)?;
    text.parse().map_err(|error| Refusal::of(&error, argument))
}

/// A step, as a schedule writes it.
///
/// # Errors
/// As for [`schedule`].
pub fn step(given: Given, argument: &str) -> Answered<Step> {
    let text = given.name(argument)?;
    let version = Schedule::VERSION;
    let read = format!("{version}{text}").parse::<Schedule>();
    let one = read.map_err(|error| {
        let mut refusal = Refusal::of(&error, argument);
        let at = &mut refusal.position.character;
        *at = at.map(|at| at.saturating_sub(version.len() as u32));
        refusal
    })?;
    match one.0[..] {
        [step] => Ok(step),
        _ => {
            let message = format!("is {} steps; expected one", one.0.len());
            Err(Refusal::new(Why::BadSchedule, argument, message))
        }
    }
}

/// What a laboratory or a search is to be about.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The design.
    pub design: Design,
    /// What it is put to.
    pub scenario: Scenario,
    /// How many of each fault may happen.
    pub bounds: Bounds,
    /// A schedule to begin with.
    pub schedule: Option<Schedule>,
    /// The most states that a search visits.
    pub states_max: u32,
}

/// The most states that a search may be asked to visit: about what a browser has memory for.
pub const STATES_MOST: u32 = 100_000;

/// What the fields that are left out are, and what those that are there may be.
struct Usual {
    bounds: Bounds,
    bounds_most: Bounds,
}

/// Reads the options of a laboratory.
///
/// # Errors
/// What is wrong first.
pub fn lab_options(given: Given) -> Answered<Request> {
    let mut fields = Fields::of(given, "options")?;
    let schedule = fields.take("schedule");
    let usual = Usual {
        bounds: Bounds::BY_HAND,
        bounds_most: Bounds::BY_HAND,
    };
    let mut request = about(fields, &usual)?;
    request.schedule = match schedule {
        Given::Nothing => None,
        given => Some(self::schedule(given, "options.schedule")?),
    };
    Ok(request)
}

/// Reads the options of a search.
///
/// # Errors
/// What is wrong first.
pub fn search_options(given: Given) -> Answered<Request> {
    let mut fields = Fields::of(given, "options")?;
    let states_max = match fields.take("statesMax") {
        Given::Nothing => STATES_MAX as u32,
        given => given.whole("options.statesMax", 1, STATES_MOST)?,
    };
    let usual = Usual {
        bounds: USUAL_BOUNDS,
        bounds_most: Bounds::MOST,
    };
    let request = about(fields, &usual)?;
    Ok(Request {
        states_max,
        ..request
    })
}

/// Reads what is common to all options.
fn about(mut fields: Fields, usual: &Usual) -> Answered<Request> {
    let design = fields.name("design")?;
    let lesson = fields.name("lesson")?;
    let exercise = fields.name("exercise")?;
    let side = fields.choice("side", &["left", "right"])?;
    if side.is_some() && lesson.is_none() {
        let message = "is for a lesson, and there is none".to_owned();
        return Err(Refusal::new(
            Why::ConflictingFields,
            &fields.path("side"),
            message,
        ));
    }
    let scenario = fields.take("scenario");
    let bounds = fields.take("bounds");
    let (design, scenario_before, bounds_before) = match (design, lesson, exercise) {
        (Some(text), None, None) => {
            let path = fields.path("design");
            let design = text
                .parse::<Design>()
                .map_err(|error| Refusal::of(&error, &path))?;
            (design, Scenario::default(), usual.bounds)
        }
        (None, Some(name), None) => {
            let lesson = lesson::named(&name)
                .ok_or_else(|| unknown(&fields.path("lesson"), &name, "listLessons"))?;
            let side = usize::from(side == Some("right"));
            (lesson.designs[side], lesson.scenario, lesson.bounds)
        }
        (None, None, Some(name)) => {
            let exercise = exercise::named(&name)
                .ok_or_else(|| unknown(&fields.path("exercise"), &name, "listExercises"))?;
            (exercise.design, exercise.scenario, exercise.bounds)
        }
        (None, None, None) => {
            let message = "expected a field `design`, `lesson` or `exercise`".to_owned();
            return Err(Refusal::new(Why::MissingField, "options", message));
        }
        _ => {
            let message = "expected only one of `design`, `lesson` and `exercise`".to_owned();
            return Err(Refusal::new(Why::ConflictingFields, "options", message));
        }
    };
    fields.end()?;
    Ok(Request {
        design,
        scenario: read_scenario(scenario, scenario_before)?,
        bounds: read_bounds(bounds, bounds_before, usual.bounds_most)?,
        schedule: None,
        states_max: STATES_MAX as u32,
    })
}

fn unknown(path: &str, found: &str, list: &str) -> Refusal {
    let found: String = found.chars().take(40).collect();
    let message = format!("`{found}` is unknown; `{list}` names those that there are");
    Refusal::new(Why::UnknownName, path, message)
}

fn read_scenario(given: Given, usual: Scenario) -> Answered<Scenario> {
    let mut fields = Fields::of(given, "options.scenario")?;
    let mut scenario = usual;
    for number in &Scenario::NUMBERS {
        scenario = fields.number(number, scenario, number.max)?;
    }
    let ticket = fields.choice("ticket", &Ticket::ALL.map(Ticket::as_str))?;
    let task = fields.choice("task", &TaskRow::ALL.map(TaskRow::as_str))?;
    let provider = fields.choice("provider", &Provider::ALL.map(Provider::as_str))?;
    fields.end()?;
    Ok(Scenario {
        ticket: ticket.and_then(Ticket::named).unwrap_or(scenario.ticket),
        task: task.and_then(TaskRow::named).unwrap_or(scenario.task),
        provider: provider
            .and_then(Provider::named)
            .unwrap_or(scenario.provider),
        ..scenario
    })
}

fn read_bounds(given: Given, usual: Bounds, most: Bounds) -> Answered<Bounds> {
    let mut fields = Fields::of(given, "options.bounds")?;
    let mut bounds = usual;
    for number in &Bounds::NUMBERS {
        bounds = fields.number(number, bounds, number.of(most))?;
    }
    let crash_at = fields.choice("crashAt", &CrashAt::ALL.map(CrashAt::as_str))?;
    fields.end()?;
    Ok(Bounds {
        crash_at: crash_at.and_then(CrashAt::named).unwrap_or(bounds.crash_at),
        ..bounds
    })
}

/// The fields of an object that were not asked for yet.
struct Fields {
    argument: String,
    fields: Vec<(String, Given)>,
}

impl Fields {
    /// An object's fields; none of nothing.
    fn of(given: Given, argument: &str) -> Answered<Self> {
        let fields = match given {
            Given::Fields(fields) => fields,
            Given::Nothing => vec![],
            other => return Err(other.is_not("an object", argument)),
        };
        Ok(Fields {
            argument: argument.to_owned(),
            fields,
        })
    }

    fn path(&self, name: &str) -> String {
        format!("{}.{name}", self.argument)
    }

    fn take(&mut self, name: &str) -> Given {
        match self.fields.iter().position(|(found, _)| found == name) {
            Some(place) => self.fields.swap_remove(place).1,
            None => Given::Nothing,
        }
    }

    fn name(&mut self, name: &str) -> Answered<Option<String>> {
        match self.take(name) {
            Given::Nothing => Ok(None),
            given => given.name(&self.path(name)).map(Some),
        }
    }

    /// One of the names that are known.
    fn choice(&mut self, name: &str, known: &[&'static str]) -> Answered<Option<&'static str>> {
        let Some(text) = self.name(name)? else {
            return Ok(None);
        };
        let choice = known.iter().find(|known| **known == text);
        choice.map(|choice| Some(*choice)).ok_or_else(|| {
            let found: String = text.chars().take(40).collect();
            let message = format!("is `{found}`; expected one of {}", known.join(", "));
            Refusal::new(Why::UnknownName, &self.path(name), message)
        })
    }

    /// The whole, with a number of it as given.
    fn number<T: Copy>(&mut self, number: &Number<T>, whole: T, max: u8) -> Answered<T> {
        let name = camel(number.name);
        match self.take(&name) {
            Given::Nothing => Ok(whole),
            given => {
                let path = self.path(&name);
                let value = given.whole(&path, number.min.into(), max.into())?;
                Ok(number.set(whole, value as u8))
            }
        }
    }

    /// Refuses what nobody asked for: a slip of the pen is not to pass for the usual value.
    fn end(self) -> Answered<()> {
        match self.fields.first() {
            None => Ok(()),
            Some((name, _)) => {
                let name: String = name.chars().take(40).collect();
                let message = "is no field that is known here".to_owned();
                Err(Refusal::new(Why::UnknownField, &self.path(&name), message))
            }
        }
    }
}
