//! Mounts the laboratory's page.

mod app;
mod comparison;
mod keys;
mod messages;
mod permalink;
mod session;
mod view;
mod words;

fn main() {
    let document = gloo::utils::document();
    let root = document
        .get_element_by_id("lab")
        .expect("index.html has an element `lab`");
    yew::Renderer::<app::App>::with_root(root).render();
}
