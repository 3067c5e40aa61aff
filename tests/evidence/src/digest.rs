//! What the page shows of the records: the few words of each, in one file that is built into it.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use deliver_twice_core::lesson;
use serde_json::Value;

use crate::record;

/// The file that the page is built with.
pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/evidence.txt")
}

/// Writes the file anew from the kept records.
///
/// # Errors
/// Those of the file system, and a record that is missing.
pub fn write() -> io::Result<()> {
    fs::write(path(), text()?)
}

/// The file's text: a line for either side of every lesson, and one for every cell.
///
/// # Errors
/// Those of the file system, and a record that is missing.
pub fn text() -> io::Result<String> {
    let kept = |name: &str| {
        record::read(name)?.ok_or_else(|| {
            io::Error::other(format!("no record `{name}`: cargo xtask evidence --keep"))
        })
    };
    let matrix = kept("matrix")?;
    let mut text = String::from(HEADER);
    for key in ["engine", "version", "date"] {
        let _ = writeln!(text, "{key} = {}", word(&matrix[key]));
    }
    for lesson in lesson::built_in() {
        let record = kept(&format!("lessons/{}", lesson.id))?;
        for side in ["left", "right"] {
            let levels = &record[side]["postgresql"];
            let usual = &levels["READ COMMITTED"];
            let stricter = ["REPEATABLE READ", "SERIALIZABLE"];
            let stricter = stricter.map(|level| list(&levels[level]["settles"]));
            let _ = writeln!(
                text,
                "{}.{side} = {} | {} | {} | {}",
                lesson.id,
                list(&usual["ends"]),
                list(&usual["settles"]),
                stricter.join(" | "),
                differs(&usual["differs"]),
            );
        }
    }
    for cell in matrix["cells"].as_array().into_iter().flatten() {
        let _ = writeln!(
            text,
            "{}.{} = {} | {} | {}",
            word(&cell["design"]),
            word(&cell["hazard"]),
            list(&cell["postgresql"]),
            cell["broken"],
            cell["runs"],
        );
    }
    Ok(text)
}

const HEADER: &str = "\
# What PostgreSQL made of the laboratory's schedules: written from tests/evidence/records by
# `cargo xtask evidence --keep`, and held to them by a test.
#
# lesson.side = ends | settles | at REPEATABLE READ | at SERIALIZABLE | where it differs from SQLite
# design.hazard = violated | broken runs | runs
";

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(verdicts: &Value) -> String {
    let names = verdicts.as_array().into_iter().flatten().map(word);
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        "fine".to_owned()
    } else {
        names.join(" ")
    }
}

/// `both-wait 5`, `goes-on 5`, both, or `alike`.
fn differs(differs: &Value) -> String {
    let both = differs["both_wait"]
        .as_u64()
        .map(|step| format!("both-wait {step}"));
    let parts = differs["parts"].as_object();
    let parts = parts.map(|parts| format!("{} {}", word(&parts["how"]), parts["step"]));
    let found: Vec<String> = both.into_iter().chain(parts).collect();
    if found.is_empty() {
        "alike".to_owned()
    } else {
        found.join(" ")
    }
}
