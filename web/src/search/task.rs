//! What the page sees of the searches: a hook that keeps both up to date with what is shown.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use deliver_twice_core::design::Design;
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::Schedule;
use gloo::timers::callback::Timeout;
use wasm_bindgen::prelude::*;
use web_sys::{MessageEvent, Worker, WorkerOptions, WorkerType};
use yew::prelude::*;

use super::engine::Engine;
use super::messages::{Answer, Findings, Question, side_of};
use crate::session::Side;

/// Steps in a slice on the page's own thread: a few milliseconds' worth.
const SLICE: u64 = 40;

/// How far the search of a side has come.
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

/// What is known of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideSearch {
    /// How far the search has come.
    pub stand: Stand,
    /// Per cent of the futures that end badly, after each step of the side's schedule.
    pub percent: Vec<Option<f64>>,
}

/// What is known of both sides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Searches {
    sides: [SideSearch; 2],
    numbers: [u32; 2],
}

impl Searches {
    /// One side.
    pub fn side(&self, side: Side) -> &SideSearch {
        &self.sides[side as usize]
    }
}

/// Something that the page learns.
pub enum News {
    /// A search with this number was asked for.
    Asked(Side, u32),
    /// An answer came.
    Heard(Answer),
}

impl Reducible for Searches {
    type Action = News;

    fn reduce(self: Rc<Self>, news: News) -> Rc<Self> {
        let mut next = (*self).clone();
        match news {
            News::Asked(side, number) => {
                next.numbers[side as usize] = number;
                next.sides[side as usize] = SideSearch::default();
            }
            News::Heard(answer) => next.hear(answer),
        }
        Rc::new(next)
    }
}

impl Searches {
    /// Takes an answer in, unless it belongs to a question that was asked before the last.
    fn hear(&mut self, answer: Answer) {
        let (Answer::Progress { side, number, .. }
        | Answer::Found { side, number, .. }
        | Answer::Shares { side, number, .. }
        | Answer::Failed { side, number, .. }) = &answer
        else {
            return;
        };
        let Some(side) = side_of(*side).filter(|side| self.numbers[*side as usize] == *number)
        else {
            return;
        };
        let known = &mut self.sides[side as usize];
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
    /// The search that each side asked for last, to be asked for again if the worker dies.
    last: [Option<Question>; 2],
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
        if let Question::Search { side, .. } = &question {
            open.last[*side] = Some(question.clone());
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
    let answers = desk.borrow_mut().engine.advance(SLICE);
    let heard = desk.borrow().heard.clone();
    answers.into_iter().for_each(|answer| heard.emit(answer));
    let desk = Rc::clone(desk);
    Timeout::new(0, move || search_on(&desk)).forget();
}

/// The searches of both designs under the scenario and the bounds, and the shares of the shown runs.
///
/// A change of any of them gives the old search up and begins a new one.
#[hook]
pub fn use_searches(
    designs: [Design; 2],
    scenario: Scenario,
    bounds: Bounds,
    schedules: [Schedule; 2],
) -> Rc<Searches> {
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
    use_search(&desk, &searches, Side::Left, (designs[0], scenario, bounds));
    use_search(
        &desk,
        &searches,
        Side::Right,
        (designs[1], scenario, bounds),
    );
    use_shares(&desk, &searches, Side::Left, &left);
    use_shares(&desk, &searches, Side::Right, &right);
    Rc::new((*searches).clone())
}

/// Asks for the search of a side whenever what it is about has changed.
#[hook]
fn use_search(
    desk: &SharedDesk,
    searches: &UseReducerHandle<Searches>,
    side: Side,
    about: (Design, Scenario, Bounds),
) {
    let desk = SharedDesk::clone(desk);
    let dispatcher = searches.dispatcher();
    use_effect_with(about, move |(design, scenario, bounds)| {
        let number = {
            let mut open = desk.borrow_mut();
            open.asked += 1;
            open.asked
        };
        dispatcher.dispatch(News::Asked(side, number));
        let question = Question::Search {
            side: side as usize,
            number,
            design: design.to_string(),
            scenario: (*scenario).into(),
            bounds: (*bounds).into(),
        };
        Desk::ask(&desk, question);
    });
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
    let is_over = matches!(searches.side(side).stand, Stand::Over(_));
    let number = searches.numbers[side as usize];
    use_effect_with(
        (is_over, number, schedule.to_string()),
        move |(is_over, number, schedule)| {
            if *is_over {
                let schedule = schedule.clone();
                let question = Question::Shares {
                    side: side as usize,
                    number: *number,
                    schedule,
                };
                Desk::ask(&desk, question);
            }
        },
    );
}
