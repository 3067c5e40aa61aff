//! The contract on PostgreSQL: what it says in every case, and what it leaves in the database.

use std::panic::AssertUnwindSafe;

use deliver_twice_core::Outcome;
use deliver_twice_core::plan::Role;
use deliver_twice_evidence::scratch::Schema;
use deliver_twice_evidence::tables::{self, Task};
use deliver_twice_evidence::{ApplyError, apply_once};
use futures_util::FutureExt;
use tokio::sync::Notify;
use tokio_postgres::{Client, Error};

/// A schema with the laboratory's tables, and a session in it.
pub async fn database() -> Option<(Schema, Client)> {
    let schema = Schema::open().await?;
    let client = schema.session().await;
    tables::create(&client).await.unwrap();
    Some((schema, client))
}

async fn apply(
    client: &mut Client,
    event: &str,
    task: Task<'_>,
) -> Result<Outcome<u64>, ApplyError> {
    apply_once(client, event, "notification", async |client| {
        task.write(client).await
    })
    .await
}

/// What an error was: the stage, the server's code, and the constraint.
fn refusal<T: std::fmt::Debug>(result: Result<Outcome<T>, ApplyError>) -> (Role, String, String) {
    let error = result.unwrap_err();
    let ApplyError::Refused { during, .. } = error else {
        panic!("{error:?}")
    };
    let code = error.sqlstate().map_or("", |code| code.code()).to_owned();
    (during, code, error.constraint().unwrap_or("").to_owned())
}

fn refused(during: Role, code: &str, constraint: &str) -> (Role, String, String) {
    (during, code.to_owned(), constraint.to_owned())
}

/// After an error nothing is left, and the session applies the next effect as if nothing had been.
async fn check_nothing_left(client: &mut Client, tasks_before: i64) {
    assert_eq!(tables::count(client).await.unwrap(), (0, tasks_before));
    let again = apply(client, "e9", Task::sound("task-9")).await.unwrap();
    assert_eq!(again, Outcome::Applied(1));
    assert_eq!(tables::count(client).await.unwrap(), (1, tasks_before + 1));
}

// ---- The two outcomes ------------------------------------------------------------------------------

#[tokio::test]
async fn the_first_call_applies_and_the_second_is_a_duplicate() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    let first = apply(&mut client, "e1", Task::sound("task-1"))
        .await
        .unwrap();
    assert_eq!(first, Outcome::Applied(1));
    let second = apply_once(
        &mut client,
        "e1",
        "notification",
        async |_| -> Result<(), Error> { panic!("apply was called for a duplicate") },
    );
    assert_eq!(second.await.unwrap(), Outcome::Duplicate);
    assert_eq!(tables::count(&client).await.unwrap(), (1, 1));
    // The duplicate's refused claim has left no transaction behind.
    let other = apply(&mut client, "e2", Task::sound("task-2"))
        .await
        .unwrap();
    assert_eq!(other, Outcome::Applied(1));
}

#[tokio::test]
async fn events_and_effects_are_told_apart_by_name() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    let calls = [
        ("e1", "notification"),
        ("e1", "audit"),
        ("e2", "notification"),
    ];
    for round in [true, false] {
        for (event, effect) in calls {
            let id = format!("{event}-{effect}-{round}");
            let outcome = apply_once(&mut client, event, effect, async |client| {
                Task::sound(&id).write(client).await
            });
            assert_eq!(
                outcome.await.unwrap().is_applied(),
                round,
                "{event} {effect}"
            );
        }
    }
    assert_eq!(tables::count(&client).await.unwrap(), (3, 3));
}

#[tokio::test]
async fn what_apply_returns_is_handed_on() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    let outcome = apply_once(&mut client, "e1", "audit", async |_| Ok("hello".to_owned())).await;
    assert_eq!(outcome.unwrap(), Outcome::Applied("hello".to_owned()));
}

// ---- What is refused is no duplicate ---------------------------------------------------------------

