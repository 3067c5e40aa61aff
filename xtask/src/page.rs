//! Builds and serves the page through Trunk.

use std::collections::BTreeSet;
use std::env;
use std::process::Command;

use crate::failure::Failure;
use crate::setup::{self, Tool};
use crate::toolbox::{self, Toolbox};

/// Where `serve` puts its build: `dist/` is only ever a release build.
const SERVED_FOLDER: &str = "target/serve";

/// How the page is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Quick to build.
    Dev,
    /// Small, as it is published.
    Release,
}

/// The tools that build the page.
pub fn tools(profile: Profile) -> BTreeSet<Tool> {
    let mut tools = BTreeSet::from([
        Tool::WASM_TARGET,
        Tool::CLANG,
        Tool::TRUNK,
        Tool::WASM_BINDGEN,
    ]);
    if profile == Profile::Release {
        tools.extend([Tool::NODE, Tool::WasmOpt]);
    }
    tools
}

/// Builds the page for release into `dist/`.
///
/// # Errors
/// What [`setup::ensure`] reports, and [`Failure::Program`] if the build fails.
pub fn build() -> Result<(), Failure> {
    let toolbox = setup::ensure(&tools(Profile::Release))?;
    build_with(&toolbox)
}

/// Builds the page for release with tools that are known to be there.
///
/// # Errors
/// [`Failure::Program`] if the build fails.
pub fn build_with(toolbox: &Toolbox) -> Result<(), Failure> {
    let arguments = ["build", "--release"];
    toolbox::finish(trunk(toolbox).args(arguments), "trunk", &arguments)
}

/// Builds the page for release and times it in a browser, beside other SQLites.
///
/// # Errors
/// What [`setup::ensure`] reports, and [`Failure::Program`] if the build or a benchmark fails.
pub fn bench() -> Result<(), Failure> {
    let mut needed = tools(Profile::Release);
    needed.extend([Tool::CHROMIUM, Tool::SQLITES]);
    let toolbox = setup::ensure(&needed)?;
    build_with(&toolbox)?;
    toolbox.run("cargo", &["bench", "-p", "deliver-twice-tests"])
}

/// Builds the page and serves it on 127.0.0.1 until it is interrupted.
///
/// # Errors
/// What [`setup::ensure`] reports, and [`Failure::Program`] if Trunk does not start.
pub fn serve(port: u16, profile: Profile) -> Result<(), Failure> {
    let toolbox = setup::ensure(&tools(profile))?;
    let port = port.to_string();
    let mut arguments = vec!["serve", "--port", &port, "--dist", SERVED_FOLDER];
    if profile == Profile::Release {
        arguments.push("--release");
    }
    toolbox::become_program(trunk(&toolbox).args(&arguments), "trunk", &arguments)
}

fn trunk(toolbox: &Toolbox) -> Command {
    let mut command = toolbox.command("trunk");
    // Trunk reads the variable as an option and accepts nothing but `true` and `false`.
    if env::var_os("NO_COLOR").is_some() {
        command.env("NO_COLOR", "true");
    }
    command
}
