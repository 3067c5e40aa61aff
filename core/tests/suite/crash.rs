//! A fault at the n-th step, for n = 1, 2, 3 … until a run ends before it gets there.
//!
//! The driver always takes the first step that gets the system on; after the fault it does so until all
//! is settled. So each design meets a fault on every line of its plan, also on the lines that nobody
//! would have thought of.

use std::collections::BTreeSet;

use deliver_twice_core::design::{Design, OUTSIDES, PRESETS, PRODUCERS};
use deliver_twice_core::property::{Verdict, Violation, violations};
use deliver_twice_core::scenario::{Bounds, Scenario, TaskRow, Ticket};
use deliver_twice_core::schedule::Step;
use deliver_twice_core::system::System;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// Designs that leave one task and no violation whatever fault hits one delivery at a time. That some
/// of them fail elsewhere (a second version, a missing ticket, two workers at once) is not asked here.
const SAFE: [&str; 7] = [
    "check-in-transaction",
    "constraint-arbitration",
    "on-conflict-do-nothing",
    "insert-or-ignore",
    "event-key",
    "ticket-key",
    "swallow-integrity-errors",
];

/// One event, published once, to one worker.
const ONCE: Scenario = Scenario {
    deliveries: 1,
    workers: 1,
    effects: 1,
    versions: 1,
    ticket: Ticket::Present,
    task: TaskRow::Sound,
    ..Scenario::USUAL
};

fn started(design: Design, scenario: Scenario) -> System {
    System::new(design, scenario, Bounds::BY_HAND).unwrap()
}

/// Takes the first step that gets the system on, if there is one.
fn go_on(system: &mut System, seen: &mut BTreeSet<Verdict>) -> bool {
    let step = system.enabled().into_iter().find(|step| step.is_progress());
    let Some(step) = step else { return false };
    take(system, step, seen);
    true
}

fn take(system: &mut System, step: Step, seen: &mut BTreeSet<Verdict>) {
    let _ = system.apply(step).unwrap();
    seen.extend(violations(system).iter().map(Violation::verdict));
}

/// Takes `steps` steps that get the system on. `None` if it was settled before.
fn after(system: &mut System, steps: usize, seen: &mut BTreeSet<Verdict>) -> Option<()> {
    (0..steps).all(|_| go_on(system, seen)).then_some(())
}

fn settle(system: &mut System, seen: &mut BTreeSet<Verdict>) {
    while go_on(system, seen) {}
    assert!(system.state().is_settled() || seen.contains(&Verdict::StuckRow));
}

/// Every verdict that a crash at any step leads to, and the numbers of tasks at the end.
fn crash_everywhere(design: Design, scenario: Scenario) -> (BTreeSet<Verdict>, BTreeSet<usize>) {
    let (mut seen, mut tasks) = (BTreeSet::new(), BTreeSet::new());
    let mut system = started(design, scenario);
    let workers = system.state().workers.len();
    for n in 1.. {
        let mut reached = false;
        for worker in 0..workers {
            system.restart().unwrap();
            let mut verdicts = BTreeSet::new();
            if after(&mut system, n, &mut verdicts).is_none() {
                break;
            }
            reached = true;
            let crashes = system.enabled().into_iter();
            let mut crashes = crashes.filter(|step| matches!(step, Step::Crash(_)));
            let Some(crash) = crashes.nth(worker) else {
                continue;
            };
            take(&mut system, crash, &mut verdicts);
            settle(&mut system, &mut verdicts);
            seen.extend(verdicts);
            tasks.insert(system.state().committed.tasks.len());
        }
        if !reached {
            assert!(n > 4, "the run was over before it began");
            break;
        }
    }
    (seen, tasks)
}

fn in_words(verdicts: &BTreeSet<Verdict>) -> String {
    let names: Vec<&str> = verdicts.iter().map(|verdict| verdict.as_str()).collect();
    names.join(" ")
}

/// For each preset: the verdicts of a crash at any step, for an event published once to one worker, and
/// for an event published twice to two. A second copy may yet do what a crash undid of the first.
const CRASHES: [(&str, &str, &str); 13] = [
    ("no-guard", "duplicate-effect", "duplicate-effect"),
    (
        "trust-redelivered",
        "lost-effect false-success",
        "duplicate-effect false-success",
    ),
    (
        "check-then-insert",
        "lost-effect orphan-receipt false-success",
        "lost-effect orphan-receipt false-success",
    ),
    ("check-in-transaction", "", ""),
    ("constraint-arbitration", "", ""),
    ("on-conflict-do-nothing", "", ""),
    ("insert-or-ignore", "", ""),
    (
        "receipt-first",
        "lost-effect orphan-receipt false-success",
        "lost-effect orphan-receipt false-success",
    ),
    ("effect-first", "duplicate-effect", "duplicate-effect"),
    ("event-key", "", ""),
    ("ticket-key", "", ""),
    ("swallow-integrity-errors", "", ""),
    ("ack-first", "lost-effect false-success", "false-success"),
];

