//! Mounts the laboratory's page.

mod app;
mod comparison;
mod embed;
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

fn main() {
    if let Some(scope) = search::worker::scope() {
        return search::worker::serve(scope);
    }
    let document = gloo::utils::document();
    let root = document
        .get_element_by_id("lab")
        .expect("index.html has an element `lab`");
    yew::Renderer::<app::App>::with_root(root).render();
}
