//! The command line: what a person may ask for.

use crate::check::Group;
use crate::failure::Failure;
use crate::page::Profile;

/// What `cargo xtask help` prints.
pub const HELP: &str = "\
cargo xtask <command>

  serve [--port N] [--release]   build the page and serve it on 127.0.0.1 (port 8080)
  build                          release build of the page, into dist/
  package                        release build of the page, packed for npm, into pkg/
  test [--only GROUP]            every check; GROUP is lint, native, wasm, evidence or browser
  evidence [--keep]              makes the records of PostgreSQL and RabbitMQ again, says what differs from the
                                 kept records, and with --keep keeps what it found
  scale                          measures consumers on PostgreSQL and RabbitMQ, and keeps what it found
  bench                          times of the release build in a browser, beside other SQLites
  size [--lower]                 size of the release build in dist/, held to xtask/budget.toml,
                                 or that budget brought down to it
  offline                        lists a build's files for its service worker; Trunk calls it
  setup                          only find or install what the other commands need
  help                           this text

serve, build, package and test set the machine up first: they install what is missing, or name it
together with the command that installs it.
";

/// The port of `cargo xtask serve` if none is given.
const PORT: u16 = 8080;

/// One request, as read from the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Print [`HELP`].
    Help,
    /// Find or install the tools of all other commands.
    Setup,
    /// Build the page, serve it and rebuild it when a source file changes.
    Serve {
        /// TCP port on 127.0.0.1.
        port: u16,
        /// How the page is compiled.
        profile: Profile,
    },
    /// Build the page for release.
    Build,
    /// Build the page for release and pack it for npm.
    Package,
    /// Run the checks.
    Test {
        /// The only group to run; all of them if `None`.
        only: Option<Group>,
    },
    /// Make the records of PostgreSQL anew.
    Evidence {
        /// Whether they take the place of those that are kept.
        keeps: bool,
    },
    /// Measure consumers at work, and keep the record.
    Scale,
    /// Build the page for release and time it in a browser.
    Bench,
    /// Print the size of the release build and hold it to its budget.
    Size {
        /// Bring the budget down to it first.
        lower: bool,
    },
    /// List the files of a build for its service worker.
    Offline,
}

/// Reads the arguments that follow `cargo xtask`.
///
/// # Errors
/// [`Failure::Usage`] with what was found and what was expected.
pub fn parse(arguments: &[String]) -> Result<Command, Failure> {
    let mut words = arguments.iter().map(String::as_str);
    let name = words.next().unwrap_or("help");
    let command = match name {
        "help" | "--help" | "-h" => Command::Help,
        "setup" => Command::Setup,
        "serve" => parse_serve(&mut words)?,
        "build" => Command::Build,
        "package" => Command::Package,
        "test" => parse_test(&mut words)?,
        "evidence" => parse_evidence(&mut words)?,
        "scale" => Command::Scale,
        "bench" => Command::Bench,
        "size" => parse_size(&mut words)?,
        "offline" => Command::Offline,
        _ => return Err(usage(format!("there is no command `{name}`"))),
    };
    match words.next() {
        None => Ok(command),
        Some(word) => Err(unexpected(name, word)),
    }
}

fn parse_serve<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Command, Failure> {
    let mut port = PORT;
    let mut profile = Profile::Dev;
    while let Some(word) = words.next() {
        match word {
            "--port" => port = parse_port(words.next())?,
            "--release" => profile = Profile::Release,
            _ => return Err(unexpected("serve", word)),
        }
    }
    Ok(Command::Serve { port, profile })
}

fn parse_port(word: Option<&str>) -> Result<u16, Failure> {
    match word.map(str::parse) {
        Some(Ok(port)) if port > 0 => Ok(port),
        _ => Err(usage(format!(
            "--port wants a number from 1 to 65535, found {}",
            quoted(word)
        ))),
    }
}