#[tokio::test]
async fn a_violation_in_apply_is_itself_and_rolls_both_rows_back() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    let escalated = Task {
        status: "escalated",
        ..Task::sound("task-0")
    };
    escalated.write(&client).await.unwrap();
    let sound = Task::sound("task-1");
    let cases = [
        (
            Task {
                ticket_id: "ticket-9",
                ..sound
            },
            ("23503", "business_tasks_ticket_id_fkey"),
        ),
        (
            Task {
                status: "urgent",
                ..sound
            },
            ("23514", "ck_task_status"),
        ),
        (
            Task {
                tenant_id: None,
                ..sound
            },
            ("23502", ""),
        ),
        (
            Task {
                status: "escalated",
                ..sound
            },
            ("23505", "uq_task_escalated"),
        ),
        (
            Task {
                id: "task-0",
                ..sound
            },
            ("23505", "business_tasks_pkey"),
        ),
    ];
    for (task, (code, constraint)) in cases {
        let result = apply(&mut client, "e1", task).await;
        assert_eq!(refusal(result), refused(Role::Apply, code, constraint));
        assert_eq!(
            tables::count(&client).await.unwrap(),
            (0, 1),
            "{constraint}"
        );
    }
    check_nothing_left(&mut client, 1).await;
}

#[tokio::test]
async fn a_constraint_that_waits_for_the_commit_is_an_error_of_the_commit() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    let deferred = "ALTER TABLE business_tasks ALTER CONSTRAINT business_tasks_ticket_id_fkey \
                    DEFERRABLE INITIALLY DEFERRED";
    client.batch_execute(deferred).await.unwrap();
    let missing = Task {
        ticket_id: "ticket-9",
        ..Task::sound("task-1")
    };
    let result = apply(&mut client, "e1", missing).await;
    let expected = refused(Role::Commit, "23503", "business_tasks_ticket_id_fkey");
    assert_eq!(refusal(result), expected);
    check_nothing_left(&mut client, 0).await;
}

/// Each of these refuses the claim with 23505, and none of them is a receipt.
#[tokio::test]
async fn a_unique_violation_that_is_not_the_receipts_own_is_no_duplicate() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    client
        .batch_execute(
            "CREATE TABLE log (line TEXT NOT NULL CONSTRAINT uq_log_line UNIQUE);
             INSERT INTO log VALUES ('claimed');",
        )
        .await
        .unwrap();
    let cases = [
        ("INSERT INTO log VALUES ('claimed')", "uq_log_line"),
        ("RAISE unique_violation", ""),
        // Another table with a constraint of the same name.
        (
            "RAISE unique_violation USING TABLE = 'log', CONSTRAINT = 'uq_effect_event_name'",
            "uq_effect_event_name",
        ),
        // The very names of the contract, and no receipt behind them.
        (
            "RAISE unique_violation USING TABLE = 'effect_receipts', CONSTRAINT = 'uq_effect_event_name'",
            "uq_effect_event_name",
        ),
    ];
    for (body, constraint) in cases {
        let trigger = format!(
            "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN {body}; RETURN NEW; END $$;
             CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON effect_receipts
             FOR EACH ROW EXECUTE FUNCTION refuse();"
        );
        client.batch_execute(&trigger).await.unwrap();
        let result = apply(&mut client, "e1", Task::sound("task-1")).await;
        let expected = refused(Role::Claim, "23505", constraint);
        assert_eq!(refusal(result), expected, "{body}");
        // Nor is it one because a receipt happens to be there: another rule was broken.
        let receipt = "SET session_replication_role = replica;
                       INSERT INTO effect_receipts VALUES ('e1', 'notification');
                       SET session_replication_role = origin;";
        client.batch_execute(receipt).await.unwrap();
        let result = apply(&mut client, "e1", Task::sound("task-1")).await;
        if body.contains("'effect_receipts'") {
            assert_eq!(result.unwrap(), Outcome::Duplicate, "{body}");
        } else {
            assert_eq!(refusal(result), expected, "{body}");
        }
        client
            .batch_execute("DELETE FROM effect_receipts")
            .await
            .unwrap();
    }
    client
        .batch_execute("DROP TRIGGER refuse ON effect_receipts")
        .await
        .unwrap();
    check_nothing_left(&mut client, 0).await;
}

