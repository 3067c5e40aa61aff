//! The contract on PostgreSQL: receipt and effect commit together or not at all.

use std::fmt;
use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Waker};

use deliver_twice_core::Outcome;
use deliver_twice_core::design::{Design, Key};
use deliver_twice_core::event::EffectName;
use deliver_twice_core::plan::{Bind, Meaning, Plan, Role, Stage, check_statement};
use deliver_twice_core::schema::RECEIPT_CONSTRAINT;
use deliver_twice_core::sql::{Answer, Purpose, Refusal, RefusalKind};
use futures_util::future::join;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use crate::statement::{Typed, ask, in_words, kind_of};

/// Why an effect was neither applied nor found to be a duplicate. Nothing of it is left in the database,
/// except what `apply` committed by itself, and except after an error of the commit that is no database
/// error: then nobody knows, and the next delivery will tell.
#[derive(Debug)]
#[non_exhaustive]
pub enum ApplyError {
    /// The server refused a statement, or the connection broke.
    Refused {
        /// The stage whose statement it was.
        during: Role,
        /// The client's own error, with SQLSTATE and constraint if it is the server's.
        source: Error,
    },
    /// The receipt was neither written nor refused: a rule or a trigger on its table ignores the row
    /// without a word. Without a receipt there is no telling a duplicate.
    NoReceipt,
    /// A statement of `apply` failed, and `apply` said that all was well. PostgreSQL aborts the whole
    /// transaction with the statement, and answers its COMMIT with a rollback and no error.
    Swallowed,
    /// `apply` committed or rolled back by itself, so receipt and effect no longer share a transaction.
    /// If it committed, a receipt may stand there without its effect.
    TransactionEnded,
    /// The session has a transaction open. A duplicate would abort it, so it is left as it was and nothing
    /// was done.
    InTransaction,
}

impl ApplyError {
    /// The server's code of five characters, if the server refused.
    pub fn sqlstate(&self) -> Option<&SqlState> {
        match self {
            ApplyError::Refused { source, .. } => source.code(),
            _ => None,
        }
    }

    /// The constraint that refused, if one did.
    pub fn constraint(&self) -> Option<&str> {
        match self {
            ApplyError::Refused { source, .. } => source.as_db_error()?.constraint(),
            _ => None,
        }
    }
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApplyError::Refused { during, source } => {
                let stage = match during {
                    Role::Begin => "begin",
                    Role::Check => "look for the receipt",
                    Role::Claim => "receipt",
                    Role::Apply => "effect",
                    Role::Commit => "commit",
                    // The contract's plan has no others that ask the database.
                    _ => "stage",
                };
                let code = source.code().map_or("connection", SqlState::code);
                write!(f, "{stage} refused ({code}): {source}")
            }
            ApplyError::NoReceipt => f.write_str("the receipt was neither written nor refused"),
            ApplyError::Swallowed => f.write_str(
                "apply returned a value after one of its statements had aborted the transaction",
            ),
            ApplyError::TransactionEnded => {
                f.write_str("apply ended the transaction that its receipt was written in")
            }
            ApplyError::InTransaction => f.write_str("the session has a transaction open"),
        }
    }
}

