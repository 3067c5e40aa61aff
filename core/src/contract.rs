//! The contract as a library call: receipt and effect commit together or not at all.

use std::fmt;
use std::sync::LazyLock;

use rusqlite::{Connection, params_from_iter};

use crate::design::{Design, Key};
use crate::event::EffectName;
use crate::plan::{Bind, Meaning, Plan, Role, Stage, check_statement};
use crate::sql::{self, Answer, Purpose, Refusal, RefusalKind};

/// What became of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a duplicate may be acked, and so may an applied effect; nothing else may"]
pub enum Outcome<T> {
    /// This call carried the effect out, and it is committed. Holds what `apply` returned.
    Applied(T),
    /// An earlier call did, and its commit is what the receipt proves.
    Duplicate,
}

impl<T> Outcome<T> {
    /// Whether this call carried the effect out.
    pub fn is_applied(&self) -> bool {
        matches!(self, Outcome::Applied(_))
    }
}

/// Why an effect was neither applied nor found to be a duplicate. Nothing of it is left in the database,
/// except what `apply` committed by itself.
#[derive(Debug)]
#[non_exhaustive]
pub enum ApplyError {
    /// The database refused a statement.
    Refused {
        /// The stage whose statement it was.
        during: Role,
        /// What sort of refusal.
        kind: RefusalKind,
        /// The database's own error.
        source: rusqlite::Error,
    },
    /// The receipt was neither written nor refused: the table is not the contract's, but one that ignores
    /// a conflict without a word. Without a receipt there is no telling a duplicate.
    NoReceipt,
    /// `apply` committed or rolled back by itself, so receipt and effect no longer share a transaction.
    /// If it committed, a receipt may stand there without its effect.
    TransactionEnded,
}

impl ApplyError {
    /// What sort of refusal it was.
    pub fn kind(&self) -> RefusalKind {
        match self {
            ApplyError::Refused { kind, .. } => *kind,
            ApplyError::NoReceipt | ApplyError::TransactionEnded => RefusalKind::Other,
        }
    }

    fn refused(during: Role, source: rusqlite::Error) -> Self {
        ApplyError::Refused {
            during,
            kind: RefusalKind::of(&source),
            source,
        }
    }
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApplyError::Refused {
                during,
                kind,
                source,
            } => {
                let stage = match during {
                    Role::Begin => "begin",
                    Role::Claim => "receipt",
                    Role::Apply => "effect",
                    Role::Commit => "commit",
                    // The contract's plan has no others that ask the database.
                    _ => "stage",
                };
                write!(f, "{stage} refused ({}): {source}", kind.as_str())
            }
            ApplyError::NoReceipt => f.write_str("the receipt was neither written nor refused"),
            ApplyError::TransactionEnded => {
                f.write_str("apply ended the transaction that its receipt was written in")
            }
        }
    }
}

impl std::error::Error for ApplyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ApplyError::Refused { source, .. } => Some(source),
            ApplyError::NoReceipt | ApplyError::TransactionEnded => None,
        }
    }
}

/// The plan of the contract, for one effect. The laboratory compiles the same one for its workers.
static CONTRACT: LazyLock<Plan> =
    LazyLock::new(|| Plan::compile(Design::CONTRACT, &EffectName::ALL[..1]));

