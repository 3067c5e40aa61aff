//! What the page sees of the searches: a hook that keeps both up to date with what is shown.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use deliver_twice_core::axis::Axis;
use deliver_twice_core::design::Design;
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::Schedule;
use gloo::timers::callback::Timeout;
use wasm_bindgen::prelude::*;
use web_sys::{MessageEvent, Worker, WorkerOptions, WorkerType};
use yew::prelude::*;

use super::engine::Engine;
use super::messages::{Answer, Findings, Question, SLOTS, slot_of};
use crate::exercise;
use crate::session::{Session, Side};

/// How long the page's own thread searches before the browser has its turn, in milliseconds. The steps that
/// were begun are finished, so that it is 8 in all: half of what there is between two pictures.
const SLICE_MS: f64 = 6.0;

/// Steps between two looks at the clock.
const STEPS: u64 = 4;

/// How far a search has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Stand {
    /// It has not begun.
    #[default]
    Waiting,
    /// It has reached so many states.
    Running {
        /// Distinct states.
        states: u32,
    },
    /// It is over.
    Over(Rc<Findings>),
    /// It could not be carried out.
    Failed(String),
}

/// What is known from one search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// How far the search has come.
    pub stand: Stand,
    /// Per cent of the futures that end badly, after each step of the side's schedule.
    pub percent: Vec<Option<f64>>,
}

impl Known {
    /// What was found, once the search is over.
    pub fn findings(&self) -> Option<&Findings> {
        match &self.stand {
            Stand::Over(findings) => Some(findings),
            Stand::Waiting | Stand::Running { .. } | Stand::Failed(_) => None,
        }
    }
}

/// What is known from all searches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Searches {
    slots: [Known; SLOTS],
    numbers: [u32; SLOTS],
}

impl Searches {
    /// Searches of both sides that have come this far.
    #[cfg(test)]
    pub fn at(stands: [Stand; 2]) -> Self {
        let mut searches = Searches::default();
        for (known, stand) in searches.slots.iter_mut().zip(stands) {
            known.stand = stand;
        }
        searches
    }

    /// One side.
    pub fn side(&self, side: Side) -> &Known {
        &self.slots[side as usize]
    }

    /// The repair with its change on this axis taken back.
    pub fn taken_back(&self, axis: Axis) -> &Known {
        &self.slots[slot_of(axis)]
    }
}

/// Something that the page learns.
pub enum News {
    /// A search with this number was asked for in this slot.
    Asked(usize, u32),
    /// An answer came.
    Heard(Answer),
}

impl Reducible for Searches {
    type Action = News;

    fn reduce(self: Rc<Self>, news: News) -> Rc<Self> {
        let mut next = (*self).clone();
        match news {
            News::Asked(slot, number) => next.expect(slot, number),
            News::Heard(answer) => next.hear(answer),
        }
        Rc::new(next)
    }
}

impl Searches {
    /// Forgets what was known in a slot, and with a design what was known of its changes.
    fn expect(&mut self, slot: usize, number: u32) {
        self.numbers[slot] = number;
        self.slots[slot] = Known::default();
        if slot == Side::Right as usize {
            self.slots[2..].fill(Known::default());
        }
    }

    /// Takes an answer in, unless it belongs to a question that was asked before the last.
    fn hear(&mut self, answer: Answer) {
        let (Answer::Progress { slot, number, .. }
        | Answer::Found { slot, number, .. }
        | Answer::Shares { slot, number, .. }
        | Answer::Failed { slot, number, .. }) = &answer
        else {
            return;
        };
        if self.numbers.get(*slot) != Some(number) {
            return;
        }
        let known = &mut self.slots[*slot];
        match answer {
            Answer::Progress { states, .. } => known.stand = Stand::Running { states },
            Answer::Found { findings, .. } => known.stand = Stand::Over(Rc::new(findings)),
            Answer::Failed { why, .. } => known.stand = Stand::Failed(why),
            Answer::Shares { percent, .. } => known.percent = percent,
            Answer::Ready => {}
        }
    }
}

