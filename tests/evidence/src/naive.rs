//! A design's plan, walked as it stands in a session of PostgreSQL: to measure beside the contract.

use deliver_twice_core::plan::{Bind, Meaning, Plan, Stage};
use deliver_twice_core::sql::{Answer, Purpose};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error};

use crate::statement::{self, Typed, in_words};
use crate::tables::Task;

/// Looks, then writes the receipt, then the task, each in a transaction of its own: the preset
/// `check-then-insert`. Returns whether it wrote.
///
/// # Errors
/// The server's. What was written before stays.
pub async fn check_then_insert(
    session: &Client,
    plan: &Plan,
    event_id: &str,
    task: &Task<'_>,
) -> Result<bool, Error> {
    for stage in &plan.stages {
        let Some(purpose) = stage.purpose() else {
            continue;
        };
        let answer = ask(session, purpose, stage, event_id, task).await?;
        if stage.read(&answer) == Meaning::Duplicate {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn ask(
    session: &Client,
    purpose: Purpose,
    stage: &Stage,
    event_id: &str,
    task: &Task<'_>,
) -> Result<Answer, Error> {
    let typed = |bind: &Bind| -> Typed<'_> {
        let value: &(dyn ToSql + Sync) = match bind {
            Bind::EventId => &event_id,
            Bind::EffectName => &task.effect,
            Bind::TaskId => &task.id,
            Bind::TicketId => &task.ticket_id,
            Bind::TenantId => &task.tenant_id,
            Bind::Status => &task.status,
            _ => unreachable!("a consumer's statements need nothing of a relay"),
        };
        (value, Type::TEXT)
    };
    let values: Vec<Typed<'_>> = stage.binds.iter().map(typed).collect();
    statement::ask(session, purpose, &in_words(stage.sql), &values).await
}
