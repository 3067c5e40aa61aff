//! How long the laboratory takes to be there, beside two SQLites for the browser that are loaded alone.
//!
//! One server, one headless browser, the pages in turn, each time with nothing kept from the time before. A
//! page is ready when it has answered: the laboratory a click on its next step, the others `SELECT 1`. Times
//! are from the beginning of the navigation, by the page's own clock. `cargo xtask bench` installs the others.

use std::fs;
use std::path::{Path, PathBuf};

use deliver_twice_tests::{Page, repository};

/// How often each page is loaded.
const ROUNDS: usize = 15;

/// Clicks as soon as there is something to click, and looks when the run has another row.
const CLICK_ONCE_READY: &str = "\
const row = () => document.querySelector('tr[aria-current]')?.dataset.testid;
const look = () => {
  const next = document.querySelector('[data-testid=run-forward]:enabled');
  if (!next || !row()) return setTimeout(look);
  const before = row();
  const moved = () => (row() === before ? setTimeout(moved) : (globalThis.ready = performance.now()));
  next.click();
  moved();
};
look();
";

const SQL_JS: &str = "<!doctype html><title>sql.js</title><p>SQLite</p>
<script src=\"sql-wasm-browser.js\"></script>
<script type=\"module\">
const SQL = await initSqlJs();
const [{ values }] = new SQL.Database().exec('SELECT 1');
if (values[0][0] === 1) globalThis.ready = performance.now();
</script>
";

const SQLITE_WASM: &str = "<!doctype html><title>sqlite-wasm</title><p>SQLite</p>
<script type=\"module\">
import init from './index.mjs';
const { oo1 } = await init();
if (new oo1.DB().selectValue('SELECT 1') === 1) globalThis.ready = performance.now();
</script>
";

/// One page to load.
struct Loaded {
    name: &'static str,
    folder: &'static str,
    /// Milliseconds until the first words are painted.
    painted: Vec<f64>,
    /// Milliseconds until it has answered.
    ready: Vec<f64>,
}

fn main() {
    let Some(others) = std::env::var_os("SQLITES").map(PathBuf::from) else {
        println!("load: not measured; `cargo xtask bench` installs what it compares with");
        return;
    };
    let folder = pages(&others.join("node_modules"));
    let mut loaded = [
        ("the laboratory", "lab/"),
        ("sql.js", "sql.js/"),
        ("sqlite-wasm", "sqlite-wasm/"),
    ]
    .map(|(name, folder)| Loaded {
        name,
        folder,
        painted: vec![],
        ready: vec![],
    });
    let page = Page::open_folder(&folder);
    for _ in 0..ROUNDS {
        for each in &mut loaded {
            each.load(&page);
        }
    }
    println!("loaded afresh, the middle of {ROUNDS} rounds (the quickest, the slowest)");
    for each in &loaded {
        each.report();
    }
}

impl Loaded {
    fn load(&mut self, page: &Page) {
        page.visit("");
        page.forget();
        page.visit(self.folder);
        page.wait_until(self.name, "globalThis.ready > 0");
        let times = page.eval(
            "[performance.getEntriesByName('first-contentful-paint')[0]?.startTime, globalThis.ready]",
        );
        self.painted.extend(times[0].as_f64());
        self.ready.extend(times[1].as_f64());
        self.painted.sort_by(f64::total_cmp);
        self.ready.sort_by(f64::total_cmp);
    }

    fn report(&self) {
        println!(
            "  {:<16}first words {}   ready {}",
            self.name,
            spread(&self.painted),
            spread(&self.ready)
        );
    }
}

fn spread(times: &[f64]) -> String {
    let (Some(least), Some(most)) = (times.first(), times.last()) else {
        return "not seen".to_owned();
    };
    let middle = times[times.len() / 2];
    format!("{middle:>6.0} ms ({least:.0} to {most:.0})")
}

/// A folder with a page for each: the built one with a script that clicks, and the others alone.
fn pages(modules: &Path) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("load");
    fs::remove_dir_all(&folder).ok(); // of an earlier run
    let lab = folder.join("lab");
    copy(&repository().join("dist"), &lab);
    let mut index = fs::read_to_string(lab.join("index.html")).expect("the build has a page");
    index.push_str("<script type=\"module\" src=\"click.js\"></script>\n");
    write(&lab.join("index.html"), &index);
    write(&lab.join("click.js"), CLICK_ONCE_READY);
    copy(&modules.join("sql.js/dist"), &folder.join("sql.js"));
    write(&folder.join("sql.js/index.html"), SQL_JS);
    copy(
        &modules.join("@sqlite.org/sqlite-wasm/dist"),
        &folder.join("sqlite-wasm"),
    );
    write(&folder.join("sqlite-wasm/index.html"), SQLITE_WASM);
    write(
        &folder.join("index.html"),
        "<!doctype html><title>Nothing</title>",
    );
    folder
}

/// Copies the files of a folder, and not the folders in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the target folder can be written");
    let entries = fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    for entry in entries {
        let path = entry.expect("a folder can be read").path();
        if path.is_file() {
            let name = path.file_name().expect("a file has a name");
            fs::copy(&path, to.join(name)).expect("the target folder can be written");
        }
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("the target folder can be written");
}
