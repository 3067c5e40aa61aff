//! Where child processes find their programs, and the environment they run in.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::pins;

/// The folders and variables that every child process gets.
///
/// Setting the machine up fills it; nothing is changed in the person's own environment.
#[derive(Debug)]
pub struct Toolbox {
    folders: Vec<PathBuf>,
    variables: BTreeMap<&'static str, OsString>,
}

impl Toolbox {
    /// The toolbox of a machine as it is: `PATH`, then the folder of cargo's own tools.
    pub fn new() -> Toolbox {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = env::split_paths(&path)
            .chain([cargo_home().join("bin")])
            .collect();
        Toolbox {
            folders,
            variables: BTreeMap::new(),
        }
    }

    /// Puts a folder before all others in which programs are searched.
    pub fn add_folder(&mut self, folder: PathBuf) {
        self.folders.insert(0, folder);
    }

    /// Sets an environment variable for every child process.
    pub fn set(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.variables.insert(name, value.into());
    }

    /// The full path of a program, if some folder holds it.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        self.folders
            .iter()
            .find_map(|folder| executable(&folder.join(program)))
    }

    /// A command that runs in the root folder of the project with the toolbox's environment.
    ///
    /// `program` is a name to search or a full path.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.find(program).unwrap_or_else(|| program.into()));
        let path = env::join_paths(&self.folders).expect("folders came from PATH or cargo");
        command
            .current_dir(pins::root())
            .env("PATH", path)
            .envs(&self.variables);
        command
    }

    /// Runs a command and lets it write to the terminal.
    ///
    /// # Errors
    /// [`Failure::Program`] if it does not start or does not succeed.
    pub fn run(&self, program: &str, arguments: &[&str]) -> Result<(), Failure> {
        finish(self.command(program).args(arguments), program, arguments)
    }

    /// What a command prints on standard output, if it starts and succeeds.
    pub fn output(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let mut command = self.command(program);
        let output = command
            .args(arguments)
            .stderr(Stdio::null())
            .output()
            .ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Runs a prepared command to its end and lets it write to the terminal.
///
/// # Errors
/// [`Failure::Program`] if it does not start or does not succeed.
pub fn finish(command: &mut Command, program: &str, arguments: &[&str]) -> Result<(), Failure> {
    let outcome = match command.status() {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status.to_string(),
        Err(error) => format!("cannot be started: {error}"),
    };
    Err(Failure::Program {
        line: format!("{program} {}", arguments.join(" ")),
        outcome,
    })
}

/// Runs a prepared command in the place of this process, so that a signal meant for one reaches
/// the other. Windows knows no such thing: there it is [`finish`].
///
/// # Errors
/// [`Failure::Program`] if it does not start; on Windows also if it does not succeed.
#[cfg(unix)]
pub fn become_program(
    command: &mut Command,
    program: &str,
    arguments: &[&str],
) -> Result<(), Failure> {
    let error = std::os::unix::process::CommandExt::exec(command);
    Err(program_failure(
        program,
        arguments,
        format!("cannot be started: {error}"),
    ))
}

#[cfg(not(unix))]
pub use finish as become_program;

fn program_failure(program: &str, arguments: &[&str], outcome: String) -> Failure {
    Failure::Program {
        line: format!("{program} {}", arguments.join(" ")),
        outcome,
    }
}

/// The folder of cargo's own files: `CARGO_HOME`, or `.cargo` in the person's home.
pub fn cargo_home() -> PathBuf {
    env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .unwrap_or_else(|| {
            let home = env::home_dir().expect("a person who runs cargo has a home folder");
            home.join(".cargo")
        })
}

/// The folder for tools that cannot go to cargo's `bin`, shared by all checkouts.
pub fn shared_tools() -> PathBuf {
    cargo_home().join("deliver-twice-tools")
}

/// The file that runs when `path` is called: itself, or on Windows with an extension.
pub fn executable(path: &Path) -> Option<PathBuf> {
    candidates(path)
        .into_iter()
        .find(|candidate| candidate.is_file())
}

#[cfg(not(windows))]
fn candidates(path: &Path) -> Vec<PathBuf> {
    vec![path.to_owned()]
}

/// A file without an extension does not run on Windows, although npm puts one there.
#[cfg(windows)]
fn candidates(path: &Path) -> Vec<PathBuf> {
    let with = |extension: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(extension);
        PathBuf::from(name)
    };
    match path.extension() {
        Some(extension) if extension == "exe" => vec![path.to_owned()],
        _ => [".exe", ".cmd", ".bat"].map(with).to_vec(),
    }
}
