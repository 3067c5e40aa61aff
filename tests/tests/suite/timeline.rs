//! The timeline and what stands around it: the strip of the run, the statements, the looks, the keys.

use deliver_twice_tests::Page;
use serde_json::Value;

use crate::lab::{self, open, wait_address, wait_row, wait_running};

/// Widths that the page has to fit, in CSS pixels.
const WIDTHS: [u32; 3] = [1440, 700, 360];

/// The selector of an element by what tests call it.
fn called(testid: &str) -> String {
    format!("[data-testid=\"{testid}\"]")
}

fn attribute(page: &Page, testid: &str, name: &str) -> Value {
    page.eval(&format!(
        "document.querySelector('{}').getAttribute('{name}')",
        called(testid)
    ))
}

/// A property of an element, or of a part of it such as `::before`, as the browser computed it.
fn computed(page: &Page, selector: &str, part: &str, property: &str) -> Value {
    let part = if part.is_empty() {
        "null".to_owned()
    } else {
        format!("'{part}'")
    };
    page.eval(&format!(
        "getComputedStyle(document.querySelector('{selector}'), {part}).getPropertyValue('{property}')"
    ))
}

fn is_shown(page: &Page, selector: &str) -> bool {
    let shown = page.eval(&format!(
        "[...document.querySelectorAll('{selector}')].some(e => e.checkVisibility() && e.getClientRects().length > 0)"
    ));
    shown == true
}

fn address(page: &Page) -> String {
    let address = page.eval("location.search");
    address.as_str().expect("an address is text").to_owned()
}

fn focus(page: &Page, selector: &str) {
    page.eval(&format!("document.querySelector('{selector}').focus()"));
}

#[track_caller]
fn assert_fits(page: &Page) {
    lab::assert_fits(page, &WIDTHS, "the page");
}

#[test]
fn the_strip_maps_the_run_and_leads_to_every_row_of_it() {
    let page = open("");
    assert_eq!(page.count("[data-testid^=mark-]"), 14);
    assert_eq!(page.count(".place--breaks-left"), 1);
    assert_eq!(attribute(&page, "minimap", "aria-valuenow"), "8");
    let words = attribute(&page, "minimap", "aria-valuetext");
    let words = words.as_str().unwrap_or_default();
    assert!(words.contains("Step 8 of 13: B step"), "{words}");
    assert!(
        words.contains("Duplicate effect: 2 notification tasks"),
        "{words}"
    );
    page.click(&called("mark-3"));
    wait_row(&page, 3);
    assert!(page.text(&called("mark-3")).contains('✉'));
    assert!(page.text(&called("mark-4")).contains('B'));
    for width in WIDTHS {
        page.set_width(width);
        let height = page.eval("document.querySelector('.minimap').offsetHeight");
        assert!(
            height.as_u64().is_some_and(|height| height >= 24),
            "{height} at {width}"
        );
    }
}

/// What is new in a table is said in a line: the column is as wide as its words.
#[test]
fn the_words_of_a_new_row_are_not_squeezed() {
    let page = open("");
    let lines = page.eval(
        "(() => { const mark = document.querySelector('.is-new .mark');
            return mark.getClientRects().length; })()",
    );
    assert_eq!(lines, 1);
    assert_eq!(computed(&page, ".is-new .mark", "", "display"), "inline");
}

