//! The laboratory's tables on PostgreSQL, and the rows that tests and consumers write into them.

use deliver_twice_core::dialect::{in_postgres, with_numbered_parameters};
use deliver_twice_core::schema;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

/// The receipts of the contract, the tickets and the tasks, and one ticket, `ticket-1`.
///
/// # Errors
/// The server's.
pub async fn create(client: &Client) -> Result<(), Error> {
    for tables in [schema::RECEIPTS, schema::BUSINESS] {
        client.batch_execute(&in_postgres(tables)).await?;
    }
    add_ticket(client, "ticket-1").await
}

/// Adds a ticket.
///
/// # Errors
/// The server's.
pub async fn add_ticket(client: &Client, ticket_id: &str) -> Result<(), Error> {
    let values = [
        (&ticket_id as _, Type::TEXT),
        (&"tenant-1" as _, Type::TEXT),
    ];
    client
        .execute_typed(&with_numbered_parameters(schema::INSERT_TICKET), &values)
        .await
        .map(drop)
}

/// A task to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task<'a> {
    /// Its id.
    pub id: &'a str,
    /// The ticket that it is about.
    pub ticket_id: &'a str,
    /// The tenant; the table refuses `None`.
    pub tenant_id: Option<&'a str>,
    /// What is to be done: the name of the effect.
    pub effect: &'a str,
    /// How far it is.
    pub status: &'a str,
}

impl<'a> Task<'a> {
    /// A task of `ticket-1` that nothing is wrong with.
    pub fn sound(id: &'a str) -> Self {
        Task {
            id,
            ticket_id: "ticket-1",
            tenant_id: Some("tenant-1"),
            effect: "notification",
            status: "pending",
        }
    }

    /// Writes it, by the laboratory's own statement. Returns how many rows that changed.
    ///
    /// # Errors
    /// The server's.
    pub async fn write(&self, client: &Client) -> Result<u64, Error> {
        let values = [
            (&self.id as _, Type::TEXT),
            (&self.ticket_id as _, Type::TEXT),
            (&self.tenant_id as _, Type::TEXT),
            (&self.effect as _, Type::TEXT),
            (&self.status as _, Type::TEXT),
        ];
        client
            .execute_typed(&with_numbered_parameters(schema::INSERT_TASK), &values)
            .await
    }
}

/// How many receipts and tasks there are, as this session sees it.
///
/// # Errors
/// The server's.
pub async fn count(client: &Client) -> Result<(i64, i64), Error> {
    let sql =
        "SELECT (SELECT count(*) FROM effect_receipts), (SELECT count(*) FROM business_tasks)";
    let row = client.query_typed_one(sql, &[]).await?;
    Ok((row.get(0), row.get(1)))
}

/// Drops the laboratory's tables and makes them anew.
///
/// # Errors
/// The server's.
pub async fn create_anew(client: &Client) -> Result<(), Error> {
    client
        .batch_execute("DROP TABLE effect_receipts, business_tasks, tickets")
        .await?;
    create(client).await
}
