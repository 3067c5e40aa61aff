//! Makes the records of the schedules anew, and says what differs from those that are kept.

use std::env;
use std::error::Error;
use std::process::ExitCode;

use deliver_twice_evidence::schedules::{self, Server};
use deliver_twice_evidence::servers::Engine;
use deliver_twice_evidence::{digest, record, scratch};

/// The most differences that are printed of one record.
const SHOWN: usize = 20;

fn main() -> ExitCode {
    let keeps = match &env::args().skip(1).collect::<Vec<_>>()[..] {
        [] => false,
        [only] if only == "--keep" => true,
        other => {
            eprintln!("found {other:?}; expected nothing, or --keep to keep the new records");
            return ExitCode::from(2);
        }
    };
    match make(keeps) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Makes every record. Whether they are now as kept.
fn make(keeps: bool) -> Result<bool, Box<dyn Error>> {
    let config = Engine::PostgreSql.url()?.parse()?;
    let server = Server {
        config: &config,
        schema: &scratch::unique_name(),
    };
    let records = schedules::record(&server).map_err(|failure| failure.to_string())?;
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
