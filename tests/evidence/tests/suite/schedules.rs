//! The laboratory's plans on PostgreSQL, step by step: who waits and for whom, what comes back, and that the
//! kept records say no more than a server does.

use deliver_twice_core::broker::WorkerId;
use deliver_twice_core::database::{Database, Setting};
use deliver_twice_core::design::Design;
use deliver_twice_core::disk::ConnectionId;
use deliver_twice_core::lesson;
use deliver_twice_core::plan::Plan;
use deliver_twice_core::property::Verdict;
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::Schedule;
use deliver_twice_core::schema;
use deliver_twice_core::sql::{Answer, Purpose, RefusalKind};
use deliver_twice_core::system::{Statement, System, connection_of};
use deliver_twice_evidence::postgres::{Isolation, Postgres, Said};
use deliver_twice_evidence::replay::{Replay, answer, is_refused_claim, waits};
use deliver_twice_evidence::schedules::{Server, Trial};
use deliver_twice_evidence::servers::{Engine, say_not_run};
use deliver_twice_evidence::{digest, record, scratch};
use tokio_postgres::Config;

/// Where the server is; `None`, once that is said aloud, if it is not there.
fn config() -> Option<Config> {
    match Engine::PostgreSql.url() {
        Ok(url) => Some(url.parse().expect("DATABASE_URL is a URL of PostgreSQL")),
        Err(why) => {
            say_not_run(&why);
            None
        }
    }
}

fn trial(design: &str, bounds: Bounds) -> Trial {
    Trial {
        design: Design::preset(design).expect("a preset"),
        scenario: Scenario::default(),
        bounds,
    }
}

/// A machine of two workers and two copies of an event.
fn machine(config: &Config, design: &str, isolation: Isolation) -> System<Postgres> {
    let bounds = Bounds {
        crashes: 1,
        given_up: 1,
        ..Bounds::NONE
    };
    let system = trial(design, bounds).on_postgres(config, &scratch::unique_name(), isolation);
    system.expect("a machine on PostgreSQL")
}

fn schedule(text: &str) -> Schedule {
    text.parse().expect("a schedule")
}

const A: WorkerId = WorkerId(0);
const B: WorkerId = WorkerId(1);

#[test]
fn a_claim_waits_for_the_other_and_comes_back_with_the_violation_of_its_constraint() {
    let Some(config) = config() else { return };
    let mut system = machine(&config, "constraint-arbitration", Isolation::ReadCommitted);
    // A: begin, claim. B: begin, claim. Then A: apply, commit. Then B again.
    let replay = Replay::of(&mut system, &schedule("s1:dA.A2.dB.B2.A2.B")).unwrap();
    let frames = &replay.run.frames;
    assert_eq!(waits(&frames[5]), Some(&[connection_of(A)][..]));
    assert_eq!(replay.said[5], None);
    assert_eq!(frames[5].waits_of(B), [connection_of(A)]);
    assert_eq!(
        frames[6].waits_of(B),
        [connection_of(A)],
        "the effect releases nobody"
    );
    assert!(frames[7].waits_of(B).is_empty(), "the commit does");
    assert!(is_refused_claim(&frames[8]), "{}", answer(&frames[8]));
    let said = Said {
        sqlstate: "23505".to_owned(),
        constraint: Some(schema::RECEIPT_CONSTRAINT.to_owned()),
    };
    assert_eq!(replay.said[8], Some(said));
    assert_eq!(replay.settled(), []);
    let last = frames.last().unwrap();
    assert_eq!(
        (
            last.state.committed.receipts.len(),
            last.state.committed.tasks.len()
        ),
        (1, 1)
    );
}

#[test]
fn a_claim_that_waited_goes_on_when_the_other_is_gone() {
    let Some(config) = config() else { return };
    let mut system = machine(&config, "constraint-arbitration", Isolation::ReadCommitted);
    let replay = Replay::of(&mut system, &schedule("s1:dA.A3.dB.B2.xA.B")).unwrap();
    let frames = &replay.run.frames;
    assert_eq!(waits(&frames[6]), Some(&[connection_of(A)][..]));
    assert!(
        frames[7].waits_of(B).is_empty(),
        "the server has ended the session of A"
    );
    assert_eq!(answer(&frames[8]), "1 changed");
    assert_eq!(replay.settled(), []);
    assert_eq!(frames.last().unwrap().state.committed.tasks.len(), 1);
}

#[test]
fn a_wait_that_is_given_up_leaves_nothing_on_its_way() {
    let Some(config) = config() else { return };
    let mut system = machine(&config, "constraint-arbitration", Isolation::ReadCommitted);
    let replay = Replay::of(&mut system, &schedule("s1:dA.A2.dB.B2.gB.B.A2")).unwrap();
    assert!(waits(&replay.run.frames[5]).is_some());
    assert_eq!(answer(&replay.run.frames[6]), "gave up");
    assert_eq!(answer(&replay.run.frames[7]), "done", "ROLLBACK is heard");
    assert_eq!(replay.settled(), []);
    assert_eq!(
        replay
            .run
            .frames
            .last()
            .unwrap()
            .state
            .committed
            .tasks
            .len(),
        1
    );
}

