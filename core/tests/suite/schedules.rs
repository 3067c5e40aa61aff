//! Written schedules: what each design makes of the same steps, down to the sentence that says why.
//!
//! A row is a design, a scenario and a schedule; [`check`] runs it and compares what is left in the
//! tables and at the broker, and every violation with its cause. [`check_trace`] compares step by step:
//! SQLite's answers, who waits for whom, and what happened to the locks.

use deliver_twice_core::broker::{Place, WorkerId};
use deliver_twice_core::cause::{explain, holder_name};
use deliver_twice_core::design::{Design, Outside};
use deliver_twice_core::disk::{ConnectionId, LockChange, LockEvent, LockLevel};
use deliver_twice_core::plan::{Meaning, Role};
use deliver_twice_core::property::Violation;
use deliver_twice_core::run::{Moved, Run};
use deliver_twice_core::scenario::{Bounds, Scenario, TaskRow, Ticket};
use deliver_twice_core::schedule::Schedule;
use deliver_twice_core::schema;
use deliver_twice_core::sql::Answer;
use deliver_twice_core::state::State;
use deliver_twice_core::system::{Action, Heard, System};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// The same event twice, two workers, one effect.
fn twice() -> Scenario {
    Scenario::default()
}

/// The same event once, one worker, one effect.
fn once() -> Scenario {
    Scenario {
        deliveries: 1,
        workers: 1,
        ..Scenario::default()
    }
}

/// Once, with this task.
fn with_task(task: TaskRow) -> Scenario {
    Scenario { task, ..once() }
}

/// Once, before the ticket is there.
fn before_the_ticket() -> Scenario {
    Scenario {
        ticket: Ticket::Missing,
        ..once()
    }
}

/// Runs `schedule`, every step of which must be enabled, and compares what is left at its end.
#[track_caller]
pub fn check(design: &str, scenario: Scenario, schedule: &str, expected: &str) {
    let (system, run) = run(design, scenario, schedule);
    let found = summary(&system, &run);
    assert_eq!(
        words(&found),
        words(expected),
        "\n{design} {schedule}\n{found}\n"
    );
}

/// Makes the same moves in a design to which not all of them apply: it lets those pass, as on the page.
#[track_caller]
fn check_moves(design: &str, moves: &str, expected: &str) {
    let (moves, design): (Schedule, Design) = (moves.parse().unwrap(), design.parse().unwrap());
    let mut system = System::new(design, twice(), Bounds::BY_HAND).unwrap();
    let mut run = Run::started(&system);
    for step in &moves.0 {
        run.take(&mut system, *step).unwrap();
    }
    let found = summary(&system, &run);
    assert_eq!(
        words(&found),
        words(expected),
        "\n{design} {moves}\n{found}\n"
    );
}

/// Runs `schedule`, whose last step must not be enabled, and compares what is said about that.
#[track_caller]
fn check_refused(design: &str, scenario: Scenario, schedule: &str, expected: &str) {
    let design: Design = design.parse().unwrap();
    let steps: Schedule = schedule.parse().unwrap();
    let error = Run::exact(design, scenario, Bounds::BY_HAND, &steps).unwrap_err();
    assert_eq!(error.to_string(), expected, "{schedule}");
}

/// Runs `schedule` and compares every row.
#[track_caller]
pub fn check_trace(design: &str, scenario: Scenario, schedule: &str, expected: &str) {
    let (_, run) = run(design, scenario, schedule);
    let found = trace(&run);
    assert_eq!(
        words(&found),
        words(expected),
        "\n{design} {schedule}\n{found}\n"
    );
}

fn run(design: &str, scenario: Scenario, schedule: &str) -> (System, Run) {
    let design: Design = design.parse().unwrap();
    let steps: Schedule = schedule.parse().unwrap();
    assert_eq!(
        steps.to_string(),
        schedule,
        "written as the laboratory does"
    );
    let run = Run::exact(design, scenario, Bounds::BY_HAND, &steps);
    let system = System::new(design, scenario, Bounds::BY_HAND).unwrap();
    (
        system,
        run.unwrap_or_else(|error| panic!("{schedule}: {error}")),
    )
}

/// A text in which only the words count, so that an expected one may be broken into lines at will.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is left at the end: one line of counts, and one for each violation.
fn summary(system: &System, run: &Run) -> String {
    let state = run.state_after(run.frames.len());
    let tasks = state.committed.tasks.iter();
    let mut parts = vec![
        format!("receipts {}", state.committed.receipts.len()),
        format!(
            "tasks {}",
            tasks
                .filter(|task| system.origin(&task.id).is_some())
                .count()
        ),
    ];
    let places: Vec<Place> = state.broker.deliveries().map(|(_, d)| d.place).collect();
    let count = |is: fn(&Place) -> bool| places.iter().filter(|place| is(place)).count();
    parts.push(format!("acked {}", count(|place| *place == Place::Acked)));
    for (name, number) in [
        ("queued", count(|place| *place == Place::Queued)),
        ("unacked", count(|place| matches!(place, Place::Unacked(_)))),
        ("parked", count(|place| *place == Place::Parked)),
    ] {
        if number > 0 {
            parts.push(format!("{name} {number}"));
        }
    }
    parts.extend(around(system, state));
    let told = |violation: &Violation| {
        let cause = explain(system, run, violation);
        format!("{}: {cause}", subject(violation))
    };
    let noted = run.frames.last().map_or(&[][..], |frame| &frame.noted);
    let lines = std::iter::once(parts.join(", "))
        .chain(run.violations().iter().map(told))
        .chain(noted.iter().map(|noted| format!("allowed {}", told(noted))));
    lines.collect::<Vec<_>>().join("\n")
}

/// What is left on the two sides of the consumer, where the design has them.
fn around(system: &System, state: &State) -> Vec<String> {
    let mut parts = vec![];
    if system.design().has_producer() {
        parts.push(format!("tickets {}", state.committed.tickets.len()));
    }
    let rows = state.committed.outbox.iter();
    parts.extend(rows.map(|row| format!("row {}", row.state)));
    if system.design().outside != Outside::None {
        let done = state.committed.tasks.iter();
        let done = done.filter(|task| task.status == "done").count();
        parts.push(format!("done {done}, sent {}", state.sent.len()));
    }
    parts
}

