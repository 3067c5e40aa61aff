//! Sets the machine up, then serves, builds, tests or measures the laboratory.
//!
//! `cargo xtask help` lists the commands. Each one states the tools it needs as data
//! ([`setup::Tool`]); [`setup::ensure`] finds or installs them and hands back a
//! [`toolbox::Toolbox`], through which every child process is started.

mod budget;
mod check;
mod command;
mod engines;
mod failure;
mod offline;
mod package;
mod page;
mod pins;
mod setup;
mod size;
mod toolbox;

use std::process::ExitCode;

use command::Command;
use failure::Failure;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match command::parse(&arguments).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            failure.exit_code()
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Help => {
            print!("{}", command::HELP);
            Ok(())
        }
        Command::Setup => {
            setup::ensure(&check::tools(None))?;
            println!("Everything is in place: cargo xtask serve");
            Ok(())
        }
        Command::Serve { port, profile } => page::serve(port, profile),
        Command::Build => page::build(),
        Command::Test { only } => check::run(only),
        Command::Package => package::build(),
        Command::Offline => offline::list_files(),
        Command::Evidence { keeps } => engines::record(keeps),
        Command::Scale => engines::measure(),
        Command::Bench => page::bench(),
        Command::Size { lower: false } => budget::check(),
        Command::Size { lower: true } => budget::lower(),
    }
}
