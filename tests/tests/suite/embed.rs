//! The laboratory as a part of other pages, which come from another origin.

use std::fs;
use std::path::Path;

use deliver_twice_tests::{Page, Site, repository};

use crate::lab::STRICT;

const FRAME: &str = "#lab-frame";
const TIMELINE: &str = "[data-testid=timeline]";

/// A page of a course, with the laboratory on a server of its own.
struct Course {
    page: Page,
    lab: Site,
}

impl Course {
    /// A course whose page has this body; `LAB` in it stands for the laboratory's address.
    #[track_caller]
    fn open(name: &str, body: &str) -> Course {
        let lab = Site::serve(&repository().join("dist"), Some(STRICT));
        let body = body.replace("LAB", &lab.address());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).expect("a folder for the course");
        let text = format!(
            "<!doctype html><meta charset=utf-8><title>Course</title><link rel=icon href=data:,>{body}"
        );
        fs::write(folder.join("index.html"), text).expect("a page of the course");
        let page = Page::open_folder(&folder);
        Course { page, lab }
    }

    /// A course whose page is one frame, with these attributes, of the laboratory at this query.
    #[track_caller]
    fn frame(name: &str, attributes: &str, query: &str) -> Course {
        let query = query.replace('&', "&amp;");
        let frame = format!(
            "<p>Read on.<iframe id=lab-frame {attributes} width=700 height=620 src=\"LAB?{query}\"></iframe>"
        );
        let course = Course::open(name, &frame);
        course.page.enter_frame(FRAME, TIMELINE);
        course
    }
}

fn called(testid: &str) -> String {
    format!("[data-testid=\"{testid}\"]")
}

#[track_caller]
fn wait_row(page: &Page, number: u64) {
    crate::lab::wait_row(page, number);
}

/// What a frame has left behind in the browser.
const TRACES: &str = "[history.length, localStorage.length, sessionStorage.length, document.cookie, \
                      location.search]";