/// The verdict, and what it is about.
fn subject(violation: &Violation) -> String {
    let verdict = violation.verdict();
    match violation {
        Violation::DuplicateEffect {
            event,
            effect,
            tasks,
        } => format!("{verdict} {event} {effect} x{tasks}"),
        Violation::LostEffect { event, effect } | Violation::OrphanReceipt { event, effect } => {
            format!("{verdict} {event} {effect}")
        }
        Violation::Stuck { waiting } => {
            let names: Vec<String> = waiting.iter().map(WorkerId::to_string).collect();
            format!("{verdict} {}", names.join(" "))
        }
        Violation::SwallowedError { event, kind, .. } => {
            format!(
                "{verdict} {event} {}",
                kind.map_or("silence", |kind| kind.as_str())
            )
        }
        Violation::FalseSuccess { delivery } => format!("{verdict} delivery {}", delivery.0 + 1),
        Violation::GhostEvent { event }
        | Violation::LostEvent { event }
        | Violation::FalsePublished { event }
        | Violation::StuckRow { event }
        | Violation::StaleWrite { event }
        | Violation::NeverSent { event }
        | Violation::SentInVain { event } => format!("{verdict} {event}"),
        Violation::SentTwice { event, messages } => format!("{verdict} {event} x{messages}"),
        Violation::DoubledPublication { event, times } => format!("{verdict} {event} x{times}"),
    }
}

/// A row for each step: its number, the step, what happened, and what happened to the locks.
fn trace(run: &Run) -> String {
    let rows = run.frames.iter().enumerate().map(|(index, frame)| {
        let Moved::Changed(change) = &frame.moved else {
            unreachable!("every step of an exact run changes something")
        };
        let locks: Vec<String> = change.locks.iter().map(lock).collect();
        let bar = if locks.is_empty() { "" } else { " | " };
        let what = action(&change.action);
        format!(
            "{} {} {what}{bar}{}",
            index + 1,
            frame.step,
            locks.join(", ")
        )
    });
    rows.collect::<Vec<_>>().join("\n")
}

fn action(action: &Action) -> String {
    match action {
        Action::Delivered {
            delivery,
            attempt,
            redelivered,
        } => {
            let again = if *redelivered { ", redelivered" } else { "" };
            format!("delivery {}, attempt {attempt}{again}", delivery.0 + 1)
        }
        Action::ReadFlag { redelivered, means } => {
            format!("flag {redelivered} -> {}", meaning(*means))
        }
        Action::Ran(ran) => {
            let heard = match &ran.heard {
                Heard::Read(means) => meaning(*means).to_owned(),
                Heard::Waits { holders } => format!("waits for {}", names(holders)),
                Heard::ReplyLost(means) => format!("reply lost, {}", meaning(*means)),
            };
            format!("{}: {} -> {heard}", role(ran.role), answer(&ran.answer))
        }
        Action::Acked { delivery } => format!("acked delivery {}", delivery.0 + 1),
        Action::AckLost { delivery, place } => {
            format!(
                "ack of delivery {} lost, {}",
                delivery.0 + 1,
                place_name(*place)
            )
        }
        Action::GaveBack { delivery, place } => {
            format!(
                "gave delivery {} back, {}",
                delivery.0 + 1,
                place_name(*place)
            )
        }
        Action::GaveUp { means } => format!("gave up -> {}", meaning(*means)),
        Action::Crashed {
            returned,
            in_transaction,
        } => {
            let inside = if *in_transaction {
                " in a transaction"
            } else {
                ""
            };
            let returned = returned.map_or(String::new(), |(delivery, place)| {
                format!(", delivery {} {}", delivery.0 + 1, place_name(place))
            });
            format!("crashed{inside}{returned}")
        }
        Action::TicketAdded(_) => "ticket added".to_owned(),
        Action::Published { delivery } => format!("published delivery {}", delivery.0 + 1),
        Action::Sent { event, confirm, .. } => format!("sent {event}, {confirm:?}"),
        Action::HeardConfirm {
            event,
            confirm,
            means,
        } => format!("heard of {event}: {confirm:?} -> {}", meaning(*means)),
        Action::AskedProvider {
            is_known, means, ..
        } => {
            format!("asked: known {is_known} -> {}", meaning(*means))
        }
        Action::Called {
            key,
            went_out,
            is_answered,
            means,
            ..
        } => format!(
            "called, key {}, out {went_out}, answered {is_answered} -> {}",
            key.is_some(),
            meaning(*means)
        ),
        Action::LeaseExpired { event } => format!("lease on {event} expired"),
    }
}

fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Done => "done".to_owned(),
        Answer::Rows(count) => format!("found {count}"),
        Answer::Changed(count) => format!("changed {count}"),
        Answer::Row(None) => "no row".to_owned(),
        Answer::Row(Some(values)) => format!("row {}", values.join(" ")),
        Answer::Refused(refusal) => format!("{} {}", refusal.code, refusal.message),
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::ReadFlag => "flag",
        Role::Begin => "begin",
        Role::Check => "check",
        Role::Claim => "claim",
        Role::Apply => "apply",
        Role::Commit => "commit",
        Role::Rollback => "rollback",
        Role::Ack => "ack",
        Role::WriteTicket => "ticket",
        Role::Enqueue => "enqueue",
        Role::Publish => "publish",
        Role::Lease => "lease",
        Role::HearConfirm => "hear",
        Role::MarkPublished => "mark",
        Role::Release => "release",
        Role::Park => "park",
        Role::Pick => "pick",
        Role::AskProvider => "ask",
        Role::Call => "call",
        Role::MarkDone => "done",
    }
}

fn meaning(means: Meaning) -> &'static str {
    match means {
        Meaning::Proceed => "goes on",
        Meaning::Duplicate => "duplicate",
        Meaning::GiveBack => "gives back",
        Meaning::AckAnyway => "acks anyway",
        Meaning::GoTo(target) => role(target),
        Meaning::Done => "done with it",
    }
}

fn place_name(place: Place) -> String {
    match place {
        Place::Queued => "queued".to_owned(),
        Place::Unacked(worker) => format!("with {worker}"),
        Place::Acked => "acked".to_owned(),
        Place::Parked => "parked".to_owned(),
    }
}

fn lock(event: &LockEvent) -> String {
    let who = holder_name(event.connection);
    match &event.change {
        LockChange::Taken(level) => format!("{who} {}", level_name(*level)),
        LockChange::Refused { wanted, holders } => {
            format!(
                "{who} refused {} by {}",
                level_name(*wanted),
                names(holders)
            )
        }
        LockChange::Released { to } => format!("{who} back to {}", level_name(*to)),
    }
}

