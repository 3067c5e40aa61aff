//! The page without a network, as part of another page, under a strict server, and when it cannot start.

use std::fs;
use std::path::Path;
use std::process::Command;

use deliver_twice_tests::{Page, repository};

use crate::lab::{STRICT, copy_of_build, open, wait_running};

const SEARCH_LEFT: &str = "[data-testid=search-left]";
const SEARCH_RIGHT: &str = "[data-testid=search-right]";
const START: &str = "[data-testid=start]";

/// Waits until the service worker has every file and answers for the page.
#[track_caller]
fn wait_kept(page: &Page) {
    page.wait_until(
        "the files to be kept",
        "navigator.serviceWorker.controller?.state === 'activated'",
    );
}

/// Writes the list of a build's files anew, as a build does.
#[track_caller]
fn list_files(folder: &Path) {
    let mut cargo = Command::new(env!("CARGO"));
    let cargo = cargo.args(["xtask", "offline"]).current_dir(repository());
    let cargo = cargo.env("TRUNK_STAGING_DIR", folder);
    let status = cargo.env("TRUNK_PROFILE", "release").status();
    assert!(status.expect("cargo runs").success());
}

/// Replaces a part of a file.
#[track_caller]
fn change(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).expect("a file of the build");
    assert!(text.contains(from), "{from} is not in {}", file.display());
    fs::write(file, text.replace(from, to)).expect("a file of the copy");
}

/// Looks for a new build, as a visit does, and says what became of it.
#[track_caller]
fn update(page: &Page) -> String {
    let state = page.eval(
        "navigator.serviceWorker.ready.then(r => r.update()).then(r => new Promise(done => {
            const worker = r.installing ?? r.waiting;
            const look = () => worker?.state !== 'installing' && done(worker?.state ?? 'none');
            worker?.addEventListener('statechange', look);
            look();
        }))",
    );
    state.as_str().expect("a state is a word").to_owned()
}

#[test]
fn a_reload_without_a_server_has_the_page_and_its_search() {
    let mut page = open("?left=no-guard");
    wait_kept(&page);
    page.stop_server();
    page.reload();
    wait_running(&page);
    page.wait_text(SEARCH_RIGHT, "Holds in all 37,140 schedules");
    assert_eq!(
        page.eval("document.querySelector('[data-testid=preset-left]').value"),
        "no-guard"
    );
    let has_worker =
        "performance.getEntriesByType('resource').some(e => e.name.endsWith('/worker.js'))";
    assert_eq!(page.eval(has_worker), true);
    page.choose("[data-testid=bounds-crashes]", "0");
    page.wait_text(SEARCH_RIGHT, "Holds in all 384 schedules");
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn after_it_has_loaded_the_page_asks_nobody_for_anything() {
    let page = open("");
    wait_kept(&page);
    page.wait_text(SEARCH_RIGHT, "Holds in all 37,140 schedules");
    let loaded = page.take_requests();
    assert!(
        loaded.iter().any(|path| path.ends_with(".wasm")),
        "{loaded:?}"
    );
    page.choose("[data-testid=bounds-crashes]", "0");
    page.wait_text(SEARCH_RIGHT, "Holds in all 384 schedules");
    page.click("[data-testid=matrix] summary");
    page.click("[data-testid=cell-ticket-key-second-version]");
    page.click("[data-testid=export] summary");
    page.choose("[data-testid=export-format]", "svg");
    page.choose("[data-testid=lesson]", "two-versions");
    page.click("[data-testid=answer-skip]");
    page.choose("[data-testid=theme]", "dark");
    page.click("[data-testid=language]");
    page.wait_text("h1", "投递两次");
    page.wait_text(SEARCH_RIGHT, "只有一种交错，它成立");
    assert_eq!(page.take_requests(), [""; 0]);
    let elsewhere = page.eval(
        "performance.getEntriesByType('resource').map(e => e.name).filter(name => \
         !name.startsWith(location.origin) && !name.startsWith('data:'))",
    );
    assert_eq!(elsewhere.as_array().map(Vec::len), Some(0), "{elsewhere}");
}

#[test]
fn a_new_build_is_taken_over_whole_or_not_at_all() {
    let folder = copy_of_build("offline-update");
    let page = Page::open_folder(&folder);
    wait_kept(&page);
    // A build whose files are half replaced: its list is new, and one of its files is not the listed one.
    change(
        &folder.join("index.html"),
        "<title>Deliver Twice",
        "<title>Deliver thrice",
    );
    list_files(&folder);
    change(
        &folder.join("index.html"),
        "<title>Deliver thrice",
        "<title>Neither",
    );
    assert_eq!(update(&page), "redundant");
    page.reload();
    wait_running(&page);
    assert_eq!(page.eval("document.title"), "Deliver Twice");
    // And now it is all there.
    change(
        &folder.join("index.html"),
        "<title>Neither",
        "<title>Deliver thrice",
    );
    assert_eq!(update(&page), "installed");
    // As long as another window has the old build, no window gets the new one. A long search gives it
    // the time to come.
    page.eval(
        "new Promise(done => {
            const frame = document.createElement('iframe');
            frame.onload = done;
            frame.src = './';
            document.body.append(frame);
        })",
    );
    page.eval("navigator.serviceWorker.ready.then(r => r.waiting.postMessage('take over'))");
    page.choose("[data-testid=scenario-workers]", "3");
    page.wait_text(
        SEARCH_RIGHT,
        "schedules (deliveries 2, consumers 3, crashes ≤ 1)",
    );
    assert_eq!(page.eval("document.title"), "Deliver Twice");
    page.visit("");
    page.wait_until("the new build", "document.title === 'Deliver thrice'");
    wait_running(&page);
    page.wait_until(
        "the files of the old build to be gone",
        "caches.keys().then(names => names.length === 1)",
    );
}