#[test]
fn the_strip_is_a_slider_that_stays_within_the_run() {
    let page = open("");
    focus(&page, ".minimap");
    for (key, row) in [
        ("End", 13),
        ("ArrowRight", 13),
        ("PageDown", 8),
        ("ArrowLeft", 7),
        ("ArrowUp", 8),
        ("Home", 0),
        ("ArrowDown", 0),
        ("PageUp", 5),
    ] {
        page.key(key);
        wait_row(&page, row);
    }
    assert_eq!(
        page.count("[data-testid^=mark-]"),
        14,
        "a slider takes no step"
    );
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn the_strip_shows_the_guess_and_a_crash_and_is_gone_where_there_is_nothing_to_map() {
    let page = open("?lesson=check-loses-a-race");
    assert_eq!(page.count(".minimap"), 0, "it would answer the question");
    page.click(&called("answer-4"));
    page.wait_text(&called("answered"), "step 4");
    assert!(page.text(&called("mark-4")).contains('⚑'));
    assert_eq!(page.count(".place__guess"), 1);
    page.visit("?seq=s1:dA.A.xA");
    wait_running(&page);
    assert_eq!(page.text(&called("mark-3")), "✕");
    page.visit("?seq=s1:");
    wait_running(&page);
    assert_eq!(page.count(".minimap"), 0);
}

#[test]
fn a_row_and_the_statement_it_ran_are_lit_together_under_the_pointer() {
    let page = open("");
    page.hover(&format!("{} td.sql.left", called("row-5")));
    page.wait_until(
        "the statement of row 5 to be lit on either side",
        "[...document.querySelectorAll('.line--lit')].map(l => l.id).join() === 'line-left-2,line-right-2'",
    );
    page.hover("#line-left-1");
    page.wait_until(
        "the rows that ran the SELECT to be lit",
        "[...document.querySelectorAll('.row--lit-left')].map(r => r.dataset.testid).join() === 'row-2,row-4'",
    );
    assert_eq!(page.count(".row--lit-right"), 0);
    // Not by colour alone: both carry a sign.
    let sign = computed(&page, ".row--lit-left td.sql.left", "::after", "content");
    assert_eq!(sign, "\"◀\"");
    let sign = computed(&page, ".line--lit .line__what", "::before", "content");
    assert_eq!(sign, "\"◀ \"");
    page.hover("h1");
    page.wait_until(
        "nothing to be lit once the pointer is elsewhere",
        "document.querySelector('.row--lit-left, .line--lit') === null",
    );
}

#[test]
fn a_row_and_the_statement_it_ran_are_lit_together_by_the_keyboard() {
    let page = open("");
    focus(&page, "tr[aria-current] .move__number");
    page.wait_until(
        "the statement of row 8 to be lit",
        "document.querySelector('#line-left-3.line--lit') !== null",
    );
    page.key("ArrowUp");
    page.key("ArrowUp");
    page.wait_until(
        "the statement of row 6 to be lit",
        "document.querySelector('#line-left-2.line--lit') !== null",
    );
    let described = page.eval("document.activeElement.getAttribute('aria-describedby')");
    assert_eq!(described, "line-left-2 line-right-2");
    page.key("Enter");
    wait_row(&page, 6);
    focus(&page, "#line-left-4");
    page.wait_until(
        "the rows that acked to be lit",
        "[...document.querySelectorAll('.row--lit-left')].map(r => r.dataset.testid).join() === 'row-9,row-10'",
    );
    page.key("Enter");
    wait_row(&page, 9);
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn the_statement_of_the_shown_row_is_marked_in_words_and_in_full() {
    let page = open("");
    let now = "#line-left-3[aria-current=step]";
    assert_eq!(page.count(".line[aria-current]"), 1, "the right side waits");
    assert!(
        page.text(now)
            .contains("INSERT INTO business_tasks (id, ticket_id,")
    );
    // Which steps carried it out, and who.
    assert_eq!(
        page.eval(&format!(
            "document.querySelector('{now} .line__rows').textContent.replace(/\\s+/g, ' ')"
        )),
        "carried out at steps 7A8B"
    );
    page.click(&called("run-back"));
    wait_row(&page, 7);
    assert_eq!(page.count(".line[aria-current]"), 2);
    page.visit("?left=receipt-first&right=constraint-arbitration&seq=s1:dA.A4&lang=zh");
    wait_running(&page);
    assert!(page.text("#line-left-7").contains("确认"));
    assert!(page.text("#line-left-rollback").contains("没有执行"));
    assert_eq!(page.text("#line-left-4[aria-current=step] code"), "BEGIN");
}

#[test]
fn a_wait_is_linked_to_the_lock_it_waits_for() {
    let page = open("?workers=3&deliveries=3&seq=s1:dA.A2.dB.dC.C2.B2");
    assert_eq!(page.count("[data-testid=row-3] .lock__link"), 0);
    let spans = page.eval(
        "(() => {
            const cell = document.querySelector('[data-testid=row-7] td.locks.right');
            const bars = [...cell.querySelectorAll('.lock')].map(b => b.getBoundingClientRect());
            const link = cell.querySelector('.lock__link').getBoundingClientRect();
            const middle = b => b.left + b.width / 2;
            return [link.left - middle(bars[0]), link.right - middle(bars[2])].map(Math.abs);
        })()",
    );
    for gap in spans.as_array().expect("two gaps") {
        assert!(gap.as_f64().is_some_and(|gap| gap < 2.0), "{spans}");
    }
    let class = page.eval("document.querySelector('[data-testid=row-7] .lock__link').className");
    assert_eq!(
        class, "lock__link lock__link--back",
        "C waits for A, to its left"
    );
    assert!(
        page.text("[data-testid=row-7] td.sql.right")
            .contains("waits for A")
    );
}

