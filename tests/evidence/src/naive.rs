//! A design's plan, walked as it stands in a session of PostgreSQL: to measure beside the contract.

use deliver_twice_core::dialect::{in_postgres, with_numbered_parameters};
use deliver_twice_core::plan::{Bind, Meaning, Plan, Stage};
use deliver_twice_core::sql::{Answer, Purpose};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

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
    let values: Vec<Option<&str>> = stage
        .binds
        .iter()
        .map(|bind| match bind {
            Bind::EventId => Some(event_id),
            Bind::EffectName => Some(task.effect),
            Bind::TaskId => Some(task.id),
            Bind::TicketId => Some(task.ticket_id),
            Bind::TenantId => task.tenant_id,
            Bind::Status => Some(task.status),
            _ => unreachable!("a consumer's statements need nothing of a relay"),
        })
        .collect();
    let typed: Vec<_> = values
        .iter()
        .map(|value| (value as _, Type::TEXT))
        .collect();
    let sql = with_numbered_parameters(&in_postgres(stage.sql));
    Ok(match purpose {
        Purpose::Query => Answer::Rows(session.query_typed(&sql, &typed).await?.len() as u64),
        _ => Answer::Changed(session.execute_typed(&sql, &typed).await?),
    })
}
