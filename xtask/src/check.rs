//! Every check of the project, as a list of phases.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::budget;
use crate::engines;
use crate::failure::Failure;
use crate::package;
use crate::page::{self, Profile};
use crate::setup::{self, Tool};
use crate::toolbox::Toolbox;

/// Phases that a developer may want to run by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Format and clippy.
    Lint,
    /// Tests on this machine.
    Native,
    /// The core's tests as wasm, in Node.js.
    Wasm,
    /// The contract on PostgreSQL and RabbitMQ, where they are reachable.
    Evidence,
    /// The page's release build, and the tests that open it.
    Browser,
}

impl Group {
    /// The group of that name on the command line.
    pub fn from_name(name: &str) -> Option<Group> {
        match name {
            "lint" => Some(Group::Lint),
            "native" => Some(Group::Native),
            "wasm" => Some(Group::Wasm),
            "evidence" => Some(Group::Evidence),
            "browser" => Some(Group::Browser),
            _ => None,
        }
    }
}

/// One step of the checks.
struct Phase {
    name: &'static str,
    group: Group,
    work: Work,
    tools: &'static [Tool],
}

/// What a phase does.
enum Work {
    /// Runs cargo with these arguments, separated by blanks.
    Cargo(&'static str),
    /// Builds the page for release.
    BuildPage,
    /// Holds the build to its budget.
    Weigh,
    /// Packs the build for npm.
    Pack,
    /// Tests against the servers that are there.
    Evidence,
}

const PHASES: [Phase; 10] = [
    Phase {
        name: "format",
        group: Group::Lint,
        work: Work::Cargo("fmt --all -- --check"),
        tools: &[Tool::RUSTFMT],
    },
    Phase {
        name: "clippy, host",
        group: Group::Lint,
        work: Work::Cargo("clippy --workspace --all-targets -- -D warnings"),
        tools: &[Tool::CLIPPY],
    },
    Phase {
        name: "clippy, wasm32",
        group: Group::Lint,
        work: Work::Cargo(
            "clippy -p deliver-twice-core -p deliver-twice-web --all-targets \
             --target wasm32-unknown-unknown -- -D warnings",
        ),
        tools: &[Tool::CLIPPY, Tool::WASM_TARGET, Tool::CLANG],
    },
    Phase {
        name: "native tests",
        group: Group::Native,
        work: Work::Cargo("test -p deliver-twice-core -p deliver-twice-web -p xtask"),
        tools: &[],
    },
    Phase {
        name: "wasm tests",
        group: Group::Wasm,
        work: Work::Cargo(
            "test -p deliver-twice-core --lib --tests --target wasm32-unknown-unknown",
        ),
        tools: &[
            Tool::WASM_TARGET,
            Tool::CLANG,
            Tool::NODE,
            Tool::WASM_BINDGEN,
        ],
    },
    Phase {
        name: "evidence tests",
        group: Group::Evidence,
        work: Work::Evidence,
        tools: &[Tool::PYTHON, Tool::SQLALCHEMY],
    },
    Phase {
        name: "page, release build",
        group: Group::Browser,
        work: Work::BuildPage,
        tools: &[], // those of `page::tools`
    },
    Phase {
        name: "weight",
        group: Group::Browser,
        work: Work::Weigh,
        tools: &[],
    },
    Phase {
        name: "package",
        group: Group::Browser,
        work: Work::Pack,
        tools: &[], // those of `package::tools`
    },
    Phase {
        name: "browser and repository tests",
        group: Group::Browser,
        work: Work::Cargo("test -p deliver-twice-tests"),
        tools: &[
            Tool::CHROMIUM,
            Tool::CJK_FONT,
            Tool::SQLITE,
            Tool::NODE,
            Tool::MERMAID,
            Tool::AXE,
            Tool::TYPESCRIPT,
            Tool::RECORDS,
            Tool::VITEPRESS,
            Tool::PYTHON,
            Tool::BOOKS,
        ],
    },
];

/// The tools of one group of phases, or of all.
pub fn tools(only: Option<Group>) -> BTreeSet<Tool> {
    phases(only).flat_map(Phase::tools).collect()
}

/// Sets the machine up, then runs the phases until one fails.
///
/// # Errors
/// What [`setup::ensure`] reports, and [`Failure::Phase`] for the first phase that fails.
pub fn run(only: Option<Group>) -> Result<(), Failure> {
    let toolbox = setup::ensure(&tools(only))?;
    let mut durations = Vec::new();
    let outcome = phases(only).try_for_each(|phase| {
        println!("\n== {}: {}", phase.name, phase.line());
        let (outcome, duration) = timed(|| phase.run(&toolbox));
        durations.push((phase.name, duration));
        outcome.map_err(|cause| Failure::Phase {
            name: phase.name,
            cause: Box::new(cause),
        })
    });
    let verdict = if outcome.is_ok() {
        "every phase passed"
    } else {
        "the last phase failed"
    };
    print!("\n{}", summary(&durations, verdict));
    if phases(only).any(|phase| phase.group == Group::Evidence) {
        print!("{}", engines::report());
    }
    outcome
}

fn phases(only: Option<Group>) -> impl Iterator<Item = &'static Phase> {
    PHASES
        .iter()
        .filter(move |phase| only.is_none_or(|group| group == phase.group))
}

