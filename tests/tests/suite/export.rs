//! Exports, read by the programs that they are for: the page's visitor, `sqlite3` and Mermaid.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use deliver_twice_core::design::{Chapter, Design};
use deliver_twice_core::export::Export;
use deliver_twice_core::lesson::lessons;
use deliver_twice_core::matrix::{hazard_named, matrix_of};
use deliver_twice_core::run::{Frame, Moved, Run};
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::{Schedule, Step};
use deliver_twice_core::sql::Answer;
use deliver_twice_core::state::State;
use deliver_twice_core::system::{Action, System};
use deliver_twice_tests::{Page, repository};

use crate::lab;

/// The opening run of every lesson, on both of its designs, and every run that the matrix tells of the
/// designs around the consumer, with a name for each. The page itself opens on the same moves as the
/// lesson of check-then-insert.
fn runs() -> Vec<(String, System, Run)> {
    let mut runs = vec![];
    for lesson in lessons().unwrap() {
        for (side, design) in lesson.designs.into_iter().enumerate() {
            let name = format!("{}-{side}", lesson.id);
            let mut system = System::new(design, lesson.scenario, Bounds::BY_HAND).unwrap();
            let mut run = Run::started(&system);
            for step in &lesson.schedule.0 {
                run.take(&mut system, *step).unwrap();
            }
            runs.push((name, system, run));
        }
    }
    runs.push(crashed());
    runs.extend(around());
    runs
}

/// Every run that the matrix tells of producers, relays and senders.
fn around() -> Vec<(String, System, Run)> {
    let chapters = [Chapter::Producer, Chapter::Outside];
    let cells = chapters
        .into_iter()
        .flat_map(|chapter| matrix_of(chapter).unwrap());
    let runs = cells.flat_map(|cell| {
        let design = Design::preset(cell.design).unwrap();
        let scenario = hazard_named(cell.hazard).unwrap().scenario;
        let told = [cell.counterexamples, cell.allowed].concat();
        told.into_iter().map(move |found| {
            let name = format!("{}-{}-{}", cell.design, cell.hazard, found.verdict);
            let system = System::new(design, scenario, Bounds::BY_HAND).unwrap();
            let run = Run::exact(design, scenario, Bounds::BY_HAND, &found.schedule).unwrap();
            (name, system, run)
        })
    });
    runs.collect()
}

/// A worker that dies inside a transaction while another waits for it, and one whose commit's reply
/// is lost.
fn crashed() -> (String, System, Run) {
    let schedule: Schedule = "s1:dA.A2.dB.B2.xA.B2.rB.dC.C9".parse().unwrap();
    let scenario = Scenario {
        workers: 3,
        ..Scenario::default()
    };
    let design = "constraint-arbitration".parse().unwrap();
    let mut system = System::new(design, scenario, Bounds::BY_HAND).unwrap();
    let mut run = Run::started(&system);
    for step in schedule.0 {
        run.take(&mut system, step).unwrap();
    }
    ("crashed".to_owned(), system, run)
}

