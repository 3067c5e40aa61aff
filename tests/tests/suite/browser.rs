//! The built page in a real browser, as a visitor uses it.

use deliver_twice_tests::Page;

/// True once the application has taken the place of the line that index.html shows first.
const IS_RUNNING: &str = "!document.querySelector('#lab').textContent.includes('Loading…')";

#[test]
fn the_page_starts_without_a_console_error() {
    let page = Page::open();
    page.wait_until(
        "the laboratory to take the place of its loading line",
        IS_RUNNING,
    );
    assert_eq!(page.console_errors(), [""; 0]);
    page.screenshot("start");
}
