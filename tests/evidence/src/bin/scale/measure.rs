//! What the contract costs at work, beside what is written in its place, on the servers of this machine.

use std::env;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use deliver_twice_evidence::crew::{Job, Kills, Program, consume};
use deliver_twice_evidence::load::Load;
use deliver_twice_evidence::record;
use deliver_twice_evidence::scratch::Schema;
use deliver_twice_evidence::servers::{Engine, broker_version};
use postgres::Client;
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::Result;

/// How often each figure is taken.
const REPEATS: usize = 3;

/// Events of a run that is timed, and the copies of each.
const EVENTS: usize = 1_500;
const COPIES: usize = 2;

/// Measures everything, prints it, and writes the record `scale`.
pub fn measure() -> Result<()> {
    let executable = env::current_exe()?;
    let rust = Program::rust(&executable);
    let python = env::var_os("PYTHON_CONSUMER")
        .map(|programs| Program::python(&PathBuf::from(programs).join("python")));
    let database = Database::open()?;
    let record = json!({
        "engine": Engine::PostgreSql.name(),
        "version": database.ask("SHOW server_version")?,
        "broker": Engine::RabbitMq.name(),
        "broker_version": broker_version(&Engine::RabbitMq.url()?)?,
        "date": database.ask("SELECT CURRENT_DATE::TEXT")?,
        "machine": machine(),
        "synchronous_commit": database.ask("SHOW synchronous_commit")?,
        "fsync": database.ask("SHOW fsync")?,
        "events": EVENTS,
        "copies": COPIES,
        "repeats": REPEATS,
        "killed": killed(&rust)?,
        "throughput": throughput(&rust, python.as_ref())?,
        "receipts": receipts(&rust)?,
        "retention": retention(&database)?,
    });
    println!("{record:#}");
    println!("written: {}", record::write("scale", &record)?.display());
    Ok(())
}

/// The machine in general words.
fn machine() -> String {
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "{} {}, {processors} processors, shared by servers, consumers and whatever else ran",
        env::consts::OS,
        env::consts::ARCH
    )
}

fn job(program: &Program, design: &'static str, consumers: usize) -> Job {
    Job {
        program: program.clone(),
        design,
        consumers,
        prefetch: 20,
        idle: Duration::from_secs(2),
    }
}

fn load(design: &str, events: usize, receipts: i64) -> Result<Load> {
    Ok(Load::new(design, events, COPIES, receipts).ok_or("both servers are needed")?)
}

/// Many consumers, many of them killed.
fn killed(rust: &Program) -> Result<Value> {
    let kills = Kills { count: 30, seed: 7 };
    let load = load("contract", 10_000, 0)?;
    let report = consume(&job(rust, "contract", 4), &load, Some(kills))?;
    let balance = load.balance();
    load.end();
    eprintln!("killed: {report:?} {balance:?}");
    Ok(json!({
        "events": balance.events,
        "copies": COPIES,
        "consumers": 4,
        "killed": report.killed,
        "redelivered": report.redelivered,
        "receipts": balance.receipts,
        "tasks": balance.tasks,
        "left": balance.left,
    }))
}

/// One crew on one load, several times: the rates and the tasks too many, each from the least to the most.
fn timed(job: &Job, receipts: i64) -> Result<(Vec<f64>, Vec<i64>)> {
    let mut rates = Vec::new();
    let mut doubled = Vec::new();
    for _ in 0..REPEATS {
        let load = load(job.design, EVENTS, receipts)?;
        let report = consume(job, &load, None)?;
        let balance = load.balance();
        load.end();
        if balance.left != 0 || report.deliveries != (EVENTS * COPIES) as u64 {
            return Err(format!("not all was consumed: {report:?} {balance:?}").into());
        }
        eprintln!("{} × {}: {:.0}/s", job.design, job.consumers, report.rate());
        rates.push(report.rate().round());
        doubled.push(balance.tasks - balance.events);
    }
    rates.sort_by(f64::total_cmp);
    doubled.sort_unstable();
    Ok((rates, doubled))
}

