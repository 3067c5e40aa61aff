//! From the ticket to the task: with every part in its place each committed ticket has exactly one task,
//! and without any one of them the search shows what breaks.

use std::collections::{BTreeMap, BTreeSet};

use deliver_twice_core::design::{
    AckTiming, Arbitration, Design, Grouping, Key, Lease, Marking, Publication,
};
use deliver_twice_core::event::EffectName;
use deliver_twice_core::explore::{Coverage, Exploration, Report};
use deliver_twice_core::property::{Verdict, violations};
use deliver_twice_core::scenario::{Bounds, Scenario};
use deliver_twice_core::schedule::{Schedule, Step};
use deliver_twice_core::state::State;
use deliver_twice_core::system::System;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// One ticket, one relay, one consumer.
const ONE: Scenario = Scenario {
    workers: 1,
    ..Scenario::USUAL
};

const NONE: Bounds = Bounds::NONE;

/// Carries out a schedule from the start, and says what state that is.
fn state_after(system: &mut System, steps: &[Step]) -> State {
    system.restart().unwrap();
    for step in steps {
        let _ = system.apply(*step).unwrap();
    }
    system.look_as_workers().unwrap();
    system.state().clone()
}

/// Walks to every state within the bounds, and looks at each in which nothing gets on by itself. It is
/// no search of the project's own: states are found by replaying schedules, and compared as they are.
fn at_every_end(
    design: Design,
    scenario: Scenario,
    bounds: Bounds,
    mut look: impl FnMut(&System, &Schedule),
) -> usize {
    let mut system = System::new(design, scenario, bounds).unwrap();
    let mut known = BTreeSet::from([state_after(&mut system, &[])]);
    let mut open = vec![vec![]];
    let mut ends = 0;
    while let Some(steps) = open.pop() {
        state_after(&mut system, &steps);
        if !system.gets_on() {
            ends += 1;
            look(&system, &Schedule(steps.clone()));
        }
        for step in system.enabled() {
            let further = [&steps[..], &[step]].concat();
            if known.insert(state_after(&mut system, &further)) {
                open.push(further);
            }
        }
    }
    ends
}

/// What a design with every part in its place is walked through to the end.
const WALKED: [(Scenario, Bounds); 6] = [
    (ONE, Bounds { crashes: 1, ..NONE }),
    (
        ONE,
        Bounds {
            nacks: 1,
            lost_confirms: 1,
            lost_acks: 1,
            ..NONE
        },
    ),
    (
        ONE,
        Bounds {
            lost_replies: 2,
            ..NONE
        },
    ),
    (
        Scenario { workers: 2, ..ONE },
        Bounds { crashes: 1, ..NONE },
    ),
    (
        Scenario { relays: 2, ..ONE },
        Bounds {
            overruns: 1,
            ..NONE
        },
    ),
    (
        Scenario { versions: 2, ..ONE },
        Bounds {
            lost_confirms: 1,
            ..NONE
        },
    ),
];

#[test]
fn every_committed_ticket_has_exactly_one_task_at_every_end() {
    let outbox = Design::preset("outbox").unwrap();
    for (scenario, bounds) in WALKED {
        let mut seen = BTreeMap::new();
        let ends = at_every_end(outbox, scenario, bounds, |system, schedule| {
            let state = system.state();
            for event in system.events() {
                let wanted = usize::from(system.has_ticket(event));
                let tasks = system.tasks_of(event, EffectName::Notification);
                assert_eq!(tasks, wanted, "{event} after {schedule}");
                let row = system.outbox_row(event).map(|row| row.state.as_str());
                assert_eq!(row, (wanted == 1).then_some("published"), "{schedule}");
            }
            assert!(state.is_settled(), "{schedule}");
            let tasks = state.committed.tasks.len();
            assert_eq!(tasks, state.committed.tickets.len(), "{schedule}");
            let broken = violations(system);
            assert!(
                broken.iter().all(|violation| violation.is_allowed()),
                "{schedule}"
            );
            let copies = state.broker.deliveries().count();
            *seen.entry((tasks, copies)).or_insert(0) += 1;
        });
        assert!(ends > 1, "{scenario:?}");
        let tickets = usize::from(scenario.versions);
        assert!(seen.contains_key(&(tickets, tickets)), "{seen:?}");
        // Without a doubled publication among them, the receipt would have had nothing to do.
        let doubled = seen.keys().any(|(tasks, copies)| copies > tasks);
        assert_eq!(doubled, bounds.lost_replies == 0, "{seen:?}");
    }
}

