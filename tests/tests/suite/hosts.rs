//! The laboratory in pages of real hosts: each is built from `tests/hosts` by its own tool, and holds what
//! `docs/EMBED.md` tells its authors to write.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use deliver_twice_tests::{Page, Site, repository};

use crate::lab::{STRICT, assert_fits, wait_row, wait_running};
use crate::program::run;

/// What the recipes call the laboratory's address.
const LAB: &str = "https://lab.example/";

/// Where the server of the tests has a site, which is what a site's author knows as its base.
const BASE: &str = "/course/week-3/";

/// A program that makes pages, and what its course looks like.
struct Host {
    /// The folder in `tests/hosts`.
    name: &'static str,
    /// The language of its pages.
    language: &'static str,
    /// Builds the site in this folder, and says where it is.
    build: fn(&Path) -> PathBuf,
    /// Where an author puts the laboratory's own folder, and what becomes of that in the site.
    place: (&'static str, &'static str),
    /// The policy that its server sends where the laboratory is elsewhere, with [`LAB`] in it.
    policy: Option<&'static str>,
    /// The link of the first page to the one with the laboratory, if that is not the first itself.
    link: Option<&'static str>,
    /// Turns the host dark, as its reader does.
    darken: fn(&Page),
}

const PLAIN: Host = Host {
    name: "plain",
    language: "en",
    build: Path::to_owned,
    place: ("lab", "lab"),
    policy: Some(
        "default-src 'none'; style-src 'self'; img-src data:; \
         script-src 'self' https://lab.example/; frame-src https://lab.example/",
    ),
    link: None,
    darken: |page| page.click("#theme"),
};

const MDBOOK: Host = Host {
    name: "mdbook",
    language: "zh-CN",
    build: |folder| {
        run(&book_program("mdbook"), &["build"], folder);
        folder.join("book")
    },
    place: ("src/lab", "lab"),
    policy: None,
    link: Some("main a[href='week-3.html']"),
    darken: |page| {
        page.click("#mdbook-theme-toggle");
        page.click("#mdbook-theme-navy");
    },
};

const VITEPRESS: Host = Host {
    name: "vitepress",
    language: "en",
    build: |folder| {
        let home = env::var("VITEPRESS");
        let home =
            home.expect("`VITEPRESS` names its folder: run `cargo xtask test`, which sets it");
        let modules = format!("{home}/node_modules");
        let link = "require('fs').symlinkSync(process.argv[1], 'node_modules', 'junction')";
        run("node", &["-e", link, &modules], folder);
        let program = format!("{modules}/vitepress/bin/vitepress.js");
        run("node", &[&program, "build"], folder);
        folder.join(".vitepress/dist")
    },
    place: ("public/lab", "lab"),
    policy: None,
    link: Some("main a[href$='week-3.html']"),
    darken: |page| page.click(".VPNavBarAppearance button"),
};

const SPHINX: Host = Host {
    name: "sphinx",
    language: "en",
    build: |folder| {
        // Whatever Sphinx warns of is an error.
        run(
            &book_program("sphinx-build"),
            &["-q", "-W", ".", "site"],
            folder,
        );
        folder.join("site")
    },
    place: ("_static/lab", "_static/lab"),
    policy: None,
    link: Some("article p a[href='week-3.html']"),
    darken: |page| page.click(".content-icon-container .theme-toggle"),
};

/// The path of a program that makes books.
fn book_program(name: &str) -> String {
    let folder = env::var("BOOKS");
    let folder = folder.expect("`BOOKS` names its folder: run `cargo xtask test`, which sets it");
    format!("{folder}/{name}")
}

/// Copies a folder with all that is in it. In text, the laboratory's address becomes `lab`.
fn copy(from: &Path, to: &Path, lab: &str) {
    fs::create_dir_all(to).expect("target/ can be written to");
    for file in fs::read_dir(from).expect("a folder").map(Result::unwrap) {
        let (source, target) = (file.path(), to.join(file.file_name()));
        if source.is_dir() {
            copy(&source, &target, lab);
        } else if let Ok(text) = fs::read_to_string(&source) {
            fs::write(&target, text.replace(LAB, lab)).expect("target/ can be written to");
        } else {
            fs::copy(&source, &target).expect("target/ can be written to");
        }
    }
}

/// A new folder of this name with the sources of a host.
fn sources(host: &str, name: &str, lab: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("hosts")
        .join(name);
    fs::remove_dir_all(&folder).ok(); // there is none the first time
    copy(&repository().join("tests/hosts").join(host), &folder, lab);
    folder
}

/// The element of the page, and the frame in it.
const ELEMENT: &str = "document.querySelector('deliver-twice')";
const FRAME: &str = "document.querySelector('deliver-twice')?.shadowRoot?.querySelector('iframe')";
const TIMELINE: &str = "[data-testid=timeline]";

