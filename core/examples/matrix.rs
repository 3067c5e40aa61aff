//! Prints every named design against every hazard of its chapter: as text, or with `--markdown` as a table
//! for each chapter.

use deliver_twice_core::design::Chapter;
use deliver_twice_core::matrix;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cells = matrix::matrix()?;
    if !std::env::args().any(|argument| argument == "--markdown") {
        print!("{}", matrix::as_text(&cells));
        return Ok(());
    }
    for chapter in Chapter::ALL {
        let table = matrix::as_markdown(chapter, &cells);
        println!("## {}\n\n{table}", chapter.as_str());
    }
    Ok(())
}