/// A returned message is not sent again, and so its row waits for a person: that is no loss.
#[test]
fn a_ticket_whose_message_was_returned_has_a_row_that_says_so() {
    let bounds = Bounds { returns: 1, ..NONE };
    let outbox = Design::preset("outbox").unwrap();
    let mut parked = 0;
    at_every_end(outbox, ONE, bounds, |system, schedule| {
        for event in system.events() {
            let row = system.outbox_row(event).unwrap().state.as_str();
            let tasks = system.tasks_of(event, EffectName::Notification);
            assert!(
                matches!((row, tasks), ("published", 1) | ("parked", 0)),
                "{schedule}"
            );
            parked += usize::from(row == "parked");
        }
    });
    assert_eq!(parked, 1);
}

/// The walk above is a second opinion, and it comes to what the search says.
#[test]
fn the_walk_finds_the_ends_that_the_search_counts() {
    for name in ["outbox", "outbox-leased-forever", "commit-then-publish"] {
        let design = Design::preset(name).unwrap();
        let bounds = Bounds { crashes: 1, ..NONE };
        let mut verdicts = BTreeSet::new();
        at_every_end(design, ONE, bounds, |system, _| {
            verdicts.extend(
                violations(system)
                    .iter()
                    .map(|violation| violation.verdict()),
            );
        });
        let report = searched(design, ONE, bounds);
        let ended: BTreeSet<Verdict> = report
            .verdicts
            .iter()
            .filter(|count| count.schedules.to_string() != "0")
            .map(|count| count.verdict)
            .collect();
        assert_eq!(verdicts, ended, "{name}");
    }
}

fn searched(design: Design, scenario: Scenario, bounds: Bounds) -> Report {
    let mut exploration = Exploration::new(design, scenario, bounds, 100_000).unwrap();
    exploration.run().unwrap();
    exploration.report()
}

/// A part that is taken away.
struct Removed {
    /// In words, for whoever reads a failure.
    part: &'static str,
    /// How.
    without: fn(Design) -> Design,
    /// Where it is missed.
    scenario: Scenario,
    bounds: Bounds,
    /// What is missed: the most urgent verdict and the shortest schedule to it.
    verdict: Verdict,
    schedule: &'static str,
}

