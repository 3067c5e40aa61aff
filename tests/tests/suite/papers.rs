//! What the papers say that the code can say better.

use std::path::{Path, PathBuf};

use deliver_twice_core::matrix::{as_markdown, matrix};

const BEGIN: &str = "<!-- matrix:begin -->\n";
const END: &str = "<!-- matrix:end -->";

fn paper(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// To renew the tables after a change that is meant: `UPDATE_GOLDEN=1 cargo test -p deliver-twice-tests papers`.
#[test]
fn the_readmes_have_the_matrix_as_it_is_computed() {
    let table = as_markdown(&matrix().expect("the matrix is searched without an error"));
    for name in ["README.md", "README.zh-CN.md"] {
        let path = paper(name);
        let text = std::fs::read_to_string(&path).expect("the paper is there");
        let (before, rest) = text
            .split_once(BEGIN)
            .expect("the paper has a place for the matrix");
        let (inside, after) = rest
            .split_once(END)
            .expect("the place for the matrix has an end");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            let renewed = format!("{before}{BEGIN}{table}{END}{after}");
            std::fs::write(&path, renewed).expect("the paper can be written");
            continue;
        }
        assert_eq!(inside, table, "{name} has another matrix than the code");
    }
}
