//! A run as a Markdown table, a row for each step.

use crate::broker::Place;
use crate::design::{Design, Outside};
use crate::state::State;

use super::story::{Line, Story, delivery_name};

const HEAD: [&str; 2] = [
    "| # | who | step | SQL | answer | receipts | tasks | queue |",
    "|---:|---|---|---|---|---:|---:|---|",
];

/// The columns of what only some designs have: the rows of the outbox, and the messages outside.
fn head(design: Design) -> String {
    let [mut names, mut rule] = HEAD.map(str::to_owned);
    if design.has_outbox() {
        names += " outbox |";
        rule += "---|";
    }
    if design.outside != Outside::None {
        names += " sent |";
        rule += "---:|";
    }
    format!("{names}\n{rule}\n")
}

pub(super) fn text(story: &Story<'_>) -> String {
    let (design, schedule) = (story.design(), story.schedule());
    let mut text = format!("# A run of {design}\n\n`{schedule}`\n\n{}", head(design));
    text.push_str(&start(design, &story.run.start));
    for line in story.lines() {
        text.push_str(&row(design, &line));
    }
    text.push_str("\nReceipts and tasks count committed rows. After the last step:\n\n");
    for verdict in story.verdicts() {
        text.push_str(&format!("- {}\n", escaped(&verdict)));
    }
    text
}

fn start(design: Design, state: &State) -> String {
    format!("| 0 | | | | at the start | {}\n", columns(design, state))
}

fn row(design: Design, line: &Line<'_>) -> String {
    let sql = line.sql.as_deref().map(code).unwrap_or_default();
    let breaches: String = line
        .breaches
        .iter()
        .map(|violation| format!(" **{}**", violation.verdict()))
        .collect();
    format!(
        "| {} | {} | `{}` | {sql} | {}{breaches} | {}\n",
        line.number,
        line.who,
        line.frame.step,
        escaped(&line.answer),
        columns(design, &line.frame.state)
    )
}

/// What lies in the tables, in the queue and outside.
fn columns(design: Design, state: &State) -> String {
    let is_queued = |place: Place| place == Place::Queued;
    let queue: Vec<String> = state
        .broker
        .deliveries()
        .filter(|(_, delivery)| is_queued(delivery.place))
        .map(|(id, _)| escaped(&delivery_name(state, id)))
        .collect();
    let (receipts, tasks) = (&state.committed.receipts, &state.committed.tasks);
    let mut text = format!(
        "{} | {} | {} |",
        receipts.len(),
        tasks.len(),
        queue.join(" ")
    );
    if design.has_outbox() {
        let rows = state.committed.outbox.iter();
        let rows: Vec<String> = rows
            .map(|row| format!("{} {}", row.event_id, row.state))
            .collect();
        text += &format!(" {} |", escaped(&rows.join(", ")));
    }
    if design.outside != Outside::None {
        text += &format!(" {} |", state.sent.len());
    }
    text
}

/// A piece of code in a cell. Only the bar would end the cell, even in code.
fn code(text: &str) -> String {
    format!(
        "`{}`",
        text.replace('`', "'")
            .replace('|', "\\|")
            .replace('\n', " ")
    )
}

/// Text in a cell, with every sign that Markdown or HTML would take for its own.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '&' | '~' => {
                escaped.extend(['\\', character]);
            }
            control if control.is_control() => escaped.push(' '),
            plain => escaped.push(plain),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn nothing_in_a_cell_ends_it() {
        assert_eq!(escaped("a|b *c*\n<i>"), "a\\|b \\*c\\* \\<i\\>");
        assert_eq!(code("a|b`c"), "`a\\|b'c`");
    }
}
