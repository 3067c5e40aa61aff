//! A chromedriver process.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};

use crate::wait::PATIENCE;

/// What chromedriver prints before its port once it accepts sessions.
const STARTED: &str = "started successfully on port ";

/// How often it is started before that counts as a failure.
const STARTS_MAX: usize = 5;

/// A running chromedriver. Dropping it ends the process.
pub struct Driver {
    process: Child,
    port: u16,
}

impl Driver {
    /// Starts the program in `CHROMEDRIVER`, or `chromedriver`, on a free port.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start() -> Driver {
        // It picks a free port for one version of IP and gives up if the other has it in use.
        let started = (0..STARTS_MAX).find_map(|_| Driver::try_start());
        started.expect("chromedriver says its port soon after it starts")
    }

    /// Starts it once; `None` if it ended before it said its port.
    fn try_start() -> Option<Driver> {
        let program = env::var_os("CHROMEDRIVER").unwrap_or_else(|| "chromedriver".into());
        let mut command = Command::new(&program);
        command
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().unwrap_or_else(|error| {
            let program = program.display();
            panic!(
                "{program}: {error}: run `cargo xtask test`, which finds or installs chromedriver"
            )
        });
        let output = process.stdout.take().expect("standard output is piped");
        let mut driver = Driver { process, port: 0 };
        driver.port = announced_port(output).recv_timeout(PATIENCE).ok()?;
        Some(driver)
    }

    /// The address to which sessions are posted.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.process.kill().ok(); // it may have ended by itself
        self.process.wait().ok();
    }
}

/// Reads the output to its end, for a full pipe would block the process, and sends the port.
fn announced_port(output: ChildStdout) -> Receiver<u16> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Some(port) = port_in(&line) {
                sender.send(port).ok(); // nobody listens any more if the wait was given up
            }
        }
    });
    receiver
}

fn port_in(line: &str) -> Option<u16> {
    let (_, port) = line.split_once(STARTED)?;
    port.trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_read_from_the_greeting() {
        let greeting = "ChromeDriver was started successfully on port 41137.";
        assert_eq!(port_in(greeting), Some(41137));
        assert_eq!(port_in("Starting ChromeDriver 156.0 on port 0"), None);
    }
}
