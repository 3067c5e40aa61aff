//! The laboratory's schedules on PostgreSQL, as records: every lesson's, and for every cell of the matrix
//! the counterexamples that SQLite gave and schedules drawn at random.

use std::collections::{BTreeMap, BTreeSet};

use deliver_twice_core::database::{self, Failure, SharedDisk};
use deliver_twice_core::design::{Chapter, Design};
use deliver_twice_core::lesson::{self, Lesson};
use deliver_twice_core::matrix::{self, Hazard};
use deliver_twice_core::property::Verdict;
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::{Schedule, Step};
use deliver_twice_core::system::System;
use serde_json::{Value, json};
use tokio_postgres::Config;
use uuid::Uuid;

use crate::postgres::{Isolation, Postgres};
use crate::replay::{Replay, answer, is_refused_claim, names, waits};

/// How many schedules are drawn for a cell.
pub const DRAWN: u64 = 12;

/// What one design is put to on an engine.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// The design.
    pub design: Design,
    /// What it is put to.
    pub scenario: Scenario,
    /// Which faults may happen.
    pub bounds: Bounds,
}

impl Trial {
    /// A machine at its start on SQLite.
    ///
    /// # Errors
    /// Those of [`System::new`].
    pub fn on_sqlite(self) -> database::Result<System<SharedDisk>> {
        Ok(System::new(self.design, self.scenario, self.bounds)?)
    }

    /// A machine at its start on a PostgreSQL server, in a schema of this name.
    ///
    /// # Errors
    /// What the server says.
    pub fn on_postgres(
        self,
        config: &Config,
        schema: &str,
        isolation: Isolation,
    ) -> database::Result<System<Postgres>> {
        let open = |setting: &database::Setting| Postgres::new(config, schema, isolation, setting);
        Ok(System::on(open, self.design, self.scenario, self.bounds)?)
    }
}

/// A server, and the schema on it in which schedules are carried out one after the other.
#[derive(Debug)]
pub struct Server<'a> {
    /// Where it is.
    pub config: &'a Config,
    /// The schema. It is made anew for every schedule, and dropped afterwards.
    pub schema: &'a str,
}

impl Server<'_> {
    fn replay(
        &self,
        trial: Trial,
        isolation: Isolation,
        schedule: &Schedule,
    ) -> database::Result<Replay> {
        let mut system = trial.on_postgres(self.config, self.schema, isolation)?;
        Ok(Replay::of(&mut system, schedule)?)
    }

    fn draw(&self, trial: Trial, seed: u64) -> database::Result<Replay> {
        let isolation = Isolation::ReadCommitted;
        let mut system = trial.on_postgres(self.config, self.schema, isolation)?;
        let mut draws = fastrand::Rng::with_seed(seed);
        let choose = |enabled: &[Step]| enabled[draws.usize(..enabled.len())];
        Ok(Replay::chosen(&mut system, choose)?)
    }

    /// What every record begins with: the engine, its version, and the day.
    ///
    /// # Errors
    /// What the server says.
    pub fn head(&self) -> database::Result<BTreeMap<String, Value>> {
        let trial = Trial {
            design: Design::CONTRACT,
            scenario: Scenario::default(),
            bounds: Bounds::NONE,
        };
        let system = trial.on_postgres(self.config, self.schema, Isolation::ReadCommitted)?;
        let (version, date) = system.database().version_and_date()?;
        let head = [
            ("engine", "PostgreSQL".to_owned()),
            ("version", version),
            ("date", date),
        ];
        Ok(head
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.into()))
            .collect())
    }

    /// A lesson's opening schedule on both sides, at every isolation level.
    ///
    /// # Errors
    /// What the server says.
    pub fn lesson(&self, lesson: &Lesson) -> database::Result<Value> {
        let side = |place: usize| -> database::Result<Value> {
            let trial = Trial {
                design: lesson.designs[place],
                scenario: lesson.scenario,
                bounds: lesson.bounds,
            };
            let here = Replay::of(&mut trial.on_sqlite()?, &lesson.schedule)?;
            let there = |isolation| -> database::Result<(String, Value)> {
                let there = self.replay(trial, isolation, &lesson.schedule)?;
                let record = json!({
                    "ends": names(&there.at_end()),
                    "settles": names(&there.settled()),
                    "differs": differences(&here, &there),
                    "asked": there.asked,
                    "rows": there.rows(),
                });
                Ok((isolation.as_str().to_owned(), record))
            };
            let levels = Isolation::ALL
                .into_iter()
                .map(there)
                .collect::<Result<_, Failure>>()?;
            Ok(json!({
                "design": trial.design.to_string(),
                "sqlite": { "ends": names(&here.at_end()), "settles": names(&here.settled()) },
                "postgresql": Value::Object(levels),
            }))
        };
        Ok(json!({
            "lesson": lesson.id,
            "schedule": lesson.schedule.to_string(),
            "left": side(0)?,
            "right": side(1)?,
        }))
    }

    /// A cell of the matrix: the counterexamples of SQLite, and schedules drawn on PostgreSQL itself.
    ///
    /// # Errors
    /// What the server says.
    pub fn cell(
        &self,
        name: &'static str,
        design: Design,
        hazard: &Hazard,
    ) -> database::Result<Value> {
        let trial = Trial {
            design,
            scenario: hazard.scenario,
            bounds: hazard.bounds,
        };
        let cell = matrix::cell(design, name, hazard)?;
        let mut runs = vec![];
        for found in &cell.counterexamples {
            runs.push(self.replay(trial, Isolation::ReadCommitted, &found.schedule)?);
        }
        for draw in 0..DRAWN {
            runs.push(self.draw(trial, seed(name, hazard.name, draw))?);
        }
        let broken: Vec<&Replay> = runs.iter().filter(|run| !run.ever().is_empty()).collect();
        let found: BTreeSet<Verdict> = runs.iter().flat_map(Replay::ever).collect();
        let shortest = broken.iter().map(|run| run.schedule());
        let shortest = shortest.min_by_key(|schedule| schedule.0.len());
        Ok(json!({
            "design": name,
            "hazard": hazard.name,
            "sqlite": names(cell.counterexamples.iter().map(|found| &found.verdict)),
            "runs": runs.len(),
            "broken": broken.len(),
            "postgresql": names(&found),
            "example": shortest.map(|schedule| schedule.to_string()),
        }))
    }
}

