//! Binaryen's `wasm-opt`, as the npm package `binaryen` brings it.
//!
//! The versions that Linux distributions carry are too old for what rustc and wasm-bindgen
//! write today.

use super::{announce, names_version};
use crate::failure::Failure;
use crate::toolbox::{self, Toolbox};

/// Installs the pinned version if no `wasm-opt` of that version is there.
pub fn ensure(version: &str, toolbox: &mut Toolbox) -> Result<(), Failure> {
    if is_version(version, toolbox) {
        return Ok(());
    }
    let home = toolbox::shared_tools().join(format!("binaryen-{version}"));
    toolbox.add_folder(home.join("node_modules").join(".bin"));
    if is_version(version, toolbox) {
        return Ok(());
    }
    announce(&format!(
        "binaryen {version} for wasm-opt, once per machine"
    ));
    let package = format!("binaryen@{version}.0.0");
    let home = home.to_str().expect("cargo's home is valid Unicode");
    toolbox.run(
        "npm",
        &[
            "install",
            "--no-save",
            "--no-package-lock",
            "--prefix",
            home,
            &package,
        ],
    )
}

fn is_version(version: &str, toolbox: &Toolbox) -> bool {
    toolbox
        .output("wasm-opt", &["--version"])
        .is_some_and(|answer| names_version(&answer, version))
}
