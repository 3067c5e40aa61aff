//! How long a click on a step keeps the page busy until the next row is painted.
//!
//! On the built page in a headless browser, with the scenario that the page opens with: two copies of an
//! event, two workers, two designs side by side, both searched meanwhile. Runs are walked from their start to
//! their end and begun anew, so short and long runs are measured alike.

use deliver_twice_tests::Page;
use serde_json::Value;

/// How many clicks are a round.
const CLICKS: usize = 40;

/// How many rounds are measured. The quietest tells the page from what else the machine does.
const ROUNDS: usize = 11;

/// Clicks on the next step as a frame begins. The message that is posted then arrives once the frame is
/// painted, so the time between the two is all that the click costs: the statements, the rows, the layout.
/// Whatever is not on the page by then has missed the frame.
const CLICK: &str = "(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const painted = () => new Promise(done => {
        const channel = new MessageChannel();
        channel.port1.onmessage = done;
        channel.port2.postMessage(null);
    });
    const step = () => document.querySelector('[data-testid=run-forward]:enabled');
    const row = () => document.querySelector('tr[aria-current]').dataset.testid;
    const times = [];
    let missed = 0;
    while (times.length < CLICKS) {
        if (!step()) document.querySelector('[data-testid=restart]').click();
        await new Promise(done => setTimeout(done, 20));
        await frame();
        const before = row();
        const start = performance.now();
        step().click();
        await painted();
        times.push(performance.now() - start);
        if (row() === before) missed += 1;
    }
    return { times, missed };
})()";

fn main() {
    let page = Page::open();
    page.wait_until(
        "both searches to be over",
        "[...document.querySelectorAll('[data-testid^=search-] .search__line')].length === 2",
    );
    page.eval(&CLICK.replace("CLICKS", "20")); // the browser compiles what it runs often
    let rounds: Vec<Round> = (0..ROUNDS).map(|_| Round::of(&page)).collect();
    let quietest = rounds
        .iter()
        .min_by(|a, b| a.median().total_cmp(&b.median()));
    println!("a click on a step, until its frame is painted: {ROUNDS} rounds of {CLICKS} clicks");
    report("the quietest round", quietest.expect("there are rounds"));
    report("all rounds", &Round::together(&rounds));
}

/// Clicks that were measured one after the other.
struct Round {
    /// Milliseconds, the shortest first.
    times: Vec<f64>,
    /// How many clicks were not on the page when their frame was painted.
    missed: u64,
}

impl Round {
    fn of(page: &Page) -> Round {
        let measured = page.eval(&CLICK.replace("CLICKS", &CLICKS.to_string()));
        let mut times = numbers(&measured["times"]);
        times.sort_by(f64::total_cmp);
        let missed = measured["missed"].as_u64().unwrap_or_default();
        Round { times, missed }
    }

    fn together(rounds: &[Round]) -> Round {
        let mut times: Vec<f64> = rounds
            .iter()
            .flat_map(|round| round.times.clone())
            .collect();
        times.sort_by(f64::total_cmp);
        let missed = rounds.iter().map(|round| round.missed).sum();
        Round { times, missed }
    }

    fn median(&self) -> f64 {
        self.times[self.times.len() / 2]
    }
}

fn report(what: &str, round: &Round) {
    let worst = round.times.last().copied().unwrap_or_default();
    println!(
        "  {what}: median {:.1} ms, worst {worst:.1} ms, frames missed {}",
        round.median(),
        round.missed
    );
}

fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().expect("a list");
    list.iter().filter_map(Value::as_f64).collect()
}