impl std::error::Error for ApplyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ApplyError::Refused { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// The plan of the contract, for one effect, each stage with its statement in PostgreSQL's words. The
/// laboratory compiles the same plan for its workers.
static CONTRACT: LazyLock<Vec<(Stage, String)>> = LazyLock::new(|| {
    let stages = Plan::compile(Design::CONTRACT, &EffectName::ALL[..1]).stages;
    stages
        .into_iter()
        .map(|stage| {
            let statement = in_words(stage.sql);
            (stage, statement)
        })
        .collect()
});

/// Carries out one effect of one event, however often it is called.
///
/// In one transaction the receipt `(event_id, effect)` is written, then `apply` runs in the same session,
/// then both commit. The search path must lead to the table `effect_receipts` with its constraint
/// `uq_effect_event_name`; the transaction has the session's default isolation, whichever that is.
///
/// Only that constraint of that table means duplicate, and only if the receipt is there when the
/// transaction is gone: SQLSTATE 23505 alone says that some unique rule was broken, perhaps by a trigger.
/// Every other refusal is itself (23503, 23514, 23502, 40001, 40P01, 55P03 …), and everything is rolled
/// back. Where two sessions claim the same receipt at once, the second waits for the first to end: it is a
/// duplicate after a commit, and goes on after a rollback.
///
/// After a refused statement PostgreSQL takes nothing but ROLLBACK in the transaction (25P02 until then).
/// So a duplicate ends the transaction, and this may not be called inside one of the caller's; and an
/// `apply` that leaves out an error is found out before the commit.
///
/// Ack the delivery after this returns `Ok`, never before. Dropped before its end, or if `apply` panics,
/// it leaves nothing: the session rolls back before it does anything else.
///
/// # Errors
/// [`ApplyError`]. The transaction is gone by then, unless it was the caller's.
pub async fn apply_once<T>(
    client: &mut Client,
    event_id: &str,
    effect: &str,
    apply: impl AsyncFnOnce(&Client) -> Result<T, Error>,
) -> Result<Outcome<T>, ApplyError> {
    let client = &*client;
    check_no_transaction(client).await?;
    let transaction = Transaction(Some(client));
    let stop = match walk(client, event_id, effect, apply).await {
        Ok(value) => {
            transaction.forget();
            return Ok(Outcome::Applied(value));
        }
        Err(stop) => stop,
    };
    transaction.roll_back().await;
    if stop.is_duplicate && has_receipt(client, event_id, effect).await? {
        return Ok(Outcome::Duplicate);
    }
    Err(stop.error)
}

/// Why a walk through the plan ended early.
struct Stop {
    /// Whether the plan reads the answer as a duplicate.
    is_duplicate: bool,
    error: ApplyError,
}

impl From<ApplyError> for Stop {
    fn from(error: ApplyError) -> Self {
        Stop {
            is_duplicate: false,
            error,
        }
    }
}

/// Walks the stages of the plan, and leaves it to the caller to undo what a stop leaves open.
async fn walk<T>(
    client: &Client,
    event_id: &str,
    effect: &str,
    apply: impl AsyncFnOnce(&Client) -> Result<T, Error>,
) -> Result<T, Stop> {
    let mut apply = Some(apply);
    let mut applied = None;
    let mut own = None;
    for (stage, statement) in CONTRACT.iter() {
        let refused = |source| refused(stage, source);
        match (stage.role, stage.purpose()) {
            (_, None) => {}
            (Role::Apply, _) => {
                let apply = apply.take().expect("a plan for one effect applies once");
                let result = apply(client).await;
                check_own_transaction(client, &own, result.is_ok()).await?;
                applied = Some(result.map_err(refused)?);
            }
            (Role::Claim, Some(purpose)) => {
                let values = values(stage.binds, &event_id, &effect);
                // In one breath: the claim, and which transaction it is in.
                let claim = ask(client, purpose, statement, &values);
                let (answer, id) = join(claim, transaction_id(client)).await;
                if answer.map_err(refused)? != Answer::Changed(1) {
                    return Err(ApplyError::NoReceipt.into());
                }
                own = id.map_err(refused)?;
            }
            (_, Some(purpose)) => {
                let answer = ask(client, purpose, statement, &[]).await;
                let _ = answer.map_err(refused)?;
            }
        }
    }
    Ok(applied.expect("a plan that ran to its end has applied"))
}

/// What a refused statement means to the plan.
fn refused(stage: &Stage, source: Error) -> Stop {
    let answer = Answer::Refused(Refusal {
        kind: kind(&source),
        code: 0,
        message: source.to_string(),
    });
    Stop {
        is_duplicate: stage.read(&answer) == Meaning::Duplicate,
        error: ApplyError::Refused {
            during: stage.role,
            source,
        },
    }
}

/// What sort of refusal it was. A unique constraint is the receipt's own and no other: that is what the
/// plan means by it.
fn kind(error: &Error) -> RefusalKind {
    let Some(refusal) = error.as_db_error() else {
        return RefusalKind::Other;
    };
    let is_receipt = refusal.constraint() == Some(RECEIPT_CONSTRAINT)
        && refusal.table() == Some("effect_receipts");
    match kind_of(refusal.code()) {
        RefusalKind::Unique if !is_receipt => RefusalKind::OtherConstraint,
        kind => kind,
    }
}

/// Refuses a session that is inside a transaction. A setting that is local to a transaction is still there
/// in the next statement only if both are in one.
async fn check_no_transaction(client: &Client) -> Result<(), ApplyError> {
    const SET: &str = "SELECT set_config('deliver_twice.in_transaction', 'yes', true)";
    const READ: &str = "SELECT coalesce(current_setting('deliver_twice.in_transaction', true), '')";
    let (set, read) = join(client.query_typed(SET, &[]), client.query_typed(READ, &[])).await;
    match set.and(read) {
        Ok(rows) if rows.iter().all(|row| row.get::<_, &str>(0) != "yes") => Ok(()),
        Ok(_) => Err(ApplyError::InTransaction),
        Err(error) if error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION) => {
            Err(ApplyError::InTransaction)
        }
        Err(source) => Err(ApplyError::Refused {
            during: Role::Begin,
            source,
        }),
    }
}

