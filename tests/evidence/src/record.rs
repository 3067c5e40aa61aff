//! What a run on a server showed, kept as a file.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio_postgres::{Client, Error};

/// The folder of the kept records.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("records")
}

/// Writes a record, `NAME.json`. A mere test run writes none: only a program that was asked to does.
///
/// # Errors
/// Those of the file system.
pub fn write(name: &str, record: &Value) -> io::Result<PathBuf> {
    let path = folder().join(format!("{name}.json"));
    fs::create_dir_all(path.parent().expect("a file in the folder of the records"))?;
    let text = serde_json::to_string_pretty(record).expect("a JSON value has a text");
    fs::write(&path, text + "\n")?;
    Ok(path)
}

/// Reads a kept record; `None` if there is none of this name.
///
/// # Errors
/// Those of the file system, and a text that is no JSON.
pub fn read(name: &str) -> io::Result<Option<Value>> {
    match fs::read_to_string(folder().join(format!("{name}.json"))) {
        Ok(text) => Ok(Some(serde_json::from_str(&text)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The version of a server, such as `15.4`, without what a distribution adds to it, and what day it is there.
///
/// # Errors
/// The server's.
pub async fn version_and_date(client: &Client) -> Result<(String, String), Error> {
    let asked = "SELECT current_setting('server_version'), current_date::TEXT";
    let row = client.query_one(asked, &[]).await?;
    let version: &str = row.get(0);
    let version = version.split(' ').next().unwrap_or_default();
    Ok((version.to_owned(), row.get(1)))
}

/// Where two records differ, the day on which they were made aside: one line a place.
pub fn differences(kept: Option<&Value>, made: &Value) -> Vec<String> {
    let mut found = vec![];
    compare("", kept.unwrap_or(&Value::Null), made, &mut found);
    found
}

fn compare(place: &str, kept: &Value, made: &Value, found: &mut Vec<String>) {
    match (kept, made) {
        (Value::Object(old), Value::Object(new)) => {
            let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for key in keys.into_iter().filter(|key| *key != "date") {
                let [old, new] = [old, new].map(|fields| fields.get(key).unwrap_or(&Value::Null));
                compare(&format!("{place}/{key}"), old, new, found);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                compare(&format!("{place}/{index}"), old, new, found);
            }
        }
        (old, new) if old == new => {}
        (old, new) => found.push(format!("{place}: kept {}, now {}", brief(old), brief(new))),
    }
}

/// The beginning of a value's text.
fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
