//! Names of keys, as `KeyboardEvent.key` spells them, and what WebDriver calls them.

/// The characters to press for a name such as `ArrowRight`, `j` or `Shift+Tab`.
///
/// # Panics
/// If a part is neither one character nor a name in the table.
pub fn presses(name: &str) -> Vec<char> {
    name.split('+').map(character).collect()
}

fn character(name: &str) -> char {
    match name {
        "Backspace" => '\u{e003}',
        "Tab" => '\u{e004}',
        "Enter" => '\u{e007}',
        "Shift" => '\u{e008}',
        "Control" => '\u{e009}',
        "Alt" => '\u{e00a}',
        "Escape" => '\u{e00c}',
        "Space" => ' ',
        "PageUp" => '\u{e00e}',
        "PageDown" => '\u{e00f}',
        "End" => '\u{e010}',
        "Home" => '\u{e011}',
        "ArrowLeft" => '\u{e012}',
        "ArrowUp" => '\u{e013}',
        "ArrowRight" => '\u{e014}',
        "ArrowDown" => '\u{e015}',
        "Delete" => '\u{e017}',
        other => single(other).unwrap_or_else(|| {
            panic!("no key is called `{other}`; tests/src/keys.rs has them all")
        }),
    }
}

fn single(name: &str) -> Option<char> {
    let mut characters = name.chars();
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}
