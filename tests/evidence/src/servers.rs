//! Where the servers are, and what it means when one is not there.

use std::env;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use lapin::uri::AMQPUri;

/// Names the engines that have to be there, `postgresql` and `rabbitmq`, with a comma between; `1` means
/// both. A test that then does not reach its engine fails.
pub const REQUIRED: &str = "DELIVER_TWICE_REQUIRE_SERVERS";

/// A server that tests need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// The database.
    PostgreSql,
    /// The broker.
    RabbitMq,
}

impl Engine {
    /// Both engines.
    pub const ALL: [Engine; 2] = [Engine::PostgreSql, Engine::RabbitMq];

    /// Its name for people and in records.
    pub fn name(self) -> &'static str {
        match self {
            Engine::PostgreSql => "PostgreSQL",
            Engine::RabbitMq => "RabbitMQ",
        }
    }

    /// The environment variable that says where it is.
    pub fn variable(self) -> &'static str {
        match self {
            Engine::PostgreSql => "DATABASE_URL",
            Engine::RabbitMq => "AMQP_URL",
        }
    }

    /// Where it is if no variable says so: on this machine, at its usual port.
    fn usual_url(self) -> &'static str {
        match self {
            Engine::PostgreSql => "postgresql://postgres@127.0.0.1:5432/test",
            Engine::RabbitMq => "amqp://guest:guest@127.0.0.1:5672/%2f",
        }
    }

    /// The usual port's address.
    fn usual_address(self) -> &'static str {
        match self {
            Engine::PostgreSql => "127.0.0.1:5432",
            Engine::RabbitMq => "127.0.0.1:5672",
        }
    }

    /// Where the engine is, as a URL to connect to; `Err` with a sentence if it is not on this machine and
    /// need not be.
    ///
    /// # Panics
    /// If the engine is required and not there.
    pub fn url(self) -> Result<String, String> {
        let named = env::var(self.variable()).ok();
        let required = env::var(REQUIRED).unwrap_or_default();
        match self.place(named, &required, answers(self.usual_address())) {
            Place::At(url) => Ok(url),
            Place::Absent(why) => Err(why),
            Place::Missing(why) => panic!("{why}"),
        }
    }

    /// What the environment comes to. An engine that a variable names, or whose usual port answers, is
    /// there; whoever then cannot connect has found a fault and not an absence.
    fn place(self, named: Option<String>, required: &str, answers: bool) -> Place {
        if let Some(url) = named {
            return Place::At(url);
        }
        if answers {
            return Place::At(self.usual_url().to_owned());
        }
        let why = format!(
            "{} is not there: {} is not set and nothing answers at {}",
            self.name(),
            self.variable(),
            self.usual_address()
        );
        let is_required = required
            .split(',')
            .any(|word| word == "1" || word.eq_ignore_ascii_case(self.name()));
        if is_required {
            Place::Missing(format!("{why}, and {REQUIRED} asks for it"))
        } else {
            Place::Absent(why)
        }
    }
}

/// What the environment says of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// It is there, or has to be.
    At(String),
    /// It is not there, and nobody asked for it.
    Absent(String),
    /// It is not there and has to be.
    Missing(String),
}

/// The version of the broker at this URL, as it greets every client with; `None` if it does not say.
///
/// # Errors
/// Those of the network.
///
/// # Source
/// AMQP 0-9-1, `connection.start`: a table of the server's properties is in the first frame.
pub fn broker_version(url: &str) -> std::io::Result<Option<String>> {
    const KEY: &[u8] = b"\x07versionS";
    let uri: AMQPUri = url.parse().map_err(std::io::Error::other)?;
    let mut stream = TcpStream::connect((uri.authority.host.as_str(), uri.authority.port))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(b"AMQP\x00\x00\x09\x01")?;
    // Type and channel, then the length of what follows.
    let mut head = [0; 7];
    stream.read_exact(&mut head)?;
    let length = u32::from_be_bytes([head[3], head[4], head[5], head[6]]);
    let mut frame = Vec::new();
    stream.take(length.into()).read_to_end(&mut frame)?;
    let found = frame.windows(KEY.len()).position(|window| window == KEY);
    Ok(found.and_then(|place| {
        let text = &frame[place + KEY.len()..];
        let length = u32::from_be_bytes(text.get(..4)?.try_into().ok()?) as usize;
        String::from_utf8(text.get(4..4 + length)?.to_vec()).ok()
    }))
}

fn answers(address: &str) -> bool {
    let mut addresses = address
        .to_socket_addrs()
        .expect("the usual addresses are numbers");
    addresses.any(|address| TcpStream::connect_timeout(&address, Duration::from_secs(2)).is_ok())
}

/// Says, past the capture of the test runner, that the running test did not run.
pub fn say_not_run(why: &str) {
    say(&format!("DID NOT RUN {}: {why}", test_name()));
}

/// Writes a line to the terminal, past the capture of the test runner, which hides what a passed test
/// prints.
pub fn say(line: &str) {
    // Nobody is there to hear that standard error is closed.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The running test, which the test runner names its thread after.
pub fn test_name() -> String {
    std::thread::current()
        .name()
        .unwrap_or("a program")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSTGRESQL: Engine = Engine::PostgreSql;

    #[test]
    fn an_engine_that_nobody_names_or_requires_may_be_absent() {
        let place = POSTGRESQL.place(None, "", false);
        assert!(matches!(place, Place::Absent(why) if why.contains("DATABASE_URL is not set")));
        let place = POSTGRESQL.place(None, "rabbitmq", false);
        assert!(matches!(place, Place::Absent(_)));
    }

    #[test]
    fn a_required_engine_that_is_absent_is_a_failure() {
        for required in ["1", "postgresql", "rabbitmq,postgresql"] {
            let place = POSTGRESQL.place(None, required, false);
            assert!(matches!(place, Place::Missing(_)), "{required}: {place:?}");
        }
    }

    #[test]
    fn a_named_engine_or_an_open_port_has_to_be_connected_to() {
        let named = POSTGRESQL.place(Some("postgresql://elsewhere".to_owned()), "", false);
        assert_eq!(named, Place::At("postgresql://elsewhere".to_owned()));
        let open = POSTGRESQL.place(None, "", true);
        assert_eq!(open, Place::At(POSTGRESQL.usual_url().to_owned()));
    }
}