fn level_name(level: LockLevel) -> &'static str {
    match level {
        LockLevel::None => "NONE",
        LockLevel::Shared => "SHARED",
        LockLevel::Reserved => "RESERVED",
        LockLevel::Pending => "PENDING",
        LockLevel::Exclusive => "EXCLUSIVE",
    }
}

fn names(holders: &[ConnectionId]) -> String {
    let names: Vec<String> = holders.iter().map(|id| holder_name(*id)).collect();
    names.join(" and ")
}

// ---- The contract --------------------------------------------------------------------------------

#[test]
fn the_same_event_twice_is_applied_once_and_acked_twice() {
    let scenario = Scenario {
        workers: 1,
        ..twice()
    };
    for design in [
        "constraint-arbitration",
        "on-conflict-do-nothing",
        "insert-or-ignore",
    ] {
        check(
            design,
            scenario,
            "s1:dA.A5.dA.A4",
            "receipts 1, tasks 1, acked 2",
        );
    }
}

#[test]
fn a_crash_after_the_commit_and_before_the_ack_leaves_one_effect_and_an_ack() {
    check(
        "constraint-arbitration",
        once(),
        "s1:dA.A4.xA.dA.A4",
        "receipts 1, tasks 1, acked 1",
    );
}

#[test]
fn a_lost_ack_brings_a_redelivery_that_is_recognised() {
    check(
        "constraint-arbitration",
        once(),
        "s1:dA.A4.kA.dA.A4",
        "receipts 1, tasks 1, acked 1",
    );
}

#[test]
fn a_lost_reply_to_the_commit_brings_a_redelivery_that_is_recognised() {
    check(
        "constraint-arbitration",
        once(),
        "s1:dA.A3.rA.A.dA.A4",
        "receipts 1, tasks 1, acked 1",
    );
}

#[test]
fn a_copy_published_again_after_all_is_done_is_recognised() {
    check(
        "constraint-arbitration",
        once(),
        "s1:dA.A5.p1.dA.A4",
        "receipts 1, tasks 1, acked 2",
    );
}

#[test]
fn three_workers_and_three_copies_make_one_task() {
    let scenario = Scenario {
        deliveries: 3,
        workers: 3,
        ..twice()
    };
    check(
        "constraint-arbitration",
        scenario,
        "s1:dA.dB.dC.C2.A2.B2.C3.B3.A3",
        "receipts 1, tasks 1, acked 3",
    );
}

#[test]
fn two_workers_at_once_under_the_constraint_make_one_task() {
    check(
        "constraint-arbitration",
        twice(),
        "s1:dA.dB.A2.B2.A3.B3",
        "receipts 1, tasks 1, acked 2",
    );
}

#[test]
fn every_effect_of_an_event_has_a_receipt_of_its_own() {
    let scenario = Scenario {
        effects: 3,
        ..once()
    };
    check(
        "constraint-arbitration",
        scenario,
        "s1:dA.A13",
        "receipts 3, tasks 3, acked 1",
    );
}

#[test]
fn every_version_of_a_ticket_has_a_receipt_of_its_own() {
    let scenario = Scenario {
        versions: 2,
        ..once()
    };
    check(
        "constraint-arbitration",
        scenario,
        "s1:dA.A5.dA.A5",
        "receipts 2, tasks 2, acked 2",
    );
}

#[test]
fn a_missing_ticket_rolls_both_rows_back_until_it_is_there() {
    check(
        "constraint-arbitration",
        before_the_ticket(),
        "s1:dA.A5",
        "receipts 0, tasks 0, acked 0, queued 1",
    );
    check(
        "constraint-arbitration",
        before_the_ticket(),
        "s1:dA.A5.t.dA.A5",
        "receipts 1, tasks 1, acked 1",
    );
}

#[test]
fn a_broken_rule_of_the_task_table_is_no_duplicate_and_is_parked_after_three_attempts() {
    for task in [
        TaskRow::UnknownStatus,
        TaskRow::NoTenant,
        TaskRow::SecondEscalation,
    ] {
        check(
            "constraint-arbitration",
            with_task(task),
            "s1:dA.A5",
            "receipts 0, tasks 0, acked 0, queued 1",
        );
        check(
            "constraint-arbitration",
            with_task(task),
            "s1:dA.A5.dA.A5.dA.A5",
            "receipts 0, tasks 0, acked 0, parked 1",
        );
    }
}

#[test]
fn on_conflict_do_nothing_swallows_nothing_but_the_duplicate() {
    for task in [
        TaskRow::UnknownStatus,
        TaskRow::NoTenant,
        TaskRow::SecondEscalation,
    ] {
        check(
            "on-conflict-do-nothing",
            with_task(task),
            "s1:dA.A5.dA.A5.dA.A5",
            "receipts 0, tasks 0, acked 0, parked 1",
        );
    }
}

#[test]
fn a_begin_immediate_makes_the_second_worker_wait_at_its_begin() {
    let design =
        "unique-constraint.one-transaction.event-and-effect.target-only.after-commit.immediate";
    check_trace(
        design,
        twice(),
        "s1:dA.dB.A.B.A3.B3.A.B",
        "
            1 dA delivery 1, attempt 1
            2 dB delivery 2, attempt 1
            3 A begin: done -> goes on | A SHARED, A RESERVED
            4 B begin: 5 database is locked -> waits for A | B SHARED, B refused RESERVED by
                A, B back to NONE
            5 A claim: changed 1 -> goes on
            6 A apply: changed 1 -> goes on
            7 A commit: done -> goes on | A EXCLUSIVE, A back to SHARED, A back to NONE
            8 B begin: done -> goes on | B SHARED, B RESERVED
            9 B claim: 2067 UNIQUE constraint failed: effect_receipts.event_id,
                effect_receipts.effect_name -> duplicate
            10 B rollback: done -> duplicate | B back to SHARED, B back to NONE
            11 A acked delivery 1
            12 B acked delivery 2
        ",
    );
}

// ---- Check, then insert --------------------------------------------------------------------------

#[test]
fn a_check_that_commits_nothing_lets_both_workers_insert() {
    check(
        "check-then-insert",
        twice(),
        "s1:dA.dB.A.B.A3.B3",
        "
            receipts 2, tasks 2, acked 2
            duplicate-effect e1 notification x2: B inserted a task because its check at step
                4 ran before A's receipt was committed at step 5
        ",
    );
    check(
        "check-then-insert",
        twice(),
        "s1:dA.dB.A.B2.A3.B2",
        "
            receipts 2, tasks 2, acked 2
            duplicate-effect e1 notification x2: B inserted a task because its check at step
                4 ran before A's receipt was committed at step 6
        ",
    );
}

