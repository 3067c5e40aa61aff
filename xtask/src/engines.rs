//! The servers that the evidence needs: which of them are there, said before and after the tests.
//!
//! Nothing is installed or started for them. What is there is used, and then has to work.

use std::collections::BTreeSet;
use std::env;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::failure::Failure;
use crate::setup::{self, Tool};
use crate::toolbox::Toolbox;

/// Tells the tests which servers have to be there; they know it by this name too.
const REQUIRED: &str = "DELIVER_TWICE_REQUIRE_SERVERS";

/// A server that some tests need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Engine {
    name: &'static str,
    /// The environment variable that says where it is.
    variable: &'static str,
    /// Where it is otherwise: its usual port on this machine.
    port: u16,
}

const ENGINES: [Engine; 2] = [
    Engine {
        name: "PostgreSQL",
        variable: "DATABASE_URL",
        port: 5432,
    },
    Engine {
        name: "RabbitMQ",
        variable: "AMQP_URL",
        port: 5672,
    },
];

/// Runs the tests against the servers that are there. Those of a server that is not there say so, each by
/// its name, and pass.
///
/// # Errors
/// [`Failure::Program`] if a test fails: also one whose server was there before and is not any more.
pub fn test_with(toolbox: &Toolbox) -> Result<(), Failure> {
    print!("{}", report());
    let found: Vec<&str> = ENGINES
        .iter()
        .filter(|engine| engine.is_there())
        .map(|engine| engine.name)
        .collect();
    let arguments = ["test", "-p", "deliver-twice-evidence"];
    let mut command = toolbox.command("cargo");
    // What a person asks for is kept: he may want a failure where a server is missing.
    if env::var_os(REQUIRED).is_none() {
        command.env(REQUIRED, found.join(","));
    }
    crate::toolbox::finish(command.args(arguments), "cargo", &arguments)
}

/// Makes the records anew, and keeps them if that is asked for.
///
/// # Errors
/// [`Failure::Program`] if a server is missing, or if the records differ and are not to be kept.
pub fn record(keeps: bool) -> Result<(), Failure> {
    let toolbox = setup::ensure(&BTreeSet::new())?;
    let run = [
        "run",
        "-p",
        "deliver-twice-evidence",
        "--bin",
        "deliver-twice-evidence",
    ];
    let keep: &[&str] = if keeps { &["--", "--keep"] } else { &[] };
    let arguments = [&run[..], keep].concat();
    crate::toolbox::finish(
        toolbox.command("cargo").args(&arguments),
        "cargo",
        &arguments,
    )
}

/// Measures consumers at work on the servers of this machine, and keeps the record.
///
/// # Errors
/// What [`setup::ensure`] reports, and [`Failure::Program`] if a server is missing.
pub fn measure() -> Result<(), Failure> {
    let tools = BTreeSet::from([Tool::PYTHON, Tool::SQLALCHEMY]);
    let toolbox = setup::ensure(&tools)?;
    let arguments = [
        "run",
        "--release",
        "-p",
        "deliver-twice-evidence",
        "--bin",
        "scale",
        "measure",
    ];
    crate::toolbox::finish(
        toolbox.command("cargo").args(arguments),
        "cargo",
        &arguments,
    )
}

/// A line for each server: whether its tests run.
pub fn report() -> String {
    ENGINES
        .iter()
        .map(|engine| engine.line(engine.is_there()))
        .collect()
}

impl Engine {
    fn is_there(self) -> bool {
        let usual = SocketAddr::from(([127, 0, 0, 1], self.port));
        env::var_os(self.variable).is_some()
            || TcpStream::connect_timeout(&usual, Duration::from_secs(2)).is_ok()
    }

    fn line(self, is_there: bool) -> String {
        let Engine {
            name,
            variable,
            port,
        } = self;
        if is_there {
            format!("{name}: there, its tests run\n")
        } else {
            format!(
                "{name}: NOT THERE, ITS TESTS DO NOT RUN \
                 ({variable} is not set and nothing answers at 127.0.0.1:{port})\n"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_missing_is_said_plainly_with_what_would_name_it() {
        let [postgresql, _] = ENGINES;
        assert_eq!(
            postgresql.line(false),
            "PostgreSQL: NOT THERE, ITS TESTS DO NOT RUN \
             (DATABASE_URL is not set and nothing answers at 127.0.0.1:5432)\n"
        );
        assert_eq!(postgresql.line(true), "PostgreSQL: there, its tests run\n");
    }
}
