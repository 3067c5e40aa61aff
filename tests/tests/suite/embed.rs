//! The laboratory as a part of other pages, which come from another origin.

use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use deliver_twice_core::run::Run;
use deliver_twice_core::scenario::{Bounds, Scenario, Ticket};
use deliver_twice_core::schedule::Schedule;
use deliver_twice_core::system::System;
use deliver_twice_tests::{Page, Site, repository};
use serde_json::{Value, json};

use crate::lab::{STRICT, copy_of_build};

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
    // Of its own origin a browser would let it have the focus.
    let folder = copy_of_build("embed-focus");
    let index = folder.join("index.html");
    fs::rename(&index, folder.join("lab.html")).expect("a file of the copy");
    let host = "<!doctype html><title>Course</title><input id=own>\
                <iframe id=lab-frame width=700 height=500 src=\"lab.html?embed=1\"></iframe>\
                <script>document.querySelector('#own').focus()</script>";
    fs::write(&index, host).expect("a file of the copy");
    let page = Page::open_folder(&folder);
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
        "kept",
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

/// A script of a host that answers the frame's hello and keeps what it hears.
const LISTEN: &str = "<script>
    const heard = [];
    const frame = () => document.querySelector('#lab-frame').contentWindow;
    const say = (type, payload, more) =>
        frame().postMessage({ ns: 'delivertwice', v: 1, id: '', type, payload, ...more }, '*');
    const of = type => heard.filter(one => one.type === type).map(one => one.payload);
    const told = name => of('event').filter(one => one.name === name).map(one => one.detail);
    const result = reqId => of('result').find(one => one.reqId === reqId);
    const text = JSON.stringify;
    addEventListener('message', ({ source, data }) => {
        if (source !== frame()) return;
        heard.push(data);
        if (data.type === 'hello') say('init', { theme: 'dark', lang: 'en' });
    });
</script>";

impl Course {
    /// A course that listens to a frame of the laboratory at this query.
    #[track_caller]
    fn listening(name: &str, query: &str) -> Course {
        let query = query.replace('&', "&amp;");
        let body = format!(
            "{LISTEN}<iframe id=lab-frame width=700 height=620 src=\"LAB?{query}\"></iframe>"
        );
        let course = Course::open(name, &body);
        course
            .page
            .wait_until("the frame to be ready", "of('ready').length > 0");
        course
    }
}

/// Carries the evidence of a fact out again, by the library alone, and says what is violated at its end.
#[track_caller]
fn replayed(evidence: &Value, side: usize) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let number = |value: &Value| value.as_u64().expect("a number") as u8;
    let mut scenario = Scenario::NUMBERS
        .iter()
        .fold(Scenario::default(), |whole, one| {
            one.set(whole, number(&evidence["scenario"][one.name]))
        });
    scenario.ticket = Ticket::named(&text(&evidence["scenario"]["ticket"])).expect("a choice");
    let design = text(&evidence["designs"][side]).parse().expect("a design");
    let mut system = System::new(design, scenario, Bounds::BY_HAND).expect("a machine");
    let schedule: Schedule = text(&evidence["schedule"]).parse().expect("a schedule");
    let mut run = Run::started(&system);
    for step in &schedule.0 {
        run.take(&mut system, *step).expect("a step");
    }
    let last = run.frames.last().expect("a run with steps");
    let violations = last.violations.iter();
    violations
        .map(|one| one.verdict().as_str().to_owned())
        .collect()
}

