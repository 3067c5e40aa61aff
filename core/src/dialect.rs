//! SQLite's words as PostgreSQL says them.
//!
//! Plans, tables and the statements of the outbox are written once, for SQLite. What PostgreSQL says in
//! another way is little enough to be replaced in the text: `STRICT`, `BEGIN IMMEDIATE`, the counting
//! primary key, the width of an integer, `INSERT OR IGNORE`, and how a parameter is written.

/// A statement or a table in PostgreSQL's words, its parameters still by name.
pub fn in_postgres(sql: &str) -> String {
    let text = sql
        .replace(") STRICT;", ");")
        .replace("BEGIN IMMEDIATE", "BEGIN")
        .replace(
            "position    INTEGER PRIMARY KEY",
            "position    INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        )
        .replace("lease_until INTEGER", "lease_until BIGINT");
    match text.strip_prefix("INSERT OR IGNORE") {
        Some(rest) => format!("INSERT{rest} ON CONFLICT DO NOTHING"),
        None => text,
    }
}

/// A statement with its parameters as PostgreSQL's protocol has them: the first name to appear is `$1`,
/// and a name that appears again has the number that it had. So they are numbered as SQLite numbers them.
///
/// Text between single quotes is left alone, and so is a cast (`::`).
pub fn with_numbered_parameters(sql: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut text = String::with_capacity(sql.len());
    let mut rest = sql;
    let mut is_quoted = false;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        let name = &after[..name_length(after)];
        if character == '\'' {
            is_quoted = !is_quoted;
        }
        if character != ':' || is_quoted || name.is_empty() {
            // A cast is two colons, neither of which begins a parameter.
            let length = if rest.starts_with("::") && !is_quoted {
                2 + name_length(&rest[2..])
            } else {
                character.len_utf8()
            };
            text.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        let place = names.iter().position(|known| *known == name);
        let place = place.unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        text.push_str(&format!("${}", place + 1));
        rest = &after[name.len()..];
    }
    text
}

/// How much of the text's beginning is the name of a parameter.
fn name_length(text: &str) -> usize {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    text.find(|character| !is_part(character))
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn tables_lose_what_only_sqlite_understands() {
        let outbox = in_postgres(schema::OUTBOX_EVENTS);
        assert!(!outbox.contains("STRICT"));
        assert!(outbox.contains("position    INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY"));
        assert!(outbox.contains("lease_until BIGINT"));
        assert_eq!(in_postgres("BEGIN IMMEDIATE"), "BEGIN");
        assert_eq!(in_postgres("COMMIT"), "COMMIT");
    }

    #[test]
    fn an_ignored_conflict_is_said_at_the_end() {
        assert_eq!(
            in_postgres("INSERT OR IGNORE INTO t (a) VALUES (:a)"),
            "INSERT INTO t (a) VALUES (:a) ON CONFLICT DO NOTHING"
        );
    }

    #[test]
    fn parameters_are_numbered_by_their_first_appearance() {
        assert_eq!(
            with_numbered_parameters("UPDATE t SET a = :b, c = ':b' WHERE d = :a AND e <> :b"),
            "UPDATE t SET a = $1, c = ':b' WHERE d = $2 AND e <> $1"
        );
        assert_eq!(
            with_numbered_parameters("SELECT a::TEXT, 'ä:x' FROM t WHERE b=:name_2"),
            "SELECT a::TEXT, 'ä:x' FROM t WHERE b=$1"
        );
        assert_eq!(with_numbered_parameters("SELECT ':"), "SELECT ':");
        assert_eq!(with_numbered_parameters("a : b :"), "a : b :");
    }
}
