//! The border to JavaScript. A refusal is thrown as a plain object; the package makes an error of it.

use js_sys::{JsString, Object, Reflect};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use super::answers;
use super::given::Given;
use super::lab::{self, Unfit};
use super::refusal::Answered;

/// Every named design.
#[wasm_bindgen(js_name = listDesigns)]
pub fn list_designs() -> Result<JsValue, JsValue> {
    plain(&answers::designs())
}

/// Every lesson.
#[wasm_bindgen(js_name = listLessons)]
pub fn list_lessons() -> Result<JsValue, JsValue> {
    plain(&answers::lessons())
}

/// Every exercise.
#[wasm_bindgen(js_name = listExercises)]
pub fn list_exercises() -> Result<JsValue, JsValue> {
    plain(&answers::exercises())
}

/// A laboratory; see [`lab::Lab`].
#[wasm_bindgen]
pub struct Lab(lab::Lab);

#[wasm_bindgen]
impl Lab {
    /// See [`lab::Lab::open`].
    pub fn open(options: &JsValue) -> Result<Lab, JsValue> {
        lab::Lab::open(given(options, 0)).map(Lab).map_err(thrown)
    }

    /// See [`lab::Lab::enabled`].
    pub fn enabled(&self) -> Result<JsValue, JsValue> {
        plain(&self.0.enabled())
    }

    /// See [`lab::Lab::step`].
    pub fn step(&mut self, step: &JsValue) -> Result<JsValue, JsValue> {
        answer(self.0.step(given(step, 0)))
    }

    /// See [`lab::Lab::steps`].
    pub fn steps(&self) -> Result<JsValue, JsValue> {
        plain(&self.0.steps())
    }

    /// See [`lab::Lab::replay`].
    pub fn replay(&mut self, schedule: &JsValue, leaves_out: bool) -> Result<JsValue, JsValue> {
        let unfit = match leaves_out {
            true => Unfit::LeftOut,
            false => Unfit::Refused,
        };
        answer(self.0.replay(given(schedule, 0), unfit))
    }

    /// See [`lab::Lab::go_to`].
    #[wasm_bindgen(js_name = goTo)]
    pub fn go_to(&mut self, steps: &JsValue) -> Result<JsValue, JsValue> {
        answer(self.0.go_to(given(steps, 0)))
    }

    /// See [`lab::Lab::undo`].
    pub fn undo(&mut self) -> Result<JsValue, JsValue> {
        answer(self.0.undo())
    }

    /// See [`lab::Lab::state`].
    pub fn state(&self) -> Result<JsValue, JsValue> {
        plain(&self.0.state())
    }

    /// See [`lab::Lab::export`].
    pub fn export(&self, format: &JsValue) -> Result<JsValue, JsValue> {
        answer(self.0.export(given(format, 0)))
    }
}

/// A search; see [`lab::Search`].
#[wasm_bindgen]
pub struct Search(lab::Search);

#[wasm_bindgen]
impl Search {
    /// See [`lab::Search::open`].
    pub fn open(options: &JsValue) -> Result<Search, JsValue> {
        lab::Search::open(given(options, 0))
            .map(Search)
            .map_err(thrown)
    }

    /// See [`lab::Search::advance`].
    pub fn advance(&mut self, steps: &JsValue) -> Result<JsValue, JsValue> {
        answer(self.0.advance(given(steps, 0)))
    }

    /// See [`lab::Search::findings`].
    pub fn findings(&self) -> Result<JsValue, JsValue> {
        answer(self.0.findings())
    }
}

/// Reads a value, as far as anything is made of one. `depth` is how many objects it lies in.
fn given(value: &JsValue, depth: u32) -> Given {
    if value.is_undefined() || value.is_null() {
        return Given::Nothing;
    }
    if let Some(text) = value.dyn_ref::<JsString>() {
        return match text.length() {
            0..=Given::TEXT_MAX => Given::Text(text.into()),
            _ => Given::TooLong,
        };
    }
    if let Some(number) = value.as_f64() {
        return Given::Number(number);
    }
    if !value.is_object() {
        return Given::Other("neither a text nor a number nor an object");
    }
    if depth >= Given::DEPTH_MAX {
        return Given::Other("an object");
    }
    // Not by `instanceof`: an object of another frame, or without a prototype, is as good.
    let object = value.unchecked_ref::<Object>();
    fields(object, depth + 1).unwrap_or(Given::Other("an object that cannot be read"))
}

/// Reads an object's own fields; `None` if it throws when it is asked, as a proxy may.
fn fields(object: &Object, depth: u32) -> Option<Given> {
    let names = Reflect::own_keys(object).ok()?;
    if names.length() > Given::FIELDS_MAX {
        return Some(Given::TooLong);
    }
    let mut fields = vec![];
    for name in names.iter() {
        let value = Reflect::get(object, &name).ok()?;
        let name = match given(&name, depth) {
            Given::Text(name) => name,
            _ => "a symbol, or a name that is too long".to_owned(),
        };
        fields.push((name, given(&value, depth)));
    }
    Some(Given::Fields(fields))
}

fn answer(answered: Answered<impl Serialize>) -> Result<JsValue, JsValue> {
    plain(&answered.map_err(thrown)?)
}

fn thrown(refusal: answers::Refusal) -> JsValue {
    plain(&refusal).unwrap_or_else(|error| error)
}

/// A value as plain objects, arrays, texts and numbers. The numbers of the tables all fit in JavaScript's,
/// so nothing is refused.
fn plain(value: &impl Serialize) -> Result<JsValue, JsValue> {
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    Ok(value.serialize(&serializer)?)
}