/// Carries out one effect of one event, however often it is called.
///
/// In one transaction the receipt `(event_id, effect)` is written, then `apply` runs on the same
/// connection, then both commit. The database must have the table [`schema::RECEIPTS`]; whatever
/// `apply` writes, its tables may be anywhere in the same database.
///
/// Only the receipt's own unique constraint means duplicate: the statement that failed and the extended
/// result code say so (2067 or 1555), never the message. A foreign key, a CHECK, a NOT NULL, a UNIQUE of
/// any other table, a busy database come back as themselves, and everything is rolled back.
///
/// `apply` must neither commit nor roll back, and a `ROLLBACK; BEGIN` in it is not noticed.
///
/// Ack the delivery after this returns `Ok`, never before. What `apply` does outside the database, such
/// as sending a mail, is not undone by the rollback and not deduplicated by the receipt.
///
/// # Errors
/// [`ApplyError`], with its kind. The transaction is gone by then, also if `apply` panics. If the
/// connection was inside a transaction already, that one is left as it was.
///
/// [`schema::RECEIPTS`]: crate::schema::RECEIPTS
///
/// # Example
/// ```
/// use deliver_twice_core::{apply_once, schema};
/// let mut db = rusqlite::Connection::open_in_memory()?;
/// db.execute_batch(schema::RECEIPTS)?;
/// db.execute_batch("CREATE TABLE mails (address TEXT NOT NULL) STRICT")?;
/// let queue_mail = |db: &rusqlite::Connection| {
///     db.execute("INSERT INTO mails VALUES ('kim@example.org')", [])
/// };
/// assert!(apply_once(&mut db, "e1", "notification", queue_mail)?.is_applied());
/// assert!(!apply_once(&mut db, "e1", "notification", queue_mail)?.is_applied());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn apply_once<T>(
    connection: &mut Connection,
    event_id: &str,
    effect: &str,
    apply: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> Result<Outcome<T>, ApplyError> {
    let connection = &*connection;
    let mut apply = Some(apply);
    let mut open = None;
    let mut applied = None;
    for stage in &CONTRACT.stages {
        let result = match (stage.role, stage.purpose()) {
            (_, None) => continue,
            (Role::Apply, _) => {
                let apply = apply.take().expect("a plan for one effect applies once");
                apply(connection).map(|value| {
                    applied = Some(value);
                    Answer::Done
                })
            }
            (_, Some(purpose)) => sql::ask(
                connection,
                purpose,
                stage.sql,
                params_from_iter(values(stage.binds, event_id, effect)),
            ),
        };
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => return conclude(connection, stage, error, event_id, effect),
        };
        match stage.role {
            Role::Begin => open = Some(Transaction(connection)),
            Role::Claim if answer != Answer::Changed(1) => return Err(ApplyError::NoReceipt),
            Role::Apply if connection.is_autocommit() => return Err(ApplyError::TransactionEnded),
            _ => {}
        }
    }
    drop(open);
    Ok(Outcome::Applied(
        applied.expect("a plan that ran to its end has applied"),
    ))
}

/// What a refused statement means: a duplicate, or an error that is itself.
fn conclude<T>(
    connection: &Connection,
    stage: &Stage,
    error: rusqlite::Error,
    event_id: &str,
    effect: &str,
) -> Result<Outcome<T>, ApplyError> {
    let answer = Answer::Refused(Refusal::from(&error));
    if stage.read(&answer) == Meaning::Duplicate && has_receipt(connection, event_id, effect)? {
        return Ok(Outcome::Duplicate);
    }
    // SQLite may have rolled back with the error. If the receipt stands, it was `apply` that committed.
    if stage.role == Role::Apply
        && connection.is_autocommit()
        && matches!(has_receipt(connection, event_id, effect), Ok(true))
    {
        return Err(ApplyError::TransactionEnded);
    }
    Err(ApplyError::refused(stage.role, error))
}

/// Looks whether the receipt is there. After a refused claim it is, unless a trigger or a second unique
/// index on the caller's table was what refused.
fn has_receipt(connection: &Connection, event_id: &str, effect: &str) -> Result<bool, ApplyError> {
    let (sql, binds) = check_statement(Key::EventEffect);
    let values = params_from_iter(values(binds, event_id, effect));
    let found = sql::ask(connection, Purpose::Query, sql, values)
        .map_err(|error| ApplyError::refused(Role::Check, error))?;
    Ok(matches!(found, Answer::Rows(1..)))
}

fn values<'a>(
    binds: &'a [Bind],
    event_id: &'a str,
    effect: &'a str,
) -> impl Iterator<Item = &'a str> {
    binds.iter().map(move |bind| match bind {
        Bind::EventId => event_id,
        Bind::EffectName => effect,
        _ => unreachable!("the contract's own statements need the key and nothing else"),
    })
}

/// An open transaction, rolled back when it goes out of scope and was not committed.
struct Transaction<'c>(&'c Connection);

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            // A rollback fails only if SQLite has rolled back by itself already.
            let _ = sql::ask(self.0, Purpose::Control, Plan::ROLLBACK, []);
        }
    }
}
