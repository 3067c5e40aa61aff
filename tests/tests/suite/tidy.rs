//! Rules of the repository that a look at its files can check. Each names the replacement.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use deliver_twice_tests::repository;

/// A text file of the repository.
struct Source {
    /// Relative to the root, with `/`.
    path: String,
    text: String,
}

/// Every text file that is in git, or about to be.
fn sources() -> Vec<Source> {
    let listing = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(repository())
        .output()
        .expect("git lists the files of the repository; install it");
    assert!(
        listing.status.success(),
        "not a git checkout: clone the repository instead"
    );
    let paths = String::from_utf8(listing.stdout).expect("our file names are Unicode");
    let read = |path: &str| {
        let text = fs::read_to_string(repository().join(path)).ok()?; // pictures are not text
        Some(Source {
            path: path.to_owned(),
            text,
        })
    };
    paths.lines().filter_map(read).collect()
}

/// The Rust files below a folder.
fn rust_below(folder: &str) -> Vec<Source> {
    let is_inside = |source: &Source| source.path.starts_with(folder);
    let files = sources().into_iter().filter(is_inside);
    files
        .filter(|source| source.path.ends_with(".rs"))
        .collect()
}

/// `path:line: text` for each line of code, comments aside, that the predicate picks.
fn lines_where(files: &[Source], is_wrong: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for source in files {
        for (index, line) in source.text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if is_wrong(code) {
                found.push(format!("{}:{}: {}", source.path, index + 1, line.trim()));
            }
        }
    }
    found
}

/// Whether `word` occurs in `line` with no letter, digit or underscore on either side.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[track_caller]
fn assert_none(found: &[String], instead: &str) {
    assert!(found.is_empty(), "{instead}:\n{}", found.join("\n"));
}

#[test]
fn the_core_has_no_clock_no_randomness_no_threads_and_no_hash_order() {
    let core = rust_below("core/src/");
    for (word, instead) in [
        ("HashMap", "its order differs from run to run; use BTreeMap"),
        ("HashSet", "its order differs from run to run; use BTreeSet"),
        (
            "Instant::now",
            "the core has no clock; let the schedule decide what comes next",
        ),
        (
            "SystemTime::now",
            "the core has no clock; take the time from the event",
        ),
        (
            "std::thread",
            "the core has no threads; a worker is a state that a step advances",
        ),
        (
            "thread::spawn",
            "the core has no threads; a worker is a state that a step advances",
        ),
        (
            "rand",
            "the core has no randomness; derive ids from the schedule (UUID v5)",
        ),
        (
            "getrandom",
            "the core has no randomness; derive ids from the schedule (UUID v5)",
        ),
    ] {
        assert_none(&lines_where(&core, |code| has_word(code, word)), instead);
    }
}

#[test]
fn only_the_disk_talks_to_c() {
    let mut files = rust_below("");
    files.retain(|source| {
        !["core/src/disk/vfs.rs", "core/src/omitted.rs"].contains(&source.path.as_str())
    });
    let mut openings = ["{", "fn", "impl", "extern", "trait"]
        .map(|next| ["unsafe", next].join(" "))
        .to_vec();
    openings.push(["no", "mangle"].join("_"));
    let found = lines_where(&files, |code| {
        openings.iter().any(|opening| code.contains(opening))
    });
    assert_none(
        &found,
        "use a safe interface, or put it into core/src/disk/vfs.rs with its reason",
    );
}

#[test]
fn the_core_knows_nothing_of_the_browser() {
    let manifest = fs::read_to_string(repository().join("core/Cargo.toml"));
    let manifest = manifest.expect("core/Cargo.toml is a text file");
    let dependencies = manifest
        .split("\n[dependencies]\n")
        .nth(1)
        .expect("core has dependencies");
    let section = dependencies
        .split("\n[")
        .next()
        .expect("a split has a first part");
    for package in ["wasm-bindgen", "web-sys", "js-sys", "yew", "gloo"] {
        assert!(
            !section.lines().any(|line| line.starts_with(package)),
            "core depends on {package}; do it in web/ and hand the core plain data"
        );
    }
}

