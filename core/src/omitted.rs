//! The parts of SQL that the laboratory's SQLite in wasm is built without.
//!
//! `.cargo/config.toml` leaves them out of SQLite. The parser comes ready-made in SQLite's one source file
//! and still knows their words, so it names the functions that would carry them out, and here they are.
//! None is reached: every statement of the laboratory comes from a plan, the schema or a test.
//!
//! Source: SQLite, "Compile-time Options", section 1.8, on `SQLITE_OMIT_*` and a parser made anew.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};

/// A pointer into the parser, of a type that only SQLite knows.
type Pointer = *const c_void;

/// Functions of SQLite's parser by their C names, each with the types of its parameters.
macro_rules! omitted {
    ($($what:literal: $($name:ident($($parameter:ty),*);)*)*) => {$($(
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        extern "C" fn $name($(_: $parameter),*) {
            panic!(concat!("this SQLite is built without ", $what));
        }
    )*)*};
}

omitted! {
    "ALTER TABLE":
        sqlite3AlterAddConstraint(Pointer, Pointer, Pointer, Pointer, Pointer, c_int, Pointer);
        sqlite3AlterBeginAddColumn(Pointer, Pointer);
        sqlite3AlterDropColumn(Pointer, Pointer, Pointer);
        sqlite3AlterDropConstraint(Pointer, Pointer, Pointer, Pointer);
        sqlite3AlterFinishAddColumn(Pointer, Pointer);
        sqlite3AlterRenameColumn(Pointer, Pointer, Pointer, Pointer);
        sqlite3AlterRenameTable(Pointer, Pointer, Pointer);
        sqlite3AlterSetNotNull(Pointer, Pointer, Pointer, Pointer);
        // Named by code that cannot be reached and that only an optimizer takes out.
        sqlite3RenameTokenRemap(Pointer, Pointer, Pointer);
    "ANALYZE":
        sqlite3Analyze(Pointer, Pointer, Pointer);
    "REINDEX":
        sqlite3Reindex(Pointer, Pointer, Pointer);
    "views":
        sqlite3CreateView(Pointer, Pointer, Pointer, Pointer, Pointer, Pointer, c_int, c_int);
    "virtual tables":
        sqlite3VtabArgExtend(Pointer, Pointer);
        sqlite3VtabArgInit(Pointer);
        sqlite3VtabBeginParse(Pointer, Pointer, Pointer, Pointer, c_int);
        sqlite3VtabFinishParse(Pointer, Pointer);
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use wasm_bindgen_test::wasm_bindgen_test;

    #[wasm_bindgen_test]
    #[should_panic(expected = "this SQLite is built without ALTER TABLE")]
    fn a_statement_that_was_left_out_says_so() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE t (a); ALTER TABLE t ADD COLUMN b")
            .unwrap();
    }
}