#[test]
fn under_the_same_moves_the_constraint_makes_one_task() {
    let moves = "s1:dA.dB.A.B.A3.B3.A2.B2";
    check_moves(
        "check-then-insert",
        moves,
        "
            receipts 2, tasks 2, acked 2
            duplicate-effect e1 notification x2: B inserted a task because its check at step
                4 ran before A's receipt was committed at step 5
        ",
    );
    check_moves(
        "check-in-transaction",
        moves,
        "
            receipts 0, tasks 0, acked 0, unacked 2
            stuck A B: A waits for B, and B waits for A; none of them can go on until one
                rolls back
        ",
    );
    check_moves(
        "constraint-arbitration",
        moves,
        "receipts 1, tasks 1, acked 2",
    );
    check_moves(
        "on-conflict-do-nothing",
        moves,
        "receipts 1, tasks 1, acked 2",
    );
}

#[test]
fn a_check_inside_the_transaction_answers_busy_and_makes_no_duplicate() {
    check(
        "check-in-transaction",
        twice(),
        "s1:dA.dB.A3.B3.A2",
        "
            receipts 0, tasks 0, acked 0, unacked 2
            stuck A B: A waits for B, and B waits for A; none of them can go on until one
                rolls back
        ",
    );
    check(
        "check-in-transaction",
        twice(),
        "s1:dA.dB.A5.B2.A.B2",
        "receipts 1, tasks 1, acked 2",
    );
}

#[test]
fn two_readers_that_both_want_to_write_are_stuck() {
    check(
        "check-in-transaction",
        twice(),
        "s1:dA.dB.A2.B2.A3.B",
        "
            receipts 0, tasks 0, acked 0, unacked 2
            stuck A B: A waits for B, and B waits for A; none of them can go on until one
                rolls back
        ",
    );
}

#[test]
fn a_crash_of_one_of_the_stuck_lets_the_other_go_on() {
    check(
        "check-in-transaction",
        twice(),
        "s1:dA.dB.A2.B2.A3.B.xB.A2.dB.B4",
        "receipts 1, tasks 1, acked 2",
    );
}

#[test]
fn giving_up_lets_the_other_of_the_stuck_go_on() {
    check(
        "check-in-transaction",
        twice(),
        "s1:dA.dB.A2.B2.A3.B.gB.B2.A2.dB.B4",
        "receipts 1, tasks 1, acked 2",
    );
    check(
        "check-in-transaction",
        twice(),
        "s1:dA.dB.A2.B2.A3.B.gA.A2.B4.dA.A4",
        "receipts 1, tasks 1, acked 2",
    );
}

#[test]
fn a_committer_that_waits_for_a_reader_lets_no_new_reader_in() {
    let scenario = Scenario {
        deliveries: 3,
        workers: 3,
        ..twice()
    };
    check_trace(
        "check-in-transaction",
        scenario,
        "s1:dA.dB.dC.A4.B2.A.C2",
        "
            1 dA delivery 1, attempt 1
            2 dB delivery 2, attempt 1
            3 dC delivery 3, attempt 1
            4 A begin: done -> goes on
            5 A check: found 0 -> goes on | A SHARED
            6 A claim: changed 1 -> goes on | A RESERVED
            7 A apply: changed 1 -> goes on
            8 B begin: done -> goes on
            9 B check: found 0 -> goes on | B SHARED
            10 A commit: 5 database is locked -> waits for B | A PENDING, A refused
                EXCLUSIVE by B
            11 C begin: done -> goes on
            12 C check: 5 database is locked -> waits for A | C refused SHARED by A
        ",
    );
}

// ---- Receipt and effect apart ---------------------------------------------------------------------

#[test]
fn a_receipt_alone_on_its_way_to_the_effect_is_no_orphan() {
    check(
        "receipt-first",
        once(),
        "s1:dA.A3",
        "receipts 1, tasks 0, acked 0, unacked 1",
    );
}

/// A worker that has not asked for the receipt yet will find it taken, and will not carry out the effect.
#[test]
fn a_worker_before_its_claim_does_not_adopt_an_orphan() {
    check(
        "receipt-first",
        once(),
        "s1:dA.A3.xA.dA.A",
        "
            receipts 1, tasks 0, acked 0, unacked 1
            orphan-receipt e1 notification: A's receipt was committed at step 4, and at step
                5 A stopped before the effect
        ",
    );
}

#[test]
fn a_crash_after_the_receipt_orphans_it_and_then_loses_the_effect() {
    check(
        "receipt-first",
        once(),
        "s1:dA.A3.xA",
        "
            receipts 1, tasks 0, acked 0, queued 1
            orphan-receipt e1 notification: A's receipt was committed at step 4, and at step
                5 A stopped before the effect
        ",
    );
    check(
        "receipt-first",
        once(),
        "s1:dA.A3.xA.dA.A4",
        "
            receipts 1, tasks 0, acked 1
            lost-effect e1 notification: at step 8 A took its own receipt of step 4 for
                proof, and its effect was never committed
            orphan-receipt e1 notification: A's receipt was committed at step 4, and at step
                5 A stopped before the effect
            false-success delivery 1: at step 10 A told the broker that it was done, while
                an effect was not committed
        ",
    );
    check(
        "receipt-first",
        twice(),
        "s1:dA.A3.dB.B4.xA",
        "
            receipts 1, tasks 0, acked 1, queued 1
            orphan-receipt e1 notification: A's receipt was committed at step 4, and at step
                10 A stopped before the effect
            false-success delivery 2: at step 9 B told the broker that it was done, while an
                effect was not committed
        ",
    );
    check(
        "receipt-first",
        once(),
        "s1:dA.A2.rA",
        "
            receipts 1, tasks 0, acked 0, unacked 1
            orphan-receipt e1 notification: A's receipt was committed at step 4 and nobody
                is about to commit the effect
        ",
    );
    check(
        "receipt-first",
        once(),
        "s1:dA.A2.rA.A",
        "
            receipts 1, tasks 0, acked 0, queued 1
            orphan-receipt e1 notification: A's receipt was committed at step 4, and at step
                5 A stopped before the effect
        ",
    );
}

