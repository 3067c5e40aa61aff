//! What the papers say that the code can say better.

use std::path::{Path, PathBuf};

use deliver_twice_core::design::Chapter;
use deliver_twice_core::matrix::{as_markdown, matrix};

fn paper(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// The text with `table` in the chapter's place for it, and what stands in that place now.
fn with_table<'a>(text: &'a str, chapter: Chapter, table: &str) -> (String, &'a str) {
    let [begin, end] =
        ["begin", "end"].map(|mark| format!("<!-- matrix:{}:{mark} -->\n", chapter.as_str()));
    let (before, rest) = text
        .split_once(&begin)
        .expect("the paper has a place for the matrix");
    let (inside, after) = rest
        .split_once(&end)
        .expect("the place for the matrix has an end");
    (format!("{before}{begin}{table}{end}{after}"), inside)
}

/// To renew the tables after a change that is meant: `UPDATE_GOLDEN=1 cargo test -p deliver-twice-tests papers`.
#[test]
fn the_readmes_have_the_matrix_as_it_is_computed() {
    let cells = matrix().expect("the matrix is searched without an error");
    for name in ["README.md", "README.zh-CN.md"] {
        let path = paper(name);
        let mut text = std::fs::read_to_string(&path).expect("the paper is there");
        for chapter in Chapter::ALL {
            let table = as_markdown(chapter, &cells);
            let (renewed, inside) = with_table(&text, chapter, &table);
            let is_to_be_renewed = std::env::var_os("UPDATE_GOLDEN").is_some();
            assert!(
                is_to_be_renewed || inside == table,
                "{name} has another matrix of the {} than the code:\n{inside}",
                chapter.as_str()
            );
            text = renewed;
        }
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, text).expect("the paper can be written");
        }
    }
}

/// A block of code that a paper says is of a file.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Recipe<'a> {
    file: &'a str,
    code: &'a str,
}

/// The recipes of a paper: each block of code that follows a comment `<!-- of: FILE -->`.
fn recipes(paper: &str) -> Vec<Recipe<'_>> {
    let pieces = paper.split("<!-- of: ").skip(1);
    let recipe = |piece| {
        let (file, rest) = str::split_once(piece, " -->\n```")?;
        let (_, rest) = rest.split_once('\n')?;
        let (code, _) = rest.split_once("```\n")?;
        Some(Recipe { file, code })
    };
    let read = |piece| recipe(piece).expect("a comment has its file and then a block of code");
    pieces.map(read).collect()
}

#[test]
fn what_authors_are_told_to_write_is_what_the_hosts_of_the_tests_have_in_them() {
    let papers = ["docs/EMBED.md", "docs/EMBED.zh-CN.md"].map(|name| {
        let text = std::fs::read_to_string(paper(name)).expect("the paper is there");
        (name, text)
    });
    for (name, text) in &papers {
        for Recipe { file, code } in recipes(text) {
            let host = paper("tests/hosts").join(file);
            let host = std::fs::read_to_string(&host);
            let host = host.unwrap_or_else(|error| panic!("{name}: {file}: {error}"));
            assert!(
                host.contains(code.trim_end()),
                "{name}: this is not in tests/hosts/{file}:\n{code}"
            );
        }
    }
    let [told, told_in_chinese] = papers.each_ref().map(|(_, text)| recipes(text));
    assert!(told == told_in_chinese, "the papers have other recipes");
    for host in ["plain", "sandbox", "mdbook", "vitepress", "sphinx"] {
        assert!(
            told.iter().any(|one| one.file.starts_with(host)),
            "docs/EMBED.md has no recipe of tests/hosts/{host}"
        );
    }
}
