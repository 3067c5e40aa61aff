//! Whether everybody can use the page: what axe finds in each view, and how large what is pressed is.

use deliver_twice_tests::Page;

use crate::lab;

/// Widths at which the page is looked at, in CSS pixels: a desk and a phone.
const WIDTHS: [u32; 2] = [1440, 360];

/// The least width and height of what is pressed, in CSS pixels: the 24 of WCAG 2.2, 2.5.8, less what a
/// browser's own arithmetic with parts of pixels takes away.
const TARGET: f64 = 23.99;

/// A state of the page that a visitor can come to.
struct Scene {
    name: &'static str,
    address: &'static str,
    /// What is clicked there, one after the other.
    clicks: &'static [&'static str],
    /// What is there in the end.
    shows: &'static str,
}

const SCENES: [Scene; 15] = [
    Scene {
        name: "opening, searched",
        address: "",
        clicks: &["[data-testid=shares]"],
        shows: "[data-testid=replay-passing], td.share",
    },
    Scene {
        name: "comparison by hand, tables of a worker",
        address: "?left=effect-first&seq=s1:dA.A2.dB.B2&lang=zh-CN",
        clicks: &["[data-testid=view-A]"],
        shows: "[data-testid=view-A][aria-pressed=true]",
    },
    Scene {
        name: "lesson, asked",
        address: "?lesson=check-loses-a-race&lang=zh-CN",
        clicks: &[],
        shows: "[data-testid=question]",
    },
    Scene {
        name: "lesson, answered",
        address: "?lesson=same-event-twice",
        clicks: &["[data-testid=answer-1]"],
        shows: "[data-testid=answered]",
    },
    Scene {
        name: "shown to a room",
        address: "?present=1&lang=zh-CN",
        clicks: &[],
        shows: ".lab--presents",
    },
    Scene {
        name: "one design alone, with its relay",
        address: "?left=outbox&seq=s1:P4.R2&compare=off",
        clicks: &[],
        shows: "#line-left-relay-2",
    },
    Scene {
        name: "puzzle",
        address: "?puzzle=two-look-at-once",
        clicks: &[],
        shows: "[data-testid=task]",
    },
    Scene {
        name: "repair",
        address: "?repair=nobody-moves&lang=zh-CN",
        clicks: &[],
        shows: "[data-testid=task]",
    },
    Scene {
        name: "diagnosis",
        address: "?seq=s1:",
        clicks: &[
            "[data-testid=diagnosis] summary",
            "[data-testid=symptom] option:nth-child(2)",
        ],
        shows: "[data-testid^=diagnosis-]",
    },
    Scene {
        name: "matrix",
        address: "?seq=s1:&lang=zh-CN",
        clicks: &["[data-testid=matrix] summary"],
        shows: "[data-testid^=cell-]",
    },
    Scene {
        name: "exports",
        address: "",
        clicks: &["[data-testid=export] summary"],
        shows: "[data-testid=export-preview]",
    },
    Scene {
        name: "keys",
        address: "?seq=s1:",
        clicks: &[".for-keyboards"],
        shows: "[data-testid=keys]",
    },
    Scene {
        name: "bad link",
        address: "?left=nonsense&seq=s1:dQ&workers=9&lang=zh-CN",
        clicks: &[],
        shows: "[data-testid=bad-link]",
    },
    Scene {
        name: "refused choice",
        address: "?left=no-guard",
        clicks: &["[data-testid=axis-key-left] option[value=ticket-only]"],
        shows: "[data-testid=refused-left]",
    },
    Scene {
        name: "three workers, crashed",
        address: "?seq=s1:dA.A2.dB.B2.dC.C.xA.t&workers=3&deliveries=3&ticket=missing",
        clicks: &[],
        shows: "[data-testid=timeline]",
    },
];

impl Scene {
    /// Comes to it in an open page of 1440 pixels, where everything can be clicked.
    #[track_caller]
    fn visit(&self, page: &Page) {
        page.set_width(WIDTHS[0]);
        page.visit(self.address);
        lab::wait_running(page);
        for selector in self.clicks {
            page.click(selector);
        }
        let shows = format!("document.querySelector('{}') !== null", self.shows);
        page.wait_until(&format!("{} in \"{}\"", self.shows, self.name), &shows);
    }
}

#[track_caller]
fn assert_none(found: &[String], what: &str) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

#[track_caller]
fn assert_no_barriers(theme: &str) {
    let page = Page::open();
    page.prefer(theme);
    let mut found = vec![];
    for scene in &SCENES {
        scene.visit(&page);
        for width in WIDTHS {
            page.set_width(width);
            let barriers = page.barriers();
            let place = |barrier| format!("{}, {theme}, {width}: {barrier}", scene.name);
            found.extend(barriers.into_iter().map(place));
        }
    }
    assert_none(&found, "barriers");
}

#[test]
fn no_view_has_a_barrier_in_the_light_theme() {
    assert_no_barriers("light");
}

#[test]
fn no_view_has_a_barrier_in_the_dark_theme() {
    assert_no_barriers("dark");
}

#[test]
fn a_page_that_cannot_start_has_no_barrier() {
    let folder = lab::copy_of_build("barriers-without-wasm");
    std::fs::remove_file(folder.join("deliver-twice-web_bg.wasm")).expect("a file of the copy");
    let page = Page::open_folder(&folder);
    page.wait_text("#start-error", "rror");
    for theme in ["light", "dark"] {
        page.prefer(theme);
        assert_none(&page.barriers(), theme);
    }
}

#[test]
fn a_barrier_is_found() {
    let page = lab::open("");
    page.eval("document.querySelector('[data-testid=share]').replaceChildren()");
    page.eval("document.querySelector('h1').style.color = 'rgb(220, 220, 220)'");
    let found = page.barriers();
    for rule in ["button-name: ", "color-contrast: "] {
        assert!(found.iter().any(|line| line.starts_with(rule)), "{found:?}");
    }
}

#[test]
fn the_themes_of_the_system_are_the_themes_of_the_page() {
    let page = lab::open("");
    let paper = |theme| {
        page.prefer(theme);
        page.eval("getComputedStyle(document.body).backgroundColor")
    };
    assert_ne!(paper("light"), paper("dark"));
}

/// Everything that is pressed and is smaller than a finger needs, whatever stands around it.
const SMALL: &str = "[...document.querySelectorAll(
        'button, select, input, summary, textarea, a[href], [role=button], [role=tab]')]
    .map(target => [target, target.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && Math.min(box.width, box.height) < LEAST)
    .map(([target, box]) => `${box.width} x ${box.height}: ${target.outerHTML.slice(0, 120)}`)";

fn small_targets(page: &Page) -> Vec<String> {
    let found = page.eval(&SMALL.replace("LEAST", &TARGET.to_string()));
    let found = found.as_array().expect("a list of lines").clone();
    let lines = found.iter().map(|line| line.as_str().unwrap_or_default());
    lines.map(str::to_owned).collect()
}

#[test]
fn whatever_is_pressed_is_large_enough_for_a_finger() {
    let page = Page::open();
    let mut found = vec![];
    for scene in &SCENES {
        scene.visit(&page);
        for width in WIDTHS {
            page.set_width(width);
            let place = |target| format!("{}, {width}: {target}", scene.name);
            found.extend(small_targets(&page).into_iter().map(place));
        }
    }
    assert_none(&found, "targets under 24 pixels");
    page.eval("document.querySelector('[data-testid=theme]').style.cssText = 'min-height: 0; height: 20px; padding: 0'");
    assert_eq!(small_targets(&page).len(), 1, "one that is small is found");
}