#[test]
fn a_host_hears_what_the_visitor_did_with_what_it_takes_to_check_it() {
    let query = "embed=1&item=week-3.2&left=check-then-insert&seq=s1:dA.A.dB.B.A.B.A";
    let course = Course::listening("embed-events", query);
    let page = &course.page;
    assert_eq!(page.eval("of('ready')[0].item"), "week-3.2");
    page.enter_frame(FRAME, TIMELINE);
    assert_eq!(page.eval("document.documentElement.dataset.theme"), "dark");
    page.click(&called("step-B"));
    wait_row(page, 8);
    page.leave_frame();
    page.wait_until(
        "an outcome and the state",
        "told('outcome').length === 1 && told('statechange').at(-1)?.at === 8",
    );
    let step = page.eval("told('step')[0]");
    assert_eq!(
        (&step["n"], &step["step"], &step["worker"]),
        (&json!(8), &json!("B"), &json!("B"))
    );
    // On the left SQLite wrote the row; on the right it was not asked, because B waits.
    assert_eq!(step["rc"], json!([0, null]));
    let outcome = page.eval("told('outcome')[0]");
    assert_eq!(outcome["verdict"], "duplicate-effect");
    assert_eq!(
        (&outcome["side"], &outcome["item"]),
        (&json!("left"), &json!("week-3.2"))
    );
    assert_eq!(replayed(&outcome["evidence"], 0), ["duplicate-effect"]);
    let state = page.eval("told('statechange').at(-1).query");
    assert!(
        state
            .as_str()
            .is_some_and(|query| query.contains("seq=s1:dA.A.dB.B.A.B.A.B&at=8")),
        "{state}"
    );
}

#[test]
fn a_puzzle_that_is_solved_is_told_with_a_schedule_that_solves_it() {
    let course = Course::listening("embed-puzzle", "embed=1&puzzle=two-look-at-once&item=7");
    let page = &course.page;
    page.enter_frame(FRAME, TIMELINE);
    for (number, step) in (1..).zip(["dA", "A", "dB", "B", "A", "A", "B", "B"]) {
        page.click(&format!("{}:enabled", called(&format!("step-{step}"))));
        wait_row(page, number);
    }
    page.leave_frame();
    page.wait_until(
        "the puzzle to be completed",
        "told('completed').length === 1",
    );
    let done = page.eval("told('completed')[0]");
    assert_eq!(
        (&done["success"], &done["id"]),
        (&json!(true), &json!("two-look-at-once"))
    );
    assert!(
        done["scaled"]
            .as_f64()
            .is_some_and(|scaled| scaled > 0.5 && scaled <= 1.0),
        "{done}"
    );
    assert_eq!(replayed(&done["evidence"], 0), ["duplicate-effect"]);
}

/// What a SCORM runtime and a validator of xAPI statements make of events, by way of the bridge.
#[track_caller]
fn recorded(events: &Value) -> Value {
    let home = env::var_os("RECORDS")
        .expect("`RECORDS` names the packages' folder: run `cargo xtask test`, which sets it");
    let mut node = Command::new("node");
    node.arg(repository().join("tests/fixtures/bridge/check.mjs"));
    node.arg(repository().join("dist/deliver-twice-bridge.js"))
        .arg(home);
    node.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut node = node.spawn().expect("node runs");
    let mut input = node.stdin.take().expect("a pipe");
    input
        .write_all(events.to_string().as_bytes())
        .expect("node reads");
    drop(input);
    let output = node.wait_with_output().expect("node ends");
    serde_json::from_slice(&output.stdout).expect("node writes what it found")
}

#[test]
fn an_answer_to_a_lessons_question_is_told_and_marked() {
    let course = Course::listening("embed-lesson", "embed=1&lesson=check-loses-a-race");
    let page = &course.page;
    page.eval("say('call', { method: 'step', args: ['dA'], reqId: 'too-early' })");
    page.wait_until("a refusal", "result('too-early')?.error === 'kept-back'");
    page.enter_frame(FRAME, TIMELINE);
    page.click(&called("answer-2"));
    page.leave_frame();
    page.wait_until("the answer to be marked", "told('answered').length === 1");
    let answered = page.eval("told('answered')[0]");
    let predicted = page.eval("told('predict')[0]");
    assert_eq!(
        predicted,
        json!({ "question": "check-loses-a-race", "answer": 2 })
    );
    assert_eq!(
        (&answered["success"], &answered["score"]),
        (&json!(false), &json!(0))
    );
    assert_ne!(answered["truth"], answered["answer"]);
    let found = recorded(&json!([["answered", answered]]));
    assert_eq!(
        (&found["refused"], &found["invalid"]),
        (&json!([]), &json!([])),
        "{found}"
    );
    assert_eq!(
        (&found["status12"], &found["response2004"]),
        (&json!("incomplete"), &json!("2"))
    );
    // Both can refuse: this is no duration, and no share.
    let mut broken = answered.clone();
    (broken["durationMs"], broken["score"]) = (json!("long"), json!(7));
    let found = recorded(&json!([["answered", broken]]));
    let is_empty = |name: &str| found[name].as_array().is_none_or(Vec::is_empty);
    assert!(!is_empty("refused") && !is_empty("invalid"), "{found}");
    assert!(
        answered["durationMs"].as_f64().is_some_and(|ms| ms > 0.0),
        "{answered}"
    );
}

