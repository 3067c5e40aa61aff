//! `scale consume …` is one consumer process; `scale measure` starts crews of them and of others, and writes
//! down what came of it.

mod consume;
mod measure;

use std::error::Error;
use std::process::ExitCode;

use tokio::runtime::Builder;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((word, rest)) if word == "consume" => Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Into::into)
            .and_then(|runtime| runtime.block_on(consume::consume(rest))),
        Some((word, [])) if word == "measure" => measure::measure(),
        _ => Err(
            "usage: scale measure, or scale consume --database URL --schema NAME --broker URL \
                  --queue NAME --design NAME --prefetch N --idle MILLISECONDS"
                .into(),
        ),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("scale: {error}");
            ExitCode::FAILURE
        }
    }
}