#[test]
fn looking_first_doubles_below_serializable_and_ends_in_40001_there() {
    let Some(config) = config() else { return };
    let both_look = schedule("s1:dA.A2.dB.B2.A3.B3");
    for isolation in Isolation::ALL {
        let mut system = machine(&config, "check-in-transaction", isolation);
        let replay = Replay::of(&mut system, &both_look).unwrap();
        let codes: Vec<&str> = replay
            .said
            .iter()
            .flatten()
            .map(|said| said.sqlstate.as_str())
            .collect();
        match isolation {
            Isolation::Serializable => {
                assert_eq!(codes, ["40001"]);
                assert_eq!(replay.settled(), []);
            }
            _ => {
                assert_eq!(codes, [""; 0]);
                assert_eq!(
                    replay.settled(),
                    [Verdict::DuplicateEffect],
                    "{isolation:?}"
                );
            }
        }
    }
}

#[test]
fn a_refused_statement_takes_its_transaction_with_it() {
    let Some(config) = config() else { return };
    let id = ConnectionId(1);
    let setting = Setting {
        tables: vec![schema::RECEIPTS, schema::BUSINESS],
        rows: vec![],
        workers: vec![id],
        has_outbox: false,
    };
    let name = scratch::unique_name();
    let database = Postgres::new(&config, &name, Isolation::ReadCommitted, &setting).unwrap();
    let ask = |purpose, sql| {
        let statement = Statement {
            sql,
            values: vec![],
        };
        database.ask(id, purpose, &statement)
    };
    let kind = |answer| match answer {
        Answer::Refused(refusal) => refusal.kind,
        other => panic!("{other:?}"),
    };
    let code = || database.last_said(id).map(|said| said.sqlstate);
    let insert =
        "INSERT INTO business_tasks VALUES ('1', 'nowhere', 't', 'notification', 'pending')";
    assert_eq!(ask(Purpose::Control, "BEGIN"), Answer::Done);
    assert_eq!(kind(ask(Purpose::Write, insert)), RefusalKind::ForeignKey);
    assert_eq!(code().as_deref(), Some("23503"));
    assert_eq!(
        kind(ask(Purpose::Query, "SELECT 1 FROM tickets")),
        RefusalKind::Other
    );
    assert_eq!(code().as_deref(), Some("25P02"));
    assert!(database.is_in_transaction(id));
    assert_eq!(ask(Purpose::Control, Plan::ROLLBACK), Answer::Done);
    assert_eq!(code(), None);
    let bad = "INSERT INTO tickets VALUES ('1', NULL)";
    assert_eq!(kind(ask(Purpose::Write, bad)), RefusalKind::NotNull);
    assert_eq!(code().as_deref(), Some("23502"));
}

#[test]
fn every_lesson_ends_on_this_server_as_its_record_says() {
    let Some(config) = config() else { return };
    let server = Server {
        config: &config,
        schema: &scratch::unique_name(),
    };
    for lesson in lesson::built_in() {
        let kept = record::read(&format!("lessons/{}", lesson.id)).unwrap();
        let kept = kept.unwrap_or_else(|| panic!("no record of {}", lesson.id));
        let made = server.lesson(lesson).unwrap();
        for side in ["left", "right"] {
            let differences = record::differences(Some(&kept[side]), &made[side]);
            assert_eq!(differences, [""; 0], "{} {side}", lesson.id);
        }
    }
}

#[test]
fn the_page_shows_what_the_records_say() {
    let shown = std::fs::read_to_string(digest::path()).unwrap();
    assert_eq!(
        shown,
        digest::text().unwrap(),
        "cargo xtask evidence --keep"
    );
}

#[test]
fn where_both_wait_the_server_waits_at_a_receipt_as_the_page_says() {
    let mut waits = 0;
    for lesson in lesson::built_in() {
        let kept = record::read(&format!("lessons/{}", lesson.id)).unwrap();
        let kept = kept.unwrap_or_else(|| panic!("no record of {}", lesson.id));
        for side in ["left", "right"] {
            let usual = &kept[side]["postgresql"]["READ COMMITTED"];
            let Some(step) = usual["differs"]["both_wait"].as_u64() else {
                continue;
            };
            let row = &usual["rows"][step as usize - 1];
            let sql = row["sql"].as_str().unwrap_or_default();
            assert!(
                sql.starts_with("INSERT INTO effect_receipts"),
                "{} {side}: {sql}",
                lesson.id
            );
            waits += 1;
        }
    }
    assert!(waits > 0);
}
