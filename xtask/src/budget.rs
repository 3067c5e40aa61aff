//! What the build may weigh: figures in `xtask/budget.toml` that only go down.
//!
//! A figure is renewed by [`lower`], which refuses to raise it. So that it follows the build down, a build
//! that is much lighter than its figure fails as well.

use std::fs;
use std::path::PathBuf;

use crate::failure::Failure;
use crate::pins;
use crate::size::{self, Weights, grouped};

/// A figure of the budget, by its key in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figure {
    Lab,
    Loader,
}

impl Figure {
    const ALL: [Figure; 2] = [Figure::Lab, Figure::Loader];

    fn key(self) -> &'static str {
        match self {
            Figure::Lab => "lab",
            Figure::Loader => "loader",
        }
    }

    /// What is wanted in the end, in bytes after gzip.
    fn aim(self) -> usize {
        match self {
            Figure::Lab => 396_000,
            Figure::Loader => 5_000,
        }
    }

    fn weight(self, weights: Weights) -> usize {
        match self {
            Figure::Lab => weights.lab,
            Figure::Loader => weights.loader,
        }
    }
}

/// How a weight stands to what it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Within,
    Above,
    FarBelow,
}

/// Compilers of different machines differ by a few bytes in a thousand, so this much is left above a build.
fn with_room(weight: usize) -> usize {
    (weight + weight / 100).next_multiple_of(100)
}

fn standing(weight: usize, allowed: usize) -> Standing {
    // Three times the room, or a quick fix would already have to be lowered after.
    let stale = weight + (weight * 3 / 100).max(1_000);
    if weight > allowed {
        Standing::Above
    } else if stale < allowed {
        Standing::FarBelow
    } else {
        Standing::Within
    }
}

/// Prints the size of the build and holds it to the budget.
///
/// # Errors
/// [`Failure::Budget`] if a figure is exceeded or far from the build, [`Failure::File`] if the build or the
/// budget cannot be read.
pub fn check() -> Result<(), Failure> {
    let weights = size::print(&pins::root().join("dist"))?;
    let budget = read()?;
    let mut problems = Vec::new();
    println!();
    for figure in Figure::ALL {
        let (key, weight) = (figure.key(), figure.weight(weights));
        let allowed = allowed(&budget, key)?;
        println!(
            "{key:<8}{:>12} of {} allowed; the aim is {}",
            grouped(weight),
            grouped(allowed),
            grouped(figure.aim())
        );
        problems.extend(problem(key, weight, allowed));
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(Failure::Budget { problems })
}

/// Brings every figure down to the build, and leaves those that are lower already.
///
/// # Errors
/// As for [`check`].
pub fn lower() -> Result<(), Failure> {
    let weights = size::weights(&pins::root().join("dist"))?;
    let mut budget = read()?;
    for figure in Figure::ALL {
        let before = allowed(&budget, figure.key())?;
        let after = with_room(figure.weight(weights)).min(before);
        budget = with_figure(&budget, figure.key(), after);
        println!(
            "{:<8}{:>12} -> {}",
            figure.key(),
            grouped(before),
            grouped(after)
        );
    }
    fs::write(file(), budget).map_err(|error| failed(error.to_string()))?;
    check()
}

fn problem(key: &str, weight: usize, allowed: usize) -> Option<String> {
    match standing(weight, allowed) {
        Standing::Within => None,
        Standing::Above => Some(format!(
            "{key} weighs {} bytes more than xtask/budget.toml allows; make it lighter, or raise the figure \
             by hand and say in the commit what the bytes are for",
            grouped(weight - allowed)
        )),
        Standing::FarBelow => Some(format!(
            "{key} is {} bytes below its figure; `cargo xtask size --lower` brings the figure down",
            grouped(allowed - weight)
        )),
    }
}

fn file() -> PathBuf {
    pins::root().join("xtask/budget.toml")
}

fn read() -> Result<String, Failure> {
    fs::read_to_string(file()).map_err(|error| failed(error.to_string()))
}

fn failed(problem: String) -> Failure {
    Failure::File {
        path: file(),
        problem,
    }
}

/// The number on the line `key = number`.
fn allowed(budget: &str, key: &str) -> Result<usize, Failure> {
    budget
        .lines()
        .find_map(|line| number_of(line, key))
        .ok_or_else(|| failed(format!("no line `{key} = bytes`; restore it")))
}

fn number_of(line: &str, key: &str) -> Option<usize> {
    let (found, number) = line.split_once('=')?;
    (found.trim() == key).then(|| number.trim().parse().ok())?
}

/// The budget with another number on the line of this key.
fn with_figure(budget: &str, key: &str, bytes: usize) -> String {
    let lines = budget.lines().map(|line| match number_of(line, key) {
        Some(_) => format!("{key} = {bytes}\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_held_to_its_figure_from_both_sides() {
        assert_eq!(standing(700_000, 700_000), Standing::Within);
        assert_eq!(standing(700_001, 700_000), Standing::Above);
        assert_eq!(standing(700_000, 721_000), Standing::Within);
        assert_eq!(standing(700_000, 721_001), Standing::FarBelow);
        assert_eq!(standing(4_000, 5_000), Standing::Within);
        assert_eq!(standing(3_999, 5_000), Standing::FarBelow);
    }

    #[test]
    fn a_figure_that_was_just_lowered_is_within_its_bounds() {
        for weight in [3_999, 4_000, 396_000, 712_345] {
            assert_eq!(
                standing(weight, with_room(weight)),
                Standing::Within,
                "{weight}"
            );
        }
    }

    #[test]
    fn the_file_of_this_checkout_has_every_figure_and_the_loader_keeps_to_its_aim() {
        let budget = read().unwrap();
        for figure in Figure::ALL {
            assert!(allowed(&budget, figure.key()).is_ok(), "{figure:?}");
        }
        assert!(allowed(&budget, "loader").unwrap() <= Figure::Loader.aim());
        assert!(allowed(&budget, "page").is_err());
    }

    #[test]
    fn one_figure_is_replaced_and_all_else_is_kept() {
        let budget = "# lab = 1\nlab = 700\nloader = 50\n";
        assert_eq!(
            with_figure(budget, "lab", 600),
            "# lab = 1\nlab = 600\nloader = 50\n"
        );
    }
}