#[test]
fn an_error_after_the_receipt_orphans_it_too() {
    let scenario = with_task(TaskRow::UnknownStatus);
    check(
        "receipt-first",
        scenario,
        "s1:dA.A5",
        "
            receipts 1, tasks 0, acked 0, unacked 1
            orphan-receipt e1 notification: A's receipt was committed at step 4, and at step
                6 A stopped before the effect
        ",
    );
}

#[test]
fn a_duplicate_acked_before_the_effect_is_a_false_success_even_if_all_ends_well() {
    check(
        "receipt-first",
        twice(),
        "s1:dA.A3.dB.B4.A4",
        "
            receipts 1, tasks 1, acked 2
            false-success delivery 2: at step 9 B told the broker that it was done, while an
                effect was not committed
        ",
    );
}

#[test]
fn a_crash_after_the_effect_and_before_the_receipt_does_it_again() {
    check(
        "effect-first",
        once(),
        "s1:dA.A4.xA.dA.A8",
        "
            receipts 1, tasks 2, acked 1
            duplicate-effect e1 notification x2: A's check at step 9 found no receipt,
                because its own task of step 5 had none
        ",
    );
    check(
        "effect-first",
        twice(),
        "s1:dA.A4.dB.B4",
        "
            receipts 0, tasks 2, acked 0, unacked 2
            duplicate-effect e1 notification x2: B's check at step 8 found no receipt,
                because A's task of step 5 had none
        ",
    );
    check(
        "effect-first",
        twice(),
        "s1:dA.A4.dB.B4.A4.B4",
        "
            receipts 2, tasks 2, acked 2
            duplicate-effect e1 notification x2: B inserted a task because its check at step
                8 ran before A's receipt was committed at step 13
        ",
    );
}

#[test]
fn a_constraint_that_is_asked_after_the_effect_comes_too_late() {
    let design =
        "unique-constraint.effect-first.event-and-effect.target-only.after-commit.deferred";
    check(
        design,
        twice(),
        "s1:dA.A7.dB.B7",
        "
            receipts 1, tasks 2, acked 2
            duplicate-effect e1 notification x2: B's task was committed at step 12, before
                the constraint was asked
        ",
    );
}

// ---- Keys -----------------------------------------------------------------------------------------

#[test]
fn with_the_event_as_key_the_second_and_third_effect_never_happen() {
    let scenario = Scenario {
        effects: 3,
        ..once()
    };
    check(
        "event-key",
        scenario,
        "s1:dA.A11",
        "
            receipts 1, tasks 1, acked 1
            lost-effect e1 search_projection: at step 7 A found the key taken, by another
                effect of the same event: the key is too wide
            lost-effect e1 audit: at step 10 A found the key taken, by another effect of the
                same event: the key is too wide
            false-success delivery 1: at step 12 A told the broker that it was done, while
                an effect was not committed
        ",
    );
}

#[test]
fn with_the_ticket_as_key_the_second_version_is_swallowed() {
    let scenario = Scenario {
        versions: 2,
        ..once()
    };
    check(
        "ticket-key",
        scenario,
        "s1:dA.A5.dA.A4",
        "
            receipts 1, tasks 1, acked 2
            lost-effect e2 notification: at step 9 A found the key taken, by another event
                or effect of the same ticket: the key is too wide
            false-success delivery 2: at step 11 A told the broker that it was done, while
                an effect was not committed
        ",
    );
}

// ---- The flag -------------------------------------------------------------------------------------

#[test]
fn a_flag_that_says_redelivered_loses_what_had_not_committed() {
    check(
        "trust-redelivered",
        once(),
        "s1:dA.A3.xA.dA.A2",
        "
            receipts 0, tasks 0, acked 1
            lost-effect e1 notification: at step 7 A left the effect out because the flag
                said redelivered, but no attempt before it had committed the effect
            false-success delivery 1: at step 8 A told the broker that it was done, while an
                effect was not committed
        ",
    );
}

#[test]
fn a_flag_that_says_first_delivery_repeats_what_had_committed() {
    check(
        "trust-redelivered",
        once(),
        "s1:dA.A5.p1.dA.A5",
        "
            receipts 0, tasks 2, acked 2
            duplicate-effect e1 notification x2: at step 9 the flag told A that this was a
                first delivery, and so it was: its own task, committed at step 5, came from
                another copy of the event
        ",
    );
    check(
        "trust-redelivered",
        twice(),
        "s1:dA.A.dB.B4.A4.B",
        "
            receipts 0, tasks 2, acked 2
            duplicate-effect e1 notification x2: at step 2 the flag told A that this was a
                first delivery, and so it was: B's task, committed at step 7, came from
                another copy of the event
        ",
    );
}

#[test]
fn a_flag_that_is_right_changes_nothing() {
    check(
        "trust-redelivered",
        once(),
        "s1:dA.A4.xA.dA.A2",
        "receipts 0, tasks 1, acked 1",
    );
}

#[test]
fn the_flag_speaks_for_effects_that_had_not_committed_beside_those_that_had() {
    let scenario = Scenario {
        effects: 2,
        ..once()
    };
    check(
        "trust-redelivered",
        scenario,
        "s1:dA.A4.xA.dA.A2",
        "
            receipts 0, tasks 1, acked 1
            lost-effect e1 search_projection: at step 8 A left the effect out because the
                flag said redelivered, but no attempt before it had committed the effect
            false-success delivery 1: at step 9 A told the broker that it was done, while an
                effect was not committed
        ",
    );
}

/// What the flag said is what the worker was told. A lost ack makes the broker think otherwise later.
#[test]
fn a_worker_reads_the_flag_that_came_with_its_delivery() {
    let design =
        "trust-redelivered.one-transaction.event-and-effect.target-only.before-processing.deferred";
    check_trace(
        design,
        once(),
        "s1:dA.kA.A4",
        "
            1 dA delivery 1, attempt 1
            2 kA ack of delivery 1 lost, queued
            3 A flag false -> goes on
            4 A begin: done -> goes on
            5 A apply: changed 1 -> goes on | A SHARED, A RESERVED
            6 A commit: done -> goes on | A EXCLUSIVE, A back to SHARED, A back to NONE
        ",
    );
}

// ---- Nothing asked --------------------------------------------------------------------------------

#[test]
fn without_a_guard_every_delivery_is_carried_out() {
    check(
        "no-guard",
        twice(),
        "s1:dA.A4.dB.B4",
        "
            receipts 0, tasks 2, acked 2
            duplicate-effect e1 notification x2: B did again at step 9 what A had done at
                step 4: nothing in this design asks whether the event was handled before
        ",
    );
    check(
        "no-guard",
        once(),
        "s1:dA.A3.xA.dA.A4",
        "
            receipts 0, tasks 2, acked 1
            duplicate-effect e1 notification x2: A did again at step 9 what it had done at
                step 4: nothing in this design asks whether the event was handled before
        ",
    );
}

