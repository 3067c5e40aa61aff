//! Programs that the system's package manager brings.

use std::env;
use std::path::Path;

use super::{clang, packages};
use crate::failure::Failure;
use crate::toolbox::{self, Toolbox};

/// A program, or a few that belong together, of the system's package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SystemTool {
    /// clang that compiles C to wasm32, with llvm-ar.
    Clang,
    /// Node.js with npm.
    Node,
    /// Chromium or Chrome, with chromedriver.
    Chromium,
    /// SQLite's shell, which replays exported scripts.
    Sqlite,
    /// A font with Chinese characters. Without it screenshots show boxes.
    CjkFont,
    /// Python with what makes environments of packages.
    Python,
}

/// Names under which Chromium and Chrome are searched.
const BROWSERS: [&str; 7] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
];

/// Names under which the driver is searched. Ubuntu keeps it beside the browser.
const DRIVERS: [&str; 2] = ["chromedriver", "/usr/lib/chromium-browser/chromedriver"];

/// Finds the programs, or lets the package manager install those that are missing.
///
/// # Errors
/// [`Failure::Missing`] if something is still missing afterwards.
pub fn ensure(tools: &[SystemTool], toolbox: &mut Toolbox) -> Result<(), Failure> {
    let missing = missing_of(tools, toolbox);
    if missing.is_empty() {
        return Ok(());
    }
    packages::install(&missing, toolbox)?;
    let tools = missing_of(&missing, toolbox);
    if tools.is_empty() {
        Ok(())
    } else {
        Err(Failure::Missing { tools })
    }
}

fn missing_of(tools: &[SystemTool], toolbox: &mut Toolbox) -> Vec<SystemTool> {
    tools
        .iter()
        .copied()
        .filter(|tool| !tool.find(toolbox))
        .collect()
}

impl SystemTool {
    /// What to call it in a message.
    pub fn label(self) -> &'static str {
        match self {
            SystemTool::Clang => "clang that compiles C to wasm32, with llvm-ar",
            SystemTool::Node => "Node.js with npm",
            SystemTool::Chromium => "Chromium or Chrome, with chromedriver",
            SystemTool::Sqlite => "sqlite3, SQLite's shell",
            SystemTool::CjkFont => "a font with Chinese characters",
            SystemTool::Python => "Python 3.11 or newer with venv",
        }
    }

    /// Looks for the program and tells child processes where it is.
    fn find(self, toolbox: &mut Toolbox) -> bool {
        match self {
            SystemTool::Clang => clang::find(toolbox),
            SystemTool::Node => toolbox.find("node").is_some() && toolbox.find("npm").is_some(),
            SystemTool::Chromium => {
                find_as("CHROME_BIN", &BROWSERS, toolbox)
                    && find_as("CHROMEDRIVER", &DRIVERS, toolbox)
            }
            SystemTool::Sqlite => toolbox.find("sqlite3").is_some(),
            SystemTool::CjkFont => has_cjk_font(toolbox),
            SystemTool::Python => python(toolbox).is_some(),
        }
    }
}

/// Sets `variable` to the first program that exists, unless the person has set it.
fn find_as(variable: &'static str, programs: &[&str], toolbox: &mut Toolbox) -> bool {
    if env::var_os(variable).is_some() {
        return true;
    }
    let found = programs
        .iter()
        .find_map(|program| match Path::new(program).is_absolute() {
            true => toolbox::executable(Path::new(program)),
            false => toolbox.find(program),
        });
    let Some(path) = found else { return false };
    toolbox.set(variable, path);
    true
}

/// The name of a Python that is new enough and can make an environment of its own. Debian's cannot by itself.
pub fn python(toolbox: &Toolbox) -> Option<&'static str> {
    let asked = "import ensurepip, sys, venv; assert sys.version_info >= (3, 11)";
    let can = |name: &&str| toolbox.output(name, &["-c", asked]).is_some();
    ["python3", "python"].into_iter().find(can)
}

/// macOS and Windows come with such fonts; a Linux without fontconfig has none it could use.
fn has_cjk_font(toolbox: &Toolbox) -> bool {
    !cfg!(target_os = "linux")
        || toolbox
            .output("fc-list", &[":lang=zh", "family"])
            .is_some_and(|families| !families.trim().is_empty())
}