impl Phase {
    fn tools(&self) -> BTreeSet<Tool> {
        match self.work {
            Work::BuildPage => page::tools(Profile::Release),
            Work::Pack => package::tools(),
            Work::Evidence | Work::Weigh | Work::Cargo(_) => self.tools.iter().copied().collect(),
        }
    }

    fn run(&self, toolbox: &Toolbox) -> Result<(), Failure> {
        match self.work {
            Work::BuildPage => page::build_with(toolbox),
            Work::Weigh => budget::check(),
            Work::Pack => package::pack_with(toolbox),
            Work::Evidence => engines::test_with(toolbox),
            Work::Cargo(line) => {
                let arguments: Vec<&str> = line.split_whitespace().collect();
                toolbox.run("cargo", &arguments)
            }
        }
    }

    /// The command as a person would type it.
    fn line(&self) -> String {
        match self.work {
            Work::BuildPage => "cargo xtask build".to_owned(),
            Work::Weigh => "cargo xtask size".to_owned(),
            Work::Pack => "npm pack".to_owned(),
            Work::Evidence => "cargo test -p deliver-twice-evidence".to_owned(),
            Work::Cargo(line) => format!("cargo {line}"),
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "how long a phase took is for people, not for tests"
)]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

fn summary(durations: &[(&str, Duration)], verdict: &str) -> String {
    let rows = durations.iter().map(|(name, duration)| {
        let seconds = duration.as_secs_f64();
        format!("{name:<30}{seconds:>8.1} s\n")
    });
    rows.chain([format!("{verdict}\n")]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_tests_need_nothing_but_cargo() {
        assert_eq!(tools(Some(Group::Native)), BTreeSet::new());
    }

    #[test]
    fn all_phases_together_need_the_tools_of_every_group() {
        let groups = [
            Group::Lint,
            Group::Native,
            Group::Wasm,
            Group::Evidence,
            Group::Browser,
        ];
        let of_groups: BTreeSet<Tool> = groups.into_iter().flat_map(|g| tools(Some(g))).collect();
        assert_eq!(tools(None), of_groups);
    }

    #[test]
    fn the_summary_has_a_row_per_phase_and_ends_with_the_verdict() {
        let durations = [
            ("format", Duration::from_millis(840)),
            ("clippy, host", Duration::from_secs(75)),
        ];
        assert_eq!(
            summary(&durations, "every phase passed"),
            "format                             0.8 s\n\
             clippy, host                      75.0 s\n\
             every phase passed\n"
        );
    }
}