#[tokio::test]
async fn another_unique_rule_of_the_receipts_themselves_is_no_duplicate() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    let _ = apply(&mut client, "e1", Task::sound("task-1"))
        .await
        .unwrap();
    let wider = "ALTER TABLE effect_receipts ADD CONSTRAINT uq_effect UNIQUE (effect_name)";
    client.batch_execute(wider).await.unwrap();
    let result = apply(&mut client, "e2", Task::sound("task-2")).await;
    assert_eq!(refusal(result), refused(Role::Claim, "23505", "uq_effect"));
    assert_eq!(tables::count(&client).await.unwrap(), (1, 1));
}

#[tokio::test]
async fn a_receipt_that_is_ignored_without_a_word_is_an_error() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    let rule = "CREATE RULE drop_all AS ON INSERT TO effect_receipts DO INSTEAD NOTHING";
    client.batch_execute(rule).await.unwrap();
    let result = apply(&mut client, "e1", Task::sound("task-1")).await;
    assert!(matches!(result, Err(ApplyError::NoReceipt)), "{result:?}");
    client
        .batch_execute("DROP RULE drop_all ON effect_receipts")
        .await
        .unwrap();
    check_nothing_left(&mut client, 0).await;
}

// ---- The transaction that is aborted, or not there -------------------------------------------------

/// The trap itself, without the contract: COMMIT says nothing, and nothing is committed.
#[tokio::test]
async fn a_commit_after_a_refused_statement_rolls_back_without_an_error() {
    let Some((_schema, client)) = database().await else {
        return;
    };
    client.batch_execute("BEGIN").await.unwrap();
    Task::sound("task-1").write(&client).await.unwrap();
    let twice = Task::sound("task-1").write(&client).await.unwrap_err();
    assert_eq!(twice.code().unwrap().code(), "23505");
    let next = client.batch_execute("SELECT 1").await.unwrap_err();
    assert_eq!(next.code().unwrap().code(), "25P02");
    client.batch_execute("COMMIT").await.unwrap();
    assert_eq!(tables::count(&client).await.unwrap(), (0, 0));
}

#[tokio::test]
async fn an_error_that_apply_swallowed_is_never_applied() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    let result = apply_once(&mut client, "e1", "notification", async |client| {
        Task::sound("task-1").write(client).await?;
        let _ = Task::sound("task-1").write(client).await;
        Ok(())
    });
    let result = result.await;
    assert!(matches!(result, Err(ApplyError::Swallowed)), "{result:?}");
    check_nothing_left(&mut client, 0).await;
}

#[tokio::test]
async fn an_error_inside_a_savepoint_of_apply_is_its_own_affair() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    let result = apply_once(&mut client, "e1", "notification", async |client| {
        Task::sound("task-1").write(client).await?;
        client.batch_execute("SAVEPOINT once_more").await?;
        let _ = Task::sound("task-1").write(client).await;
        client
            .batch_execute("ROLLBACK TO SAVEPOINT once_more")
            .await
    });
    assert_eq!(result.await.unwrap(), Outcome::Applied(()));
    assert_eq!(tables::count(&client).await.unwrap(), (1, 1));
}

