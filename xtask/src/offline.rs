//! Tells a build's service worker which files to keep, and how to know them.
//!
//! Trunk calls it once a build is complete and not yet in its place.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use crate::size::files_below;

/// The service worker, in the folder of a build.
const WORKER: &str = "offline.js";

/// The beginning of the line of it that this writes.
const LINE: &str = "const FILES = ";

/// Writes the list of the files that Trunk has just built into their service worker.
///
/// A development build keeps nothing: what is reloaded must be what was just compiled.
///
/// # Errors
/// [`Failure::Usage`] if it is not Trunk that calls, [`Failure::File`] if the build cannot be read or
/// its worker has no line for the list.
pub fn list_files() -> Result<(), Failure> {
    let Some(folder) = env::var_os("TRUNK_STAGING_DIR").map(PathBuf::from) else {
        let problem =
            "`offline` is for Trunk to call, with a build in TRUNK_STAGING_DIR".to_owned();
        return Err(Failure::Usage { problem });
    };
    let keeps = env::var_os("TRUNK_PROFILE").is_some_and(|profile| profile == "release");
    let list = if keeps {
        listed(&folder)?
    } else {
        "{}".to_owned()
    };
    let worker = folder.join(WORKER);
    let failed = |problem| Failure::File {
        path: worker.clone(),
        problem,
    };
    let text = fs::read_to_string(&worker).map_err(|error| failed(error.to_string()))?;
    let text = with_list(&text, &list).ok_or_else(|| failed(format!("no line `{LINE}…;`")))?;
    fs::write(&worker, text).map_err(|error| failed(error.to_string()))
}

/// The files of a build but for the worker, as JavaScript: path and hash, in the order of paths.
fn listed(folder: &Path) -> Result<String, Failure> {
    let mut files = files_below(folder)?;
    files.retain(|path| *path != folder.join(WORKER));
    files.sort();
    let mut list = String::from("{");
    for path in files {
        let content = fs::read(&path).map_err(|error| Failure::File {
            path: path.clone(),
            problem: error.to_string(),
        })?;
        let name = path.strip_prefix(folder).expect("a file below the folder");
        let name = name.to_string_lossy().replace('\\', "/");
        write!(list, "\n  {name:?}: \"{}\",", hash(&content))
            .expect("writing to a String succeeds");
    }
    list.push_str("\n}");
    Ok(list)
}

/// A hash as browsers compare it with what they load.
fn hash(content: &[u8]) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(content)))
}

/// The worker with another list in place of its own; `None` if it has none.
fn with_list(worker: &str, list: &str) -> Option<String> {
    let (before, rest) = worker.split_once(LINE)?;
    let (_, after) = rest.split_once(";\n")?;
    Some(format!("{before}{LINE}{list};\n{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pins;

    #[test]
    fn a_hash_is_written_as_browsers_want_it() {
        let of_nothing = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        assert_eq!(hash(b""), of_nothing);
    }

    #[test]
    fn the_worker_of_this_checkout_has_a_place_for_the_list_and_a_list_can_be_replaced() {
        let worker = fs::read_to_string(pins::root().join("web").join(WORKER)).unwrap();
        let once = with_list(&worker, "{ \"a\": \"1\" }").unwrap();
        assert!(
            once.contains("\nconst FILES = { \"a\": \"1\" };\n"),
            "{once}"
        );
        assert_eq!(with_list(&once, "{}"), Some(worker));
        assert_eq!(with_list("const OTHERS = {};\n", "{}"), None);
    }
}