/// An empty folder for one run.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("export-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// What a program printed on both streams.
#[track_caller]
fn output(command: &mut Command) -> (String, String) {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().unwrap_or_else(|error| {
        panic!("{program}: {error}: run `cargo xtask setup`, which finds or installs it")
    });
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// What the shell printed at each step of a script: rows and counts, and errors.
#[derive(Debug, Default)]
struct Printed {
    lines: BTreeMap<usize, Vec<String>>,
    errors: BTreeMap<usize, String>,
}

/// Replays a script in the shell, in a folder of its own.
fn replay(script: &str, folder: &Path) -> Printed {
    let file = folder.join("script.sql");
    fs::write(&file, script).unwrap();
    let mut shell = Command::new("sqlite3");
    let shell = shell.arg("-batch").arg(":memory:").current_dir(folder);
    let (stdout, stderr) = output(shell.stdin(File::open(&file).unwrap()));
    let mut printed = Printed::default();
    let mut step = 0;
    for line in stdout.lines() {
        match line.strip_prefix("step ") {
            Some(rest) => step = number_before(rest, ','),
            None => printed.lines.entry(step).or_default().push(line.to_owned()),
        }
    }
    let source: Vec<&str> = script.lines().collect();
    for line in stderr.lines() {
        let (_, rest) = line
            .split_once("near line ")
            .unwrap_or_else(|| panic!("sqlite3 3.37 or later is needed, and it says: {line}"));
        let at = source[number_before(rest, ':') - 1];
        let (_, comment) = at.split_once("; -- step ").expect("an error is a step's");
        printed
            .errors
            .insert(number_before(comment, ','), rest.to_owned());
    }
    printed
}

fn number_before(text: &str, end: char) -> usize {
    let (number, _) = text.split_once(end).unwrap_or_else(|| panic!("{text}"));
    number.parse().unwrap()
}

/// The steps that did something: the ones that a script tells.
fn taken(run: &Run) -> Vec<&Frame> {
    let is_taken = |frame: &&Frame| matches!(frame.moved, Moved::Changed(_));
    run.frames.iter().filter(is_taken).collect()
}

fn answer(frame: &Frame) -> Option<&Answer> {
    match &frame.moved {
        Moved::Changed(change) => match &change.action {
            Action::Ran(ran) => Some(&ran.answer),
            _ => None,
        },
        Moved::Nothing(_) => None,
    }
}

#[test]
fn the_shell_answers_as_the_laboratory_did_and_leaves_the_same_rows() {
    for (name, system, run) in runs() {
        let folder = folder(&name);
        let printed = replay(&Export::Sql.text(&system, &run), &folder);
        for (index, frame) in taken(&run).into_iter().enumerate() {
            assert_answer(&name, index + 1, answer(frame), &printed);
        }
        let has_outbox = system.design().has_outbox();
        assert_rows(
            &name,
            &folder,
            run.state_after(run.frames.len()),
            has_outbox,
        );
    }
}

#[track_caller]
fn assert_answer(name: &str, step: usize, answer: Option<&Answer>, printed: &Printed) {
    let at = format!("{name}, step {step}: {printed:#?}");
    let error = printed.errors.get(&step);
    let lines = printed.lines.get(&step);
    let counts = |start: String| lines.is_some_and(|l| l.iter().any(|l| l.starts_with(&start)));
    match answer {
        Some(Answer::Refused(refusal)) => {
            // The shell prints the primary code, which is the last byte of the extended one.
            let said = format!("{} ({})", refusal.message, refusal.code & 0xff);
            assert!(
                error.is_some_and(|error| error.contains(&said)),
                "{said}: {at}"
            );
            return;
        }
        Some(Answer::Changed(count)) => assert!(counts(format!("changes: {count} ")), "{at}"),
        Some(Answer::Rows(count)) => {
            let rows = lines.map_or(0, |l| l.iter().filter(|line| *line == "1").count());
            assert_eq!(rows as u64, *count, "{at}");
        }
        Some(Answer::Row(row)) => {
            let row = row.as_ref().map(|values| values.join("|"));
            let is_printed = row.is_none_or(|row| lines.is_some_and(|l| l.contains(&row)));
            assert!(is_printed, "{at}");
        }
        Some(Answer::Done) | None => {}
    }
    assert_eq!(error, None, "{at}");
}

/// Compares the file that the script left with what is committed in the laboratory.
#[track_caller]
fn assert_rows(name: &str, folder: &Path, state: &State, has_outbox: bool) {
    let query = |sql: &str| {
        let mut shell = Command::new("sqlite3");
        output(shell.arg("deliver-twice.db").arg(sql).current_dir(folder))
    };
    let receipts = query("SELECT event_id, effect_name FROM effect_receipts ORDER BY 1, 2");
    let tasks =
        query("SELECT id, ticket_id, tenant_id, task_type, status FROM business_tasks ORDER BY id");
    let committed = &state.committed;
    let of_receipts = committed.receipts.iter();
    let of_receipts = of_receipts.map(|r| format!("{}|{}\n", r.event_id, r.effect_name));
    let of_tasks = committed.tasks.iter().map(|t| {
        let columns = [&t.id, &t.ticket_id, &t.tenant_id, &t.task_type, &t.status];
        columns.map(String::as_str).join("|") + "\n"
    });
    assert_eq!(receipts, (of_receipts.collect(), String::new()), "{name}");
    assert_eq!(tasks, (of_tasks.collect(), String::new()), "{name}");
    if !has_outbox {
        return;
    }
    let outbox = query(
        "SELECT event_id, state, owner, token, attempt, lease_until FROM outbox_events ORDER BY position",
    );
    let or_empty = |number: Option<i64>| number.map_or(String::new(), |number| number.to_string());
    let of_outbox = committed.outbox.iter().map(|row| {
        let owner = row.owner.as_deref().unwrap_or_default();
        let until = or_empty(row.lease_until);
        format!(
            "{}|{}|{owner}|{}|{}|{until}\n",
            row.event_id, row.state, row.token, row.attempt
        )
    });
    assert_eq!(outbox, (of_outbox.collect(), String::new()), "{name}");
}

/// What psql printed at each step of a script, and the counts at its end.
fn replay_on(server: &[String], script: &str, folder: &Path) -> BTreeMap<String, String> {
    let file = folder.join("script.sql");
    fs::write(&file, script).unwrap();
    let mut psql = Command::new("psql");
    let psql = psql
        .args(server)
        .args(["-X", "-v", "ON_ERROR_STOP=1", "-f"]);
    let (stdout, stderr) = output(psql.arg(&file));
    assert_eq!(stderr, "", "{script}");
    let lines = stdout.lines().filter_map(|line| line.split_once(": "));
    lines
        .map(|(place, said)| (place.to_owned(), said.to_owned()))
        .collect()
}

/// Runs on PostgreSQL, where there is a server: what it answers to the statements of a run, in order.
#[test]
fn psql_replays_every_script_where_there_is_a_server() {
    let Some(server) = postgres() else {
        return;
    };
    let folder = folder("psql");
    for (name, system, run) in runs() {
        let said = replay_on(&server, &Export::Psql.text(&system, &run), &folder);
        let frames = taken(&run);
        let calm = frames.iter().all(|frame| {
            !matches!(answer(frame), Some(Answer::Refused(_)))
                && !matches!(frame.step, Step::LoseReply(_))
        });
        // Where SQLite refused nothing, PostgreSQL has nothing to say against it either.
        let last = run.state_after(run.frames.len());
        if calm && last.workers().all(|(_, worker)| !worker.in_transaction) {
            let committed = &last.committed;
            assert_eq!(
                said["receipts"],
                committed.receipts.len().to_string(),
                "{name}"
            );
            assert_eq!(said["tasks"], committed.tasks.len().to_string(), "{name}");
        }
    }
    let run = |design: &str, schedule: &str| {
        let (design, schedule): (Design, Schedule) =
            (design.parse().unwrap(), schedule.parse().unwrap());
        let (scenario, bounds) = (Scenario::default(), Bounds::BY_HAND);
        let run = Run::exact(design, scenario, bounds, &schedule).unwrap();
        let system = System::new(design, scenario, bounds).unwrap();
        replay_on(&server, &Export::Psql.text(&system, &run), &folder)
    };
    let race = run("constraint-arbitration", "s1:dA.A2.dB.B2.A2.B2.A");
    assert_eq!(race["step 6, B"], "waits for A");
    assert!(race["step 9, B"].starts_with("23505 "), "{race:?}");
    assert_eq!((&*race["receipts"], &*race["tasks"]), ("1", "1"));
    let ignored = run("insert-or-ignore", "s1:dA.A5.dB.B3");
    assert_eq!(ignored["step 9, B"], "INSERT 0 0");
}

/// How to reach a PostgreSQL server with psql, if there is one to reach. `DATABASE_URL` names one that must
/// answer; without it the usual local port is tried.
fn postgres() -> Option<Vec<String>> {
    if let Some(url) = env::var("DATABASE_URL").ok().filter(|url| !url.is_empty()) {
        return Some(vec![url]);
    }
    let local: Vec<String> = ["-h", "127.0.0.1", "-U", "postgres", "-d", "postgres"]
        .map(str::to_owned)
        .to_vec();
    let mut psql = Command::new("psql");
    let asked = psql
        .args(&local)
        .args(["-w", "-X", "-c", "SELECT 1"])
        .output();
    if asked.is_ok_and(|output| output.status.success()) {
        return Some(local);
    }
    eprintln!(
        "NOT RUN: no `DATABASE_URL`, and no PostgreSQL answers psql at 127.0.0.1:5432 as postgres"
    );
    None
}

#[test]
fn mermaid_reads_every_diagram() {
    let folder = folder("mermaid");
    let mut files = vec![];
    for (name, system, run) in runs() {
        let file = folder.join(format!("{name}.mmd"));
        fs::write(&file, Export::Mermaid.text(&system, &run)).unwrap();
        files.push(file);
    }
    let bad = folder.join("bad.mmd");
    fs::write(&bad, "sequenceDiagram\n    A->>B\n").unwrap();
    let package = env::var_os("MERMAID")
        .expect("`MERMAID` names the package's folder: run `cargo xtask test`, which sets it");
    let mut node = Command::new("node");
    let node = node
        .arg(repository().join("tests/fixtures/mermaid/parse.mjs"))
        .arg(package)
        .args(&files)
        .arg(&bad);
    let (stdout, stderr) = output(node);
    let said: Vec<&str> = stdout.lines().filter(|line| !line.is_empty()).collect();
    let (read, rest) = said.split_at(files.len().min(said.len()));
    assert_eq!(read, vec!["sequence"; files.len()], "{stdout}{stderr}");
    assert!(
        rest.first().is_some_and(|line| line.contains("bad.mmd: ")),
        "{stdout}"
    );
}

const PREVIEW: &str = "document.querySelector('[data-testid=export-preview]')";
const LINK: &str = "document.querySelector('[data-testid=export-download]')";

/// A format, the file of a run of check-then-insert, and something that stands in its text.
const SHOWN: [(&str, &str, &str); 8] = [
    (
        "mermaid",
        "deliver-twice-check-then-insert.mmd",
        "sequenceDiagram",
    ),
    (
        "plantuml",
        "deliver-twice-check-then-insert.puml",
        "@startuml",
    ),
    ("svg", "deliver-twice-check-then-insert.svg", "</svg>"),
    (
        "markdown",
        "deliver-twice-check-then-insert.md",
        "**duplicate-effect**",
    ),
    (
        "json",
        "deliver-twice-check-then-insert.json",
        "deliver-twice-trace",
    ),
    (
        "sql",
        "deliver-twice-check-then-insert.sql",
        ".connection 2",
    ),
    (
        "psql",
        "deliver-twice-check-then-insert.psql.sql",
        "SELECT enter('B');",
    ),
    ("rust-test", "run_check_then_insert.rs", "Run::exact"),
];

#[track_caller]
fn open(query: &str) -> Page {
    let page = lab::open(query);
    page.click("[data-testid=export] summary");
    page.wait_until("the preview", &format!("{PREVIEW} !== null"));
    page
}

#[test]
fn every_format_is_shown_and_offered_as_a_file_that_holds_what_is_shown() {
    let page = open("");
    for (format, file, part) in SHOWN {
        page.choose("[data-testid=export-format]", format);
        page.wait_until(
            &format!("{file} to be offered"),
            &format!("{LINK}.download === '{file}'"),
        );
        let text = page.eval(&format!("{PREVIEW}.value"));
        assert!(text.as_str().unwrap().contains(part), "{file}: {text}");
        let href = format!("decodeURIComponent({LINK}.href.split(/,(.*)/s)[1])");
        assert_eq!(page.eval(&href), text, "{file}");
    }
    page.choose("[data-testid=export-side]", "right");
    page.wait_until(
        "the other side's run",
        &format!("{PREVIEW}.value.includes('constraint_arbitration_ends_well')"),
    );
    assert_eq!(page.console_errors(), [""; 0]);
    page.set_width(360);
    assert_eq!(
        page.eval("document.documentElement.scrollWidth <= 360"),
        true
    );
    page.screenshot("export");
}

/// A whole run would answer the question that a lesson asks first.
#[test]
fn nothing_is_given_away_while_a_question_waits() {
    let page = Page::open_at("?lesson=ack-first");
    lab::wait_running(&page);
    assert_eq!(page.count("[data-testid=export]"), 0);
    page.click("[data-testid=answer-skip]");
    page.wait_until(
        "the exports after the question",
        "document.querySelector('[data-testid=export]') !== null",
    );
}
