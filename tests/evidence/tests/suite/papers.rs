//! That the papers on the evidence have the numbers of the kept record.

use std::fs;
use std::path::{Path, PathBuf};

use deliver_twice_evidence::record;
use serde_json::Value;

fn paper(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name)
}

/// A value as a cell has it: digits in groups of three, and several values with commas between.
fn cell(value: &Value) -> String {
    if let Some(values) = value.as_array() {
        let cells: Vec<String> = values.iter().map(cell).collect();
        return cells.join(", ");
    }
    let Some(number) = value.as_f64() else {
        return value.as_str().unwrap_or_default().to_owned();
    };
    let digits = format!("{number:.0}");
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).expect("digits are ASCII"))
        .collect();
    groups.join(" ")
}

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// The rows of each table, by the table's name.
fn tables(record: &Value) -> [(&'static str, String); 4] {
    let fields = |value: &Value, names: &[&str]| -> String {
        let cells: Vec<String> = names.iter().map(|name| cell(&value[*name])).collect();
        row(&cells)
    };
    let list = |name: &str| record[name].as_array().cloned().unwrap_or_default();
    let throughput = list("throughput")
        .iter()
        .map(|line| {
            fields(
                line,
                &[
                    "consumer",
                    "consumers",
                    "deliveries_per_second",
                    "doubled_tasks",
                ],
            )
        })
        .collect();
    let receipts = list("receipts")
        .iter()
        .map(|line| fields(line, &["receipts_before", "deliveries_per_second"]))
        .collect();
    [
        (
            "killed",
            fields(
                &record["killed"],
                &[
                    "events",
                    "copies",
                    "consumers",
                    "killed",
                    "receipts",
                    "tasks",
                    "left",
                ],
            ),
        ),
        ("throughput", throughput),
        ("receipts", receipts),
        (
            "retention",
            fields(
                &record["retention"],
                &[
                    "receipts",
                    "forgotten",
                    "delete_ms",
                    "vacuum_ms",
                    "drop_partition_ms",
                ],
            ),
        ),
    ]
}

/// To renew the tables after `cargo xtask scale`:
/// `UPDATE_GOLDEN=1 cargo test -p deliver-twice-evidence papers`.
#[test]
fn the_papers_have_the_numbers_of_the_record() {
    let record = record::read("scale").unwrap().expect("the record is kept");
    let said = ["version", "broker_version", "date"].map(|name| {
        let text = record[name].as_str().expect("the record says it");
        text.split(' ').next().unwrap_or_default().to_owned()
    });
    for name in ["EVIDENCE.md", "EVIDENCE.zh-CN.md"] {
        let mut text = fs::read_to_string(paper(name)).unwrap();
        for word in &said {
            assert!(text.contains(word), "{name} does not say {word}");
        }
        for (table, rows) in tables(&record) {
            let end = format!("<!-- scale:{table} -->\n");
            let (before, after) = text
                .split_once(&end)
                .expect("each table ends with its name");
            // What stands between the line under the head and the table's end.
            let head = before.rfind("|---|\n").expect("a table has a head") + "|---|\n".len();
            let inside = &before[head..];
            let is_to_be_renewed = std::env::var_os("UPDATE_GOLDEN").is_some();
            assert!(
                is_to_be_renewed || inside == rows,
                "{name} has other numbers of {table} than the record:\n{inside}{rows}"
            );
            text = format!("{}{rows}{end}{after}", &before[..head]);
        }
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(paper(name), text).unwrap();
        }
    }
}