#[test]
fn a_frame_keeps_no_files_and_one_of_an_opaque_origin_runs_too() {
    let folder = copy_of_build("offline-frame");
    let index = folder.join("index.html");
    fs::rename(&index, folder.join("lab.html")).expect("a file of the copy");
    let frames = "<!doctype html><title>Course</title><iframe id=plain src=lab.html></iframe>\
                  <iframe id=opaque src=lab.html sandbox=allow-scripts></iframe>";
    fs::write(&index, frames).expect("a file of the copy");
    list_files(&folder);
    let page = Page::open_folder(&folder);
    page.enter_frame("#opaque", SEARCH_LEFT);
    page.wait_text(SEARCH_LEFT, "of all 5,594 schedules");
    assert_eq!(page.eval("window.origin"), "null");
    page.leave_frame();
    page.enter_frame("#plain", SEARCH_LEFT);
    page.wait_text(SEARCH_LEFT, "of all 5,594 schedules");
    let registered = "navigator.serviceWorker.getRegistrations().then(all => all.length)";
    assert_eq!(page.eval(registered), 0);
    page.leave_frame();
    page.visit("lab.html");
    wait_kept(&page);
    assert_eq!(page.eval(registered), 1);
}

#[test]
fn a_strict_server_can_send_the_page() {
    let page = Page::open_under(STRICT);
    wait_running(&page);
    wait_kept(&page);
    page.wait_text(SEARCH_RIGHT, "Holds in all 37,140 schedules");
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn a_page_that_cannot_start_says_so_in_both_languages() {
    let folder = copy_of_build("without-wasm");
    fs::remove_file(folder.join("deliver-twice-web_bg.wasm")).expect("a file of the copy");
    let no_file = Page::open_folder(&folder);
    let no_wasm = Page::open_under(&STRICT.replace("'wasm-unsafe-eval'", ""));
    for page in [no_file, no_wasm] {
        page.wait_text(START, "has not started");
        page.wait_text(START, "还没有启动");
        page.wait_text("#start-error", "rror");
        assert!(!page.text(START).contains("Loading"));
    }
}

/// Nothing of ours runs there to say it.
#[test]
fn a_page_without_its_script_says_so_after_a_while() {
    let folder = copy_of_build("without-script");
    fs::remove_file(folder.join("start.js")).expect("a file of the copy");
    let page = Page::open_folder(&folder);
    assert!(page.text(START).contains("Loading"));
    assert!(!page.text(START).contains("has not started"));
    page.wait_text(START, "has not started");
}

#[test]
fn the_page_can_be_installed() {
    let page = open("");
    let manifest = page.eval(
        "fetch(document.querySelector('link[rel=manifest]').href).then(answer => answer.json())",
    );
    assert_eq!(manifest["start_url"], "./");
    let icons = manifest["icons"].as_array().expect("a list of icons");
    // What Chromium and Safari ask for before they offer to install a page.
    assert!(
        icons
            .iter()
            .any(|icon| icon["sizes"] == "192x192" && icon["type"] == "image/png")
    );
    assert!(
        icons
            .iter()
            .any(|icon| icon["sizes"] == "512x512" && icon["type"] == "image/png")
    );
    for icon in icons {
        let measured = page.eval(&format!(
            "new Promise((done, fail) => {{
                const image = new Image();
                image.onload = () => done(`${{image.naturalWidth}}x${{image.naturalHeight}}`);
                image.onerror = fail;
                image.src = {};
            }})",
            icon["src"]
        ));
        assert!(
            icon["sizes"] == "any" || icon["sizes"] == measured,
            "{icon}: {measured}"
        );
    }
    let (errors, address) = page.manifest();
    assert!(address.ends_with("/manifest.webmanifest"), "{address}");
    assert_eq!(errors, [""; 0]);
}