#[test]
fn a_crash_at_every_step_shows_each_design_what_it_is_worth() {
    let found = PRESETS.iter().map(|preset| {
        let (once, _) = crash_everywhere(preset.design, ONCE);
        let (twice, _) = crash_everywhere(preset.design, Scenario::default());
        (preset.name, in_words(&once), in_words(&twice))
    });
    for (found, expected) in found.zip(CRASHES) {
        assert_eq!((found.0, found.1.as_str(), found.2.as_str()), expected);
    }
}

/// The same for the designs around the consumer: one ticket or one event, and one worker of each kind, of
/// which any may crash. That a doubled publication is among them is no fault.
const CRASHES_AROUND: [(&str, &str); 12] = [
    ("commit-then-publish", "lost-event"),
    ("publish-then-commit", "ghost-event"),
    ("outbox", "doubled-publication"),
    ("outbox-marked-when-sent", "doubled-publication"),
    ("outbox-marked-when-claimed", "lost-event false-published"),
    ("outbox-unfenced", "doubled-publication"),
    ("outbox-leased-forever", "stuck-row"),
    ("call-in-transaction", "sent-twice sent-in-vain"),
    ("call-after-commit", "never-sent"),
    ("pending-row", "sent-twice"),
    ("pending-row-with-key", ""),
    ("pending-row-reconciled", ""),
];

#[test]
fn a_crash_at_every_step_of_producer_relay_and_sender_shows_what_each_design_is_worth() {
    let presets = PRODUCERS.iter().chain(&OUTSIDES);
    let found = presets.map(|preset| {
        let (seen, _) = crash_everywhere(preset.design, ONCE);
        (preset.name, in_words(&seen))
    });
    let found: Vec<_> = found.collect();
    let expected = CRASHES_AROUND.map(|(name, verdicts)| (name, verdicts.to_owned()));
    assert_eq!(found, expected);
}

/// An outbox survives any one crash: at the end the ticket has one task, or neither is there.
#[test]
fn a_crash_at_every_step_leaves_an_outbox_with_one_task_or_with_no_ticket() {
    let (_, tasks) = crash_everywhere(Design::preset("outbox").unwrap(), ONCE);
    assert_eq!(tasks, BTreeSet::from([0, 1]));
}

#[test]
fn a_crash_at_every_step_leaves_a_safe_design_with_one_task() {
    for name in SAFE {
        let design = Design::preset(name).unwrap();
        for scenario in [ONCE, Scenario::default()] {
            let (seen, tasks) = crash_everywhere(design, scenario);
            assert_eq!(in_words(&seen), "", "{name}");
            assert_eq!(tasks, BTreeSet::from([1]), "{name}");
        }
    }
}

/// Two faults of any kind at any two steps: a delivery survives two and is parked after a third.
#[test]
fn any_two_faults_leave_a_safe_design_with_one_task() {
    let fault = |system: &System, index: usize| {
        let mut faults = system
            .enabled()
            .into_iter()
            .filter(|step| matches!(step, Step::Crash(_) | Step::LoseAck(_) | Step::LoseReply(_)));
        faults.nth(index)
    };
    for name in SAFE {
        let design = Design::preset(name).unwrap();
        let mut system = started(design, ONCE);
        let mut runs = 0;
        // A worker at a stage has at most two faults before it: a crash, and a lost ack or reply.
        for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            'n: for n in 1.. {
                for m in 0.. {
                    system.restart().unwrap();
                    let mut seen = BTreeSet::new();
                    if after(&mut system, n, &mut seen).is_none() {
                        break 'n;
                    }
                    let Some(step) = fault(&system, first) else {
                        break;
                    };
                    take(&mut system, step, &mut seen);
                    if after(&mut system, m, &mut seen).is_none() {
                        break;
                    }
                    let Some(step) = fault(&system, second) else {
                        continue;
                    };
                    take(&mut system, step, &mut seen);
                    settle(&mut system, &mut seen);
                    assert_eq!(in_words(&seen), "", "{name}: {n}, {m}");
                    assert_eq!(system.state().committed.tasks.len(), 1, "{name}: {n}, {m}");
                    runs += 1;
                }
            }
        }
        assert!(runs > 40, "{name}: only {runs} runs");
    }
}