#[test]
fn a_markdown_file_has_exactly_one_title() {
    for source in sources()
        .iter()
        .filter(|source| source.path.ends_with(".md"))
    {
        let titles = titles(&source.text);
        assert!(
            titles == 1,
            "{}: {titles} titles; use one `# `, then `## `",
            source.path
        );
    }
}

/// Lines that begin with `# ` outside of code blocks.
fn titles(markdown: &str) -> usize {
    let mut is_code = false;
    let is_title = |line: &&str| {
        is_code ^= line.trim_start().starts_with("```");
        !is_code && line.starts_with("# ")
    };
    markdown.lines().filter(is_title).count()
}

#[test]
fn a_file_is_named_after_what_is_in_it() {
    for source in sources() {
        let name = source.path.rsplit('/').next().unwrap_or_default();
        let says_nothing = ["util.rs", "utils.rs", "common.rs", "helpers.rs", "misc.rs"];
        assert!(
            !says_nothing.contains(&name),
            "{}: name it after its content",
            source.path
        );
    }
}

#[test]
fn no_file_names_a_folder_of_one_machine() {
    for source in sources() {
        let line = source.text.lines().position(has_machine_path);
        assert!(
            line.is_none(),
            "{}:{}: use a path relative to the repository, or std::env::temp_dir()",
            source.path,
            line.unwrap_or_default() + 1
        );
    }
}

/// Whether a line has an absolute path into a folder that belongs to one machine or person.
fn has_machine_path(line: &str) -> bool {
    ["work", "root", "tmp"].iter().any(|folder| {
        let path = format!("/{folder}");
        line.match_indices(&path).any(|(start, _)| {
            let before = line[..start].chars().next_back();
            let after = line[start + path.len()..].chars().next();
            let begins = !before.is_some_and(|c| c.is_alphanumeric() || "_-./~}>*)".contains(c));
            let ends = !after.is_some_and(|c| c.is_alphanumeric() || "_->".contains(c));
            begins && ends
        })
    })
}

#[test]
fn every_message_is_said_and_every_key_that_is_said_has_a_message() {
    let file = fs::read_to_string(repository().join("web/messages/en.txt"));
    let file = file.expect("the English messages are a text file");
    let messages = file.lines().filter(|line| !line.starts_with('#'));
    let keys: BTreeSet<&str> = messages
        .filter_map(|line| line.split_once(" = "))
        .map(|(key, _)| key)
        .collect();
    let groups: BTreeSet<&str> = keys
        .iter()
        .filter_map(|key| key.split('.').next())
        .collect();
    let code = rust_below("web/src/");
    let said: BTreeSet<&str> = code
        .iter()
        .flat_map(|source| literals(&source.text))
        .collect();

    let is_key = |word: &&&str| {
        word.split_once('.')
            .is_some_and(|(group, rest)| groups.contains(group) && is_key_like(rest))
    };
    let missing: Vec<String> = said
        .iter()
        .filter(is_key)
        .filter(|key| !keys.contains(*key))
        .map(|key| (*key).to_owned())
        .collect();
    assert_none(&missing, "add these to every file in web/messages");
    let unsaid: Vec<String> = keys
        .difference(&said)
        .map(|key| (*key).to_owned())
        .collect();
    assert_none(&unsaid, "nothing in web/src says these; drop them");
}

/// What stands between double quotes, comments aside.
fn literals(text: &str) -> Vec<&str> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines
        .flat_map(|line| line.split('"').skip(1).step_by(2))
        .collect()
}

/// Whether a text could be the rest of a message's key.
fn is_key_like(text: &str) -> bool {
    !text.is_empty()
        && !text.ends_with('.')
        && text
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "-.".contains(character))
}

#[test]
fn the_rules_can_tell_right_from_wrong() {
    assert!(has_word("let map = HashMap::new();", "HashMap"));
    assert!(!has_word("let operand = 1;", "rand"));
    assert_eq!(literals(r#"say("a.b", "c") // "d""#)[..2], ["a.b", "c"]);
    assert!(is_key_like("start.text") && !is_key_like("a b") && !is_key_like("end."));
    assert_eq!(titles("# One\n```sh\n# comment\n```\n## Two\n"), 1);
    assert!(has_machine_path(&format!("cd /{}/here", "tmp")));
    assert!(!has_machine_path(
        "https://example.org/work/here and target/tmp/x"
    ));
}
