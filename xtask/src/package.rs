//! Packs what programs use of a build into a package for npm.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::page::{self, Profile};
use crate::pins;
use crate::setup::{self, Tool};
use crate::toolbox::Toolbox;

/// Where the package and its archive are put.
const FOLDER: &str = "pkg";

/// What programs use of a build: the page's own module, with what binds it to JavaScript.
const OF_THE_BUILD: [&str; 2] = ["deliver-twice-web.js", "deliver-twice-web_bg.wasm"];

/// What is written for programs alone, in `web/api`.
const WRITTEN: [&str; 6] = [
    "README.md",
    "api.js",
    "browser.js",
    "index.d.ts",
    "node.js",
    "types.d.ts",
];

/// The licences, in the root folder.
const LICENCES: [&str; 3] = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"];

/// The line of `web/api/package.json` in whose place the project's version comes.
const VERSION_LINE: &str = "\"version\": \"0.0.0\"";

/// The tools that build the page and pack it.
pub fn tools() -> BTreeSet<Tool> {
    let mut tools = page::tools(Profile::Release);
    tools.insert(Tool::NODE);
    tools
}

/// Builds the page for release and packs it into `pkg/`.
///
/// # Errors
/// What [`setup::ensure`] reports, [`Failure::Program`] if the build or npm fails, [`Failure::File`] for a
/// file that is missing.
pub fn build() -> Result<(), Failure> {
    let toolbox = setup::ensure(&tools())?;
    page::build_with(&toolbox)?;
    pack_with(&toolbox)
}

/// Packs the build in `dist/` with tools that are known to be there.
///
/// # Errors
/// As for [`build`].
pub fn pack_with(toolbox: &Toolbox) -> Result<(), Failure> {
    let root = pins::root();
    let folder = root.join(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| failed(&folder, error))?;
    }
    let package = folder.join("deliver-twice");
    fs::create_dir_all(&package).map_err(|error| failed(&package, error))?;
    let of_the_build = OF_THE_BUILD.map(|name| root.join("dist").join(name));
    let written = WRITTEN.map(|name| root.join("web/api").join(name));
    let licences = LICENCES.map(|name| root.join(name));
    for file in of_the_build.iter().chain(&written).chain(&licences) {
        copy_into(&package, file)?;
    }
    describe(&package, &root.join("web/api/package.json"))?;
    let package = format!("./{FOLDER}/deliver-twice");
    toolbox.run("npm", &["pack", "--pack-destination", FOLDER, &package])
}

fn copy_into(folder: &Path, file: &Path) -> Result<(), Failure> {
    let name = file.file_name().expect("a file has a name");
    let copied = fs::copy(file, folder.join(name));
    copied.map(drop).map_err(|error| failed(file, error))
}

/// Writes the package's description with the version that the project has.
fn describe(package: &Path, description: &PathBuf) -> Result<(), Failure> {
    let text = fs::read_to_string(description).map_err(|error| failed(description, error))?;
    let text = with_version(&text, env!("CARGO_PKG_VERSION")).ok_or_else(|| Failure::File {
        path: description.clone(),
        problem: format!("no line `{VERSION_LINE}`"),
    })?;
    let path = package.join("package.json");
    fs::write(&path, text).map_err(|error| failed(&path, error))
}

fn with_version(text: &str, version: &str) -> Option<String> {
    let (head, tail) = text.split_once(VERSION_LINE)?;
    Some(format!("{head}\"version\": \"{version}\"{tail}"))
}

fn failed(path: &Path, error: std::io::Error) -> Failure {
    Failure::File {
        path: path.to_owned(),
        problem: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_has_a_place_for_the_version() {
        let text = include_str!("../../web/api/package.json");
        let written = with_version(text, "1.2.3").unwrap();
        assert!(written.contains("\"version\": \"1.2.3\","), "{written}");
        assert_eq!(with_version("{}", "1.2.3"), None);
    }

    #[test]
    fn every_file_of_the_folder_is_packed() {
        let files = fs::read_dir(pins::root().join("web/api")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut found: Vec<String> = names.filter(|name| name != "package.json").collect();
        found.sort();
        assert_eq!(found, WRITTEN);
    }
}