/// How elements look: what a style sheet that reaches too far would change.
const LOOKS: &str = "(elements => [...elements].map(element => {
    const style = getComputedStyle(element);
    return element.tagName + ' ' + ['display', 'boxSizing', 'fontFamily', 'fontSize', 'fontWeight', 'lineHeight',
        'letterSpacing', 'textTransform', 'color', 'backgroundColor', 'borderTopWidth', 'borderTopColor',
        'borderTopLeftRadius', 'paddingLeft', 'paddingTop', 'marginTop', 'maxWidth', 'overflowX', 'position', 'filter',
    ].map(name => style[name]).join(' | ');
}))";

/// The elements that [`LOOKS`] is asked about: all of the laboratory's, and all that are not.
const ALL: &str = "document.querySelectorAll('body, .lab, .lab *')";
const OF_THE_HOST: &str =
    "document.querySelectorAll('html, body, body *:not(deliver-twice, deliver-twice *)')";

/// How the laboratory looks in a frame.
struct Look {
    styles: serde_json::Value,
    width: u32,
    /// The query of what it shows.
    state: String,
}

impl Look {
    /// Of the frame that the page is in.
    #[track_caller]
    fn of(page: &Page, state: String) -> Look {
        let width = page.eval("innerWidth").as_u64().expect("a width");
        Look {
            styles: page.eval(&format!("{LOOKS}({ALL})")),
            width: u32::try_from(width).expect("a width of a window"),
            state,
        }
    }
}

impl Host {
    /// The site with the laboratory in a folder of its own, as its author would copy it there.
    fn with_own_lab(&self) -> Page {
        let address = format!("{BASE}{}/", self.place.1);
        let folder = sources(self.name, &format!("{}-own", self.name), &address);
        copy(&repository().join("dist"), &folder.join(self.place.0), LAB);
        Page::open_folder(&(self.build)(&folder))
    }

    /// The site with the laboratory on a server of another origin.
    fn with_other_lab(&self, lab: &Site) -> Page {
        let folder = sources(self.name, &format!("{}-other", self.name), &lab.address());
        let site = (self.build)(&folder);
        match self.policy {
            Some(policy) => Page::open_folder_under(&site, &policy.replace(LAB, &lab.address())),
            None => Page::open_folder(&site),
        }
    }

    /// Reads on to the page with the laboratory, works in it, and looks whether both are as they should be.
    /// Returns how the laboratory looked at first, and what it showed.
    #[track_caller]
    fn read(&self, page: &Page) -> Look {
        if let Some(link) = self.link {
            page.click(link);
        }
        wait_ready(page);
        let state = page.eval(&format!("{ELEMENT}.state.query"));
        let state = state.as_str().expect("a query").to_owned();
        assert!(state.contains("lesson=check-loses-a-race"), "{state}");
        assert!(
            state.contains(&format!("lang={}", self.language)),
            "{state}"
        );
        assert!(!state.contains("theme=dark"), "{state}");
        page.eval(
            "(window.told = [], ['predict', 'step', 'statechange'].forEach(name => \
               document.addEventListener('delivertwice:' + name, ({ detail }) => told.push([name, detail]))))",
        );
        page.enter_frame_of(FRAME, TIMELINE);
        let look = Look::of(page, state);
        assert_eq!(page.eval("document.documentElement.lang"), self.language);
        page.click("[data-testid=answer-2]");
        page.click("[data-testid=run-first]");
        page.click("[data-testid=step-dB]");
        wait_row(page, 1);
        page.leave_frame();
        page.wait_until(
            "the host to hear of the answer and of the step",
            "told.some(([name, { answer }]) => name === 'predict' && answer === 2) \
             && told.some(([name, { step }]) => name === 'step' && step === 'dB') \
             && told.some(([name, { at }]) => name === 'statechange' && at === 1)",
        );
        (self.darken)(page);
        page.hover("h1");
        page.wait_until(
            "the laboratory to become as dark as its host",
            &format!("{ELEMENT}.state.query.includes('theme=dark')"),
        );
        page.enter_frame_of(FRAME, TIMELINE);
        assert_eq!(page.eval("document.documentElement.dataset.theme"), "dark");
        page.leave_frame();
        page.screenshot(&format!("host-{}", self.name));
        self.read_on_a_phone(page);
        assert_eq!(page.console_errors(), [""; 0]);
        look
    }

    /// Nothing sticks out of a narrow window, in which the page was loaded.
    #[track_caller]
    fn read_on_a_phone(&self, page: &Page) {
        page.set_width(360);
        page.reload();
        page.wait_until(
            "the element to come into sight",
            &format!("{ELEMENT} !== null && ({ELEMENT}.scrollIntoView(), true)"),
        );
        wait_ready(page);
        assert_fits(page, &[360], self.name);
        let right = page.eval(&format!("{FRAME}.getBoundingClientRect().right"));
        assert!(
            right.as_f64().is_some_and(|right| right <= 360.0),
            "{right}"
        );
        page.enter_frame_of(FRAME, TIMELINE);
        let wide = page.eval("document.documentElement.scrollWidth - innerWidth");
        assert!(wide.as_i64().is_some_and(|wide| wide <= 0), "{wide}");
        page.leave_frame();
        page.set_width(1440);
    }