#[test]
fn a_host_drives_the_run_and_is_answered() {
    let course = Course::listening(
        "embed-calls",
        "embed=1&left=no-guard&right=constraint-arbitration&seq=s1:dA",
    );
    let page = &course.page;
    let call = |method: &str, arguments: &str| {
        page.eval(&format!(
            "say('call', {{ method: {method:?}, args: {arguments}, reqId: {method:?} }})"
        ));
        page.wait_until("an answer", &format!("result({method:?}) !== undefined"));
        // The driver takes an object with an `error` for its own.
        let text = page.eval(&format!("text(result({method:?}))"));
        serde_json::from_str::<Value>(text.as_str().expect("JSON")).expect("JSON")
    };
    assert_eq!(
        call("step", "['A']"),
        json!({ "reqId": "step", "value": null })
    );
    page.wait_until("the state", "told('statechange').at(-1)?.at === 2");
    assert!(
        call("link", "[]")["value"]
            .as_str()
            .is_some_and(|url| url.contains("?left=no-guard") && url.contains("seq=s1:dA.A"))
    );
    assert!(
        call("exportTrace", "['mermaid', 'left']")["value"]
            .as_str()
            .is_some_and(|text| text.starts_with("sequenceDiagram"))
    );
    assert_eq!(call("goto", "['x']")["error"], "bad-argument");
    assert_eq!(call("launch", "[]")["error"], "unknown-method");
    let explored = call("explore", "[]");
    assert_eq!(explored["value"][1]["detail"]["violating"], "0");
    assert_eq!(explored["value"][1]["detail"]["schedules"], "37140");
    page.eval("say('set', { state: { query: '?left=effect-first&seq=s1:dA.A2&at=1' } })");
    page.wait_until("the state that was set", "told('statechange').at(-1)?.query.startsWith('?left=effect-first') && told('statechange').at(-1).at === 1");
    // An answer has the request's own name in it, and so has the refusal, which just fits.
    page.eval("(window.long = 'x'.repeat(65300), say('call', { method: 'exportTrace', args: ['json'], reqId: long }))");
    page.wait_until("a refusal", "result(long)?.error === 'too-large'");
    page.eval("say('rules', { query: 'controls=none&item=other' })");
    page.enter_frame(FRAME, TIMELINE);
    page.wait_until(
        "the controls to go",
        "document.querySelector('.controls') === null",
    );
}

/// Another window than the host's, and a host of another origin than the address names.
#[test]
fn strangers_are_neither_heard_nor_told_anything() {
    let body = format!(
        "{LISTEN}<iframe id=lab-frame width=700 height=620 src=\"LAB?embed=1&amp;left=no-guard&amp;parent=https://other.example\"></iframe>\
         <iframe id=sibling srcdoc=\"<script>setInterval(() => parent.frames[0].postMessage({{ns:'delivertwice',v:1,id:'',type:'init',payload:{{lang:'zh'}}}}, '*'), 20)</script>\"></iframe>"
    );
    let course = Course::open("embed-strangers", &body);
    let page = &course.page;
    page.enter_frame(FRAME, TIMELINE);
    page.wait_text(&called("verdict-left"), "asks");
    page.leave_frame();
    page.eval("say('init', { lang: 'zh' })");
    page.eval("say('set', { state: { query: '?left=effect-first' } })");
    page.eval("new Promise(done => setTimeout(done, 1500))");
    page.enter_frame(FRAME, TIMELINE);
    page.wait_text(&called("full-lab"), "Open the full lab");
    assert!(
        page.eval("document.querySelector('[data-testid=full-lab]').href")
            .as_str()
            .is_some_and(|href| href.contains("left=no-guard"))
    );
    page.leave_frame();
    assert_eq!(page.eval("heard.length"), 0);
}