/// Every lesson's record and that of the matrix, by its name, as far as `wants` asks for it.
///
/// # Errors
/// What the server says.
pub fn record(
    server: &Server<'_>,
    wants: impl Fn(&str) -> bool,
) -> database::Result<BTreeMap<String, Value>> {
    let head = server.head()?;
    let with_head = |record: Value| {
        let mut all = head.clone();
        match record {
            Value::Object(fields) => all.extend(fields),
            other => _ = all.insert("cells".to_owned(), other),
        }
        all.into_iter().collect::<Value>()
    };
    let mut records = BTreeMap::new();
    for lesson in lesson::built_in() {
        let name = format!("lessons/{}", lesson.id);
        if wants(&name) {
            records.insert(name, with_head(server.lesson(lesson)?));
        }
    }
    if !wants("matrix") {
        return Ok(records);
    }
    let mut cells = vec![];
    for chapter in Chapter::ALL {
        for preset in chapter.presets() {
            for hazard in chapter.hazards() {
                cells.push(server.cell(preset.name, preset.design, hazard)?);
            }
        }
    }
    records.insert("matrix".to_owned(), with_head(cells.into()));
    Ok(records)
}

/// Where two engines part on one schedule, and what both do in their own way before.
fn differences(here: &Replay, there: &Replay) -> Value {
    let rows = here
        .run
        .frames
        .iter()
        .zip(&there.run.frames)
        .take(there.asked);
    let mut both_wait = None;
    let mut parts = None;
    for ((sqlite, postgres), number) in rows.zip(1_u32..) {
        let (a, b) = (answer(sqlite), answer(postgres));
        if a == b {
            if waits(postgres).is_some() {
                both_wait = both_wait.or(Some(number));
            }
            continue;
        }
        let how = match (waits(sqlite), waits(postgres)) {
            (Some(_), None) => "goes-on",
            (None, Some(_)) => "waits",
            _ => "answers",
        };
        parts = Some(json!({ "step": number, "how": how, "sqlite": a, "postgresql": b }));
        break;
    }
    let then_refused = there.run.frames.iter().any(is_refused_claim);
    json!({ "both_wait": both_wait, "parts": parts, "then_23505": then_refused })
}

/// A seed that belongs to a cell and a draw, so that a cell's schedules do not depend on the cells before.
fn seed(design: &str, hazard: &str, draw: u64) -> u64 {
    let name = format!("{design}/{hazard}/{draw}");
    Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes())
        .as_u64_pair()
        .0
}