/// Deliveries a second of each consumer, by how many of it run.
fn throughput(rust: &Program, python: Option<&Program>) -> Result<Vec<Value>> {
    let mut rows = Vec::new();
    let kinds = [
        ("contract", Some(rust), "contract"),
        ("check-then-insert", Some(rust), "check-then-insert"),
        ("contract, SQLAlchemy", python, "contract"),
    ];
    for (name, program, design) in kinds {
        let Some(program) = program else {
            eprintln!("PYTHON_CONSUMER is not set: {name} is left out");
            continue;
        };
        for consumers in [1, 2, 4] {
            let (rates, doubled) = timed(&job(program, design, consumers), 0)?;
            rows.push(json!({
                "consumer": name,
                "consumers": consumers,
                "deliveries_per_second": rates,
                "doubled_tasks": doubled,
            }));
        }
    }
    Ok(rows)
}

/// Deliveries a second of two consumers, by how many receipts are there already.
fn receipts(rust: &Program) -> Result<Vec<Value>> {
    let mut rows = Vec::new();
    for before in [0, 100_000, 1_000_000] {
        let (rates, _) = timed(&job(rust, "contract", 2), before)?;
        rows.push(json!({
            "receipts_before": before,
            "deliveries_per_second": rates,
        }));
    }
    Ok(rows)
}

/// What it takes to forget half of a million receipts.
fn retention(database: &Database) -> Result<Value> {
    let mut client = database.client()?;
    let (mut deleted, mut vacuumed, mut dropped) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..REPEATS {
        client.batch_execute(
            "DROP TABLE IF EXISTS plain, by_day;
             CREATE TABLE plain (
               event_id TEXT NOT NULL, effect_name TEXT NOT NULL, occurred DATE NOT NULL,
               CONSTRAINT uq_plain UNIQUE (event_id, effect_name)
             );
             CREATE TABLE by_day (
               event_id TEXT NOT NULL, effect_name TEXT NOT NULL, occurred DATE NOT NULL,
               CONSTRAINT uq_by_day UNIQUE (event_id, effect_name, occurred)
             ) PARTITION BY RANGE (occurred);
             CREATE TABLE january PARTITION OF by_day FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
             CREATE TABLE february PARTITION OF by_day FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
             INSERT INTO plain SELECT 'e' || number, 'notification',
               CASE WHEN number % 2 = 0 THEN DATE '2026-01-05' ELSE DATE '2026-02-05' END
               FROM generate_series(1, 1000000) AS number;
             INSERT INTO by_day SELECT * FROM plain;",
        )?;
        client.batch_execute("VACUUM ANALYZE plain")?;
        deleted.push(milliseconds(
            &mut client,
            "DELETE FROM plain WHERE occurred < '2026-02-01'",
        )?);
        vacuumed.push(milliseconds(&mut client, "VACUUM plain")?);
        dropped.push(milliseconds(&mut client, "DROP TABLE january")?);
    }
    for times in [&mut deleted, &mut vacuumed, &mut dropped] {
        times.sort_unstable();
    }
    Ok(json!({
        "receipts": 1_000_000,
        "forgotten": 500_000,
        "delete_ms": deleted,
        "vacuum_ms": vacuumed,
        "drop_partition_ms": dropped,
    }))
}

#[allow(
    clippy::disallowed_methods,
    reason = "how long a statement takes is what is measured"
)]
fn milliseconds(client: &mut Client, statement: &str) -> Result<u64> {
    let start = Instant::now();
    client.batch_execute(statement)?;
    Ok(start.elapsed().as_millis() as u64)
}

/// A schema to ask the server in.
struct Database(Schema);

impl Database {
    fn open() -> Result<Database> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let schema = runtime.block_on(Schema::open());
        Ok(Database(schema.ok_or("both servers are needed")?))
    }

    fn client(&self) -> Result<Client> {
        Ok(self.0.blocking_session()?)
    }

    /// One text.
    fn ask(&self, sql: &str) -> Result<String> {
        Ok(self.client()?.query_one(sql, &[])?.get(0))
    }
}
