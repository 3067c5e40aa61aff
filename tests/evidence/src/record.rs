//! What a run on a server showed, kept as a file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The folder of the kept records.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("records")
}

/// Writes a record, `NAME.json`. A mere test run writes none: only a program that was asked to does.
///
/// # Errors
/// Those of the file system.
pub fn write(name: &str, record: &Value) -> io::Result<PathBuf> {
    fs::create_dir_all(folder())?;
    let path = folder().join(format!("{name}.json"));
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
