//! Programs that tests run: those that build a host's pages, and those that use the package.

use std::path::Path;
use std::process::Command;

/// Runs a program to its end in a folder. What it says is shown if it fails.
#[track_caller]
pub fn run(program: &str, arguments: &[&str], folder: &Path) {
    let mut command = Command::new(program);
    let output = command.args(arguments).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{program} {arguments:?}:\n{said}");
}