fn parse_test<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Command, Failure> {
    match words.next() {
        None => Ok(Command::Test { only: None }),
        Some("--only") => {
            let word = words.next();
            match word.and_then(Group::from_name) {
                Some(group) => Ok(Command::Test { only: Some(group) }),
                None => Err(usage(format!(
                    "--only wants lint, native, wasm, evidence or browser, found {}",
                    quoted(word)
                ))),
            }
        }
        Some(word) => Err(unexpected("test", word)),
    }
}

fn parse_evidence<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Command, Failure> {
    match words.next() {
        None => Ok(Command::Evidence { keeps: false }),
        Some("--keep") => Ok(Command::Evidence { keeps: true }),
        Some(word) => Err(unexpected("evidence", word)),
    }
}

fn parse_size<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Command, Failure> {
    match words.next() {
        None => Ok(Command::Size { lower: false }),
        Some("--lower") => Ok(Command::Size { lower: true }),
        Some(word) => Err(unexpected("size", word)),
    }
}

fn unexpected(command: &str, word: &str) -> Failure {
    usage(format!("`{command}` does not take `{word}`"))
}

fn usage(problem: String) -> Failure {
    Failure::Usage { problem }
}

fn quoted(word: Option<&str>) -> String {
    word.map_or_else(|| "nothing".to_owned(), |word| format!("`{word}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Command, String> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&arguments).map_err(|failure| failure.to_string())
    }

    #[test]
    fn no_command_asks_for_help() {
        assert_eq!(read(""), Ok(Command::Help));
    }

    #[test]
    fn serve_takes_its_options_in_any_order() {
        let asked = Command::Serve {
            port: 9000,
            profile: Profile::Release,
        };
        assert_eq!(read("serve --port 9000 --release"), Ok(asked));
        assert_eq!(read("serve --release --port 9000"), Ok(asked));
        assert_eq!(
            read("serve"),
            Ok(Command::Serve {
                port: PORT,
                profile: Profile::Dev
            })
        );
    }

    #[test]
    fn test_can_be_narrowed_to_one_group() {
        assert_eq!(
            read("test --only wasm"),
            Ok(Command::Test {
                only: Some(Group::Wasm)
            })
        );
        assert_eq!(read("test"), Ok(Command::Test { only: None }));
    }

    #[test]
    fn evidence_is_kept_only_if_that_is_asked_for() {
        assert_eq!(read("scale"), Ok(Command::Scale));
        assert_eq!(read("evidence"), Ok(Command::Evidence { keeps: false }));
        assert_eq!(
            read("evidence --keep"),
            Ok(Command::Evidence { keeps: true })
        );
        let message = read("evidence --keep it").expect_err("one word too many");
        assert!(
            message.starts_with("`evidence` does not take `it`"),
            "{message}"
        );
    }

    #[test]
    fn size_checks_unless_it_is_told_to_lower_the_budget() {
        assert_eq!(read("size"), Ok(Command::Size { lower: false }));
        assert_eq!(read("size --lower"), Ok(Command::Size { lower: true }));
    }

    #[test]
    fn a_wrong_argument_is_named_with_what_was_wanted() {
        for (line, expected) in [
            ("serv", "there is no command `serv`"),
            ("build --debug", "`build` does not take `--debug`"),
            ("serve --prot 1", "`serve` does not take `--prot`"),
            ("size --raise", "`size` does not take `--raise`"),
            (
                "serve --port",
                "--port wants a number from 1 to 65535, found nothing",
            ),
            (
                "serve --port 0",
                "--port wants a number from 1 to 65535, found `0`",
            ),
            (
                "serve --port 99999",
                "--port wants a number from 1 to 65535, found `99999`",
            ),
            (
                "test --only web",
                "--only wants lint, native, wasm, evidence or browser, found `web`",
            ),
        ] {
            let message = read(line).expect_err(line);
            assert!(message.starts_with(expected), "{line}: {message}");
        }
    }
}