/// Two attempts at one delivery, at the same time: the ack of the first was lost before the work.
#[test]
fn two_attempts_at_one_delivery_write_two_tasks_and_not_the_same() {
    let design = "none.one-transaction.event-and-effect.target-only.before-processing.deferred";
    let scenario = Scenario {
        deliveries: 1,
        ..twice()
    };
    check(
        design,
        scenario,
        "s1:dA.kA.dB.B.A3.B3",
        "
            receipts 0, tasks 2, acked 1
            duplicate-effect e1 notification x2: B did again at step 10 what A had done at
                step 7: nothing in this design asks whether the event was handled before
            false-success delivery 1: at step 4 B told the broker that it was done, while an
                effect was not committed
        ",
    );
}

// ---- Errors ---------------------------------------------------------------------------------------

#[test]
fn any_integrity_error_read_as_a_duplicate_loses_the_effect_of_a_missing_ticket() {
    check(
        "swallow-integrity-errors",
        before_the_ticket(),
        "s1:dA.A5",
        "
            receipts 0, tasks 0, acked 1
            lost-effect e1 notification: at step 4 A read an error as a duplicate, which it
                was not: foreign key
            swallowed-error e1 foreign key: at step 4 A read an error as a duplicate, which
                it was not: foreign key
            false-success delivery 1: at step 6 A told the broker that it was done, while an
                effect was not committed
        ",
    );
    check(
        "swallow-integrity-errors",
        before_the_ticket(),
        "s1:dA.A5.t",
        "
            receipts 0, tasks 0, acked 1
            lost-effect e1 notification: at step 4 A read an error as a duplicate, which it
                was not: foreign key
            swallowed-error e1 foreign key: at step 4 A read an error as a duplicate, which
                it was not: foreign key
            false-success delivery 1: at step 6 A told the broker that it was done, while an
                effect was not committed
        ",
    );
}

#[test]
fn any_integrity_error_read_as_a_duplicate_swallows_every_other_rule() {
    for (task, kind) in [
        (TaskRow::UnknownStatus, "check constraint"),
        (TaskRow::NoTenant, "not-null constraint"),
        (TaskRow::SecondEscalation, "unique constraint"),
    ] {
        let error = format!("at step 4 A read an error as a duplicate, which it was not: {kind}");
        check(
            "swallow-integrity-errors",
            with_task(task),
            "s1:dA.A5",
            &format!(
                "receipts 0, tasks 0, acked 1
                lost-effect e1 notification: {error}
                swallowed-error e1 {kind}: {error}
                false-success delivery 1: at step 6 A told the broker that it was done, while an
                effect was not committed"
            ),
        );
    }
}

#[test]
fn insert_or_ignore_swallows_check_not_null_and_unique_and_commits_the_receipt() {
    for task in [
        TaskRow::UnknownStatus,
        TaskRow::NoTenant,
        TaskRow::SecondEscalation,
    ] {
        check(
            "insert-or-ignore",
            with_task(task),
            "s1:dA.A3",
            "
            receipts 0, tasks 0, acked 0, unacked 1
            swallowed-error e1 silence: at step 4 A's INSERT OR IGNORE wrote no row and
                SQLite, as it was told, said nothing
        ",
        );
        check(
            "insert-or-ignore",
            with_task(task),
            "s1:dA.A5",
            "
            receipts 1, tasks 0, acked 1
            lost-effect e1 notification: at step 4 A's INSERT OR IGNORE wrote no row and
                SQLite, as it was told, said nothing
            orphan-receipt e1 notification: at step 4 A's INSERT OR IGNORE wrote no row and
                SQLite, as it was told, said nothing
            swallowed-error e1 silence: at step 4 A's INSERT OR IGNORE wrote no row and
                SQLite, as it was told, said nothing
            false-success delivery 1: at step 6 A told the broker that it was done, while an
                effect was not committed
        ",
        );
    }
}

#[test]
fn insert_or_ignore_does_not_swallow_a_foreign_key() {
    check(
        "insert-or-ignore",
        before_the_ticket(),
        "s1:dA.A5",
        "receipts 0, tasks 0, acked 0, queued 1",
    );
}

#[test]
fn an_error_that_is_acked_loses_its_effect_and_all_after_it() {
    let design =
        "unique-constraint.one-transaction.event-and-effect.any-acked.after-commit.deferred";
    let scenario = Scenario {
        effects: 2,
        ..before_the_ticket()
    };
    check(
        design,
        scenario,
        "s1:dA.A5",
        "
            receipts 0, tasks 0, acked 1
            lost-effect e1 notification: at step 4 A got an error, and its design acks all
                the same: foreign key
            lost-effect e1 search_projection: at step 4 A got an error, and its design acks
                all the same: foreign key
            swallowed-error e1 foreign key: at step 4 A got an error, and its design acks
                all the same: foreign key
            false-success delivery 1: at step 6 A told the broker that it was done, while an
                effect was not committed
        ",
    );
}

#[test]
fn a_wait_given_up_or_a_reply_lost_is_an_error_too_and_may_be_acked() {
    let design =
        "unique-constraint.one-transaction.event-and-effect.any-acked.after-commit.deferred";
    check(
        design,
        twice(),
        "s1:dA.dB.A2.B2.gB.B2.xA",
        "
            receipts 0, tasks 0, acked 1, queued 1
            swallowed-error e1 database busy: at step 7 B got an error, and its design acks
                all the same: database busy
            false-success delivery 2: at step 9 B told the broker that it was done, while an
                effect was not committed
        ",
    );
    check(
        design,
        once(),
        "s1:dA.A3.rA.A",
        "
            receipts 1, tasks 1, acked 1
            swallowed-error e1 input or output: at step 5 A got an error, and its design
                acks all the same: input or output
        ",
    );
}

