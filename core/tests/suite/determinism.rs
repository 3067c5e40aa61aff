//! The same steps lead to the same run, to the byte; and what holds in whatever order steps are taken.
//!
//! The walks choose among what is enabled by a fixed sequence of numbers, so they are the same walks on
//! every machine.

use deliver_twice_core::Error;
use deliver_twice_core::broker::{EventIndex, WorkerId};
use deliver_twice_core::cause::{Cause, Deed, explain};
use deliver_twice_core::design::{
    self, AckTiming, Arbitration, Design, Errors, Grouping, Key, presets,
};
use deliver_twice_core::disk::LockLevel;
use deliver_twice_core::plan::Role;
use deliver_twice_core::run::{Frame, Moved, Run};
use deliver_twice_core::scenario::{Bounds, Scenario, TaskRow, Ticket};
use deliver_twice_core::schedule::{Schedule, Step};
use deliver_twice_core::schema::Tables;
use deliver_twice_core::sql::Answer;
use deliver_twice_core::state::State;
use deliver_twice_core::system::{Action, System};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// A fixed sequence of numbers that looks like chance: a linear congruential generator.
///
/// # Source
/// The constants are Knuth's, as in MMIX.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// One of the steps that are enabled, and mostly one that gets the system on.
    fn choose(&mut self, enabled: &[Step]) -> Option<Step> {
        let progress: Vec<Step> = enabled
            .iter()
            .copied()
            .filter(|s| s.is_progress())
            .collect();
        let from = if progress.is_empty() || self.below(5) == 0 {
            enabled
        } else {
            &progress
        };
        (!from.is_empty()).then(|| from[self.below(from.len())])
    }
}

/// Several events, effects, copies and workers at once.
const CROWD: Scenario = Scenario {
    deliveries: 2,
    workers: 3,
    effects: 2,
    versions: 2,
    ticket: Ticket::Present,
    task: TaskRow::Sound,
    relays: 2,
    senders: 2,
    ..Scenario::USUAL
};

/// What the walks are put to.
fn scenarios() -> [Scenario; 6] {
    let with = |task| Scenario {
        task,
        ..Scenario::default()
    };
    [
        Scenario::default(),
        CROWD,
        Scenario {
            ticket: Ticket::Missing,
            ..CROWD
        },
        with(TaskRow::UnknownStatus),
        with(TaskRow::NoTenant),
        with(TaskRow::SecondEscalation),
    ]
}

/// Walks at most `steps` steps from where `system` is.
fn walk(system: &mut System, seed: usize, steps: usize) -> Run {
    let mut numbers = Numbers(seed as u64);
    let mut run = Run::started(system);
    for _ in 0..steps {
        let Some(step) = numbers.choose(&system.enabled()) else {
            break;
        };
        run.take(system, step).unwrap();
    }
    run
}

fn schedule_of(run: &Run) -> Schedule {
    Schedule(run.frames.iter().map(|frame| frame.step).collect())
}

fn text(run: &Run) -> String {
    format!("{run:?}")
}

#[test]
fn the_same_schedule_gives_the_same_run_to_the_byte() {
    for (index, preset) in presets().enumerate() {
        for (seed, scenario) in scenarios().into_iter().enumerate() {
            let seed = 100 * index + seed;
            let mut system = System::new(preset.design, scenario, Bounds::BY_HAND).unwrap();
            let walked = walk(&mut system, seed, 120);
            let schedule = schedule_of(&walked);
            let exact = |bounds| Run::exact(preset.design, scenario, bounds, &schedule).unwrap();
            let (first, second) = (exact(Bounds::BY_HAND), exact(Bounds::BY_HAND));
            assert_eq!(text(&walked), text(&first), "{} {schedule}", preset.name);
            assert_eq!(text(&first), text(&second), "{} {schedule}", preset.name);
        }
    }
}

#[test]
fn a_restart_gives_the_same_run_as_a_new_machine() {
    for (index, preset) in presets().enumerate() {
        for scenario in [Scenario::default(), CROWD] {
            let mut system = System::new(preset.design, scenario, Bounds::BY_HAND).unwrap();
            let first = walk(&mut system, index, 60);
            system.restart().unwrap();
            // Something else in between, which leaves locks, journals and crashed connections behind.
            let _ = walk(&mut system, index + 1_000, 37);
            system.restart().unwrap();
            let again = walk(&mut system, index, 60);
            assert_eq!(text(&first), text(&again), "{}", preset.name);
        }
    }
}

#[test]
fn a_schedule_reads_back_from_its_text() {
    for seed in 0..20 {
        let mut system = System::new(Design::CONTRACT, CROWD, Bounds::BY_HAND).unwrap();
        let schedule = schedule_of(&walk(&mut system, seed, 200));
        assert_eq!(schedule.to_string().parse::<Schedule>().unwrap(), schedule);
    }
}