    /// What was in the frame looked as it does in a window of its own.
    #[track_caller]
    fn compare_lab(&self, page: &Page, look: &Look) {
        page.set_width(look.width);
        let state = look.state.trim_start_matches('?');
        page.visit(&format!("{}/?embed=1&{state}", self.place.1));
        wait_running(page);
        page.wait_until(
            "as much as the frame had",
            &format!("{ALL}.length === {}", list(&look.styles).len()),
        );
        assert_same(&look.styles, &page.eval(&format!("{LOOKS}({ALL})")));
    }

    /// The host's own elements look as they do where the laboratory's script cannot be had.
    #[track_caller]
    fn compare_host(&self, page: &Page, lab: &mut Site) {
        let looks = format!("{LOOKS}({OF_THE_HOST})");
        page.reload();
        wait_ready(page);
        let with = page.eval(&looks);
        lab.stop();
        page.reload();
        let ready = "document.readyState === 'complete' && customElements.get('deliver-twice') === undefined";
        page.wait_until("the page without the laboratory's script", ready);
        page.wait_until(
            "all of the page",
            &format!("{OF_THE_HOST}.length === {}", list(&with).len()),
        );
        assert!(list(&with).len() > 8);
        assert_same(&with, &page.eval(&looks));
    }
}

fn list(value: &serde_json::Value) -> &[serde_json::Value] {
    value.as_array().expect("a list")
}

#[track_caller]
fn assert_same(one: &serde_json::Value, other: &serde_json::Value) {
    for (one, other) in list(one).iter().zip(list(other)) {
        assert_eq!(one, other);
    }
    assert_eq!(list(one).len(), list(other).len());
}

#[track_caller]
fn wait_ready(page: &Page) {
    page.wait_until(
        "the element to be ready",
        &format!("{ELEMENT}?.shadowRoot?.querySelector('slot').hidden === true"),
    );
}

#[track_caller]
fn read_with_own_lab(host: &Host) -> Page {
    let page = host.with_own_lab();
    let look = host.read(&page);
    host.compare_lab(&page, &look);
    page
}

#[track_caller]
fn read_with_other_lab(host: &Host) {
    let mut lab = Site::serve(&repository().join("dist"), Some(STRICT));
    let page = host.with_other_lab(&lab);
    host.read(&page);
    host.compare_host(&page, &mut lab);
}

#[test]
fn a_plain_page_with_a_lab_of_its_own() {
    read_with_own_lab(&PLAIN);
}

#[test]
fn a_plain_page_with_a_lab_elsewhere() {
    read_with_other_lab(&PLAIN);
}

#[test]
fn a_book_of_mdbook_with_a_lab_of_its_own() {
    read_with_own_lab(&MDBOOK);
}

#[test]
fn a_book_of_mdbook_with_a_lab_elsewhere() {
    read_with_other_lab(&MDBOOK);
}

#[test]
fn a_site_of_vitepress_with_a_lab_of_its_own() {
    read_with_own_lab(&VITEPRESS);
}

#[test]
fn a_site_of_vitepress_with_a_lab_elsewhere() {
    read_with_other_lab(&VITEPRESS);
}

#[test]
fn a_book_of_sphinx_with_a_lab_of_its_own() {
    let page = read_with_own_lab(&SPHINX);
    // A page in reStructuredText.
    page.visit("tables.html");
    wait_ready(&page);
    page.enter_frame_of(FRAME, "[data-testid=matrix]");
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn a_book_of_sphinx_with_a_lab_elsewhere() {
    read_with_other_lab(&SPHINX);
}

/// A page of `tests/hosts/sandbox`, from a server that lets it run no script; inside its frame.
#[track_caller]
fn framed(name: &str, lab: &Site) -> Page {
    let address = lab.address();
    let folder = sources("sandbox", &format!("sandbox-{name}"), &address);
    let policy =
        format!("default-src 'none'; style-src 'self'; img-src data:; frame-src {address}");
    let page = Page::open_folder_under(&folder, &policy);
    page.visit(name);
    page.eval("document.querySelector('iframe').scrollIntoView()");
    page.enter_frame("iframe", TIMELINE);
    page
}

#[test]
fn a_page_without_script_has_the_lab_in_the_narrowest_sandbox_and_in_a_wider_one() {
    let lab = Site::serve(&repository().join("dist"), Some(STRICT));
    for (name, has_origin) in [("index.html", false), ("frame.html", true)] {
        let page = framed(name, &lab);
        assert_eq!(page.eval("window.origin !== 'null'"), has_origin);
        assert_eq!(page.eval("document.documentElement.lang"), "en");
        page.click("[data-testid=answer-2]");
        page.click("[data-testid=run-first]");
        page.click("[data-testid=step-dB]");
        wait_row(&page, 1);
        page.leave_frame();
        assert_fits(&page, &[1440, 360], name);
        assert_eq!(page.console_errors(), [""; 0]);
    }
}
