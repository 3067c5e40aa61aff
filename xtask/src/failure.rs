//! Why a command ended early, in words that say what to do next.

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::setup::packages;
use crate::setup::system::SystemTool;

/// Why a command ended early.
#[derive(Debug)]
pub enum Failure {
    /// The command line cannot be read.
    Usage {
        /// What was found and what was expected.
        problem: String,
    },
    /// Programs are missing that only a person can install here.
    Missing {
        /// The missing programs.
        tools: Vec<SystemTool>,
    },
    /// A child process could not be started, or ended with an error.
    Program {
        /// The command as one would type it.
        line: String,
        /// Its exit status, or why it did not start.
        outcome: String,
    },
    /// A file or folder of the project cannot be used.
    File {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// The build is not within its budget.
    Budget {
        /// A sentence for each figure that it misses.
        problems: Vec<String>,
    },
    /// A phase of the checks failed.
    Phase {
        /// The phase's name.
        name: &'static str,
        /// The failure inside the phase.
        cause: Box<Failure>,
    },
}

impl Failure {
    /// 2 for a command line that cannot be read, else 1.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Usage { .. } => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage { problem } => write!(f, "{problem} (see `cargo xtask help`)"),
            Failure::Missing { tools } => f.write_str(&packages::instructions(tools)),
            Failure::Program { line, outcome } => write!(f, "`{line}`: {outcome}"),
            Failure::File { path, problem } => write!(f, "{}: {problem}", path.display()),
            Failure::Budget { problems } => f.write_str(&problems.join("\n")),
            Failure::Phase { name, cause } => write!(f, "phase \"{name}\" failed: {cause}"),
        }
    }
}

impl std::error::Error for Failure {}
