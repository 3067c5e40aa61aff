//! One statement to SQLite, and what SQLite answered.
//!
//! Every statement of a plan goes through [`ask`], whoever drives: the page, a test, or a program that
//! calls [`apply_once`](crate::apply_once).

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ErrorCode, Params, Row};

use crate::schema::literal;

/// What SQLite answered to one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an answer that nobody reads is a swallowed error"]
pub enum Answer {
    /// A statement that begins or ends a transaction was carried out.
    Done,
    /// A query returned this many rows.
    Rows(u64),
    /// A write was carried out and changed this many rows.
    Changed(u64),
    /// A statement that was asked for one row returned it, each value as text, or found none.
    Row(Option<Vec<String>>),
    /// The statement failed and changed nothing.
    Refused(Refusal),
}

/// A statement's failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What sort of failure.
    pub kind: RefusalKind,
    /// SQLite's extended result code, or 0 if the failure did not come from SQLite.
    pub code: i32,
    /// SQLite's own message. For people: nothing is decided by it.
    pub message: String,
}

/// Sorts of failure that a consumer has to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefusalKind {
    /// A UNIQUE or PRIMARY KEY constraint (extended codes 2067, 1555, 2579). Which table's, the code
    /// does not say: the statement that failed does.
    Unique,
    /// A foreign key: a row that this one refers to is missing.
    ForeignKey,
    /// A CHECK constraint.
    Check,
    /// A NOT NULL constraint.
    NotNull,
    /// Another constraint, such as a trigger's RAISE.
    OtherConstraint,
    /// Another connection holds a lock that excludes this statement.
    Busy,
    /// No space is left.
    Full,
    /// Reading or writing the file failed.
    Io,
    /// The database may not be written.
    ReadOnly,
    /// Anything else.
    Other,
}

impl RefusalKind {
    /// Whether SQLite files the failure under its one code 19 for constraints, which tells a duplicate
    /// from a missing ticket no more than it tells either from a bad status.
    pub fn is_integrity(self) -> bool {
        use RefusalKind::*;
        matches!(
            self,
            Unique | ForeignKey | Check | NotNull | OtherConstraint
        )
    }

    /// The kind of a database error, by its code alone.
    ///
    /// # Source
    /// <https://www.sqlite.org/rescode.html>
    pub fn of(error: &rusqlite::Error) -> Self {
        let Some(sqlite) = error.sqlite_error() else {
            return RefusalKind::Other;
        };
        match sqlite.extended_code {
            rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE
            | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY
            | rusqlite::ffi::SQLITE_CONSTRAINT_ROWID => RefusalKind::Unique,
            rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY => RefusalKind::ForeignKey,
            rusqlite::ffi::SQLITE_CONSTRAINT_CHECK => RefusalKind::Check,
            rusqlite::ffi::SQLITE_CONSTRAINT_NOTNULL => RefusalKind::NotNull,
            _ => match sqlite.code {
                ErrorCode::ConstraintViolation => RefusalKind::OtherConstraint,
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => RefusalKind::Busy,
                ErrorCode::DiskFull => RefusalKind::Full,
                ErrorCode::SystemIoFailure => RefusalKind::Io,
                ErrorCode::ReadOnly => RefusalKind::ReadOnly,
                _ => RefusalKind::Other,
            },
        }
    }

    /// A word for messages, in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            RefusalKind::Unique => "unique constraint",
            RefusalKind::ForeignKey => "foreign key",
            RefusalKind::Check => "check constraint",
            RefusalKind::NotNull => "not-null constraint",
            RefusalKind::OtherConstraint => "other constraint",
            RefusalKind::Busy => "database busy",
            RefusalKind::Full => "disk full",
            RefusalKind::Io => "input or output",
            RefusalKind::ReadOnly => "read-only database",
            RefusalKind::Other => "other error",
        }
    }
}

impl From<&rusqlite::Error> for Refusal {
    fn from(error: &rusqlite::Error) -> Self {
        Refusal {
            kind: RefusalKind::of(error),
            code: error
                .sqlite_error()
                .map_or(0, |sqlite| sqlite.extended_code),
            message: match error {
                rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
                other => other.to_string(),
            },
        }
    }
}

/// What a statement is for, which decides what its answer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Begins or ends a transaction.
    Control,
    /// Looks at rows.
    Query,
    /// Changes rows.
    Write,
    /// Returns one row, whether or not it changes it.
    Fetch,
}

/// Runs `sql` with `values` bound, and returns what SQLite answered.
///
/// # Errors
/// The database's own error, kept whole so that a caller can pass it on; [`answer`] turns it into data.
pub fn ask(
    connection: &Connection,
    purpose: Purpose,
    sql: &str,
    values: impl Params,
) -> rusqlite::Result<Answer> {
    let mut statement = connection.prepare_cached(sql)?;
    Ok(match purpose {
        Purpose::Query => {
            let mut rows = statement.query(values)?;
            let mut count = 0;
            while rows.next()?.is_some() {
                count += 1;
            }
            Answer::Rows(count)
        }
        Purpose::Fetch => {
            let mut rows = statement.query(values)?;
            let first = rows.next()?.map(in_text).transpose()?;
            // A write that returns rows is carried out once they are all fetched.
            while rows.next()?.is_some() {}
            Answer::Row(first)
        }
        Purpose::Write => Answer::Changed(statement.execute(values)? as u64),
        Purpose::Control => {
            statement.execute(values)?;
            Answer::Done
        }
    })
}

fn in_text(row: &Row<'_>) -> rusqlite::Result<Vec<String>> {
    let columns = row.as_ref().column_count();
    let text = |index| {
        Ok(match row.get_ref(index)? {
            ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
            value => literal(&Value::try_from(value)?),
        })
    };
    (0..columns).map(text).collect()
}

/// An answer as data: a failure is an answer too.
pub fn answer(result: rusqlite::Result<Answer>) -> Answer {
    result.unwrap_or_else(|error| Answer::Refused(Refusal::from(&error)))
}
