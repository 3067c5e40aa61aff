//! The search of every schedule on the built page: in a worker, in the page's own words, replayed.

use deliver_twice_tests::Page;

use crate::lab::{copy_of_build, open, wait_address, wait_row};

const SEARCH_LEFT: &str = "[data-testid=search-left]";
const SEARCH_RIGHT: &str = "[data-testid=search-right]";

#[test]
fn every_schedule_is_searched_in_a_worker_that_loads_the_pages_own_module() {
    let page = open("");
    page.wait_text(SEARCH_LEFT, "of all 5,594 schedules");
    page.wait_text(SEARCH_RIGHT, "Holds in all 37,140 schedules");
    page.wait_text("[data-testid=line-right]", "Holds in all 37,140 schedules");
    let modules = page.eval(
        "performance.getEntriesByType('resource').filter(e => e.name.endsWith('.wasm')).length",
    );
    assert_eq!(modules, 1, "one module, for the page and its worker");
    let worker = page
        .eval("performance.getEntriesByType('resource').some(e => e.name.endsWith('/worker.js'))");
    assert_eq!(worker, true);
    assert_eq!(page.console_errors(), [""; 0]);
}

/// A worker that cannot be loaded is what a sandboxed frame has too.
#[test]
fn without_a_worker_the_page_searches_in_slices_itself() {
    let folder = copy_of_build("without-worker");
    std::fs::remove_file(folder.join("worker.js")).expect("a copied file");
    let page = Page::open_folder(&folder);
    page.wait_text(SEARCH_RIGHT, "Holds in all 37,140 schedules");
    page.wait_text(SEARCH_LEFT, "of all 5,594 schedules");
}

#[test]
fn a_counterexample_is_replayed_by_one_click_and_the_run_before_is_kept() {
    let page = open("?left=receipt-first");
    page.click("[data-testid=replay-lost-effect]");
    wait_row(&page, 15);
    page.wait_text("[data-testid=verdict-left]", "Lost effect");
    wait_address(&page, "address.includes('xA')");
    page.click("[data-testid=branch-1]");
    page.wait_until(
        "the opening run to be back",
        "document.querySelectorAll('tr[data-testid^=row-]').length === 14",
    );
    page.click("[data-testid=replay-passing]");
    page.wait_text("[data-testid=verdict-left]", "Settled");
}

#[test]
fn a_change_of_the_bounds_searches_anew_and_stands_in_the_link() {
    let page = open("");
    page.wait_text(SEARCH_RIGHT, "Holds in all 37,140 schedules");
    page.choose("[data-testid=bounds-crashes]", "0");
    page.wait_text(SEARCH_RIGHT, "Holds in all 384 schedules");
    page.wait_text(SEARCH_LEFT, "of all 178 schedules");
    page.reload();
    page.wait_text(SEARCH_LEFT, "of all 178 schedules");
}

#[test]
fn a_search_that_was_cut_never_reads_as_holds() {
    let page = open(
        "?left=constraint-arbitration&deliveries=3&workers=3&effects=3&crashes=2&lost-acks=2&lost-replies=2",
    );
    // As long as it grows it is waited for, however slow the machine.
    for states in (1..=25).map(|thousands| thousands * 1_000) {
        page.wait_until(
            &format!("{states} states, or the end"),
            &format!(
                "(t => /cut at/.test(t) || Number((t.match(/[\\d,]+ states so far/) || ['0'])[0]
                    .replace(/\\D/g, '')) >= {states})(document.querySelector('{SEARCH_LEFT}').innerText)"
            ),
        );
    }
    page.wait_text(SEARCH_LEFT, "cut at");
    let text = page.text(SEARCH_LEFT);
    assert!(
        text.contains("nothing is claimed about the rest") && !text.contains("Holds"),
        "{text}"
    );
}

#[test]
fn each_row_says_what_share_of_its_futures_fails_and_where_all_do() {
    let page = open("");
    page.wait_text(SEARCH_LEFT, "of all 5,594 schedules");
    assert_eq!(
        page.count("td.share"),
        0,
        "it gives answers away, so it waits to be asked"
    );
    page.click("[data-testid=shares]");
    page.wait_text("[data-testid=row-0] td.share.left", "58%");
    page.wait_text("[data-testid=row-8] td.share.left", "100%");
    page.wait_text("[data-testid=row-8] td.share.right", "0%");
    let certain = page.eval("document.querySelectorAll('td.share.left[title]').length");
    assert_eq!(certain, 1, "failure becomes certain at one row");
}

#[test]
fn a_cell_of_the_matrix_opens_the_design_the_hazard_and_the_schedule() {
    let page = open("");
    page.click("[data-testid=matrix] summary");
    page.click("[data-testid=cell-ticket-key-second-version]");
    page.wait_text("[data-testid=verdict-left]", "Lost effect: e2");
    page.wait_text("[data-testid=scene]", "version");
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn the_matrix_has_a_table_for_each_chapter_and_replays_also_what_is_allowed() {
    let page = open("");
    page.click("[data-testid=matrix] summary");
    assert_eq!(page.count("[data-testid=matrix] table"), 3);
    page.click("[data-testid=cell-pending-row-keys-ignored]");
    page.wait_text("[data-testid=verdict-left]", "2 messages");
    page.click("[data-testid=note-outbox-crash-on-the-whole-way]");
    page.wait_text("[data-testid=verdict-left]", "Published 2 times");
    wait_address(&page, "address.includes('left=outbox&')");
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn what_all_schedules_are_is_said_in_full() {
    let page = open(
        "?left=effect-first&deliveries=1&workers=1&effects=2&ticket=missing&crashes=1&crash-at=before-ack",
    );
    page.wait_text(SEARCH_LEFT, "right before the ack only");
    let text = page.text(SEARCH_LEFT);
    for part in [
        "deliveries 1",
        "consumers 1",
        "effects 2",
        "crashes ≤ 1",
        "the ticket missing",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}
