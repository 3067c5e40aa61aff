//! Mermaid, which reads exported diagrams, with the document that it wants to see in Node.js.

use super::announce;
use crate::failure::Failure;
use crate::toolbox::{self, Toolbox};

/// The packages. jsdom is the newest that works in the Node.js of Debian 12.
const PACKAGES: [&str; 2] = ["mermaid@11.17.2", "jsdom@22.1.0"];

/// Installs the packages once per machine, and tells child processes where they are.
pub fn ensure(toolbox: &mut Toolbox) -> Result<(), Failure> {
    let home = toolbox::shared_tools().join(PACKAGES.join("-"));
    toolbox.set("MERMAID", &home);
    // npm writes this file last.
    if home
        .join("node_modules")
        .join(".package-lock.json")
        .is_file()
    {
        return Ok(());
    }
    announce(&format!(
        "{} for diagrams, once per machine",
        PACKAGES.join(", ")
    ));
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
    toolbox.run("npm", &[&options[..], &PACKAGES].concat())
}
