//! A run as a sequence diagram for PlantUML.

use super::sequence::{Mark, marks, participants};
use super::story::Story;

pub(super) fn text(story: &Story<'_>) -> String {
    let mut text = String::from("@startuml\n");
    text.push_str(&format!("title {}\n", escaped(&story.title())));
    for name in participants(story) {
        text.push_str(&format!("participant {name}\n"));
    }
    for mark in marks(story) {
        text.push_str(&line(&mark));
        text.push('\n');
    }
    text + "@enduml\n"
}

fn line(mark: &Mark) -> String {
    match mark {
        Mark::Call { from, to, text } => format!("{from} -> {to} : {}", escaped(text)),
        Mark::Reply { from, to, text } => format!("{from} --> {to} : {}", escaped(text)),
        Mark::Lost { from, to, text } => format!("{from} ->x {to} : {}", escaped(text)),
        Mark::Note { over, text } => format!("note over {} : {}", over.join(", "), escaped(text)),
    }
}

/// Text in which nothing is markup to PlantUML: no tag, no escape, no pair of signs that means a style.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    let mut last = None;
    for character in text.chars() {
        let is_pair = last == Some(character) && "*/_-\".=[]'".contains(character);
        match character {
            '<' | '>' | '\\' | '~' | '&' | '%' | '!' => {
                escaped.push_str(&format!("<U+{:04X}>", u32::from(character)));
            }
            pair if is_pair => escaped.push_str(&format!("<U+{:04X}>", u32::from(pair))),
            '\n' => escaped.push_str("\\n"),
            control if control.is_control() => escaped.push(' '),
            plain => escaped.push(plain),
        }
        last = Some(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn what_would_be_a_tag_a_style_or_a_line_of_its_own_is_escaped() {
        assert_eq!(
            escaped("<b> **x** \\n\n-- e1#1"),
            "<U+003C>b<U+003E> *<U+002A>x*<U+002A> <U+005C>n\\n-<U+002D> e1#1"
        );
    }
}