/// A window beside the frame, of the host's own origin, greets it, and the host does not.
#[test]
fn the_window_above_is_heard_and_none_beside_it() {
    let body = "<script>
            let heard = 0;
            addEventListener('message', ({ data }) => { if (data.type === 'ready') heard += 1; });
        </script>
        <iframe id=lab-frame width=700 height=620 src=\"LAB?embed=1\"></iframe>
        <iframe srcdoc=\"<script>setInterval(() => parent.frames[0].postMessage({ ns: 'delivertwice', v: 1, id: '', type: 'init', payload: { lang: 'zh' } }, '*'), 20)</script>\"></iframe>";
    let course = Course::open("embed-beside", body);
    let page = &course.page;
    page.enter_frame(FRAME, TIMELINE);
    page.wait_text(&called("verdict-left"), "Duplicate");
    page.eval("new Promise(done => setTimeout(done, 1000))");
    page.wait_text(&called("full-lab"), "Open the full lab");
    page.leave_frame();
    assert_eq!(page.eval("heard"), 0);
    // The same words from above are heard.
    page.eval("frames[0].postMessage({ ns: 'delivertwice', v: 1, id: '', type: 'init', payload: { lang: 'zh' } }, '*')");
    page.enter_frame(FRAME, TIMELINE);
    page.wait_text(&called("full-lab"), "打开完整实验室");
}

#[test]
fn rubbish_changes_nothing() {
    let course = Course::listening("embed-rubbish", "embed=1&left=no-guard&seq=s1:dA.A");
    let page = &course.page;
    let sent = page.eval(RUBBISH);
    assert!(sent.as_u64().is_some_and(|sent| sent > 1000), "{sent}");
    page.eval("say('call', { method: 'state', args: [], reqId: 'after' })");
    page.wait_until("an answer after it all", "result('after') !== undefined");
    let state = page.eval("result('after').value.query");
    assert_eq!(
        state,
        "?left=no-guard&right=constraint-arbitration&seq=s1:dA.A&at=2&theme=dark&lang=en"
    );
    page.enter_frame(FRAME, TIMELINE);
    assert_eq!(page.count("img, script:not([src])"), 0);
    assert_eq!(page.count(&called("bad-link")), 0);
    page.click(&called("step-A"));
    wait_row(page, 3);
    assert_eq!(page.console_errors(), [""; 0]);
}

/// Sends all kinds of values in all places of a message, and too much at once.
const RUBBISH: &str = "(() => {
    const markup = '<img src=x onerror=parent.postMessage(1)>';
    const loop = {}; loop.loop = loop;
    const values = [undefined, null, true, 0, -1, NaN, 1n, '', markup, '\\u0000\\ud800', [], [[]], {}, loop,
        new Date(), /x/, new Map([[1, 2]]), new Uint8Array(9), { toString: 1 }, { __proto__: null, length: 9 },
        'x'.repeat(70000), { query: 7 }, { state: 1 }, { state: { query: {} } }, { method: 1, reqId: 2 },
        { method: markup, args: markup, reqId: markup }, { method: 'step', args: [markup], reqId: markup },
        { method: 'goto', args: ['99999999999999999999'], reqId: '' }, { theme: markup, lang: markup },
        { theme: 1, lang: {} }, { visible: 'no' }, { state: { query: '?seq=s1:dB&x=' + 'x'.repeat(70000) } }];
    const kinds = ['hello', 'init', 'set', 'rules', 'call', 'theme', 'visibility', 'print', markup, 7, null];
    const fields = ['ns', 'v', 'id', 'type', 'payload'];
    let sent = 0;
    const post = data => { frame().postMessage(data, '*'); sent += 1; };
    for (const value of values) {
        post(value);
        for (const type of kinds) {
            const whole = { ns: 'delivertwice', v: 1, id: '', type, payload: value };
            post(whole);
            for (const field of fields) if (field !== 'payload') post({ ...whole, [field]: value });
        }
    }
    return sent;
})()";

