//! Trunk and wasm-bindgen: programs that `cargo install` builds.

use std::path::Path;

use super::{announce, names_version};
use crate::failure::Failure;
use crate::pins::Pins;
use crate::toolbox::{self, Toolbox};

/// Comes with wasm-bindgen; `cargo test` runs wasm through it.
const TEST_RUNNER: &str = "wasm-bindgen-test-runner";

/// A program that `cargo install` builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CargoTool {
    /// Builds and serves the page.
    Trunk,
    /// Makes the JavaScript around the wasm module, and runs wasm tests.
    WasmBindgen,
}

impl CargoTool {
    /// Installs the pinned version if it is not there.
    ///
    /// Another version is left alone: a second one then lives in the shared tools folder.
    pub fn ensure(self, pins: &Pins, toolbox: &mut Toolbox) -> Result<(), Failure> {
        let version = self.pin(pins);
        if !self.is_present(version, toolbox) {
            let found_other = toolbox.find(self.program()).is_some();
            let own = toolbox::shared_tools().join(format!("{}-{version}", self.program()));
            if found_other {
                toolbox.add_folder(own.join("bin"));
            }
            if !self.is_present(version, toolbox) {
                self.install(version, found_other.then_some(own.as_path()), toolbox)?;
            }
        }
        self.tell_children(toolbox);
        Ok(())
    }

    fn is_present(self, version: &str, toolbox: &Toolbox) -> bool {
        let answer = toolbox.output(self.program(), &["--version"]);
        let is_version = answer.is_some_and(|answer| names_version(&answer, version));
        match self {
            CargoTool::Trunk => is_version,
            CargoTool::WasmBindgen => is_version && toolbox.find(TEST_RUNNER).is_some(),
        }
    }

    fn install(self, version: &str, root: Option<&Path>, toolbox: &Toolbox) -> Result<(), Failure> {
        announce(&format!(
            "{} {version}, once per machine; on two cores this takes {}",
            self.package(),
            self.patience()
        ));
        let mut arguments = vec!["install", self.package(), "--version", version];
        arguments.extend(self.lock_option());
        if let Some(root) = root {
            arguments.extend([
                "--root",
                root.to_str().expect("cargo's home is valid Unicode"),
            ]);
        }
        toolbox.run("cargo", &arguments)?;
        if self.is_present(version, toolbox) {
            return Ok(());
        }
        Err(Failure::Program {
            line: format!("cargo {}", arguments.join(" ")),
            outcome: "succeeded, but not into cargo's bin folder; add its folder to PATH"
                .to_owned(),
        })
    }

    fn tell_children(self, toolbox: &mut Toolbox) {
        match self {
            // Trunk would ask whether a newer version of itself exists.
            CargoTool::Trunk => toolbox.set("TRUNK_SKIP_VERSION_CHECK", "true"),
            CargoTool::WasmBindgen => {
                let runner = toolbox.find(TEST_RUNNER);
                let runner = runner.expect("without it the tool would not count as present");
                toolbox.set("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", runner);
            }
        }
    }

    fn pin(self, pins: &Pins) -> &str {
        match self {
            CargoTool::Trunk => &pins.trunk,
            CargoTool::WasmBindgen => &pins.wasm_bindgen,
        }
    }

    fn program(self) -> &'static str {
        match self {
            CargoTool::Trunk => "trunk",
            CargoTool::WasmBindgen => "wasm-bindgen",
        }
    }

    fn package(self) -> &'static str {
        match self {
            CargoTool::Trunk => "trunk",
            CargoTool::WasmBindgen => "wasm-bindgen-cli",
        }
    }

    /// Trunk builds only with the dependencies it was released with; wasm-bindgen's lock file
    /// names one that can no longer be had.
    fn lock_option(self) -> Option<&'static str> {
        match self {
            CargoTool::Trunk => Some("--locked"),
            CargoTool::WasmBindgen => None,
        }
    }

    fn patience(self) -> &'static str {
        match self {
            CargoTool::Trunk => "about eight minutes",
            CargoTool::WasmBindgen => "about three minutes",
        }
    }
}
