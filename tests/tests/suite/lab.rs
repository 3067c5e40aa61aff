//! The laboratory's page, once it runs: what every test of it begins with.

use std::fs;
use std::path::{Path, PathBuf};

use deliver_twice_tests::{Page, repository};

/// What a strict server allows: nothing from elsewhere, no script or style inside a document, and
/// WebAssembly.
pub const STRICT: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
                          style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
                          worker-src 'self'; font-src 'self'; manifest-src 'self'; \
                          base-uri 'none'; form-action 'none'";

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

/// Waits until this holds of `address`, the query of the page's address. The page writes it after it has painted, so
/// a test that only reads it may be too early.
#[track_caller]
pub fn wait_address(page: &Page, holds: &str) {
    page.wait_until(
        "the address to say what the page shows",
        &format!("(address => {holds})(location.search)"),
    );
}

/// A copy of the built page that a test may change, in a folder of that name.
#[track_caller]
pub fn copy_of_build(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok(); // there is none the first time
    fs::create_dir_all(&folder).expect("a folder for a copy of the page");
    let built = fs::read_dir(repository().join("dist"));
    for file in built.expect("the built page").map(Result::unwrap) {
        fs::copy(file.path(), folder.join(file.file_name())).expect("a copied file");
    }
    folder
}

/// Holds the page to every width: it never scrolls sideways. Leaves it at the first.
#[track_caller]
pub fn assert_fits(page: &Page, widths: &[u32], what: &str) {
    for width in widths {
        page.set_width(*width);
        let found = page.eval("document.documentElement.scrollWidth");
        assert!(
            found.as_u64().is_some_and(|found| found <= (*width).into()),
            "{what} is {found} pixels wide in a window of {width}"
        );
    }
    page.set_width(widths[0]);
}
