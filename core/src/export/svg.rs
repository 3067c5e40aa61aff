//! A run as a picture: a row for each step, and a line for each worker while its transaction is open.

use crate::broker::{Kind, WorkerId};
use crate::state::State;

use super::story::{Line, Story};

/// Sizes in pixels.
const WIDTH: usize = 1120;
const MARGIN: usize = 20;
const ROW: usize = 26;
const HEAD: usize = 92;
/// Where the columns begin.
const LANES: usize = 56;
/// How far the lanes are apart. Only consumers and the producer have open transactions, so four have room.
const LANE: usize = 12;
const WHO: usize = 108;
const SQL: usize = 190;
const ANSWER: usize = 700;
/// How many characters fit the columns.
const SQL_CHARS: usize = 68;
const ANSWER_CHARS: usize = 62;

const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#1d2530}\
.title{font:600 18px system-ui,sans-serif}\
.code{font:12px ui-monospace,Menlo,Consolas,monospace}\
.soft{fill:#56606f}\
.bad{fill:#b3121d;font-weight:600}\
.who{font-weight:600}\
.a{fill:#0b6aa8}.b{fill:#8a5000}.c{fill:#6b3f8f}\
.p{fill:#3d5a00}.r{fill:#00606b}.n{fill:#96286a}";

pub(super) fn text(story: &Story<'_>) -> String {
    let lines = story.lines();
    let verdicts = story.verdicts();
    let height = HEAD + ROW * (lines.len() + verdicts.len() + 1) + MARGIN;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"title\">\n\
         <title id=\"title\">{}</title>\n<style>{STYLE}</style>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fbfaf7\"/>\n",
        escaped(&story.title())
    );
    text.push_str(&head(story));
    for line in &lines {
        text.push_str(&row(line));
    }
    text.push_str(&lanes(story));
    let class = if story.run.violations().is_empty() {
        "who"
    } else {
        "bad"
    };
    for (index, verdict) in verdicts.iter().enumerate() {
        let y = HEAD + ROW * (lines.len() + index + 1);
        text.push_str(&words(MARGIN, y, class, verdict, 170));
    }
    text + "</svg>\n"
}

fn head(story: &Story<'_>) -> String {
    let top = HEAD - 10;
    let columns = [
        (MARGIN, "#"),
        (WHO, "who"),
        (SQL, "SQL"),
        (ANSWER, "answer"),
    ];
    let names: String = columns
        .iter()
        .map(|(x, name)| words(*x, top, "soft", name, 10))
        .collect();
    [
        words(MARGIN, 30, "title", &story.design().to_string(), 100),
        words(MARGIN, 50, "code soft", &story.schedule().to_string(), 145),
        names,
    ]
    .concat()
}

/// The line on which a step's words stand.
fn baseline(number: usize) -> usize {
    HEAD + ROW * number - 8
}

fn row(line: &Line<'_>) -> String {
    let (y, top) = (baseline(line.number), HEAD + ROW * (line.number - 1));
    let is_bad = !line.breaches.is_empty();
    let fill = match (is_bad, line.number % 2) {
        (true, _) => "#fbe6e6",
        (false, 0) => "#f3f1ea",
        (false, _) => "#ffffff",
    };
    let breaches: String = line
        .breaches
        .iter()
        .map(|violation| format!(" ⚠ {}", violation.verdict()))
        .collect();
    let answer = format!("{}{breaches}", line.answer);
    let answer_class = if is_bad { "bad" } else { "" };
    // Only what a worker does itself is in its colour.
    let worker = line.frame.step.worker();
    let who = format!(
        "who {}",
        colour(worker.filter(|id| id.to_string() == line.who))
    );
    let number = line.number.to_string();
    [
        format!("<rect y=\"{top}\" width=\"{WIDTH}\" height=\"{ROW}\" fill=\"{fill}\"/>\n"),
        words(MARGIN, y, "soft", &number, 4),
        words(WHO, y, who.trim_end(), &line.who, 10),
        words(
            SQL,
            y,
            "code",
            line.sql.as_deref().unwrap_or_default(),
            SQL_CHARS,
        ),
        words(ANSWER, y, answer_class, &answer, ANSWER_CHARS),
    ]
    .concat()
}

/// The class that gives a worker its colour: each consumer has its own, and the others each kind its own.
fn colour(worker: Option<WorkerId>) -> &'static str {
    match worker.map(|id| (id.kind(), id)) {
        Some((Kind::Consumer, WorkerId(0))) => "a",
        Some((Kind::Consumer, WorkerId(1))) => "b",
        Some((Kind::Consumer, _)) => "c",
        Some((Kind::Producer, _)) => "p",
        Some((Kind::Relay, _)) => "r",
        Some((Kind::Sender, _)) => "n",
        None => "",
    }
}

/// For each worker, a line beside the rows after which its transaction is open.
fn lanes(story: &Story<'_>) -> String {
    let mut text = String::new();
    for (worker, _) in story.run.start.workers() {
        let is_open = |state: &State| state.worker(worker).in_transaction;
        let x = LANES + LANE * usize::from(worker.0);
        for (index, frame) in story.run.frames.iter().enumerate() {
            if is_open(&frame.state) {
                let y = HEAD + ROW * index + ROW / 2;
                text.push_str(&format!(
                    "<rect class=\"{}\" x=\"{x}\" y=\"{y}\" width=\"4\" height=\"{ROW}\"/>\n",
                    colour(Some(worker))
                ));
            }
        }
    }
    text
}

/// A line of text, cut to so many characters; what was cut is in its title.
fn words(x: usize, y: usize, class: &str, text: &str, chars_max: usize) -> String {
    if text.is_empty() {
        return String::new();
    }
    let class = match class {
        "" => String::new(),
        class => format!(" class=\"{class}\""),
    };
    let (shown, title) = match text.char_indices().nth(chars_max) {
        None => (escaped(text), String::new()),
        Some((end, _)) => (
            format!("{}…", escaped(&text[..end])),
            format!("<title>{}</title>", escaped(text)),
        ),
    };
    format!("<text x=\"{x}\" y=\"{y}\"{class}>{title}{shown}</text>\n")
}

/// Text as XML writes it. Signs that XML 1.0 cannot hold at all become blanks.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
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
    fn markup_is_shown_and_not_obeyed() {
        assert_eq!(escaped("<a b=\"&\">\0"), "&lt;a b=&quot;&amp;&quot;&gt; ");
        assert!(words(1, 2, "code", "abc", 2).contains("<title>abc</title>ab…"));
    }
}
