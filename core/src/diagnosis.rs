//! From what is seen in production to the designs that produce it, and the query that confirms it.

use crate::matrix::{Cell, HAZARDS, Hazard};
use crate::property::Verdict;

/// Something that people see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symptom {
    /// Its name. Names are identities: message keys and links carry them.
    pub name: &'static str,
    /// The verdict that stands behind it.
    pub verdict: Verdict,
    /// The hazards that it is seen under; empty for any.
    hazards: &'static [&'static str],
    /// The hazards that bring about something else that looks alike.
    except: &'static [&'static str],
    /// A query on the tables of the contract whose rows confirm it, and which finds none in a sound
    /// database; `None` if no table of the consumer's can tell.
    pub query: Option<&'static str>,
}

/// The symptoms.
pub const SYMPTOMS: [Symptom; 5] = [
    Symptom {
        name: "two-tasks",
        verdict: Verdict::DuplicateEffect,
        hazards: &[],
        except: &[],
        query: Some(
            "SELECT ticket_id, task_type, count(*) AS tasks\n\
             FROM business_tasks\n\
             GROUP BY ticket_id, task_type\n\
             HAVING count(*) > 1",
        ),
    },
    Symptom {
        name: "receipt-without-task",
        verdict: Verdict::OrphanReceipt,
        hazards: &[],
        except: &[],
        query: Some(
            "SELECT r.effect_name, count(*) AS receipts\n\
             FROM effect_receipts AS r\n\
             GROUP BY r.effect_name\n\
             HAVING count(*) > (SELECT count(*) FROM business_tasks AS t WHERE t.task_type = r.effect_name)",
        ),
    },
    Symptom {
        name: "acked-and-nothing-done",
        verdict: Verdict::LostEffect,
        hazards: &[],
        except: &["three-effects", "second-version"],
        query: None,
    },
    Symptom {
        name: "other-effect-missing",
        verdict: Verdict::LostEffect,
        hazards: &["three-effects", "second-version"],
        except: &[],
        query: None,
    },
    Symptom {
        name: "nothing-moves",
        verdict: Verdict::Stuck,
        hazards: &[],
        except: &[],
        query: None,
    },
];

impl Symptom {
    /// The symptom with this name.
    pub fn named(name: &str) -> Option<&'static Symptom> {
        SYMPTOMS.iter().find(|symptom| symptom.name == name)
    }

    /// Whether a design shows this symptom under a hazard, as far as a verdict that was found there goes.
    pub fn fits(&self, hazard: &str, verdict: Verdict) -> bool {
        verdict == self.verdict
            && (self.hazards.is_empty() || self.hazards.contains(&hazard))
            && !self.except.contains(&hazard)
    }

    /// The cells of the matrix in which this symptom shows.
    pub fn cells<'a>(&'a self, cells: &'a [Cell]) -> impl Iterator<Item = &'a Cell> {
        cells.iter().filter(move |cell| {
            cell.counterexamples
                .iter()
                .any(|found| self.fits(cell.hazard, found.verdict))
        })
    }
}

/// The hazard with this name.
pub fn hazard_named(name: &str) -> Option<&'static Hazard> {
    HAZARDS.iter().find(|hazard| hazard.name == name)
}
