//! The C compiler that turns SQLite into wasm32, and the archiver that fits it.
//!
//! Not every clang can do it: Apple's has no wasm back end. So each candidate has to compile a
//! line of C before it is taken.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::toolbox::Toolbox;

/// The newest and the oldest major version searched as `clang-NN`.
const VERSIONS: std::ops::RangeInclusive<u32> = 14..=30;

/// Folders outside `PATH` where LLVM's own packages for macOS and Windows put clang.
const FOLDERS: [&str; 3] = [
    "/opt/homebrew/opt/llvm/bin",
    "/usr/local/opt/llvm/bin",
    r"C:\Program Files\LLVM\bin",
];

/// The variables through which the build script of SQLite learns its tools.
const COMPILER: &str = "CC_wasm32_unknown_unknown";
const ARCHIVER: &str = "AR_wasm32_unknown_unknown";

/// Finds clang and llvm-ar and names them to child processes.
///
/// A choice the person made through the same variables is respected.
pub fn find(toolbox: &mut Toolbox) -> bool {
    if env::var_os(COMPILER).is_some() && env::var_os(ARCHIVER).is_some() {
        return true;
    }
    let pair = candidates(toolbox).into_iter().find_map(|clang| {
        let archiver = archiver_of(&clang, toolbox)?;
        compiles_to_wasm(&clang, toolbox).then_some((clang, archiver))
    });
    let Some((clang, archiver)) = pair else {
        return false;
    };
    toolbox.set(COMPILER, clang);
    toolbox.set(ARCHIVER, archiver);
    true
}

/// Every clang of this machine, the newest first.
fn candidates(toolbox: &Toolbox) -> Vec<PathBuf> {
    let versioned = VERSIONS
        .rev()
        .filter_map(|version| toolbox.find(&format!("clang-{version}")));
    let elsewhere = FOLDERS.iter().map(|folder| Path::new(folder).join("clang"));
    versioned
        .chain(toolbox.find("clang"))
        .chain(elsewhere.filter_map(|path| crate::toolbox::executable(&path)))
        .collect()
}

/// The llvm-ar of the same LLVM, or one from `PATH`: the system's `ar` does not index wasm.
fn archiver_of(clang: &Path, toolbox: &Toolbox) -> Option<PathBuf> {
    let answer = toolbox.output(clang.to_str()?, &["--print-prog-name=llvm-ar"])?;
    crate::toolbox::executable(Path::new(answer.trim())).or_else(|| toolbox.find("llvm-ar"))
}

fn compiles_to_wasm(clang: &Path, toolbox: &Toolbox) -> bool {
    let Some(clang) = clang.to_str() else {
        return false;
    };
    let child = toolbox
        .command(clang)
        .args([
            "--target=wasm32-unknown-unknown",
            "-c",
            "-x",
            "c",
            "-",
            "-o",
            "-",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return false };
    let mut source = child.stdin.take().expect("standard input is piped");
    let written = source
        .write_all(b"int answer(void) { return 42; }\n")
        .is_ok();
    drop(source);
    child.wait().is_ok_and(|status| status.success()) && written
}