/// Every step that there can be.
fn all_steps() -> Vec<Step> {
    let workers = || (0..WorkerId::COUNT as u8 + 1).map(WorkerId);
    let mut steps = vec![Step::LeaseExpires, Step::LeaseOverrun, Step::AddTicket];
    steps.extend((0..3).map(|event| Step::PublishAgain(EventIndex(event))));
    let kinds = [
        Step::Deliver,
        Step::Work,
        Step::LoseAck,
        Step::LoseReply,
        Step::Nack,
        Step::Return,
        Step::LoseConfirm,
        Step::LoseAnswer,
        Step::GiveUp,
        Step::Crash,
    ];
    for kind in kinds {
        steps.extend(workers().map(kind));
    }
    steps.sort();
    steps
}

#[test]
fn what_is_enabled_is_sorted_and_complete() {
    let all = all_steps();
    for (seed, preset) in presets().enumerate() {
        let mut system = System::new(preset.design, CROWD, Bounds::BY_HAND).unwrap();
        let mut numbers = Numbers(seed as u64);
        for _ in 0..100 {
            let enabled = system.enabled();
            let asked: Vec<Step> = all
                .iter()
                .copied()
                .filter(|s| system.is_enabled(*s))
                .collect();
            assert_eq!(enabled, asked);
            let Some(step) = numbers.choose(&enabled) else {
                break;
            };
            let _ = system.apply(step).unwrap();
        }
    }
}