/// Where questions go: to a worker, or to an engine on this thread where none is to be had.
struct Desk {
    worker: Option<Worker>,
    is_ready: bool,
    /// Questions that were asked before the worker listened.
    waiting: VecDeque<Question>,
    /// The search that was asked for last in each slot, to be asked for again if the worker dies.
    last: [Option<Question>; SLOTS],
    engine: Engine,
    heard: Callback<Answer>,
    asked: u32,
}

type SharedDesk = Rc<RefCell<Desk>>;

impl Desk {
    fn open(heard: Callback<Answer>) -> SharedDesk {
        let desk = Rc::new(RefCell::new(Desk {
            worker: None,
            is_ready: false,
            waiting: VecDeque::new(),
            last: Default::default(),
            engine: Engine::default(),
            heard,
            asked: 0,
        }));
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        if let Ok(worker) = Worker::new_with_options("./worker.js", &options) {
            listen(&desk, &worker);
            desk.borrow_mut().worker = Some(worker);
        }
        desk
    }

    fn ask(desk: &SharedDesk, question: Question) {
        let mut open = desk.borrow_mut();
        if let Question::Search { slot, .. } = &question {
            open.last[*slot] = Some(question.clone());
        }
        if open.worker.is_some() && !open.is_ready {
            open.waiting.push_back(question);
            return;
        }
        if let Some(worker) = &open.worker {
            if let Ok(value) = serde_wasm_bindgen::to_value(&question) {
                // Posting plain values to a worker of one's own does not fail.
                let _ = worker.post_message(&value);
            }
            return;
        }
        let was_busy = open.engine.is_busy();
        let answer = open.engine.ask(&question);
        let heard = open.heard.clone();
        drop(open);
        answer.into_iter().for_each(|answer| heard.emit(answer));
        if !was_busy {
            search_on(desk);
        }
    }
}

/// Takes the worker's answers in. If the worker breaks down, the page goes on without.
fn listen(desk: &SharedDesk, worker: &Worker) {
    let on_message = {
        let desk = Rc::clone(desk);
        Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            let Ok(answer) = serde_wasm_bindgen::from_value::<Answer>(event.data()) else {
                return;
            };
            if answer == Answer::Ready {
                desk.borrow_mut().is_ready = true;
                ask_what_waits(&desk);
                return;
            }
            let heard = desk.borrow().heard.clone();
            heard.emit(answer);
        })
    };
    let on_error = {
        let desk = Rc::clone(desk);
        Closure::<dyn Fn(JsValue)>::new(move |_| {
            let worker = desk.borrow_mut().worker.take();
            if let Some(worker) = worker {
                worker.terminate();
                let last = desk.borrow().last.clone();
                desk.borrow_mut().waiting = last.into_iter().flatten().collect();
                ask_what_waits(&desk);
            }
        })
    };
    worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
    on_message.forget();
    on_error.forget();
}

fn ask_what_waits(desk: &SharedDesk) {
    let waiting = std::mem::take(&mut desk.borrow_mut().waiting);
    waiting
        .into_iter()
        .for_each(|question| Desk::ask(desk, question));
}

/// Searches a slice on this thread, and comes back for the next once the browser has had its turn.
fn search_on(desk: &SharedDesk) {
    if !desk.borrow().engine.is_busy() {
        return;
    }
    let answers = slice(&mut desk.borrow_mut().engine);
    let heard = desk.borrow().heard.clone();
    answers.into_iter().for_each(|answer| heard.emit(answer));
    let desk = Rc::clone(desk);
    Timeout::new(0, move || search_on(&desk)).forget();
}

/// Searches for as long as a slice lasts. Of what was heard on the way only the latest progress counts.
fn slice(engine: &mut Engine) -> Vec<Answer> {
    let clock = gloo::utils::window().performance();
    let now = || clock.as_ref().map_or(f64::MAX, web_sys::Performance::now);
    let end = now() + SLICE_MS;
    let mut answers = vec![];
    loop {
        answers.retain(|answer| !matches!(answer, Answer::Progress { .. }));
        answers.extend(engine.advance(STEPS));
        if !engine.is_busy() || now() >= end {
            return answers;
        }
    }
}