#[test]
fn presenting_is_large_says_everything_and_stays_in_the_link() {
    let page = open("?present=1");
    for selector in [
        "tr.row--now td.sql.left .tone",
        "tr.row--now td.sql code",
        "tr.row--now td.number",
        ".verdict p",
        ".controls__run button",
        ".line code",
        ".lock--held",
        ".place",
        ".middle button",
    ] {
        let size = computed(&page, selector, "", "font-size");
        assert_eq!(size, "20px", "{selector}");
    }
    for hidden in [
        ".lessons",
        ".axes",
        "details.settings",
        ".export",
        ".matrix",
        ".diagnosis",
        "footer",
        "[data-testid=theme]",
    ] {
        assert!(!is_shown(&page, hidden), "{hidden}");
    }
    // What only a pointer finds out elsewhere is written out here.
    let legend = page.text(".timeline__legend");
    for title in page
        .eval("[...document.querySelectorAll('thead th.left[title]')].map(th => th.title)")
        .as_array()
        .expect("a list")
    {
        let title = title.as_str().unwrap_or_default();
        assert!(legend.contains(title), "{title} is not in {legend}");
    }
    assert_fits(&page);
    page.screenshot("presenting");
    page.key("Escape");
    page.wait_until(
        "the page to be itself again",
        "document.querySelector('.lab--presents') === null",
    );
    wait_address(&page, "!address.includes('present')");
    page.key("f");
    wait_address(&page, "address.includes('&present=1')");
    page.click(&called("present"));
    page.wait_until(
        "the page to be itself again",
        "document.querySelector('.lab--presents') === null",
    );
    assert!(!is_shown(&page, ".timeline__legend"));
}

#[test]
fn brackets_lead_from_decision_to_decision() {
    let page = open("?seq=s1:dA.A2.dB.B2.xA.B&at=0");
    for (key, row) in [("]", 3), ("]", 6), ("]", 6), ("[", 3), ("[", 3)] {
        page.key(key);
        wait_row(&page, row);
    }
    page.click(&called("run-decision-after"));
    wait_row(&page, 6);
    page.click(&called("run-decision-before"));
    wait_row(&page, 3);
    assert_eq!(
        page.count(&format!("{}:disabled", called("run-decision-before"))),
        1
    );
    // Another way from row 2 leaves a branch, and so a decision.
    page.key("ArrowLeft");
    wait_row(&page, 2);
    page.click(&called("step-xA"));
    wait_row(&page, 3);
    page.key("[");
    wait_row(&page, 2);
}

