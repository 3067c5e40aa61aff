//! Old links never break in silence: a file of them is read, replayed, and held to what each showed.
//!
//! To add a link, or after a change that is meant (and noted under "Breaks links" in the change log):
//! `UPDATE_GOLDEN=1 cargo test -p deliver-twice-web golden`.

use deliver_twice_core::design::Outside;

use crate::comparison::{Comparison, SideRun};
use crate::messages::{Language, Messages};
use crate::permalink;
use crate::session::{Session, Side};
use crate::words;

const LINKS: &str = include_str!("../links/golden.txt");

fn shown(session: &Session) -> String {
    let comparison = Comparison::of(session).unwrap();
    let side = |side: Side| in_words(session, comparison.side(side));
    format!(
        "{} steps, at {} | {} | {}",
        session.schedule.0.len(),
        session.cursor,
        side(Side::Left),
        side(Side::Right)
    )
}

fn in_words(session: &Session, run: &SideRun) -> String {
    let state = run.state(session.schedule.0.len());
    let verdicts: Vec<&str> = run
        .run
        .violations()
        .iter()
        .map(|violation| violation.verdict().as_str())
        .collect();
    let (receipts, tasks) = (state.committed.receipts.len(), state.committed.tasks.len());
    let mut counts = format!("receipts {receipts}, tasks {tasks}");
    if run.design.has_producer() {
        let (tickets, taken) = (
            state.committed.tickets.len(),
            state.broker.deliveries().count(),
        );
        counts.push_str(&format!(", tickets {tickets}, published {taken}"));
    }
    if run.design.outside != Outside::None {
        counts.push_str(&format!(", sent {}", state.sent.len()));
    }
    format!("{}: {counts} {}", run.design, verdicts.join(","))
}

#[test]
fn every_golden_link_shows_what_it_always_showed() {
    let queries = LINKS.lines().filter_map(|line| line.split(" => ").next());
    let lines: Vec<String> = queries
        .filter(|query| query.starts_with('?'))
        .map(|query| {
            let (session, bad) = permalink::open(query, Language::English);
            let m = Messages::of(Language::English);
            let notices = bad.iter().map(|bad| words::bad_parameter(&m, bad));
            let notices: String = notices.map(|notice| format!(" | {notice}")).collect();
            format!("{query} => {}{notices}", shown(&session))
        })
        .collect();
    let text = lines.join("\n") + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(
            concat!(env!("CARGO_MANIFEST_DIR"), "/links/golden.txt"),
            text,
        )
        .unwrap();
        return;
    }
    assert_eq!(text, LINKS);
}