#[test]
fn each_swallowed_error_has_its_own_cause() {
    let design =
        "unique-constraint.one-transaction.event-and-effect.any-acked.after-commit.deferred";
    let scenario = Scenario {
        task: TaskRow::NoTenant,
        ..twice()
    };
    check(
        design,
        scenario,
        "s1:dA.dB.A2.B2.gB.A.B2.A2",
        "
            receipts 0, tasks 0, acked 2
            lost-effect e1 notification: at step 7 B got an error, and its design acks all
                the same: database busy
            swallowed-error e1 not-null constraint: at step 8 A got an error, and its design
                acks all the same: not-null constraint
            swallowed-error e1 database busy: at step 7 B got an error, and its design acks
                all the same: database busy
            false-success delivery 1: at step 12 A told the broker that it was done, while
                an effect was not committed
            false-success delivery 2: at step 10 B told the broker that it was done, while
                an effect was not committed
        ",
    );
}

/// The error that was swallowed belongs to another attempt than the receipt that stands alone.
#[test]
fn an_orphan_is_not_blamed_on_an_error_of_another_attempt() {
    let design = "unique-constraint.receipt-first.event-and-effect.any-acked.after-commit.deferred";
    check(
        design,
        twice(),
        "s1:dA.dB.A2.B2.gB.B2.A.xA",
        "
            receipts 1, tasks 0, acked 1, queued 1
            orphan-receipt e1 notification: A's receipt was committed at step 10, and at
                step 11 A stopped before the effect
            swallowed-error e1 database busy: at step 7 B got an error, and its design acks
                all the same: database busy
            false-success delivery 2: at step 9 B told the broker that it was done, while an
                effect was not committed
        ",
    );
}

// ---- Ack first ------------------------------------------------------------------------------------

#[test]
fn an_ack_before_the_work_loses_what_a_crash_undoes() {
    check(
        "ack-first",
        once(),
        "s1:dA.A3.xA",
        "
            receipts 0, tasks 0, acked 1
            lost-effect e1 notification: A acked at step 2, before the work, which ended at
                step 5 with the effect not committed
            false-success delivery 1: at step 2 A told the broker that it was done, while an
                effect was not committed
        ",
    );
}

#[test]
fn an_ack_before_the_work_cannot_be_taken_back_after_an_error() {
    check(
        "ack-first",
        before_the_ticket(),
        "s1:dA.A5",
        "
            receipts 0, tasks 0, acked 1
            lost-effect e1 notification: A acked at step 2, before the work, which ended at
                step 5 with the effect not committed
            false-success delivery 1: at step 2 A told the broker that it was done, while an
                effect was not committed
        ",
    );
}

/// A wait on the way is not where the work ended.
#[test]
fn an_ack_before_the_work_loses_what_two_crashes_undo() {
    check(
        "ack-first",
        twice(),
        "s1:dA.dB.A3.B3.xA.B.xB",
        "
            receipts 0, tasks 0, acked 2
            lost-effect e1 notification: B acked at step 6, before the work, which ended at
                step 11 with the effect not committed
            false-success delivery 1: at step 3 A told the broker that it was done, while an
                effect was not committed
            false-success delivery 2: at step 6 B told the broker that it was done, while an
                effect was not committed
        ",
    );
}

#[test]
fn a_crash_takes_no_delivery_from_the_worker_that_has_it_now() {
    let scenario = Scenario {
        deliveries: 1,
        ..twice()
    };
    check(
        "ack-first",
        scenario,
        "s1:dA.kA.dB.xA",
        "receipts 0, tasks 0, acked 0, unacked 1",
    );
    check(
        "ack-first",
        scenario,
        "s1:dA.kA.dB.xA.B5",
        "
            receipts 1, tasks 1, acked 1
            false-success delivery 1: at step 5 B told the broker that it was done, while an
                effect was not committed
        ",
    );
}

#[test]
fn an_ack_before_the_work_is_a_false_success_until_all_is_done() {
    check(
        "ack-first",
        once(),
        "s1:dA.A5",
        "
            receipts 1, tasks 1, acked 1
            false-success delivery 1: at step 2 A told the broker that it was done, while an
                effect was not committed
        ",
    );
}

// ---- What may not happen yet ---------------------------------------------------------------------

#[test]
fn the_operator_comes_in_only_while_no_lock_is_held() {
    check_refused(
        "constraint-arbitration",
        before_the_ticket(),
        "s1:dA.A2.t",
        "step 4: wanted `t`, enabled: `A`, `p1`, `xA`",
    );
}

#[test]
fn a_commit_that_would_have_to_wait_has_no_reply_to_lose() {
    check_refused(
        "check-in-transaction",
        twice(),
        "s1:dA.dB.A4.B2.rA",
        "step 9: wanted `rA`, enabled: `A`, `B`, `p1`, `xA`, `xB`",
    );
}

// ---- Row by row -----------------------------------------------------------------------------------

#[test]
fn trace_of_two_workers_under_the_constraint() {
    check_trace(
        "constraint-arbitration",
        twice(),
        "s1:dA.dB.A2.B2.A2.B2.A.B",
        "
            1 dA delivery 1, attempt 1
            2 dB delivery 2, attempt 1
            3 A begin: done -> goes on
            4 A claim: changed 1 -> goes on | A SHARED, A RESERVED
            5 B begin: done -> goes on
            6 B claim: 5 database is locked -> waits for A | B SHARED, B refused RESERVED by
                A, B back to NONE
            7 A apply: changed 1 -> goes on
            8 A commit: done -> goes on | A EXCLUSIVE, A back to SHARED, A back to NONE
            9 B claim: 2067 UNIQUE constraint failed: effect_receipts.event_id,
                effect_receipts.effect_name -> duplicate | B SHARED, B RESERVED
            10 B rollback: done -> duplicate | B back to SHARED, B back to NONE
            11 A acked delivery 1
            12 B acked delivery 2
        ",
    );
}

#[test]
fn trace_of_two_workers_with_a_check_under_autocommit() {
    check_trace(
        "check-then-insert",
        twice(),
        "s1:dA.dB.A.B.A3.B3",
        "
            1 dA delivery 1, attempt 1
            2 dB delivery 2, attempt 1
            3 A check: found 0 -> goes on | A SHARED, A back to NONE
            4 B check: found 0 -> goes on | B SHARED, B back to NONE
            5 A claim: changed 1 -> goes on | A SHARED, A RESERVED, A EXCLUSIVE, A back to
                SHARED, A back to NONE
            6 A apply: changed 1 -> goes on | A SHARED, A RESERVED, A EXCLUSIVE, A back to
                SHARED, A back to NONE
            7 A acked delivery 1
            8 B claim: changed 1 -> goes on | B SHARED, B RESERVED, B EXCLUSIVE, B back to
                SHARED, B back to NONE
            9 B apply: changed 1 -> goes on | B SHARED, B RESERVED, B EXCLUSIVE, B back to
                SHARED, B back to NONE
            10 B acked delivery 2
        ",
    );
}

