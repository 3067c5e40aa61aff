//! One statement to PostgreSQL, in its words, and what it answered: the core's `sql`, for a server.

use deliver_twice_core::dialect::{in_postgres, with_numbered_parameters};
use deliver_twice_core::sql::{Answer, Purpose, RefusalKind};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};

/// A value, and how it goes over the wire.
pub type Typed<'a> = (&'a (dyn ToSql + Sync), Type);

/// A statement of the core in PostgreSQL's words, its parameters by number.
pub fn in_words(sql: &str) -> String {
    with_numbered_parameters(&in_postgres(sql))
}

/// Runs a statement that is in PostgreSQL's words already.
///
/// # Errors
/// The server's.
pub async fn ask(
    client: &Client,
    purpose: Purpose,
    sql: &str,
    values: &[Typed<'_>],
) -> Result<Answer, Error> {
    Ok(match purpose {
        Purpose::Control => {
            client.batch_execute(sql).await?;
            Answer::Done
        }
        Purpose::Query => Answer::Rows(client.query_typed(sql, values).await?.len() as u64),
        Purpose::Write => Answer::Changed(client.execute_typed(sql, values).await?),
        Purpose::Fetch => {
            let rows = client.query_typed(sql, values).await?;
            Answer::Row(rows.first().map(in_text))
        }
    })
}

/// A row with each value as text.
fn in_text(row: &Row) -> Vec<String> {
    let text = |place: usize| match *row.columns()[place].type_() {
        Type::INT4 => row.get::<_, i32>(place).to_string(),
        Type::INT8 => row.get::<_, i64>(place).to_string(),
        _ => row.get(place),
    };
    (0..row.len()).map(text).collect()
}

/// The sort of a refusal, by its SQLSTATE.
///
/// # Source
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>
pub fn kind_of(code: &SqlState) -> RefusalKind {
    match *code {
        SqlState::UNIQUE_VIOLATION => RefusalKind::Unique,
        SqlState::FOREIGN_KEY_VIOLATION => RefusalKind::ForeignKey,
        SqlState::CHECK_VIOLATION => RefusalKind::Check,
        SqlState::NOT_NULL_VIOLATION => RefusalKind::NotNull,
        SqlState::READ_ONLY_SQL_TRANSACTION => RefusalKind::ReadOnly,
        SqlState::DISK_FULL => RefusalKind::Full,
        SqlState::IO_ERROR => RefusalKind::Io,
        _ if code.code().starts_with("23") => RefusalKind::OtherConstraint,
        _ => RefusalKind::Other,
    }
}
