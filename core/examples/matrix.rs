//! Prints every named design against every hazard: as text, or with `--markdown` as a table.

use deliver_twice_core::matrix;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cells = matrix::matrix()?;
    let markdown = std::env::args().any(|argument| argument == "--markdown");
    print!(
        "{}",
        if markdown {
            matrix::as_markdown(&cells)
        } else {
            matrix::as_text(&cells)
        }
    );
    Ok(())
}