const REMOVED: [Removed; 11] = [
    Removed {
        part: "the outbox, with the publication after the commit",
        without: |design| Design {
            publication: Publication::CommitThenPublish,
            ..design
        },
        scenario: ONE,
        bounds: Bounds { crashes: 1, ..NONE },
        verdict: Verdict::LostEvent,
        schedule: "s1:P3.xP",
    },
    Removed {
        part: "the outbox, with the publication before the commit",
        without: |design| Design {
            publication: Publication::PublishThenCommit,
            ..design
        },
        scenario: ONE,
        bounds: Bounds { crashes: 1, ..NONE },
        verdict: Verdict::GhostEvent,
        schedule: "s1:P3.xP",
    },
    Removed {
        part: "waiting for the confirm",
        without: |design| Design {
            marking: Marking::AfterSend,
            ..design
        },
        scenario: ONE,
        bounds: Bounds { nacks: 1, ..NONE },
        verdict: Verdict::LostEvent,
        schedule: "s1:P4.R.nR.R",
    },
    Removed {
        part: "a claim apart from the mark",
        without: |design| Design {
            marking: Marking::WithClaim,
            ..design
        },
        scenario: ONE,
        bounds: Bounds { crashes: 1, ..NONE },
        verdict: Verdict::LostEvent,
        schedule: "s1:P4.R.xR",
    },
    Removed {
        part: "the lease's end",
        without: |design| Design {
            lease: Lease::Forever,
            ..design
        },
        scenario: ONE,
        bounds: Bounds { crashes: 1, ..NONE },
        verdict: Verdict::StuckRow,
        schedule: "s1:P4.R.xR",
    },
    Removed {
        part: "the fencing token",
        without: |design| Design {
            lease: Lease::Unfenced,
            ..design
        },
        scenario: Scenario { relays: 2, ..ONE },
        bounds: Bounds {
            overruns: 1,
            ..NONE
        },
        verdict: Verdict::StaleWrite,
        schedule: "s1:P4.R3.l.S.R",
    },
    Removed {
        part: "the receipt",
        without: |design| Design {
            arbitration: Arbitration::None,
            ..design
        },
        scenario: ONE,
        bounds: Bounds { crashes: 1, ..NONE },
        verdict: Verdict::DuplicateEffect,
        schedule: "s1:P4.R2.dA.A3.xA.dA.A3",
    },
    Removed {
        part: "the receipt's constraint",
        without: |design| Design {
            arbitration: Arbitration::CheckThenInsert,
            grouping: Grouping::Autocommit,
            ..design
        },
        scenario: Scenario { workers: 2, ..ONE },
        bounds: Bounds {
            lost_confirms: 1,
            ..NONE
        },
        verdict: Verdict::DuplicateEffect,
        schedule: "s1:P4.R2.cR.dA.A.e.R2.dB.B3.A2",
    },
    Removed {
        part: "one transaction for receipt and effect",
        without: |design| Design {
            grouping: Grouping::ReceiptFirst,
            ..design
        },
        scenario: ONE,
        bounds: Bounds { crashes: 1, ..NONE },
        verdict: Verdict::LostEffect,
        schedule: "s1:P4.R2.dA.A3.xA.dA.A4",
    },
    Removed {
        part: "the ack after the commit",
        without: |design| Design {
            ack: AckTiming::BeforeProcessing,
            ..design
        },
        scenario: ONE,
        bounds: Bounds { crashes: 1, ..NONE },
        verdict: Verdict::LostEffect,
        schedule: "s1:P4.R2.dA.A.xA",
    },
    Removed {
        part: "the effect in the key",
        without: |design| Design {
            key: Key::Event,
            ..design
        },
        scenario: Scenario { effects: 2, ..ONE },
        bounds: NONE,
        verdict: Verdict::LostEffect,
        schedule: "s1:P4.R2.dA.A8",
    },
];

#[test]
fn without_any_one_part_the_search_shows_what_breaks() {
    let whole = Design::preset("outbox").unwrap();
    let found = REMOVED.iter().map(|removed| {
        let Removed {
            part,
            scenario,
            bounds,
            ..
        } = removed;
        let with = searched(whole, *scenario, *bounds);
        assert!(with.holds(), "with {part}: {}", with.in_words());
        let without = searched((removed.without)(whole), *scenario, *bounds);
        assert_eq!(without.coverage, Coverage::Exhausted, "{part}");
        let first = without.counterexamples.first();
        let first = first.unwrap_or_else(|| panic!("nobody misses {part}"));
        (*part, first.verdict, first.schedule.to_string())
    });
    let told = |removed: &Removed| (removed.part, removed.verdict, removed.schedule.to_owned());
    let found: Vec<_> = found.collect();
    assert_eq!(found, REMOVED.iter().map(told).collect::<Vec<_>>());
}

/// The relay is a part too, though no choice of a design.
#[test]
fn without_a_relay_the_row_waits_for_ever() {
    let scenario = Scenario { relays: 0, ..ONE };
    let report = searched(Design::preset("outbox").unwrap(), scenario, NONE);
    let found = report.counterexamples.first().unwrap();
    assert_eq!(found.verdict, Verdict::StuckRow);
    assert_eq!(found.schedule.to_string(), "s1:P4");
}