/// Ten elements in a long page, and a count of those that are alive, with the most there ever were.
#[track_caller]
fn ten_elements(name: &str) -> Course {
    let element = |number: usize| {
        format!(
            "<p style=height:900px>Paragraph {number}.</p><deliver-twice id=n{number} item={number} \
             left=no-guard seq=s1: view=timeline title='Lab {number}'><b>Fallback {number}</b></deliver-twice>"
        )
    };
    let elements: String = (1..=10).map(element).collect();
    let body = format!(
        "<script>
            let most = 0;
            const errors = [];
            const one = number => document.querySelector('#n' + number);
            const alive = () => [...document.querySelectorAll('deliver-twice')].filter(each => each.alive).length;
            const frame = number => one(number).shadowRoot.querySelector('iframe');
            setInterval(() => most = Math.max(most, alive()), 5);
            addEventListener('delivertwice:error', event => errors.push(event.detail));
        </script>
        <script type=module src=LABdeliver-twice.js></script>
        <script type=module src=LABdeliver-twice.js?again></script>{elements}"
    );
    Course::open(name, &body)
}

#[track_caller]
fn wait_ready(page: &Page, number: usize) {
    page.wait_until(
        "the element to be ready",
        &format!("one({number}).alive && frame({number}).style.visibility === '' && one({number}).shadowRoot.querySelector('slot').hidden"),
    );
}

