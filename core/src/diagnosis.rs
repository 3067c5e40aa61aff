//! From what is seen in production to the designs that produce it, and the query that confirms it.

use crate::design::Chapter;
use crate::matrix::Cell;
use crate::property::Verdict;

/// Something that people see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symptom {
    /// Its name. Names are identities: message keys and links carry them.
    pub name: &'static str,
    /// The part of the way that it is seen on.
    pub chapter: Chapter,
    /// The verdict that stands behind it.
    pub verdict: Verdict,
    /// The hazards that it is seen under; empty for any.
    hazards: &'static [&'static str],
    /// The hazards that bring about something else that looks alike.
    except: &'static [&'static str],
    /// A query on the tables of the chapter's best design whose rows confirm it, and which finds none where
    /// that design is done with what it had; `None` if no table can tell.
    pub query: Option<&'static str>,
}

/// The symptoms.
pub const SYMPTOMS: [Symptom; 12] = [
    Symptom {
        name: "two-tasks",
        chapter: Chapter::Consumer,
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
        chapter: Chapter::Consumer,
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
        chapter: Chapter::Consumer,
        verdict: Verdict::LostEffect,
        hazards: &[],
        except: &["three-effects", "second-version"],
        query: None,
    },
    Symptom {
        name: "other-effect-missing",
        chapter: Chapter::Consumer,
        verdict: Verdict::LostEffect,
        hazards: &["three-effects", "second-version"],
        except: &[],
        query: None,
    },
    Symptom {
        name: "nothing-moves",
        chapter: Chapter::Consumer,
        verdict: Verdict::Stuck,
        hazards: &[],
        except: &[],
        query: None,
    },
    Symptom {
        name: "event-never-arrives",
        chapter: Chapter::Producer,
        verdict: Verdict::LostEvent,
        hazards: &[],
        except: &[],
        query: Some(
            "SELECT t.id\n\
             FROM tickets AS t\n\
             WHERE NOT EXISTS (SELECT 1 FROM business_tasks AS b WHERE b.ticket_id = t.id)",
        ),
    },
    Symptom {
        name: "event-without-ticket",
        chapter: Chapter::Producer,
        verdict: Verdict::GhostEvent,
        hazards: &[],
        except: &[],
        query: None,
    },
    Symptom {
        name: "published-and-nobody-got-it",
        chapter: Chapter::Producer,
        verdict: Verdict::FalsePublished,
        hazards: &[],
        except: &[],
        query: Some(
            "SELECT o.event_id, o.attempt\n\
             FROM outbox_events AS o\n\
             WHERE o.state = 'published'\n\
               AND NOT EXISTS (SELECT 1 FROM effect_receipts AS r WHERE r.event_id = o.event_id)",
        ),
    },
    Symptom {
        name: "rows-stay-leased",
        chapter: Chapter::Producer,
        verdict: Verdict::StuckRow,
        hazards: &[],
        except: &[],
        query: Some(
            "SELECT event_id, owner, attempt\n\
             FROM outbox_events\n\
             WHERE state = 'leased'",
        ),
    },
    Symptom {
        name: "two-mails",
        chapter: Chapter::Outside,
        verdict: Verdict::SentTwice,
        hazards: &[],
        except: &[],
        query: None,
    },
    Symptom {
        name: "no-mail",
        chapter: Chapter::Outside,
        verdict: Verdict::NeverSent,
        hazards: &[],
        except: &[],
        query: None,
    },
    Symptom {
        name: "mail-without-task",
        chapter: Chapter::Outside,
        verdict: Verdict::SentInVain,
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
