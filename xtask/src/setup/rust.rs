//! Parts of the Rust toolchain that rustup adds.

use std::path::Path;

use super::announce;
use crate::failure::Failure;
use crate::toolbox::Toolbox;

/// The target that the page is compiled for.
const TARGET: &str = "wasm32-unknown-unknown";

/// A part of the Rust toolchain beside the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RustPart {
    /// `cargo fmt`.
    Rustfmt,
    /// `cargo clippy`.
    Clippy,
    /// The standard library for wasm32-unknown-unknown.
    WasmTarget,
}

impl RustPart {
    /// Adds the part to the active toolchain if it is not there.
    pub fn ensure(self, toolbox: &Toolbox) -> Result<(), Failure> {
        if self.is_present(toolbox) {
            return Ok(());
        }
        let arguments = self.rustup_arguments();
        announce(arguments[2]);
        if toolbox.find("rustup").is_none() {
            return Err(Failure::Program {
                line: format!("rustup {}", arguments.join(" ")),
                outcome: "rustup is missing; install Rust through rustup and repeat".to_owned(),
            });
        }
        toolbox.run("rustup", &arguments)
    }

    fn is_present(self, toolbox: &Toolbox) -> bool {
        match self {
            RustPart::Rustfmt => toolbox.output("cargo", &["fmt", "--version"]).is_some(),
            RustPart::Clippy => toolbox.output("cargo", &["clippy", "--version"]).is_some(),
            RustPart::WasmTarget => toolbox
                .output("rustc", &["--print", "target-libdir", "--target", TARGET])
                .is_some_and(|folder| Path::new(folder.trim()).is_dir()),
        }
    }

    fn rustup_arguments(self) -> [&'static str; 3] {
        match self {
            RustPart::Rustfmt => ["component", "add", "rustfmt"],
            RustPart::Clippy => ["component", "add", "clippy"],
            RustPart::WasmTarget => ["target", "add", TARGET],
        }
    }
}