#[test]
fn a_step_that_is_not_enabled_is_refused_with_its_number_and_those_that_are() {
    let refused = |schedule: &str, bounds| {
        let schedule = schedule.parse().unwrap();
        Run::exact(Design::CONTRACT, Scenario::default(), bounds, &schedule).unwrap_err()
    };
    let error = refused("s1:dA.A2.dA.B", Bounds::NONE);
    assert_eq!(error.to_string(), "step 4: wanted `dA`, enabled: `dB`, `A`");
    let Error::NotEnabled {
        number, enabled, ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(
        (number, enabled),
        (4, vec!["dB".to_owned(), "A".to_owned()])
    );
    for (schedule, message) in [
        ("s1:A", "step 1: wanted `A`, enabled: `dA`, `dB`"),
        ("s1:dC", "step 1: wanted `dC`, enabled: `dA`, `dB`"),
        ("s1:dA.xA", "step 2: wanted `xA`, enabled: `dB`, `A`"),
        (
            "s1:dA.dB.A5.B4.A",
            "step 12: wanted `A`, nothing is enabled",
        ),
    ] {
        assert_eq!(refused(schedule, Bounds::NONE).to_string(), message);
    }
}

// ---- Whatever the order ----------------------------------------------------------------------------

#[test]
fn whatever_the_order_every_design_keeps_to_what_the_database_committed() {
    for (index, design) in design::all().enumerate() {
        let scenario = scenarios()[index % scenarios().len()];
        for scenario in [scenario, CROWD] {
            let mut system = System::new(design, scenario, Bounds::BY_HAND).unwrap();
            let run = walk(&mut system, index, 60);
            for (number, frame) in run.frames.iter().enumerate() {
                let before = run.state_after(number);
                check_commits(before, frame);
                check_locks(&frame.state);
            }
            check_causes(&system, &run);
            if is_contract(design) {
                for frame in &run.frames {
                    assert_eq!(frame.violations, [], "{design} {}", schedule_of(&run));
                }
            }
        }
    }
}

/// A design that keeps the contract: what `apply_once` does, in either spelling.
fn is_contract(design: Design) -> bool {
    matches!(
        design.arbitration,
        Arbitration::UniqueConstraint | Arbitration::OnConflictDoNothing
    ) && design.grouping == Grouping::One
        && design.key == Key::EventEffect
        && design.errors == Errors::TargetOnly
        && design.ack == AckTiming::AfterCommit
}

#[test]
fn whatever_the_order_the_contract_violates_nothing() {
    for seed in 0..60 {
        let scenario = scenarios()[seed % scenarios().len()];
        for design in ["constraint-arbitration", "on-conflict-do-nothing"] {
            let design = Design::preset(design).unwrap();
            let mut system = System::new(design, scenario, Bounds::BY_HAND).unwrap();
            let run = walk(&mut system, seed, 300);
            for frame in &run.frames {
                assert_eq!(frame.violations, [], "{design} {}", schedule_of(&run));
            }
        }
    }
}

/// The committed rows change only by a commit, and then to what the committing worker alone saw.
fn check_commits(before: &State, frame: &Frame) {
    let Moved::Changed(change) = &frame.moved else {
        unreachable!("a walk takes enabled steps only")
    };
    let (was, is) = (&before.committed, &frame.state.committed);
    match (&change.action, frame.step.worker()) {
        (Action::TicketAdded(_), _) => assert_eq!(is.tickets.len(), was.tickets.len() + 1),
        (Action::Ran(ran), Some(id)) => {
            let worker = before.worker(id);
            let own = worker.own.as_ref().unwrap_or(was);
            match (&ran.answer, ran.role) {
                (Answer::Done, Role::Commit) => assert_eq!(is, own),
                (Answer::Changed(count), Role::Claim | Role::Apply) if !worker.in_transaction => {
                    assert_eq!(rows(is), rows(was) + *count as usize);
                }
                _ => assert_eq!(is, was),
            }
        }
        _ => assert_eq!(is, was),
    }
    for worker in &frame.state.workers {
        let Some(own) = &worker.own else { continue };
        assert!(
            is.receipts.iter().all(|row| own.receipts.contains(row))
                && is.tasks.iter().all(|row| own.tasks.contains(row)),
            "a writer sees what is committed, and its own rows beside it"
        );
    }
}

fn rows(tables: &Tables) -> usize {
    tables.tickets.len() + tables.receipts.len() + tables.tasks.len()
}

/// One writer at a time, no lock without a transaction, and nobody holds EXCLUSIVE between two steps.
fn check_locks(state: &State) {
    let writers = state
        .workers
        .iter()
        .filter(|worker| worker.lock >= LockLevel::Reserved);
    assert!(writers.count() <= 1);
    for worker in &state.workers {
        assert!(worker.lock < LockLevel::Exclusive);
        assert!(worker.in_transaction || worker.lock == LockLevel::None);
        assert!(worker.job.is_some() || !worker.in_transaction);
    }
}

/// Every violation has a cause with a name, and the steps that it cites are that worker's and in order.
fn check_causes(system: &System, run: &Run) {
    let last = run.frames.len();
    for steps in [last / 2, last] {
        let run = run.until(steps);
        for violation in run.violations() {
            let cause = explain(system, &run, violation);
            let context = || format!("{} {}: {cause}", system.plan().design, schedule_of(&run));
            let (deeds, end) = cited(&cause);
            for deed in &deeds {
                let frame = &run.frames[deed.step - 1];
                assert_eq!(frame.step.worker(), Some(deed.worker), "{}", context());
            }
            let steps: Vec<usize> = deeds.iter().map(|deed| deed.step).chain(end).collect();
            assert!(steps.is_sorted(), "{}", context());
        }
    }
}

/// The deeds that a cause cites, in the order in which they must have happened, and the end it names.
fn cited(cause: &Cause) -> (Vec<Deed>, Option<usize>) {
    match cause {
        Cause::NothingAsked { first, second } => (vec![*first, *second], None),
        // The flag may have been read before or after the other copy's task was committed.
        Cause::FlagFalse { reader, .. } => (vec![*reader], None),
        Cause::FlagTrue { reader }
        | Cause::ErrorReadAsDuplicate { reader, .. }
        | Cause::ErrorAcked { reader, .. } => (vec![*reader], None),
        Cause::CheckBeforeReceipt { check, receipt } => (vec![*check, *receipt], None),
        // A check may also come before the task whose receipt it missed.
        Cause::CheckWithoutReceipt { check, .. } => (vec![*check], None),
        Cause::EffectBeforeClaim { second } => (vec![*second], None),
        Cause::ReceiptWithoutEffect { receipt, believer } => (vec![*receipt, *believer], None),
        Cause::ReceiptAlone { receipt, end } => (vec![*receipt], *end),
        Cause::KeyTooWide { finder, .. } => (vec![*finder], None),
        Cause::Silenced { writer } => (vec![*writer], None),
        Cause::AckedBeforeWork { ack, end } => {
            assert!(end.is_some(), "work that was not done has ended somewhere");
            (vec![*ack], *end)
        }
        Cause::WaitInCircle { waits } => {
            assert!(waits.len() > 1 && waits.iter().all(|(_, holders)| !holders.is_empty()));
            (vec![], None)
        }
        Cause::AckedUncommitted { ack } => (vec![*ack], None),
        Cause::PublishedBeforeCommit { publish, end } => (vec![*publish], *end),
        Cause::CommittedUnpublished { commit, end } | Cause::CommittedUncalled { commit, end } => {
            (vec![*commit], *end)
        }
        Cause::RefusalUnheard { publish } => (vec![*publish], None),
        // The message may have been refused before or after the row was marked.
        Cause::MarkedTooEarly { mark, .. } => (vec![*mark], None),
        Cause::ClaimOverruled { write } => (vec![*write], None),
        Cause::LeasedForever { claim, end } => (vec![*claim], *end),
        Cause::NobodyRelays => (vec![], None),
        Cause::PublishedAgain { first, second } | Cause::CalledAgain { first, second, .. } => {
            (vec![*first, *second], None)
        }
        Cause::CalledBeforeCommit { call, end } => (vec![*call], *end),
        Cause::Unnamed => panic!("a violation without a cause"),
    }
}
