//! A run as a Markdown table, a row for each step.

use crate::broker::Place;
use crate::state::State;

use super::story::{Line, Story, delivery_name};

const HEAD: &str = "\
| # | who | step | SQL | answer | receipts | tasks | queue |
|---:|---|---|---|---|---:|---:|---|
";

pub(super) fn text(story: &Story<'_>) -> String {
    let (design, schedule) = (story.design(), story.schedule());
    let mut text = format!("# A run of {design}\n\n`{schedule}`\n\n{HEAD}");
    text.push_str(&start(&story.run.start));
    for line in story.lines() {
        text.push_str(&row(&line));
    }
    text.push_str("\nReceipts and tasks count committed rows. After the last step:\n\n");
    for verdict in story.verdicts() {
        text.push_str(&format!("- {}\n", escaped(&verdict)));
    }
    text
}

fn start(state: &State) -> String {
    format!("| 0 | | | | at the start | {}\n", columns(state))
}

fn row(line: &Line<'_>) -> String {
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
        columns(&line.frame.state)
    )
}

/// What lies in the tables and in the queue.
fn columns(state: &State) -> String {
    let is_queued = |place: Place| place == Place::Queued;
    let queue: Vec<String> = state
        .broker
        .deliveries()
        .filter(|(_, delivery)| is_queued(delivery.place))
        .map(|(id, _)| escaped(&delivery_name(state, id)))
        .collect();
    let (receipts, tasks) = (&state.committed.receipts, &state.committed.tasks);
    format!(
        "{} | {} | {} |",
        receipts.len(),
        tasks.len(),
        queue.join(" ")
    )
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
