//! What the files of the course have in common, lessons and exercises alike.
//!
//! A file has lines `key = value`, and lines with `#` in front that are for its authors. A key with a
//! language behind a dot, such as `title.en`, is words; every other one is a field, and a field that
//! nobody asked for is an error, because it is a slip of the pen.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::property::Verdict;
use crate::scenario::{Bounds, CrashAt, Provider, Scenario, TaskRow, Ticket};

/// The words of a file, by key and language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words(BTreeMap<(&'static str, &'static str), &'static str>);

impl Words {
    /// What stands under `key` in the language with this tag; nothing if nothing does.
    pub fn get(&self, key: &'static str, language: &'static str) -> &'static str {
        self.0.get(&(key, language)).copied().unwrap_or("")
    }
}

/// The fields of a file that were not asked for yet, and its words.
pub(crate) struct Fields {
    id: &'static str,
    fields: BTreeMap<&'static str, &'static str>,
    words: Words,
}

impl Fields {
    /// Takes a file apart. `id` is its name, and comes back in every error.
    ///
    /// # Errors
    /// [`Error::BadCourseFile`] for a line that is no `key = value`, and for a key that stands twice.
    pub fn read(id: &'static str, text: &'static str) -> Result<Self> {
        let mut file = Fields {
            id,
            fields: BTreeMap::new(),
            words: Words::default(),
        };
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let (key, value) = line
                .split_once(" = ")
                .ok_or_else(|| file.wrong(line, "no ` = ` in it".to_owned()))?;
            let before = match key.split_once('.') {
                Some(key) => file.words.0.insert(key, value.trim()),
                None => file.fields.insert(key, value.trim()),
            };
            if before.is_some() {
                return Err(file.wrong(key, "it stands twice".to_owned()));
            }
        }
        Ok(file)
    }

    /// The words, once every field was asked for.
    ///
    /// # Errors
    /// [`Error::BadCourseFile`] with the first field that was not.
    pub fn into_words(self) -> Result<Words> {
        match self.fields.first_key_value() {
            None => Ok(self.words),
            Some((key, value)) => Err(self.bad(key, value)),
        }
    }

    /// A field that may be left out, as text.
    pub fn optional(&mut self, key: &str) -> Option<&'static str> {
        self.fields.remove(key)
    }

    /// A field as text.
    ///
    /// # Errors
    /// [`Error::BadCourseFile`] if it is missing.
    pub fn required(&mut self, key: &str) -> Result<&'static str> {
        self.optional(key).ok_or_else(|| self.bad(key, ""))
    }

    /// A field as what its text stands for.
    ///
    /// # Errors
    /// [`Error::BadCourseFile`] if it is missing, and what reading it says.
    pub fn parsed<T: FromStr<Err = Error>>(&mut self, key: &str) -> Result<T> {
        self.required(key)?.parse()
    }

    /// A field as a list, its items read by `item`.
    ///
    /// # Errors
    /// [`Error::BadCourseFile`] if it is missing, or one of them is not understood.
    pub fn list<T>(&mut self, key: &str, item: impl Fn(&str) -> Option<T>) -> Result<Vec<T>> {
        let text = self.required(key)?;
        let items = text.split(", ").map(item);
        items
            .map(|item| item.ok_or_else(|| self.bad(key, text)))
            .collect()
    }

    /// A field as the name of a verdict.
    ///
    /// # Errors
    /// [`Error::BadCourseFile`] if it is missing or names none.
    pub fn verdict(&mut self, key: &str) -> Result<Verdict> {
        let text = self.required(key)?;
        verdict_named(text).ok_or_else(|| self.bad(key, text))
    }

    /// What the designs are put to; what the file does not name is as usual.
    ///
    /// # Errors
    /// [`Error::BadCourseFile`] for what is not understood, [`Error::OutOfRange`] for what is too much.
    pub fn scenario(&mut self) -> Result<Scenario> {
        let mut scenario = Scenario::default();
        for number in &Scenario::NUMBERS {
            scenario = number.set(scenario, self.number(number.name, number.of(scenario))?);
        }
        scenario.ticket = self.choice("ticket", scenario.ticket, Ticket::named)?;
        scenario.task = self.choice("task", scenario.task, TaskRow::named)?;
        scenario.provider = self.choice("provider", scenario.provider, Provider::named)?;
        scenario.checked()
    }

    /// The bounds of the search; a fault that the file does not name cannot happen.
    ///
    /// # Errors
    /// [`Error::BadCourseFile`] for what is not understood.
    pub fn bounds(&mut self) -> Result<Bounds> {
        let mut bounds = Bounds::NONE;
        for number in &Bounds::NUMBERS {
            bounds = number.set(bounds, self.number(number.name, 0)?);
        }
        bounds.crash_at = self.choice("crash-at", bounds.crash_at, CrashAt::named)?;
        Ok(bounds)
    }

    fn choice<T>(&mut self, key: &str, usual: T, named: fn(&str) -> Option<T>) -> Result<T> {
        match self.optional(key) {
            None => Ok(usual),
            Some(name) => named(name).ok_or_else(|| self.bad(key, name)),
        }
    }

    fn number(&mut self, key: &str, usual: u8) -> Result<u8> {
        match self.optional(key) {
            None => Ok(usual),
            Some(text) => text.parse().map_err(|_| self.bad(key, text)),
        }
    }

    /// That a field has a value which is not understood, or none.
    pub fn bad(&self, key: &str, found: &str) -> Error {
        let why = if found.is_empty() {
            "it is missing".to_owned()
        } else {
            format!("`{found}` is not understood")
        };
        self.wrong(key, why)
    }

    fn wrong(&self, key: &str, why: String) -> Error {
        Error::BadCourseFile {
            id: self.id,
            key: key.to_owned(),
            why,
        }
    }
}

/// The verdict with this name.
pub(crate) fn verdict_named(text: &str) -> Option<Verdict> {
    Verdict::ALL
        .into_iter()
        .find(|verdict| verdict.as_str() == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn why(text: &'static str) -> String {
        let read = Fields::read("some", text).and_then(|mut fields| {
            fields.scenario()?;
            fields.verdict("verdict")?;
            fields.into_words()
        });
        read.unwrap_err().to_string()
    }

    #[test]
    fn a_file_that_cannot_be_read_says_at_which_key_and_why() {
        assert_eq!(why("verdict"), "some: verdict: no ` = ` in it");
        assert_eq!(why("workers = 2"), "some: verdict: it is missing");
        assert_eq!(
            why("verdict = bad"),
            "some: verdict: `bad` is not understood"
        );
        assert_eq!(
            why("verdict = stuck\nworker = 2"),
            "some: worker: `2` is not understood"
        );
        assert_eq!(
            why("workers = 1\nworkers = 2"),
            "some: workers: it stands twice"
        );
        assert_eq!(why("workers = 9"), "workers is 9; expected 0 to 3");
    }

    #[test]
    fn words_are_told_from_fields_by_their_language() {
        let fields = Fields::read("some", "# for authors\ntitle.en = A title\n").unwrap();
        let words = fields.into_words().unwrap();
        assert_eq!(words.get("title", "en"), "A title");
        assert_eq!(words.get("title", "zh-CN"), "");
    }
}
