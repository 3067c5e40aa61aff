//! Makes the records of schedules, redelivery and relay anew, and says what differs from those that are kept.

use std::env;
use std::error::Error;
use std::process::ExitCode;

use deliver_twice_evidence::schedules::{self, Server};
use deliver_twice_evidence::servers::Engine;
use deliver_twice_evidence::{digest, record, redelivery, relaying, scratch};
use serde_json::Value;

/// The most differences that are printed of one record.
const SHOWN: usize = 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (keeps, only) = match words[..] {
        [] => (false, ""),
        ["--keep"] => (true, ""),
        ["--keep", only] => (true, only),
        [only] if !only.starts_with('-') => (false, only),
        _ => {
            eprintln!("found {words:?}; expected [--keep] [how the names of the records begin]");
            return ExitCode::from(2);
        }
    };
    match make(keeps, only) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Makes every record whose name begins so. Whether they are now as kept.
fn make(keeps: bool, only: &str) -> Result<bool, Box<dyn Error>> {
    let config = Engine::PostgreSql.url()?.parse()?;
    let server = Server {
        config: &config,
        schema: &scratch::unique_name(),
    };
    let wants = |name: &str| name.starts_with(only);
    let mut records = schedules::record(&server, wants).map_err(|failure| failure.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut keep = |name: &str, runs: Option<Value>| -> Result<(), Box<dyn Error>> {
        let head = runtime.block_on(redelivery::head())?;
        if let (Some(mut record), Some(runs)) = (head, runs) {
            record.insert("runs".to_owned(), runs);
            records.insert(name.to_owned(), record.into());
        }
        Ok(())
    };
    if wants("redelivery") {
        keep("redelivery", runtime.block_on(redelivery::record())?)?;
    }
    if wants("relay") {
        keep("relay", relaying::record()?)?;
    }
    let mut different = 0;
    for (name, made) in &records {
        let kept = record::read(name)?;
        let found = record::differences(kept.as_ref(), made);
        if found.is_empty() {
            continue;
        }
        different += 1;
        println!("{name}: {} differences", found.len());
        for difference in found.iter().take(SHOWN) {
            println!("  {difference}");
        }
        if keeps {
            record::write(name, made)?;
        }
    }
    println!(
        "{} records, {different} differ from what is kept",
        records.len()
    );
    if keeps {
        digest::write()?;
    }
    Ok(different == 0 || keeps)
}
