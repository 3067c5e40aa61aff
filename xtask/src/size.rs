//! How many bytes the laboratory sends over the wire, part by part.
//!
//! The laboratory is all wasm, JavaScript, CSS and HTML of a build but what other pages load to embed it.
//! Icons and the manifest are no part of it: a browser asks for them when it needs them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::failure::Failure;

/// The element that other pages load.
const LOADER: &str = "deliver-twice.js";

/// What stands beside the laboratory for other pages, and is never loaded by its own.
const FOR_OTHERS: [&str; 5] = [
    LOADER,
    "deliver-twice-bridge.js",
    "embed-demo.html",
    "embed-demo.js",
    "embed-demo.css",
];

/// Bytes after gzip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// All that the laboratory's page loads.
    pub lab: usize,
    /// The element that other pages load.
    pub loader: usize,
}

/// A kind of file in a build, by its extension, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Wasm,
    JavaScript,
    Css,
    Html,
}

impl Part {
    fn of(path: &Path) -> Option<Part> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("wasm") => Some(Part::Wasm),
            Some("js" | "mjs") => Some(Part::JavaScript),
            Some("css") => Some(Part::Css),
            Some("html") => Some(Part::Html),
            _ => None,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Part::Wasm => "wasm",
            Part::JavaScript => "js",
            Part::Css => "css",
            Part::Html => "html",
        }
    }
}

/// Sums over the files of one part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Size {
    files: usize,
    raw_bytes: usize,
    gzip_bytes: usize,
}

impl Size {
    fn of(content: &[u8]) -> Size {
        Size {
            files: 1,
            raw_bytes: content.len(),
            gzip_bytes: gzip_bytes(content),
        }
    }

    fn plus(self, other: Size) -> Size {
        Size {
            files: self.files + other.files,
            raw_bytes: self.raw_bytes + other.raw_bytes,
            gzip_bytes: self.gzip_bytes + other.gzip_bytes,
        }
    }
}

/// Prints the size of the laboratory in `folder`, and says what it weighs.
///
/// # Errors
/// [`Failure::File`] if there is no build or it cannot be read.
pub fn print(folder: &Path) -> Result<Weights, Failure> {
    let sizes = lab_sizes(folder)?;
    print!("{}", table(&sizes));
    weights(folder)
}

/// What the build in `folder` weighs.
///
/// # Errors
/// As for [`print`].
pub fn weights(folder: &Path) -> Result<Weights, Failure> {
    Ok(Weights {
        lab: total(&lab_sizes(folder)?).gzip_bytes,
        loader: Size::of(&content(&folder.join(LOADER))?).gzip_bytes,
    })
}

fn lab_sizes(folder: &Path) -> Result<BTreeMap<Part, Size>, Failure> {
    if !folder.join("index.html").is_file() {
        let problem = "no release build here; run `cargo xtask build` first".to_owned();
        return Err(Failure::File {
            path: folder.to_owned(),
            problem,
        });
    }
    let mut sizes: BTreeMap<Part, Size> = BTreeMap::new();
    for path in files_below(folder)? {
        let Some(part) = Part::of(&path).filter(|_| !is_for_others(&path)) else {
            continue;
        };
        let size = sizes.entry(part).or_default();
        *size = size.plus(Size::of(&content(&path)?));
    }
    Ok(sizes)
}

fn is_for_others(path: &Path) -> bool {
    FOR_OTHERS.iter().any(|name| path.ends_with(name))
}

fn content(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| unreadable(path, error))
}

/// Every file in a folder and the folders in it.
///
/// # Errors
/// [`Failure::File`] if a folder cannot be read.
pub fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
        let path = entry.map_err(|error| unreadable(folder, error))?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

fn unreadable(path: &Path, error: std::io::Error) -> Failure {
    Failure::File {
        path: path.to_owned(),
        problem: error.to_string(),
    }
}

/// The length of the content after the strongest gzip, as `gzip -9` would make it.
fn gzip_bytes(content: &[u8]) -> usize {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder
        .write_all(content)
        .expect("writing to a Vec succeeds");
    encoder.finish().expect("writing to a Vec succeeds").len()
}

fn total(sizes: &BTreeMap<Part, Size>) -> Size {
    sizes.values().copied().fold(Size::default(), Size::plus)
}

fn table(sizes: &BTreeMap<Part, Size>) -> String {
    let rows = sizes.iter().map(|(part, size)| row(part.label(), *size));
    let heading = format!(
        "{:<8}{:>6}{:>12}{:>12}\n",
        "part", "files", "bytes", "gzip -9"
    );
    [heading]
        .into_iter()
        .chain(rows)
        .chain([row("total", total(sizes))])
        .collect()
}

fn row(label: &str, size: Size) -> String {
    let raw = grouped(size.raw_bytes);
    let gzip = grouped(size.gzip_bytes);
    format!("{label:<8}{:>6}{raw:>12}{gzip:>12}\n", size.files)
}

/// A number with a comma before every third digit from the right.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_sums_its_parts() {
        let sizes = BTreeMap::from([
            (
                Part::Html,
                Size {
                    files: 1,
                    raw_bytes: 950,
                    gzip_bytes: 450,
                },
            ),
            (
                Part::Wasm,
                Size {
                    files: 2,
                    raw_bytes: 735_100,
                    gzip_bytes: 344_700,
                },
            ),
        ]);
        assert_eq!(
            table(&sizes),
            "part     files       bytes     gzip -9\n\
             wasm         2     735,100     344,700\n\
             html         1         950         450\n\
             total        3     736,050     345,150\n"
        );
    }

    #[test]
    fn a_file_belongs_to_a_part_by_its_extension() {
        assert_eq!(Part::of(Path::new("app-1f_bg.wasm")), Some(Part::Wasm));
        assert_eq!(
            Part::of(Path::new("snippets/element.js")),
            Some(Part::JavaScript)
        );
        assert_eq!(Part::of(Path::new("LICENSE")), None);
    }

    #[test]
    fn what_other_pages_load_is_named_as_index_html_copies_it() {
        let page = fs::read_to_string(crate::pins::root().join("index.html")).unwrap();
        for name in FOR_OTHERS {
            assert!(page.contains(&format!("/{name}\"")), "{name}");
            assert!(is_for_others(&Path::new("dist").join(name)), "{name}");
        }
        assert!(!is_for_others(Path::new("dist/deliver-twice-web.js")));
    }

    #[test]
    fn gzip_shrinks_what_repeats() {
        assert!(gzip_bytes(&[b'a'; 10_000]) < 100);
    }

    #[test]
    fn digits_are_grouped_by_three() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
