//! The worker's side: takes questions in, searches in slices, and posts answers.

use std::cell::RefCell;
use std::rc::Rc;

use gloo::timers::callback::Timeout;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use super::engine::Engine;
use super::messages::{Answer, Question};

/// Steps in a slice. Between two slices the worker hears what the page has to say.
const SLICE: u64 = 1_000;

/// The scope of the worker that this module runs in; `None` on the page.
pub fn scope() -> Option<DedicatedWorkerGlobalScope> {
    js_sys::global().dyn_into().ok()
}

/// Listens to the page for as long as the worker lives.
pub fn serve(scope: DedicatedWorkerGlobalScope) {
    let desk = Rc::new(Desk {
        engine: RefCell::default(),
        scope: scope.clone(),
    });
    let listener = {
        let desk = Rc::clone(&desk);
        Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| desk.hear(&event))
    };
    scope.set_onmessage(Some(listener.as_ref().unchecked_ref()));
    listener.forget();
    desk.say(&Answer::Ready);
}

struct Desk {
    engine: RefCell<Engine>,
    scope: DedicatedWorkerGlobalScope,
}

impl Desk {
    fn hear(self: &Rc<Self>, event: &MessageEvent) {
        // Only the page that made this worker can post to it; anything unreadable is not for us.
        let Ok(question) = serde_wasm_bindgen::from_value::<Question>(event.data()) else {
            return;
        };
        let was_busy = self.engine.borrow().is_busy();
        let answer = self.engine.borrow_mut().ask(&question);
        if let Some(answer) = answer {
            self.say(&answer);
        }
        if !was_busy {
            self.search_on();
        }
    }

    fn search_on(self: &Rc<Self>) {
        if !self.engine.borrow().is_busy() {
            return;
        }
        let answers = self.engine.borrow_mut().advance(SLICE);
        answers.iter().for_each(|answer| self.say(answer));
        let desk = Rc::clone(self);
        Timeout::new(0, move || desk.search_on()).forget();
    }

    fn say(&self, answer: &Answer) {
        if let Ok(value) = serde_wasm_bindgen::to_value(answer) {
            // Refused only when the page is gone, and then nobody misses it.
            let _ = self.scope.post_message(&value);
        }
    }
}
