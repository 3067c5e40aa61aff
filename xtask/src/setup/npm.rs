//! Packages from npm that tests read with: Mermaid's parser, axe, which looks for barriers, TypeScript, what
//! courses record with, and what makes sites of Markdown.

use super::announce;
use crate::failure::Failure;
use crate::toolbox::{self, Toolbox};

/// Packages that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NpmPackages {
    /// Mermaid, which reads exported diagrams, with the document that it wants to see in Node.js.
    Mermaid,
    /// axe, which looks for barriers in a page.
    Axe,
    /// TypeScript, which reads the declarations of the package.
    TypeScript,
    /// A SCORM runtime, and a validator of xAPI statements.
    Records,
    /// Two SQLites for the browser, beside which a benchmark loads the laboratory.
    Sqlites,
    /// VitePress, which makes a site of Markdown, with the Vite and the esbuild that it brings.
    VitePress,
}

impl NpmPackages {
    /// Names and exact versions. jsdom is the newest that works in the Node.js of Debian 12.
    fn packages(self) -> &'static [&'static str] {
        match self {
            NpmPackages::Mermaid => &["mermaid@11.17.2", "jsdom@22.1.0"],
            NpmPackages::Axe => &["axe-core@4.14.1"],
            NpmPackages::TypeScript => &["typescript@5.9.3"],
            NpmPackages::Sqlites => &["sql.js@1.17.0", "@sqlite.org/sqlite-wasm@3.54.1-build1"],
            NpmPackages::Records => &["scorm-again@3.4.3", "@learninglocker/xapi-validation@3.0.0"],
            NpmPackages::VitePress => &["vitepress@1.6.4"],
        }
    }

    /// The variable that tells child processes where they are.
    fn variable(self) -> &'static str {
        match self {
            NpmPackages::Mermaid => "MERMAID",
            NpmPackages::Axe => "AXE",
            NpmPackages::TypeScript => "TYPESCRIPT",
            NpmPackages::Records => "RECORDS",
            NpmPackages::Sqlites => "SQLITES",
            NpmPackages::VitePress => "VITEPRESS",
        }
    }

    /// Installs the packages once per machine, and tells child processes where they are.
    ///
    /// # Errors
    /// [`Failure::Program`] if npm fails.
    pub fn ensure(self, toolbox: &mut Toolbox) -> Result<(), Failure> {
        let packages = self.packages();
        let home = toolbox::shared_tools().join(packages.join("-").replace('/', "+"));
        toolbox.set(self.variable(), &home);
        // npm writes this file last.
        let last = home.join("node_modules").join(".package-lock.json");
        if last.is_file() {
            return Ok(());
        }
        announce(&format!("{}, once per machine", packages.join(", ")));
        let home = home.to_str().expect("cargo's home is valid Unicode");
        let options = [
            "install",
            "--no-save",
            "--no-package-lock",
            "--no-audit",
            "--no-fund",
            "--prefix",
            home,
        ];
        toolbox.run("npm", &[&options[..], packages].concat())
    }
}