/// The searches of both designs under the scenario and the bounds, the shares of the shown runs, and, once
/// a repair holds, the searches that say what each of its changes is for.
///
/// A change of any of them gives the old search up and begins a new one.
#[hook]
pub fn use_searches(session: &Session, schedules: [Schedule; 2]) -> Rc<Searches> {
    let searches = use_reducer(Searches::default);
    let desk = {
        let dispatcher = searches.dispatcher();
        use_memo((), move |()| {
            Desk::open(Callback::from(move |answer| {
                dispatcher.dispatch(News::Heard(answer))
            }))
        })
    };
    let [left, right] = schedules;
    let (designs, under) = (session.designs, (session.scenario, session.bounds));
    use_search(&desk, &searches, Side::Left, (designs[0], under));
    use_search(&desk, &searches, Side::Right, (designs[1], under));
    use_shares(&desk, &searches, Side::Left, &left);
    use_shares(&desk, &searches, Side::Right, &right);
    let known = searches.side(Side::Right).findings();
    let is_repaired = session.is_repair() && known.is_some_and(Findings::holds);
    let changes = Axis::ALL.map(|axis| {
        let change = exercise::taken_back(axis, designs);
        change.filter(|_| is_repaired)
    });
    use_changes(&desk, &searches, (changes, under));
    Rc::new((*searches).clone())
}

/// Asks for the search of a side whenever what it is about has changed.
#[hook]
fn use_search(
    desk: &SharedDesk,
    searches: &UseReducerHandle<Searches>,
    side: Side,
    about: (Design, (Scenario, Bounds)),
) {
    let desk = SharedDesk::clone(desk);
    let dispatcher = searches.dispatcher();
    use_effect_with(about, move |(design, under)| {
        begin(&desk, &dispatcher, side as usize, *design, *under);
    });
}

/// Asks for the search of a repair with each of its changes taken back.
#[hook]
fn use_changes(
    desk: &SharedDesk,
    searches: &UseReducerHandle<Searches>,
    about: ([Option<Design>; Axis::COUNT], (Scenario, Bounds)),
) {
    let desk = SharedDesk::clone(desk);
    let dispatcher = searches.dispatcher();
    use_effect_with(about, move |(changes, under)| {
        for (axis, change) in Axis::ALL.into_iter().zip(changes) {
            if let Some(design) = change {
                begin(&desk, &dispatcher, slot_of(axis), *design, *under);
            }
        }
    });
}

/// Asks for the search of a design in a slot.
fn begin(
    desk: &SharedDesk,
    dispatcher: &UseReducerDispatcher<Searches>,
    slot: usize,
    design: Design,
    (scenario, bounds): (Scenario, Bounds),
) {
    let number = {
        let mut open = desk.borrow_mut();
        open.asked += 1;
        open.asked
    };
    dispatcher.dispatch(News::Asked(slot, number));
    let question = Question::Search {
        slot,
        number,
        design: design.to_string(),
        scenario: scenario.into(),
        bounds: bounds.into(),
    };
    Desk::ask(desk, question);
}

/// Asks for the shares along a side's schedule, once its search is over.
#[hook]
fn use_shares(
    desk: &SharedDesk,
    searches: &UseReducerHandle<Searches>,
    side: Side,
    schedule: &Schedule,
) {
    let desk = SharedDesk::clone(desk);
    let is_over = searches.side(side).findings().is_some();
    let number = searches.numbers[side as usize];
    use_effect_with(
        (is_over, number, schedule.to_string()),
        move |(is_over, number, schedule)| {
            if *is_over {
                let schedule = schedule.clone();
                let question = Question::Shares {
                    slot: side as usize,
                    number: *number,
                    schedule,
                };
                Desk::ask(&desk, question);
            }
        },
    );
}