#[test]
fn counterexamples_are_replayed_one_after_the_other() {
    let page = open("?left=receipt-first");
    page.wait_text(&called("search-left"), "end in a violation");
    page.wait_text(&called("search-right"), "Holds in all");
    let shown = || {
        address(&page)
            .split("&seq=")
            .nth(1)
            .map(|rest| rest.split('&').next().unwrap_or("").to_owned())
    };
    let wait_another = |before: &[Option<String>]| {
        let last = before.last().cloned().flatten().unwrap_or_default();
        wait_address(&page, &format!("!address.includes('seq={last}&')"));
        shown()
    };
    let mut schedules = vec![shown()];
    page.key("v");
    page.wait_text(&called("verdict-left"), "⚠");
    schedules.push(wait_another(&schedules));
    page.click(&called("next-counterexample"));
    schedules.push(wait_another(&schedules));
    schedules.dedup();
    assert_eq!(schedules.len(), 3, "{schedules:?}");
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn every_schedule_is_a_key_or_a_button_away() {
    let page = open("");
    for way in ["key", "button"] {
        page.eval("scrollTo(0, 0)");
        match way {
            "key" => page.key("e"),
            _ => page.click(&called("explore")),
        }
        page.wait_until(
            "the search to be in sight, and the keyboard at it",
            "(() => {
                const box = document.querySelector('#searches').getBoundingClientRect();
                return document.activeElement.id === 'searches' && box.top >= -1 && box.top < innerHeight;
            })()",
        );
    }
    page.visit("?lesson=ack-first");
    wait_running(&page);
    assert_eq!(page.count(&format!("{}:disabled", called("explore"))), 1);
}

#[test]
fn comparing_can_be_left_and_on_a_narrow_screen_means_the_other_side() {
    let page = open("");
    page.key("c");
    page.wait_until(
        "one side to be left",
        "document.querySelector('.lab--single') !== null",
    );
    wait_address(&page, "address.includes('&compare=off')");
    assert!(is_shown(&page, "td.sql.left") && !is_shown(&page, "td.sql.right"));
    page.click(&called("show-right"));
    page.wait_until(
        "the other side to be shown",
        "document.querySelector('.lab--right') !== null",
    );
    assert!(!is_shown(&page, "td.sql.left") && is_shown(&page, "td.sql.right"));
    page.reload();
    wait_running(&page);
    assert!(!is_shown(&page, "td.sql.left") && is_shown(&page, "td.sql.right"));
    page.click(&called("compare"));
    page.wait_until(
        "both sides to be shown",
        "document.querySelector('.lab--single') === null",
    );
    assert!(is_shown(&page, "td.sql.left") && is_shown(&page, "td.sql.right"));
    page.set_width(700);
    page.click(&called("run-back"));
    wait_row(&page, 7);
    page.key("c");
    page.wait_until(
        "the other side to be shown",
        "document.querySelector('.lab--left') !== null",
    );
    wait_address(&page, "!address.includes('compare')");
    assert_fits(&page);
}

#[test]
fn the_link_is_copied_by_a_key_and_by_a_button() {
    let page = open("?seq=s1:dA.A2&at=1");
    page.allow_clipboard();
    page.key("s");
    page.wait_text(&called("share"), "Link copied");
    assert_eq!(
        page.eval("navigator.clipboard.readText()"),
        page.eval("location.href")
    );
    page.key("ArrowRight");
    wait_row(&page, 2);
    page.wait_text(&called("share"), "Copy link");
    page.click(&called("share"));
    page.wait_text(&called("share"), "Link copied");
    assert_eq!(
        page.eval("navigator.clipboard.readText()"),
        page.eval("location.href")
    );
}

#[test]
fn every_key_stands_in_the_list() {
    let page = open("");
    page.key("?");
    let list = page.text(&called("keys"));
    for (key, words) in [
        ("[ ]", "decision"),
        ("E", "every schedule"),
        ("V", "next counterexample"),
        ("C", "both designs or one"),
        ("S", "copy the link"),
        ("F", "present"),
        ("↑ ↓", "the row above / below"),
    ] {
        assert!(list.contains(words), "{key}: {words}");
        let keys = page.eval("[...document.querySelectorAll('.keys kbd')].map(k => k.innerText)");
        let keys = keys.as_array().expect("a list").clone();
        assert!(keys.iter().any(|found| found == key), "{key}");
    }
}

