//! Finds what a command needs on this machine, and installs what is missing.
//!
//! Tools of cargo go where cargo puts a person's tools, so they are installed once per machine
//! and not once per checkout. Nothing is replaced: if another version of a tool is there
//! already, ours goes to a folder of its own and only our child processes see it.

mod cargo_tools;
mod clang;
mod npm;
pub mod packages;
mod python;
mod rust;
pub mod system;
mod wasm_opt;

use std::collections::BTreeSet;

use crate::failure::Failure;
use crate::pins::Pins;
use crate::toolbox::Toolbox;
use cargo_tools::CargoTool;
use npm::NpmPackages;
use python::PythonPackages;
use rust::RustPart;
use system::SystemTool;

/// Something a machine must have before a command can run.
///
/// The order of the variants is the order of installation: later ones use earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// A program of the system's package manager.
    System(SystemTool),
    /// A part of the Rust toolchain.
    Rust(RustPart),
    /// A program that `cargo install` builds.
    Cargo(CargoTool),
    /// Binaryen's optimizer, from npm.
    WasmOpt,
    /// What tests read with, from npm.
    Npm(NpmPackages),
    /// Packages from PyPI, in an environment of their own.
    Python(PythonPackages),
}

impl Tool {
    /// rustfmt.
    pub const RUSTFMT: Tool = Tool::Rust(RustPart::Rustfmt);
    /// Clippy.
    pub const CLIPPY: Tool = Tool::Rust(RustPart::Clippy);
    /// Rust's standard library for wasm32.
    pub const WASM_TARGET: Tool = Tool::Rust(RustPart::WasmTarget);
    /// A C compiler for wasm32, for SQLite.
    pub const CLANG: Tool = Tool::System(SystemTool::Clang);
    /// Node.js with npm: it runs `wasm-opt` and the core's wasm tests.
    pub const NODE: Tool = Tool::System(SystemTool::Node);
    /// Chromium with chromedriver.
    pub const CHROMIUM: Tool = Tool::System(SystemTool::Chromium);
    /// SQLite's shell, which replays exported scripts.
    pub const SQLITE: Tool = Tool::System(SystemTool::Sqlite);
    /// A font with Chinese characters, for screenshots.
    pub const CJK_FONT: Tool = Tool::System(SystemTool::CjkFont);
    /// Trunk, which builds the page.
    pub const TRUNK: Tool = Tool::Cargo(CargoTool::Trunk);
    /// Mermaid, which reads exported diagrams.
    pub const MERMAID: Tool = Tool::Npm(NpmPackages::Mermaid);
    /// axe, which looks for barriers in a page.
    pub const AXE: Tool = Tool::Npm(NpmPackages::Axe);
    /// TypeScript, which reads the package's declarations.
    pub const TYPESCRIPT: Tool = Tool::Npm(NpmPackages::TypeScript);
    /// A SCORM runtime, and a validator of xAPI statements.
    pub const RECORDS: Tool = Tool::Npm(NpmPackages::Records);
    /// Two SQLites for the browser, beside which a benchmark loads the laboratory.
    pub const SQLITES: Tool = Tool::Npm(NpmPackages::Sqlites);
    /// VitePress, which makes a site of Markdown, with Vite and esbuild in it.
    pub const VITEPRESS: Tool = Tool::Npm(NpmPackages::VitePress);
    /// What makes books of Markdown.
    pub const BOOKS: Tool = Tool::Python(PythonPackages::Books);
    /// What the consumer in Python is written with.
    pub const SQLALCHEMY: Tool = Tool::Python(PythonPackages::Consumer);
    /// Python, which Sphinx and a consumer are written in.
    pub const PYTHON: Tool = Tool::System(SystemTool::Python);
    /// `wasm-bindgen` and its test runner.
    pub const WASM_BINDGEN: Tool = Tool::Cargo(CargoTool::WasmBindgen);
}

/// Finds or installs the tools and tells child processes where they are.
///
/// Quick if everything is there.
///
/// # Errors
/// [`Failure::Missing`] if only a person can install something here, [`Failure::Program`] if an
/// installation fails, [`Failure::File`] if the project does not state a version.
pub fn ensure(tools: &BTreeSet<Tool>) -> Result<Toolbox, Failure> {
    let mut toolbox = Toolbox::new();
    let pins = Pins::read()?;
    let from_system: Vec<SystemTool> = tools.iter().filter_map(|tool| tool.as_system()).collect();
    system::ensure(&from_system, &mut toolbox)?;
    for tool in tools {
        match tool {
            Tool::System(_) => {} // all of them together above, in one call of the manager
            Tool::Rust(part) => part.ensure(&toolbox)?,
            Tool::Cargo(tool) => tool.ensure(&pins, &mut toolbox)?,
            Tool::WasmOpt => wasm_opt::ensure(&pins.binaryen, &mut toolbox)?,
            Tool::Npm(packages) => packages.ensure(&mut toolbox)?,
            Tool::Python(packages) => packages.ensure(&mut toolbox)?,
        }
    }
    Ok(toolbox)
}

impl Tool {
    fn as_system(&self) -> Option<SystemTool> {
        match self {
            Tool::System(tool) => Some(*tool),
            Tool::Rust(_) | Tool::Cargo(_) | Tool::WasmOpt | Tool::Npm(_) | Tool::Python(_) => None,
        }
    }
}

/// Says on standard error what is being installed, for it may take minutes.
fn announce(what: &str) {
    eprintln!("xtask: installing {what}");
}

/// Whether a program's answer to `--version` names exactly this version.
fn names_version(answer: &str, version: &str) -> bool {
    answer.split_whitespace().any(|word| word == version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_must_match_as_a_whole_word() {
        assert!(names_version("wasm-bindgen 0.2.130", "0.2.130"));
        assert!(names_version("wasm-opt version 132 (version_132)", "132"));
        assert!(!names_version("trunk 0.21.14", "0.21.1"));
    }

    #[test]
    fn system_programs_come_before_the_tools_that_use_them() {
        let tools = BTreeSet::from([Tool::WasmOpt, Tool::TRUNK, Tool::NODE, Tool::CLANG]);
        let order: Vec<Tool> = tools.into_iter().collect();
        assert_eq!(order, [Tool::CLANG, Tool::NODE, Tool::TRUNK, Tool::WasmOpt]);
    }
}
