//! The browser for tests, tried on a small page of our own: above all, it can fail.

use deliver_twice_tests::{Page, repository};

fn open() -> Page {
    Page::open_folder(&repository().join("tests").join("fixtures").join("harness"))
}

#[test]
fn a_click_waits_for_an_element_that_comes_later() {
    let page = open();
    page.click("#later");
    page.click("#row");
    page.wait_text("#answer", "row clicked");
    assert_eq!(page.text("#row"), "answered");
    assert_eq!(page.count("button"), 3);
}

#[test]
fn a_reload_forgets_what_the_page_had_become() {
    let page = open();
    page.key("j");
    page.wait_text("#answer", "j");
    page.reload();
    assert_eq!(page.text("#answer"), "waiting");
}

#[test]
fn keys_and_options_reach_the_page() {
    let page = open();
    page.key("ArrowRight");
    page.wait_text("#answer", "ArrowRight");
    page.key("Shift+Home");
    page.wait_text("#answer", "shift Home");
    page.choose("#design", "constraint");
    page.wait_text("#answer", "constraint");
}

#[test]
fn an_uncaught_exception_is_a_console_error() {
    let page = open();
    assert_eq!(page.console_errors(), [""; 0]);
    page.click("#fail");
    let errors = page.console_errors();
    assert!(
        errors.len() == 1 && errors[0].contains("broken on purpose"),
        "{errors:?}"
    );
}

#[test]
fn a_page_can_be_narrower_than_a_window() {
    let page = open();
    page.set_width(360);
    assert_eq!(page.eval("window.innerWidth"), 360);
}