#[test]
fn trace_of_two_readers_that_both_want_to_write() {
    check_trace(
        "check-in-transaction",
        twice(),
        "s1:dA.dB.A2.B2.A3.B.gB.B.A.B",
        "
            1 dA delivery 1, attempt 1
            2 dB delivery 2, attempt 1
            3 A begin: done -> goes on
            4 A check: found 0 -> goes on | A SHARED
            5 B begin: done -> goes on
            6 B check: found 0 -> goes on | B SHARED
            7 A claim: changed 1 -> goes on | A RESERVED
            8 A apply: changed 1 -> goes on
            9 A commit: 5 database is locked -> waits for B | A PENDING, A refused EXCLUSIVE
                by B
            10 B claim: 5 database is locked -> waits for A | B refused RESERVED by A
            11 gB gave up -> gives back
            12 B rollback: done -> gives back | B back to NONE
            13 A commit: done -> goes on | A EXCLUSIVE, A back to SHARED, A back to NONE
            14 B gave delivery 2 back, queued
        ",
    );
}

#[test]
fn trace_of_every_rule_that_is_no_duplicate() {
    check_trace(
        "constraint-arbitration",
        before_the_ticket(),
        "s1:dA.A5.t.dA.A5",
        "
            1 dA delivery 1, attempt 1
            2 A begin: done -> goes on
            3 A claim: changed 1 -> goes on | A SHARED, A RESERVED
            4 A apply: 787 FOREIGN KEY constraint failed -> gives back
            5 A rollback: done -> gives back | A back to SHARED, A back to NONE
            6 A gave delivery 1 back, queued
            7 t ticket added | the operator SHARED, the operator RESERVED, the operator
                EXCLUSIVE, the operator back to SHARED, the operator back to NONE
            8 dA delivery 1, attempt 2, redelivered
            9 A begin: done -> goes on
            10 A claim: changed 1 -> goes on | A SHARED, A RESERVED
            11 A apply: changed 1 -> goes on
            12 A commit: done -> goes on | A EXCLUSIVE, A back to SHARED, A back to NONE
            13 A acked delivery 1
        ",
    );
    check_trace(
        "constraint-arbitration",
        with_task(TaskRow::UnknownStatus),
        "s1:dA.A5",
        "
            1 dA delivery 1, attempt 1
            2 A begin: done -> goes on
            3 A claim: changed 1 -> goes on | A SHARED, A RESERVED
            4 A apply: 275 CHECK constraint failed: ck_task_status -> gives back
            5 A rollback: done -> gives back | A back to SHARED, A back to NONE
            6 A gave delivery 1 back, queued
        ",
    );
    check_trace(
        "constraint-arbitration",
        with_task(TaskRow::NoTenant),
        "s1:dA.A5",
        "
            1 dA delivery 1, attempt 1
            2 A begin: done -> goes on
            3 A claim: changed 1 -> goes on | A SHARED, A RESERVED
            4 A apply: 1299 NOT NULL constraint failed: business_tasks.tenant_id -> gives
                back
            5 A rollback: done -> gives back | A back to SHARED, A back to NONE
            6 A gave delivery 1 back, queued
        ",
    );
    check_trace(
        "constraint-arbitration",
        with_task(TaskRow::SecondEscalation),
        "s1:dA.A5",
        "
            1 dA delivery 1, attempt 1
            2 A begin: done -> goes on
            3 A claim: changed 1 -> goes on | A SHARED, A RESERVED
            4 A apply: 2067 UNIQUE constraint failed: business_tasks.ticket_id -> gives back
            5 A rollback: done -> gives back | A back to SHARED, A back to NONE
            6 A gave delivery 1 back, queued
        ",
    );
}

#[test]
fn trace_of_a_crash_a_lost_reply_and_a_lost_ack() {
    check_trace(
        "constraint-arbitration",
        once(),
        "s1:dA.A3.xA.dA.A3.rA.A.dA.A3.kA",
        "
            1 dA delivery 1, attempt 1
            2 A begin: done -> goes on
            3 A claim: changed 1 -> goes on | A SHARED, A RESERVED
            4 A apply: changed 1 -> goes on
            5 xA crashed in a transaction, delivery 1 queued | A back to NONE
            6 dA delivery 1, attempt 2, redelivered
            7 A begin: done -> goes on
            8 A claim: changed 1 -> goes on | A SHARED, A RESERVED
            9 A apply: changed 1 -> goes on
            10 rA commit: done -> reply lost, gives back | A EXCLUSIVE, A back to SHARED, A
                back to NONE
            11 A gave delivery 1 back, queued
            12 dA delivery 1, attempt 3, redelivered
            13 A begin: done -> goes on
            14 A claim: 2067 UNIQUE constraint failed: effect_receipts.event_id,
                effect_receipts.effect_name -> duplicate | A SHARED, A RESERVED
            15 A rollback: done -> duplicate | A back to SHARED, A back to NONE
            16 kA ack of delivery 1 lost, parked
        ",
    );
}

#[test]
fn a_statement_is_shown_with_the_values_bound_to_it() {
    let (_, run) = run("constraint-arbitration", once(), "s1:dA.A3");
    let statements = run.frames.iter().filter_map(|frame| match &frame.moved {
        Moved::Changed(change) => match &change.action {
            Action::Ran(ran) => Some(&ran.statement),
            _ => None,
        },
        Moved::Nothing(_) => None,
    });
    let shown = statements.map(|statement| {
        let values = statement.values.iter();
        let values = values.map(|(name, value)| format!("{name} {}", schema::literal(value)));
        format!(
            "{} [{}]",
            statement.sql,
            values.collect::<Vec<_>>().join(", ")
        )
    });
    let shown: Vec<String> = shown.collect();
    assert_eq!(
        shown,
        [
            "BEGIN []",
            "INSERT INTO effect_receipts (event_id, effect_name) VALUES (:event_id, :effect_name) \
             [:event_id 'e1', :effect_name 'notification']",
            "INSERT INTO business_tasks (id, ticket_id, tenant_id, task_type, status) \
             VALUES (:task_id, :ticket_id, :tenant_id, :effect_name, :status) \
             [:task_id '377a27a0-2a74-5970-8f5c-99ad927cff8a', :ticket_id 'ticket-1', \
             :tenant_id 'tenant-1', :effect_name 'notification', :status 'pending']",
        ]
    );
}
