//! A run to take away: one design's run as a diagram, a table, a trace, a test or a script.
//!
//! Every export is a pure function of the machine and its run, in English, and holds only the steps that
//! did something, so that its numbers and its schedule replay by [`Run::exact`]. What it leaves out: the
//! other design, and which step the page stood on.

use crate::design::Design;
use crate::run::Run;
use crate::system::System;

mod json;
mod markdown;
mod mermaid;
mod plantuml;
mod psql;
mod rust_test;
mod sequence;
mod sql;
mod story;
mod svg;

use story::Story;

/// A step of a run in English.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Who did it: a worker's letter, or who stands outside.
    pub who: String,
    /// What came of it.
    pub says: String,
}

/// The steps of `run` that did something, each as every format tells it. `system` is the machine that
/// carried the run out.
pub fn told(system: &System, run: &Run) -> Vec<Told> {
    let story = Story::of(system, run);
    let told = story.lines().into_iter().map(|line| Told {
        who: line.who,
        says: line.answer,
    });
    told.collect()
}

/// A format that a run can be taken away in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Export {
    /// A sequence diagram for Mermaid.
    Mermaid,
    /// A sequence diagram for PlantUML.
    PlantUml,
    /// A picture of the timeline.
    Svg,
    /// A table for a review.
    Markdown,
    /// Everything, for a program. Its form is `docs/trace.schema.json`.
    Json,
    /// A script for the `sqlite3` shell.
    Sql,
    /// A script for `psql`, on a PostgreSQL server.
    Psql,
    /// A test for this repository.
    RustTest,
}

impl Export {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Export; 8] = [
        Export::Mermaid,
        Export::PlantUml,
        Export::Svg,
        Export::Markdown,
        Export::Json,
        Export::Sql,
        Export::Psql,
        Export::RustTest,
    ];

    /// The name in lists and tests.
    pub fn as_str(self) -> &'static str {
        match self {
            Export::Mermaid => "mermaid",
            Export::PlantUml => "plantuml",
            Export::Svg => "svg",
            Export::Markdown => "markdown",
            Export::Json => "json",
            Export::Sql => "sql",
            Export::Psql => "psql",
            Export::RustTest => "rust-test",
        }
    }

    /// The format with this name.
    pub fn named(text: &str) -> Option<Self> {
        Export::ALL.into_iter().find(|e| e.as_str() == text)
    }

    /// The name of a file that holds a run of `design`.
    pub fn file_name(self, design: &Design) -> String {
        let extension = match self {
            Export::Mermaid => "mmd",
            Export::PlantUml => "puml",
            Export::Svg => "svg",
            Export::Markdown => "md",
            Export::Json => "json",
            Export::Sql => "sql",
            Export::Psql => "psql.sql",
            // A Rust file names a module, and so holds to the letters of one.
            Export::RustTest => return format!("run_{}.rs", rust_test::identifier(design)),
        };
        format!("deliver-twice-{design}.{extension}")
    }

    /// The media type of the text.
    pub fn media_type(self) -> &'static str {
        match self {
            Export::Mermaid | Export::PlantUml | Export::Sql | Export::Psql | Export::RustTest => {
                "text/plain"
            }
            Export::Svg => "image/svg+xml",
            Export::Markdown => "text/markdown",
            Export::Json => "application/json",
        }
    }

    /// The steps of `run` that did something, told in this format. `system` is the machine that carried
    /// the run out.
    pub fn text(self, system: &System, run: &Run) -> String {
        let story = Story::of(system, run);
        match self {
            Export::Mermaid => mermaid::text(&story),
            Export::PlantUml => plantuml::text(&story),
            Export::Svg => svg::text(&story),
            Export::Markdown => markdown::text(&story),
            Export::Json => json::text(&story),
            Export::Sql => sql::text(&story),
            Export::Psql => psql::text(&story),
            Export::RustTest => rust_test::text(&story),
        }
    }
}
