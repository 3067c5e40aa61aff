//! The words of the page: one file for each language, under `web/messages`.
//!
//! A line `key = text` is a message; `{name}` in a text stands for a value. SQL and codes are not words
//! of the page and stay as they are.

use std::collections::BTreeMap;

/// A language that the page speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English.
    English,
    /// Chinese as written on the mainland.
    Chinese,
}

impl Language {
    /// Both.
    pub const ALL: [Language; 2] = [Language::English, Language::Chinese];

    /// The language tag, as in the attribute `lang`.
    pub fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Chinese => "zh-CN",
        }
    }

    /// The language that a tag such as `zh`, `zh-Hans-CN` or `en-GB` asks for.
    pub fn from_tag(tag: &str) -> Option<Self> {
        match tag.split(['-', '_']).next()?.to_ascii_lowercase().as_str() {
            "en" => Some(Language::English),
            "zh" => Some(Language::Chinese),
            _ => None,
        }
    }

    /// The other language.
    pub fn other(self) -> Self {
        match self {
            Language::English => Language::Chinese,
            Language::Chinese => Language::English,
        }
    }

    fn file(self) -> &'static str {
        match self {
            Language::English => include_str!("../messages/en.txt"),
            Language::Chinese => include_str!("../messages/zh-CN.txt"),
        }
    }
}

/// The messages of one language.
#[derive(Debug, PartialEq)]
pub struct Messages {
    /// The language.
    pub language: Language,
    texts: BTreeMap<&'static str, &'static str>,
}

impl Messages {
    /// Reads the messages of a language.
    pub fn of(language: Language) -> Self {
        let lines = language
            .file()
            .lines()
            .filter(|line| !line.starts_with('#'));
        let texts = lines.filter_map(|line| line.split_once(" = "));
        Messages {
            language,
            texts: texts.map(|(key, text)| (key.trim(), text.trim())).collect(),
        }
    }

    /// The message with this key. A key that is missing shows itself, so that it is seen and mended.
    pub fn get<'a>(&self, key: &'a str) -> &'a str {
        self.texts.get(key).copied().unwrap_or(key)
    }

    /// The message with this key and these values in it.
    pub fn fill(&self, key: &str, values: &[(&str, &str)]) -> String {
        let mut text = self.get(key).to_owned();
        for (name, value) in values {
            text = text.replace(&format!("{{{name}}}"), value);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANGUAGES: [Language; 2] = [Language::English, Language::Chinese];

    fn placeholders(text: &str) -> Vec<&str> {
        let mut names: Vec<&str> = text
            .split('{')
            .skip(1)
            .filter_map(|rest| rest.split_once('}').map(|(n, _)| n))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    #[test]
    fn the_languages_have_the_same_keys_with_the_same_values() {
        let [english, chinese] = LANGUAGES.map(Messages::of);
        let keys = |messages: &Messages| messages.texts.keys().copied().collect::<Vec<_>>();
        assert_eq!(keys(&english), keys(&chinese));
        for (key, text) in &english.texts {
            assert_eq!(placeholders(text), placeholders(chinese.get(key)), "{key}");
            assert!(!text.is_empty() && !chinese.get(key).is_empty(), "{key}");
        }
    }

    #[test]
    fn every_line_of_a_file_is_read_and_no_key_stands_twice() {
        for language in LANGUAGES {
            let lines = language.file().lines();
            let written = lines
                .filter(|line| !line.starts_with('#') && !line.is_empty())
                .count();
            assert_eq!(written, Messages::of(language).texts.len(), "{language:?}");
        }
    }

    #[test]
    fn values_are_filled_in_and_a_missing_key_shows_itself() {
        let messages = Messages::of(Language::English);
        assert_eq!(messages.fill("no.such.key", &[]), "no.such.key");
        assert!(
            messages
                .fill("control.work", &[("worker", "A")])
                .contains('A')
        );
    }

    #[test]
    fn a_tag_with_a_region_is_understood() {
        assert_eq!(Language::from_tag("zh-Hans-CN"), Some(Language::Chinese));
        assert_eq!(Language::from_tag("EN_us"), Some(Language::English));
        assert_eq!(Language::from_tag("fr"), None);
        assert_eq!(Language::from_tag(""), None);
    }
}
