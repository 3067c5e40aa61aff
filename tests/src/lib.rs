//! A browser for tests: opens the built page in headless Chromium, presses and reads it.
//!
//! [`Page`] is all that a test sees. Its parts are a server for the built folder (`site`), a
//! chromedriver process (`driver`) and a WebDriver session with it (`session`). Calls block,
//! and each waits for a state of the page, bounded in time (`wait`). What does not come about
//! in time is a failed test, so these functions panic with a sentence instead of returning
//! errors.

mod driver;
mod keys;
mod page;
mod session;
mod site;
mod wait;

pub use page::Page;
pub use site::Site;

use std::path::Path;

/// The root folder of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ lies in the root folder")
}
