//! How states, schedules and time grow with workers, copies and crashes.

use std::fmt::Write as _;
use std::time::Duration;

use deliver_twice_core::design::Design;
use deliver_twice_core::explore::{Count, Coverage, Exploration};
use deliver_twice_core::scenario::{Bounds, Scenario};

use crate::timing::timed;

/// One search.
struct Row {
    workers: u8,
    deliveries: u8,
    crashes: u8,
    states: u64,
    schedules: Count,
    time: Duration,
}

pub fn print() {
    let rows = measured();
    print!("{}", table(&rows));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/growth.svg");
    std::fs::write(path, plot(&rows)).unwrap();
    if let Some(kilobytes) = peak_kilobytes() {
        println!("\nmost memory so far: {:.0} MB", kilobytes as f64 / 1000.0);
    }
}

fn measured() -> Vec<Row> {
    let mut rows = vec![];
    for workers in 1..=3 {
        for deliveries in 1..=3 {
            for crashes in 0..=2 {
                rows.push(measure(workers, deliveries, crashes));
            }
        }
    }
    rows
}

fn measure(workers: u8, deliveries: u8, crashes: u8) -> Row {
    let scenario = Scenario {
        workers,
        deliveries,
        ..Scenario::default()
    };
    let bounds = Bounds {
        crashes,
        ..Bounds::NONE
    };
    let (time, report) = timed(
        || (),
        |()| {
            let states_max = Exploration::STATES_MAX;
            let mut exploration =
                Exploration::new(Design::CONTRACT, scenario, bounds, states_max).unwrap();
            assert_eq!(exploration.run().unwrap(), Coverage::Exhausted);
            exploration.report()
        },
    );
    Row {
        workers,
        deliveries,
        crashes,
        states: report.states,
        schedules: report.schedules,
        time,
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = "| workers | copies | crashes | states | schedules | time |\n".to_owned();
    text.push_str("|---:|---:|---:|---:|---:|---:|\n");
    for row in rows {
        let Row {
            workers,
            deliveries,
            crashes,
            states,
            schedules,
            time,
        } = row;
        let ms = time.as_secs_f64() * 1e3;
        let schedules = match schedules.get() {
            exact @ 0..1_000_000_000 => exact.to_string(),
            large => format!("{:.1e}", large as f64),
        };
        let _ = writeln!(
            text,
            "| {workers} | {deliveries} | {crashes} | {states} | {schedules} | {ms:.1} ms |"
        );
    }
    text
}

/// The most memory this process ever had, in kilobytes, where the system says so.
///
/// # Source
/// `VmHWM` in proc_pid_status(5).
fn peak_kilobytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 330.0;
/// A panel's left edge, and its width.
const PANELS: [(f64, f64); 2] = [(60.0, 250.0), (420.0, 250.0)];
const TOP: f64 = 40.0;
const BOTTOM: f64 = 280.0;

/// Two panels, states and schedules, each on a scale by powers of ten.
fn plot(rows: &[Row]) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\">\n\
         <title>States and schedules of constraint-arbitration, by copies, workers and crashes</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let states = |row: &Row| row.states as f64;
    let schedules = |row: &Row| row.schedules.get() as f64;
    panel(&mut svg, PANELS[0], "states", rows, states);
    panel(&mut svg, PANELS[1], "schedules", rows, schedules);
    legend(&mut svg);
    svg.push_str("</svg>\n");
    svg
}

fn panel(
    svg: &mut String,
    (left, width): (f64, f64),
    title: &str,
    rows: &[Row],
    value: fn(&Row) -> f64,
) {
    let powers = rows
        .iter()
        .map(|row| value(row).log10())
        .fold(1.0, f64::max)
        .ceil();
    let y = |power: f64| BOTTOM - power / powers * (BOTTOM - TOP);
    let x = |copies: u8| left + f64::from(copies - 1) * width / 2.0;
    let _ = writeln!(
        svg,
        "<text x=\"{left}\" y=\"{}\" font-weight=\"600\">{title}</text>",
        TOP - 16.0
    );
    let step = (powers / 6.0).ceil();
    let mut power = 0.0;
    while power <= powers {
        let (y, right) = (y(power), left + width);
        let _ = writeln!(
            svg,
            "<path d=\"M{left} {y:.1}H{right}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">10<tspan dy=\"-4\" font-size=\"9\">{power}</tspan></text>",
            left - 8.0,
            y + 4.0
        );
        power += step;
    }
    for copies in 1..=3 {
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{copies}</text>",
            x(copies),
            BOTTOM + 18.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">copies</text>",
        left + width / 2.0,
        BOTTOM + 36.0
    );
    for workers in 1..=3 {
        for crashes in 0..=2 {
            let line = rows
                .iter()
                .filter(|row| (row.workers, row.crashes) == (workers, crashes));
            let points: Vec<String> = line
                .map(|row| format!("{:.1},{:.1}", x(row.deliveries), y(value(row).log10())))
                .collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" {}/>",
                points.join(" "),
                stroke(workers, crashes)
            );
        }
    }
}

/// Workers by colour and width, crashes by dashes, so that nothing is said by colour alone.
fn stroke(workers: u8, crashes: u8) -> String {
    let colour = ["#4477aa", "#228833", "#aa3377"][usize::from(workers - 1)];
    let dashes = ["none", "7 3", "2 3"][usize::from(crashes)];
    format!(
        "fill=\"none\" stroke=\"{colour}\" stroke-width=\"{workers}\" stroke-dasharray=\"{dashes}\""
    )
}

fn legend(svg: &mut String) {
    let entries = [
        (1, 0, "1 worker"),
        (2, 0, "2 workers"),
        (3, 0, "3 workers"),
        (1, 0, "no crash"),
        (1, 1, "1 crash"),
        (1, 2, "2 crashes"),
    ];
    for (index, (workers, crashes, text)) in entries.into_iter().enumerate() {
        let y = TOP + 20.0 * index as f64;
        let _ = writeln!(
            svg,
            "<path d=\"M692 {y}h28\" {}/><text x=\"728\" y=\"{}\">{text}</text>",
            stroke(workers, crashes),
            y + 4.0
        );
    }
}