#[test]
fn ten_elements_live_three_at_a_time_and_come_back_as_they_were() {
    let course = ten_elements("embed-ten");
    let page = &course.page;
    wait_ready(page, 1);
    page.eval("void one(1).step('dA').then(() => one(1).step('A'))");
    page.wait_until(
        "the steps to be told",
        "one(1).state.query.includes('seq=s1:dA.A&')",
    );
    for number in [4, 8, 10] {
        page.eval(&format!("one({number}).scrollIntoView()"));
        wait_ready(page, number);
    }
    page.wait_until(
        "the first to give way",
        "!one(1).alive && one(1).innerText.includes('Fallback 1')",
    );
    assert_eq!(page.eval("one(1).offsetHeight"), 520);
    page.eval("one(1).scrollIntoView()");
    wait_ready(page, 1);
    let steps = page.eval("one(1).call('state').then(state => state.query)");
    assert!(
        steps
            .as_str()
            .is_some_and(|query| query.contains("seq=s1:dA.A&at=2")),
        "{steps}"
    );
    assert!(
        page.eval("most")
            .as_u64()
            .is_some_and(|most| (2..=3).contains(&most))
    );
    assert_eq!(page.eval("errors"), json!([]));
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn an_element_follows_its_attributes_without_a_reload_and_leaves_nothing_behind() {
    let course = ten_elements("embed-attributes");
    let page = &course.page;
    wait_ready(page, 1);
    page.eval("window.first = frame(1)");
    page.eval("one(1).setAttribute('lang', 'zh')");
    page.wait_until("Chinese", "one(1).state.query.includes('lang=zh-CN')");
    page.eval("document.documentElement.dataset.theme = 'dark'");
    page.wait_until(
        "the page's theme",
        "one(1).state.query.includes('theme=dark')",
    );
    page.eval("one(1).setAttribute('left', 'effect-first')");
    page.wait_until(
        "another design",
        "one(1).state.query.includes('left=effect-first')",
    );
    page.eval("one(1).setAttribute('title', '<b>name</b>')");
    page.wait_until("another name", "frame(1).title === '<b>name</b>'");
    page.eval("one(1).setAttribute('height', '400')");
    page.wait_until("another height", "frame(1).offsetHeight === 400");
    page.eval("one(1).setAttribute('sizing', 'auto')");
    assert_eq!(page.eval("window.first === frame(1)"), true);
    // Moved, it is a new frame with the old state; removed, it is none.
    page.eval("void one(1).step('dA')");
    page.wait_until("the step", "one(1).state.query.includes('seq=s1:dA&')");
    page.eval("one(1).step('A').then(() => new Promise(requestAnimationFrame))");
    page.wait_until("the step", "one(1).state.query.includes('seq=s1:dA.A&')");
    assert_eq!(page.eval("scrollY"), 0, "a step moved the page of the host");
    page.eval("document.body.prepend(one(1))");
    wait_ready(page, 1);
    assert_eq!(
        page.eval("one(1).state.query.includes('seq=s1:dA.A&')"),
        true
    );
    let inside = "document.querySelector('#n1').shadowRoot.querySelector('iframe')";
    page.enter_frame_of(inside, TIMELINE);
    page.eval("void (window.print = () => { document.title = 'printed'; })");
    page.leave_frame();
    page.eval("one(1).print()");
    page.enter_frame_of(inside, TIMELINE);
    page.wait_until("the frame to print", "document.title === 'printed'");
    page.leave_frame();
    page.eval("window.gone = one(1)");
    page.eval("document.querySelectorAll('deliver-twice').forEach(each => each.remove())");
    assert_eq!(
        page.eval("[frames.length, gone.alive, gone.shadowRoot.querySelectorAll('iframe').length]"),
        json!([0, false, 0])
    );
    assert_eq!(page.console_errors(), [""; 0]);
}

/// Every page of a course loads it, whether its reader gets to the laboratory or not.
#[test]
fn the_script_of_the_element_stays_below_five_kilobytes() {
    let count = "require('zlib').gzipSync(require('fs').readFileSync(process.argv[1]), { level: 9 }).length";
    let script = repository().join("dist/deliver-twice.js");
    let output = Command::new("node")
        .args(["-p", count])
        .arg(script)
        .output();
    let bytes = String::from_utf8(output.expect("node runs").stdout).expect("a number");
    let bytes: usize = bytes.trim().parse().expect("a number");
    assert!((1000..5000).contains(&bytes), "{bytes}");
}

#[test]
fn an_answer_and_how_often_it_was_given_outlive_the_frame() {
    let body = "<script>
            const told = [];
            addEventListener('delivertwice:answered', ({ detail }) => told.push(detail));
            let kept = '';
            addEventListener('delivertwice:statechange', ({ detail }) => kept = detail.kept);
            const one = () => document.querySelector('#lesson');
            const frame = () => one().shadowRoot.querySelector('iframe');
        </script>
        <script type=module src=LABdeliver-twice.js></script>
        <deliver-twice id=lesson lesson=check-loses-a-race lang=en>Fallback</deliver-twice>";
    let course = Course::open("embed-kept", body);
    let page = &course.page;
    let frame = "frame()";
    page.enter_frame_of(frame, TIMELINE);
    page.click(&called("answer-2"));
    page.wait_text(&called("answered"), "2");
    page.leave_frame();
    page.wait_until("the answer to be marked", "told.length === 1");
    // Moved, the element is a new frame.
    page.wait_until("what it keeps", "/^1\\.\\d+\\.1\\.2$/.test(kept)");
    page.eval("(one().before(document.createElement('hr')), document.body.append(one()))");
    page.enter_frame_of(frame, TIMELINE);
    page.wait_text(&called("answered"), "2");
    // Begun anew it is a second attempt, and only that is told.
    page.leave_frame();
    page.eval("void one().ready.then(() => one().state = { query: '?lesson=check-loses-a-race&lang=en' })");
    page.enter_frame_of(frame, TIMELINE);
    page.click(&called("answer-4"));
    page.leave_frame();
    page.wait_until("the second answer to be marked", "told.length > 1");
    assert_eq!(
        page.eval("told.map(({ answer, attempts }) => [answer, attempts])"),
        json!([[2, 1], [4, 2]])
    );
    assert_eq!(page.console_errors(), [""; 0]);
}

/// A browser does this by itself, also across origins; nobody has to be told where the focus goes.
#[test]
fn the_focus_goes_through_the_frame_and_on_in_its_host() {
    let body = "<button id=before>Before</button>
        <iframe id=lab-frame width=700 height=620 src=\"LAB?embed=1&amp;controls=none\"></iframe>
        <button id=after>After</button>";
    let course = Course::open("embed-tab", body);
    let page = &course.page;
    page.enter_frame(FRAME, TIMELINE);
    page.leave_frame();
    page.eval("document.querySelector('#before').focus()");
    let at = || page.eval("document.activeElement.id");
    for (key, end) in [("Tab", "after"), ("Shift+Tab", "before")] {
        let mut passed = vec![];
        for _ in 0..60 {
            page.key(key);
            passed.push(at());
            if at() == end {
                break;
            }
        }
        assert_eq!(at(), end, "{passed:?}");
        assert!(
            passed.iter().filter(|one| *one == "lab-frame").count() > 1,
            "{passed:?}"
        );
    }
}

#[test]
fn an_element_that_waits_for_a_click_or_cannot_start_says_so() {
    let body = "<script type=module src=LABdeliver-twice.js></script>
        <deliver-twice id=later loading=click lang=zh left=no-guard>替代内容</deliver-twice>
        <deliver-twice id=lost loading=eager src=https://127.0.0.1:9/ lang=en>Fallback</deliver-twice>";
    let course = Course::open("embed-click", body);
    let page = &course.page;
    let button = "document.querySelector('#later').shadowRoot.querySelector('button')";
    page.wait_until(
        "a button",
        &format!("{button}?.textContent === '启动实验室'"),
    );
    assert_eq!(page.eval("document.querySelector('#later').alive"), false);
    page.eval(&format!("{button}.click()"));
    page.wait_until(
        "the laboratory",
        "document.querySelector('#later').state.query.includes('lang=zh-CN')",
    );
    let note = "document.querySelector('#lost').shadowRoot.querySelector('[role=alert]')?.textContent ?? ''";
    // It gives a slow network its time, and that is longer than a test waits for anything.
    page.eval("new Promise(done => setTimeout(done, 5000))");
    page.wait_until("a note", &format!("({note}).includes('did not start')"));
    assert!(page.text("#lost").contains("Fallback"));
}

#[test]
fn a_strict_server_can_send_every_part_of_the_page_and_the_live_page_of_the_documentation() {
    let query = "embed=1&view=full&left=check-then-insert&seq=s1:dA.A.dB.B.A.B.A.B";
    let course = Course::frame("embed-strict", "", query);
    let page = &course.page;
    page.wait_text(&called("search-left"), "of all 5,594 schedules");
    // Bars, lanes and marks have lengths that are computed.
    page.click(&called("shares"));
    page.wait_until(
        "a share's bar to have its length",
        "[...document.querySelectorAll('.share__bar')].some(bar => bar.offsetWidth > 0)",
    );
    page.eval("document.querySelectorAll('details').forEach(one => one.open = true)");
    for format in ["svg", "json", "mermaid"] {
        page.choose(&called("export-format"), format);
    }
    page.click(&called("language"));
    page.wait_text(&called("full-lab"), "打开完整实验室");
    assert_eq!(page.console_errors(), [""; 0]);

    // It has a frame, which is of its own origin.
    let page = Page::open_under(&format!("{STRICT}; frame-src 'self'"));
    page.visit("embed-demo.html");
    page.wait_text("#told", "delivertwice:ready");
    page.click("[name=lang] option:last-child");
    page.wait_text("#told", "lang=zh-CN");
    page.wait_text("#markup", "lang=\"zh-CN\"");
    assert_eq!(page.console_errors(), [""; 0]);
}