const DARK: &str = "rgb(20, 24, 29)";
const LIGHT: &str = "rgb(251, 250, 247)";

fn paper(page: &Page) -> Value {
    computed(page, "body", "", "background-color")
}

#[test]
fn the_theme_can_be_forced_and_stays_in_the_link() {
    let page = open("");
    page.set_media("screen", ("prefers-color-scheme", "dark"));
    assert_eq!(paper(&page), DARK);
    page.set_media("screen", ("prefers-color-scheme", "light"));
    assert_eq!(paper(&page), LIGHT);
    page.choose(&called("theme"), "dark");
    wait_address(&page, "address.includes('&theme=dark')");
    assert_eq!(paper(&page), DARK);
    assert_eq!(computed(&page, ":root", "", "color-scheme"), "dark");
    page.reload();
    wait_running(&page);
    assert_eq!(paper(&page), DARK);
    page.set_media("screen", ("prefers-color-scheme", "dark"));
    page.choose(&called("theme"), "light");
    wait_address(&page, "address.includes('&theme=light')");
    assert_eq!(paper(&page), LIGHT);
    page.choose(&called("theme"), "auto");
    wait_address(&page, "!address.includes('theme')");
    assert_eq!(paper(&page), DARK);
    page.visit("?theme=sepia");
    wait_running(&page);
    assert!(page.text(&called("bad-link")).contains("auto, light, dark"));
}

#[test]
fn who_wants_no_motion_gets_none_and_the_run_goes_in_steps() {
    let page = open("?seq=s1:dA.A2.dB.B2&at=0");
    let moving = "[...document.querySelectorAll('*')].filter(e => {
        const style = getComputedStyle(e);
        return style.animationName !== 'none' || style.transitionDuration !== '0s' || style.scrollBehavior !== 'auto';
    }).length";
    page.set_media("screen", ("prefers-reduced-motion", "no-preference"));
    assert_eq!(page.eval(moving), 1, "the row that has just come");
    page.set_media("screen", ("prefers-reduced-motion", "reduce"));
    assert_eq!(page.eval(moving), 0);
    page.eval(
        "(() => {
            window.rows = [];
            new MutationObserver(() => {
                const row = document.querySelector('tr[aria-current]').dataset.testid;
                if (rows.at(-1) !== row) rows.push(row);
                window.animated = (window.animated || 0) + document.getAnimations().length;
            }).observe(document.querySelector('#lab'), { subtree: true, attributes: true, childList: true });
        })()",
    );
    page.key("Space");
    wait_row(&page, 3);
    page.key("Space");
    let rows = page.eval("rows.slice(-3).join()");
    assert_eq!(rows, "row-1,row-2,row-3");
    assert_eq!(page.eval("animated"), 0);
}

#[test]
fn on_paper_there_is_the_whole_run_in_light_colours_and_nothing_to_press() {
    let page = open("?theme=dark");
    // Paper counts as narrow before the style sheet has turned it.
    page.set_width(700);
    page.set_media("print", ("prefers-color-scheme", "dark"));
    for hidden in [
        "button.primary",
        "select",
        ".controls",
        ".minimap",
        "header nav",
        ".export",
    ] {
        assert!(!is_shown(&page, hidden), "{hidden}");
    }
    let rows = page.eval(
        "[...document.querySelectorAll('tr[data-testid^=row-]')].filter(r => r.offsetHeight > 0).length",
    );
    assert_eq!(rows, 14);
    assert!(is_shown(&page, "td.sql.left") && is_shown(&page, "td.sql.right"));
    assert!(
        page.text(&called("verdict-left"))
            .contains("Duplicate effect")
    );
    assert!(
        page.text(&called("verdict-right"))
            .contains("No property is violated")
    );
    assert!(page.text(".timeline__legend").contains("S shared"));
    let ink = computed(&page, "td.number:not(.queue)", "", "color");
    assert_eq!(ink, "rgb(29, 37, 48)", "dark on light");
    assert_eq!(
        computed(&page, ".verdict", "", "background-color"),
        "rgb(251, 230, 230)"
    );
    let document = page.print();
    assert!(document.starts_with(b"%PDF"));
    let pages = document
        .windows(11)
        .filter(|part| part == b"/Type /Page")
        .count();
    assert!(
        (2..=6).contains(&pages),
        "{pages} pages, with the tree of pages"
    );
}

