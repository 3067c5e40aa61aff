//! The explorer against SQLite: a search, and the statements of that search alone.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use deliver_twice_core::Result;
use deliver_twice_core::design::{Chapter, Design, presets};
use deliver_twice_core::disk::{ConnectionId, Disk, DiskConnection, LockLevel, Snapshot};
use deliver_twice_core::explore::{Exploration, Model, Report, Search, Verdicts};
use deliver_twice_core::plan::Plan;
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::Step;
use deliver_twice_core::schema;
use deliver_twice_core::sql::Answer;
use deliver_twice_core::system::{Action, Statement, System, connection_of};
use rusqlite::types::Value;

use crate::timing::{compare, fastest, timed};

/// The search that each design is measured by: a crash at most, and for a consumer two copies of an event
/// and two workers; for a producer and for the outside one ticket or event, and one worker of each kind.
pub struct Flagship {
    design: Design,
    scenario: Scenario,
}

impl Flagship {
    const BOUNDS: Bounds = Bounds {
        crashes: 1,
        ..Bounds::NONE
    };

    pub fn of(design: &str) -> Self {
        let design: Design = design.parse().unwrap();
        let scenario = match design.chapter() {
            Chapter::Consumer => Scenario::USUAL,
            Chapter::Producer | Chapter::Outside => Scenario {
                deliveries: 1,
                workers: 1,
                ..Scenario::USUAL
            },
        };
        Flagship { design, scenario }
    }

    /// All of it, the laboratory's setting up included.
    pub fn explored(&self) -> Report {
        explore(&mut self.exploration())
    }

    fn exploration(&self) -> Exploration {
        let states_max = Exploration::STATES_MAX;
        Exploration::new(self.design, self.scenario, Self::BOUNDS, states_max).unwrap()
    }

    fn system(&self) -> System {
        System::new(self.design, self.scenario, Self::BOUNDS).unwrap()
    }
}

fn explore(exploration: &mut Exploration) -> Report {
    let _ = exploration.run().unwrap();
    exploration.report()
}

pub fn print() {
    println!("\nflagship                     explorer      sql, cached         sql, held");
    for preset in presets() {
        let flagship = Flagship::of(preset.name);
        let asked = record(&flagship);
        let times = fastest([
            &mut || timed(|| flagship.exploration(), explore).0,
            &mut || alone(&asked, Kept::InCache),
            &mut || alone(&asked, Kept::ByUs),
        ]);
        compare(preset.name, times);
    }
}

/// What a search asks of the disk.
enum Asked {
    /// A worker's statement, and the answer.
    Statement(ConnectionId, Statement, Answer),
    /// The rows of all tables, as the observer or a worker sees them.
    Tables(ConnectionId),
    /// The same of the outbox.
    Outbox(ConnectionId),
    /// The death of a worker's process.
    Crash(ConnectionId),
    /// Earlier bytes on the disk. No statement, but without it the next one has another answer.
    Restore(Snapshot),
}

/// All that the search of `flagship` asks, in order. It begins with the bytes at the start.
fn record(flagship: &Flagship) -> Vec<Asked> {
    let asked = Rc::new(RefCell::new(vec![]));
    let system = flagship.system();
    asked
        .borrow_mut()
        .push(Asked::Restore(system.disk().snapshot()));
    let recorder = Recorder {
        system,
        asked: Rc::clone(&asked),
    };
    let _ = Search::new(recorder, Exploration::STATES_MAX)
        .unwrap()
        .run()
        .unwrap();
    asked.take()
}

/// The machine, with all that it asks of the disk written down.
struct Recorder {
    system: System,
    asked: Rc<RefCell<Vec<Asked>>>,
}

impl Recorder {
    fn note(&self, asked: Asked) {
        self.asked.borrow_mut().push(asked);
    }

    fn note_tables(&self, id: ConnectionId) {
        self.note(Asked::Tables(id));
        if self.system.design().has_outbox() {
            self.note(Asked::Outbox(id));
        }
    }
}

impl Model for Recorder {
    type Checkpoint = <System as Model>::Checkpoint;

    fn enabled(&self) -> Vec<Step> {
        self.system.enabled()
    }

    fn take(&mut self, step: Step) -> Result<()> {
        let before = Rc::clone(&self.system.state().committed);
        let change = self.system.apply(step)?;
        let worker = step.worker().map(connection_of);
        match (change.action, worker) {
            (Action::Ran(ran), Some(id)) => {
                self.note(Asked::Statement(id, ran.statement, ran.answer));
            }
            (Action::Crashed { .. }, Some(id)) => self.note(Asked::Crash(id)),
            _ => {}
        }
        if !Rc::ptr_eq(&before, &self.system.state().committed) {
            self.note_tables(ConnectionId::OBSERVER);
        }
        Ok(())
    }