#[test]
fn a_frame_touches_neither_history_nor_storage() {
    let course = Course::frame("embed-plain", "", "embed=1&left=no-guard&seq=s1:dA.A");
    let page = &course.page;
    let before = page.eval(TRACES);
    assert_eq!(before[4], "?embed=1&left=no-guard&seq=s1:dA.A");
    page.click(&called("step-A"));
    wait_row(page, 3);
    page.click(&called("run-back"));
    wait_row(page, 2);
    page.click(&called("language"));
    page.wait_text(&called("full-lab"), "打开完整实验室");
    assert_eq!(page.eval(TRACES), before);
    let kept = "Promise.all([caches.keys(), indexedDB.databases(), \
                navigator.serviceWorker.getRegistrations()]).then(all => all.flat().length)";
    assert_eq!(page.eval(kept), 0);
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn a_sandbox_with_nothing_but_scripts_has_the_lab_and_its_search() {
    let query = "embed=1&view=explore&left=no-guard&seq=s1:dA.A";
    let course = Course::frame("embed-sandbox", "sandbox=allow-scripts", query);
    let page = &course.page;
    assert_eq!(page.eval("window.origin"), "null");
    page.click(&called("step-A"));
    wait_row(page, 3);
    // No worker is to be had there, so the page searches between two pictures.
    page.wait_text(
        &called("search-left"),
        "deliveries 2, consumers 2, crashes ≤ 1",
    );
    let worker = "performance.getEntriesByType('resource').some(e => e.name.endsWith('worker.js'))";
    assert_eq!(page.eval(worker), false);
    // Nor is a clipboard: what is shown can be copied by hand.
    page.click(&called("share"));
    page.wait_text(&called("share"), "Copy it from here");
    let address = page.eval("document.querySelector('[data-testid=address]').value");
    let lab = course.lab.address();
    let wanted =
        format!("{lab}?left=no-guard&right=constraint-arbitration&seq=s1:dA.A2&at=3&lang=en");
    assert_eq!(address, wanted);
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn the_full_lab_opens_at_what_the_frame_shows() {
    let course = Course::frame(
        "embed-full-lab",
        "",
        "embed=1&lesson=check-loses-a-race&lang=zh",
    );
    let page = &course.page;
    let href = "document.querySelector('[data-testid=full-lab]').href";
    let asked = page.eval(href);
    assert_eq!(
        asked,
        format!(
            "{}?lesson=check-loses-a-race&lang=zh-CN",
            course.lab.address()
        )
    );
    page.click(&called("answer-skip"));
    page.click(&called("run-first"));
    page.click(&called("run-forward"));
    page.click(&called("step-xA"));
    let steps = "document.querySelectorAll('tbody tr[data-testid^=row-]').length";
    page.wait_until(
        "the crash",
        "document.querySelector('tr[aria-current]').innerText.includes('崩溃')",
    );
    let (rows, href) = (page.eval(steps), page.eval(href));
    let href = href.as_str().expect("an address").to_owned();
    page.leave_frame();
    page.eval(&format!("location.href = {href:?}"));
    page.wait_until(
        "the full lab",
        "document.querySelector('[data-testid=tables-left]') !== null",
    );
    assert_eq!(page.eval(steps), rows);
    page.wait_text("tr[aria-current]", "崩溃");
    assert_eq!(page.count(&called("full-lab")), 0);
}

#[test]
fn a_host_says_how_much_is_shown_and_what_may_be_done() {
    let course = Course::frame(
        "embed-rules",
        "",
        "embed=1&lesson=check-loses-a-race&predict=require&controls=step",
    );
    let page = &course.page;
    for gone in [
        "tables-left",
        "search-left",
        "matrix",
        "export",
        "lesson",
        "preset-left",
        "answer-skip",
    ] {
        assert_eq!(page.count(&called(gone)), 0, "{gone}");
    }
    page.key("Tab");
    page.key("End");
    page.eval("document.querySelector('[data-testid=step-dA]')?.click()");
    assert_eq!(page.count(&called("question")), 1);
    assert_eq!(page.count("tbody tr[data-testid^=row-]"), 1);
    page.click(&called("answer-2"));
    page.wait_text(&called("answered"), "2");

    let course = Course::frame(
        "embed-readonly",
        "",
        "embed=1&readonly=1&view=compare&nokeys=1",
    );
    let page = &course.page;
    assert_eq!(page.count(&called("tables-left")), 1);
    assert_eq!(page.count(&called("steps")), 0);
    page.click(&called("run-first"));
    wait_row(page, 0);
    page.click(&called("run-forward"));
    wait_row(page, 1);
    // Were they heard, they would come to rows of their own.
    page.key("]");
    page.key("d");
    page.click(&called("run-back"));
    wait_row(page, 0);
    assert_eq!(page.count("tbody tr[data-testid^=row-]"), 14);
}

#[test]
fn a_frame_leaves_the_focus_with_its_host() {
    let body = "<input id=own autofocus><iframe id=lab-frame width=700 height=500 src=\"LAB?embed=1\"></iframe>";
    let course = Course::open("embed-focus", body);
    let page = &course.page;
    page.click("#own");
    page.enter_frame(FRAME, TIMELINE);
    page.wait_text(&called("verdict-left"), "Duplicate");
    page.leave_frame();
    assert_eq!(page.eval("document.activeElement.id"), "own");
}

#[test]
fn markup_in_a_parameter_stays_text() {
    let markup = "%3Cimg%20src%3Dx%20onerror%3D%22document.title%3D'taken'%22%3E";
    let names = [
        "left",
        "right",
        "seq",
        "at",
        "lesson",
        "scenario",
        "puzzle",
        "repair",
        "lang",
        "theme",
        "side",
        "view",
        "controls",
        "predict",
        "readonly",
        "nokeys",
        "parent",
        "item",
        "present",
        "compare",
        "deliveries",
        "crash-at",
        "ticket",
        "answer",
    ];
    let query: Vec<String> = names
        .iter()
        .map(|name| format!("{name}={markup}"))
        .collect();
    let course = Course::frame("embed-markup", "", &format!("embed=1&{}", query.join("&")));
    let page = &course.page;
    page.wait_text(&called("bad-link"), "<img src=x");
    page.eval("document.querySelectorAll('details').forEach(one => one.open = true)");
    assert_eq!(page.count("img"), 0);
    assert_ne!(page.eval("document.title"), "taken");
    // All but `item` and `answer` have values of their own to be held against.
    assert_eq!(page.count(&called("bad-link")), names.len() as u64 - 2);
}
