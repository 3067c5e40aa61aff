//! A run as a sequence diagram for Mermaid.

use super::sequence::{Mark, marks, participants};
use super::story::Story;

pub(super) fn text(story: &Story<'_>) -> String {
    let mut text = String::from("sequenceDiagram\n");
    text.push_str(&format!("    title {}\n", escaped(&story.title())));
    for name in participants(story) {
        text.push_str(&format!("    participant {name}\n"));
    }
    for mark in marks(story) {
        text.push_str(&format!("    {}\n", line(&mark)));
    }
    text
}

fn line(mark: &Mark) -> String {
    match mark {
        Mark::Call { from, to, text } => format!("{from}->>{to}: {}", escaped(text)),
        Mark::Reply { from, to, text } => format!("{from}-->>{to}: {}", escaped(text)),
        Mark::Lost { from, to, text } => format!("{from}-x{to}: {}", escaped(text)),
        Mark::Note { over, text } => format!("Note over {}: {}", over.join(","), escaped(text)),
    }
}

/// Text in which nothing ends the line or means something to Mermaid or to the HTML that it makes.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '#' | ';' | '%' | '<' | '>' | '&' | '"' | '\\' | '{' | '}' | '`' | '$' => {
                escaped.push_str(&format!("#{};", u32::from(character)));
            }
            '\n' => escaped.push_str("<br/>"),
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
    fn what_would_end_a_line_or_open_a_tag_is_escaped() {
        assert_eq!(
            escaped("e1#1; <b>\nx%%\r"),
            "e1#35;1#59; #60;b#62;<br/>x#37;#37; "
        );
    }
}