    fn digest(&mut self) -> Result<Vec<u8>> {
        for (id, worker) in self.system.state().workers() {
            if worker.lock >= LockLevel::Reserved && worker.own.is_none() {
                self.note_tables(connection_of(id));
            }
        }
        self.system.digest()
    }

    fn verdicts(&self) -> Verdicts {
        self.system.verdicts()
    }

    fn checkpoint(&mut self) -> Option<Self::Checkpoint> {
        Model::checkpoint(&mut self.system)
    }

    fn resume(&mut self, checkpoint: &Self::Checkpoint) -> Result<()> {
        for (id, worker) in self.system.state().workers() {
            if worker.in_transaction {
                let sql = Plan::ROLLBACK;
                let rollback = Statement {
                    sql,
                    values: vec![],
                };
                self.note(Asked::Statement(connection_of(id), rollback, Answer::Done));
            }
        }
        self.note(Asked::Restore(checkpoint.0.clone()));
        self.system.resume(checkpoint)
    }
}

/// Where a prepared statement is kept until it is run again.
#[derive(Clone, Copy)]
enum Kept {
    /// In the connection's cache, as the machine and `apply_once` do: it is looked up by its text.
    InCache,
    /// In a variable, as only a program can that knows all its statements before.
    ByUs,
}

/// How long it takes SQLite to answer what was asked, with every statement prepared before.
fn alone(asked: &[Asked], kept: Kept) -> Duration {
    let disk = Disk::new();
    let connect = |id| disk.connect(ConnectionId(id)).unwrap();
    // The bytes at the start take the place of these.
    connect(9).execute_batch(schema::RECEIPTS).unwrap();
    let mut asked = asked.iter();
    let Some(Asked::Restore(start)) = asked.next() else {
        panic!("a recording begins with the bytes at the start");
    };
    disk.restore(start);
    let connections = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(connect);
    let connection = |id: ConnectionId| &connections[usize::from(id.0)];
    let mut prepared: Vec<(ConnectionId, &str, rusqlite::Statement<'_>)> = vec![];
    let mut prepare = |id: ConnectionId, sql: &'static str| {
        let known = prepared
            .iter()
            .position(|(of, text, _)| (*of, *text) == (id, sql));
        known.unwrap_or_else(|| {
            prepared.push((id, sql, connection(id).prepare(sql).unwrap()));
            prepared.len() - 1
        })
    };
    let tasks: Vec<Task<'_>> = asked
        .map(|asked| match asked {
            Asked::Statement(id, statement, answer) => {
                Task::Run(prepare(*id, statement.sql), &statement.values, Some(answer))
            }
            Asked::Tables(id) => Task::Run(prepare(*id, schema::READ_TABLES), &[], None),
            Asked::Outbox(id) => Task::Run(prepare(*id, schema::READ_OUTBOX), &[], None),
            Asked::Crash(id) => Task::Crash(connection(*id)),
            Asked::Restore(snapshot) => Task::Restore(snapshot),
        })
        .collect();
    let (time, ()) = timed(
        || (),
        |()| {
            for task in &tasks {
                match task {
                    Task::Run(index, values, answer) => {
                        let (id, sql, held) = &mut prepared[*index];
                        match kept {
                            Kept::ByUs => run(held, values, *answer),
                            Kept::InCache => {
                                let mut cached = connection(*id).prepare_cached(sql).unwrap();
                                run(&mut cached, values, *answer);
                            }
                        }
                    }
                    Task::Crash(connection) => connection.crash(),
                    Task::Restore(snapshot) => {
                        disk.restore(snapshot);
                        let _ = disk.take_recording();
                    }
                }
            }
        },
    );
    time
}

/// Something asked, with its statement prepared.
enum Task<'a> {
    /// The statement with this index, with these values; the answer, unless it is the tables.
    Run(usize, &'a [(&'static str, Value)], Option<&'a Answer>),
    Crash(&'a DiskConnection),
    Restore(&'a Snapshot),
}

fn run(statement: &mut rusqlite::Statement<'_>, values: &[(&str, Value)], answer: Option<&Answer>) {
    for (index, (_, value)) in values.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, value).unwrap();
    }
    match answer {
        None => drop(count(statement.raw_query())),
        Some(Answer::Rows(rows)) => assert_eq!(count(statement.raw_query()), *rows),
        Some(Answer::Row(row)) => {
            assert_eq!(count(statement.raw_query()), u64::from(row.is_some()));
        }
        Some(Answer::Refused(_)) => assert!(statement.raw_execute().is_err()),
        Some(Answer::Changed(rows)) => assert_eq!(statement.raw_execute().unwrap() as u64, *rows),
        Some(Answer::Done) => assert!(statement.raw_execute().is_ok()),
    }
}

fn count(mut rows: rusqlite::Rows<'_>) -> u64 {
    let mut count = 0;
    while rows.next().unwrap().is_some() {
        count += 1;
    }
    count
}
