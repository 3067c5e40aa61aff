//! The laboratory's page, once it runs: what every test of it begins with.

use deliver_twice_tests::Page;

/// The laboratory at this address, once it runs.
#[track_caller]
pub fn open(query: &str) -> Page {
    let page = Page::open_at(query);
    wait_running(&page);
    page
}

/// Waits until the laboratory runs.
#[track_caller]
pub fn wait_running(page: &Page) {
    page.wait_until(
        "the laboratory to take the place of what index.html shows first",
        "document.querySelector('[data-testid=timeline]') !== null",
    );
}

/// Waits until the page stands on a row.
#[track_caller]
pub fn wait_row(page: &Page, number: u64) {
    page.wait_until(
        &format!("row {number} to be the current one"),
        &format!(
            "document.querySelector('[data-testid=row-{number}][aria-current=step]') !== null"
        ),
    );
}