/// Asks, before the commit, whether the transaction is still the one that the receipt was written in, and
/// can still commit.
async fn check_own_transaction(
    client: &Client,
    own: &Option<String>,
    says_it_applied: bool,
) -> Result<(), ApplyError> {
    match transaction_id(client).await {
        Ok(now) if now == *own => Ok(()),
        Ok(_) => Err(ApplyError::TransactionEnded),
        // What `apply` says of the failure says more than this does.
        Err(_) if !says_it_applied => Ok(()),
        Err(error) if error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION) => {
            Err(ApplyError::Swallowed)
        }
        Err(source) => Err(ApplyError::Refused {
            during: Role::Apply,
            source,
        }),
    }
}

/// The transaction that has written something in this session; `None` if none has.
async fn transaction_id(client: &Client) -> Result<Option<String>, Error> {
    const SQL: &str = "SELECT pg_current_xact_id_if_assigned()::TEXT";
    Ok(client.query_typed_one(SQL, &[]).await?.get(0))
}

/// Looks whether the receipt is there, once the transaction that it refused is gone.
async fn has_receipt(client: &Client, event_id: &str, effect: &str) -> Result<bool, ApplyError> {
    let (sql, binds) = check_statement(Key::EventEffect);
    let values = values(binds, &event_id, &effect);
    let found = ask(client, Purpose::Query, &in_words(sql), &values).await;
    let found = found.map_err(|source| ApplyError::Refused {
        during: Role::Check,
        source,
    })?;
    Ok(matches!(found, Answer::Rows(1..)))
}

fn values<'a>(binds: &[Bind], event_id: &'a &str, effect: &'a &str) -> Vec<Typed<'a>> {
    let typed = |bind: &Bind| -> Typed<'a> {
        match bind {
            Bind::EventId => (event_id, Type::TEXT),
            Bind::EffectName => (effect, Type::TEXT),
            _ => unreachable!("the contract's own statements need the key and nothing else"),
        }
    };
    binds.iter().map(typed).collect()
}

/// A transaction that may be open. If it goes out of scope the session rolls back, before it does anything
/// else.
struct Transaction<'c>(Option<&'c Client>);

impl Transaction<'_> {
    /// Nothing is left to roll back.
    fn forget(mut self) {
        self.0 = None;
    }

    async fn roll_back(mut self) {
        if let Some(client) = self.0 {
            // Fails only if the connection is gone, and the transaction with it.
            let _ = client.batch_execute(Plan::ROLLBACK).await;
        }
        self.0 = None;
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if let Some(client) = self.0 {
            // The first poll puts the statement into the session's queue; nobody waits for the answer.
            let rollback = pin!(client.batch_execute(Plan::ROLLBACK));
            let _ = rollback.poll(&mut Context::from_waker(Waker::noop()));
        }
    }
}
