//! The versions that the project fixes, each read from the one file that states it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Versions of the tools that must fit the project to the digit.
#[derive(Debug, PartialEq, Eq)]
pub struct Pins {
    /// Trunk; `trunk-version` in Trunk.toml.
    pub trunk: String,
    /// `wasm-bindgen`, crate and command-line tool alike; its entry in Cargo.lock.
    pub wasm_bindgen: String,
    /// Binaryen, which `wasm-opt` is part of; `wasm_opt` in Trunk.toml.
    pub binaryen: String,
}

impl Pins {
    /// Reads the pins of this checkout.
    ///
    /// # Errors
    /// [`Failure::File`] if a file cannot be read or does not state its pin.
    pub fn read() -> Result<Pins, Failure> {
        let trunk_toml = read_text("Trunk.toml")?;
        let cargo_lock = read_text("Cargo.lock")?;
        Ok(Pins {
            trunk: required(
                trunk_pin(&trunk_toml),
                "Trunk.toml",
                "no line `trunk-version = \"=…\"`",
            )?,
            wasm_bindgen: required(
                locked_version(&cargo_lock, "wasm-bindgen"),
                "Cargo.lock",
                "no package `wasm-bindgen`",
            )?,
            binaryen: required(
                binaryen_pin(&trunk_toml),
                "Trunk.toml",
                "no line `wasm_opt = \"version_…\"`",
            )?,
        })
    }
}

/// The root folder of this checkout.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask/ lies in the root folder")
}

fn read_text(name: &str) -> Result<String, Failure> {
    let path = root().join(name);
    fs::read_to_string(&path).map_err(|error| Failure::File {
        path,
        problem: error.to_string(),
    })
}

fn required(pin: Option<&str>, file: &str, problem: &str) -> Result<String, Failure> {
    let missing = || Failure::File {
        path: PathBuf::from(file),
        problem: format!("{problem}; restore it"),
    };
    pin.map(str::to_owned).ok_or_else(missing)
}

fn trunk_pin(trunk_toml: &str) -> Option<&str> {
    string_value(trunk_toml, "trunk-version")?.strip_prefix('=')
}

fn binaryen_pin(trunk_toml: &str) -> Option<&str> {
    string_value(trunk_toml, "wasm_opt")?.strip_prefix("version_")
}

/// The string on the line `key = "string"`.
fn string_value<'a>(toml: &'a str, key: &str) -> Option<&'a str> {
    toml.lines().find_map(|line| {
        let value = line.strip_prefix(key)?.trim_start().strip_prefix('=')?;
        value.trim().strip_prefix('"')?.split('"').next()
    })
}

/// The version line that follows the package's name line in a Cargo.lock.
fn locked_version<'a>(cargo_lock: &'a str, package: &str) -> Option<&'a str> {
    let name_line = format!("name = \"{package}\"");
    let mut lines = cargo_lock.lines().skip_while(|line| *line != name_line);
    lines
        .nth(1)?
        .strip_prefix("version = \"")?
        .strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_checkout_states_every_pin() {
        let pins = Pins::read().expect("Trunk.toml and Cargo.lock are complete");
        for pin in [&pins.trunk, &pins.wasm_bindgen, &pins.binaryen] {
            assert!(
                pin.starts_with(|first: char| first.is_ascii_digit()),
                "{pins:?}"
            );
        }
    }

    #[test]
    fn a_package_is_told_from_those_whose_names_begin_alike() {
        let lock = "[[package]]\nname = \"wasm-bindgen-test\"\nversion = \"0.3.80\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(locked_version(lock, "wasm-bindgen"), Some("0.2.130"));
        assert_eq!(locked_version(lock, "wasm"), None);
    }

    #[test]
    fn pins_of_trunk_toml_are_exact_versions() {
        let toml = "trunk-version = \"=0.21.14\"\n[tools]\nwasm_opt = \"version_132\" # npm\n";
        assert_eq!(trunk_pin(toml), Some("0.21.14"));
        assert_eq!(binaryen_pin(toml), Some("132"));
        assert_eq!(trunk_pin("trunk-version = \"*\""), None);
    }
}
