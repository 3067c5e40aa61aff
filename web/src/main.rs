//! The laboratory for JavaScript: one module for the page, for its worker, and for programs.
//!
//! What it is to be, its loader says: `start.js` mounts the page, `worker.js` has the worker listen, and a
//! program that uses the package does neither.

mod api;
mod app;
mod comparison;
mod embed;
mod evidence;
mod exercise;
#[cfg(test)]
mod golden;
mod keys;
mod listing;
mod messages;
mod permalink;
mod search;
mod session;
mod view;
mod waypoints;
mod words;

use wasm_bindgen::prelude::*;

/// Does nothing: to load the module must change nothing in a program that uses it.
fn main() {}

/// Mounts the page in the element `lab` of `index.html`.
///
/// # Panics
/// If there is no such element.
#[wasm_bindgen]
pub fn mount() {
    let document = gloo::utils::document();
    let root = document
        .get_element_by_id("lab")
        .expect("index.html has an element `lab`");
    yew::Renderer::<app::App>::with_root(root).render();
}

/// Has the page's worker listen for searches.
///
/// # Panics
/// Outside of a worker.
#[wasm_bindgen(js_name = serveSearches)]
pub fn serve_searches() {
    let scope = search::worker::scope().expect("worker.js runs in a worker");
    search::worker::serve(scope);
}