#[tokio::test]
async fn an_apply_that_ends_the_transaction_is_found_out() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    // What it runs, and what is left of receipt and task.
    let cases = [
        ("ROLLBACK", (0, 0)),
        ("ROLLBACK; BEGIN", (0, 0)),
        ("ROLLBACK AND CHAIN", (0, 0)),
        ("COMMIT", (1, 1)),
        ("COMMIT; BEGIN", (1, 1)),
    ];
    for (statements, left) in cases {
        for fails in [false, true] {
            tables::create_anew(&client).await.unwrap();
            let result = apply_once(&mut client, "e1", "notification", async |client| {
                Task::sound("task-1").write(client).await?;
                client.batch_execute(statements).await?;
                if fails {
                    client.batch_execute("SELECT 1 / 0").await?;
                }
                Ok(())
            });
            let result = result.await;
            // A transaction that it began itself, and aborted, shows nothing but the error.
            let ended = matches!(result, Err(ApplyError::TransactionEnded));
            let failed = matches!(
                result,
                Err(ApplyError::Refused {
                    during: Role::Apply,
                    ..
                })
            );
            let began_another = statements.contains("BEGIN") || statements.contains("CHAIN");
            assert!(
                ended || (fails && began_another && failed),
                "{statements}: {result:?}"
            );
            assert_eq!(tables::count(&client).await.unwrap(), left, "{statements}");
        }
    }
}

#[tokio::test]
async fn a_transaction_of_the_caller_is_left_as_it_was() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    let _ = apply(&mut client, "e1", Task::sound("task-1"))
        .await
        .unwrap();
    client.batch_execute("BEGIN").await.unwrap();
    Task::sound("task-2").write(&client).await.unwrap();
    for event in ["e1", "e2"] {
        let result = apply(&mut client, event, Task::sound("task-3")).await;
        assert!(
            matches!(result, Err(ApplyError::InTransaction)),
            "{result:?}"
        );
    }
    client.batch_execute("COMMIT").await.unwrap();
    assert_eq!(tables::count(&client).await.unwrap(), (1, 2));

    client.batch_execute("BEGIN").await.unwrap();
    let _ = client.batch_execute("SELECT 1 / 0").await.unwrap_err();
    let result = apply(&mut client, "e2", Task::sound("task-3")).await;
    assert!(
        matches!(result, Err(ApplyError::InTransaction)),
        "{result:?}"
    );
    client.batch_execute("ROLLBACK").await.unwrap();
    let outcome = apply(&mut client, "e2", Task::sound("task-3"))
        .await
        .unwrap();
    assert_eq!(outcome, Outcome::Applied(1));
}

#[tokio::test]
async fn a_call_that_is_dropped_at_work_leaves_nothing() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    let written = Notify::new();
    let stays = apply_once(&mut client, "e1", "notification", async |client| {
        Task::sound("task-1").write(client).await?;
        written.notify_one();
        std::future::pending::<Result<(), Error>>().await
    });
    tokio::select! {
        result = stays => panic!("it should never have ended: {result:?}"),
        () = written.notified() => {}
    }
    check_nothing_left(&mut client, 0).await;
}

#[tokio::test]
async fn an_apply_that_panics_leaves_nothing() {
    let Some((_schema, mut client)) = database().await else {
        return;
    };
    let call = apply_once(&mut client, "e1", "notification", async |client| {
        Task::sound("task-1").write(client).await?;
        panic!("apply is broken");
        #[expect(unreachable_code, reason = "the type of what would have been returned")]
        Ok(())
    });
    assert!(AssertUnwindSafe(call).catch_unwind().await.is_err());
    check_nothing_left(&mut client, 0).await;
}

#[tokio::test]
async fn a_session_that_the_server_ends_leaves_nothing() {
    let Some((schema, mut client)) = database().await else {
        return;
    };
    let observer = schema.session().await;
    let result = apply_once(&mut client, "e1", "notification", async |client| {
        Task::sound("task-1").write(client).await?;
        let pid: i32 = client
            .query_one("SELECT pg_backend_pid()", &[])
            .await?
            .get(0);
        observer
            .execute("SELECT pg_terminate_backend($1, 5000)", &[&pid])
            .await?;
        Ok(())
    });
    let error = result.await.unwrap_err();
    assert!(
        matches!(
            error,
            ApplyError::Refused {
                during: Role::Apply,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(tables::count(&observer).await.unwrap(), (0, 0));
    let mut next = schema.session().await;
    check_nothing_left(&mut next, 0).await;
}