#[test]
fn the_controls_never_cover_the_row_that_is_shown() {
    let page = open("?workers=3&deliveries=3&seq=s1:");
    for width in WIDTHS {
        page.set_width(width);
        page.eval("scrollTo(0, 0)");
        page.click(&called("restart"));
        wait_row(&page, 0);
        for number in 1..=14 {
            page.click(&format!("{}:enabled", called("run-forward")));
            wait_row(&page, number);
            page.wait_until(
                &format!("row {number} to be whole in sight, {width} pixels wide"),
                "(() => {
                    const row = document.querySelector('tr[aria-current]').getBoundingClientRect();
                    const head = document.querySelector('.timeline thead th').getBoundingClientRect();
                    const feet = ['.dock', '.controls'].map(s => document.querySelector(s)).filter(e => e.offsetHeight);
                    const top = Math.min(...feet.map(e => e.getBoundingClientRect().top));
                    return row.top >= head.bottom - 1 && row.bottom <= top + 1;
                })()",
            );
        }
    }
}

#[test]
fn one_schedule_is_not_called_all_of_them() {
    let page = open(
        "?left=ack-first&right=constraint-arbitration&workers=1&deliveries=1&crashes=0&seq=s1:",
    );
    page.wait_text(&called("search-right"), "Holds in the only schedule");
    page.wait_text(&called("line-right"), "Holds in the only schedule");
    page.click(&called("language"));
    page.wait_text(&called("search-right"), "只有一种交错，它成立");
    page.visit("?left=ack-first&workers=1&deliveries=1&crashes=0&seq=s1:&ticket=missing");
    wait_running(&page);
    page.wait_text(&called("search-left"), "schedule");
    let all = page.eval("document.querySelector('#lab').innerText.includes('all 1 schedules')");
    assert_eq!(all, false);
}

#[test]
fn many_faults_of_a_link_are_folded() {
    let page = open("?left=a&right=b&seq=c&at=d&lang=e&side=f&theme=g&workers=9");
    assert_eq!(page.count(&called("bad-link")), 8);
    assert!(page.text(&called("bad-link-more")).contains("and 5 more"));
    assert!(!is_shown(&page, ".notices [data-testid=bad-link]"));
    page.click(".notices summary");
    assert!(is_shown(&page, ".notices [data-testid=bad-link]"));
    assert!(page.text(".notices").contains("theme"));
}

#[test]
fn a_cell_in_which_nothing_fails_opens_a_run_of_its_own() {
    let page = open("");
    page.click(&format!("{} summary", called("matrix")));
    page.click(&called("cell-on-conflict-do-nothing-lost-commit-reply"));
    wait_row(&page, 0);
    assert_eq!(page.count("tr[data-testid^=row-]"), 1);
    for part in [
        "left=on-conflict-do-nothing",
        "&seq=s1:&at=0&deliveries=1&workers=1",
        "lost-replies=1",
    ] {
        wait_address(&page, &format!("address.includes('{part}')"));
    }
    page.wait_text(&called("search-left"), "Holds in");
    let name = page.text(&called("cell-no-guard-crash-between-commits"));
    assert!(
        name.contains("cannot occur") || name.contains('–'),
        "{name}"
    );
}
