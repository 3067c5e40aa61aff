//! What the functions of the programming interface return, as plain values.
//!
//! `web/api/types.d.ts` is written from these tables, and a test holds it to them.

use std::collections::BTreeMap;

use deliver_twice_core::axis::Axis;
use deliver_twice_core::broker::{Delivery, DeliveryId, Kind, Place, WorkerId};
use deliver_twice_core::cause::holder_name;
#[cfg(test)]
use deliver_twice_core::design::Chapter;
use deliver_twice_core::design::{self, Preset};
use deliver_twice_core::disk::{ConnectionId, LockLevel};
#[cfg(test)]
use deliver_twice_core::event::EffectName;
use deliver_twice_core::exercise::{self, Goal};
#[cfg(test)]
use deliver_twice_core::export::Export;
use deliver_twice_core::lesson;
#[cfg(test)]
use deliver_twice_core::property;
use deliver_twice_core::scenario;
use deliver_twice_core::schedule::Step;
use deliver_twice_core::schema;
use deliver_twice_core::state;

#[cfg(test)]
use super::refusal::Why;
use super::shape::{names, objects};
use crate::messages::Language;

names! {
    /// Why a request was refused. Codes stay; messages are for people and may change.
    Code = Why::ALL.map(Why::as_str).into_iter().chain(["freed", "aborted", "broken"]);
    /// A language of titles and texts.
    Tag = Language::ALL.map(Language::tag);
    /// The name of a design, for ever.
    DesignName = design::presets().map(|preset| preset.name);
    /// The name of a lesson, for ever.
    LessonName = lesson::built_in().iter().map(|lesson| lesson.id);
    /// The name of an exercise, for ever.
    ExerciseName = exercise::built_in().iter().map(|exercise| exercise.id);
    /// A part of what is taught.
    ChapterName = Chapter::ALL.map(Chapter::as_str);
    /// What a design chooses on.
    AxisName = Axis::ALL.map(Axis::as_str);
    /// What can go wrong, or happen and be allowed.
    VerdictName = property::Verdict::ALL.map(property::Verdict::as_str);
    /// Whether the ticket that the events speak of is there at the start.
    TicketName = scenario::Ticket::ALL.map(scenario::Ticket::as_str);
    /// What is wrong with the tasks that the events ask for.
    TaskName = scenario::TaskRow::ALL.map(scenario::TaskRow::as_str);
    /// What the provider outside does with an idempotency key.
    ProviderName = scenario::Provider::ALL.map(scenario::Provider::as_str);
    /// At which moments a worker may crash.
    CrashMoment = scenario::CrashAt::ALL.map(scenario::CrashAt::as_str);
    /// What an event asks a consumer for.
    Effect = EffectName::ALL.map(EffectName::as_str);
    /// A format that a run can be taken away in.
    Format = Export::ALL.map(Export::as_str);
    /// What a worker is there for.
    WorkerKind = KINDS.map(kind);
    /// A lock on the database, from the weakest to the strongest.
    Lock = LOCKS.map(lock);
    /// Where a delivery is.
    PlaceName = ["queued", "unacked", "acked", "parked"];
    /// How much of the schedules a search tried.
    CoverageName = ["exhausted", "cut"];
    /// What an exercise asks for.
    ExerciseKind = ["puzzle", "repair"];
}

objects! {
    /// Why a request was refused.
    Refusal {
        /// What kind of mistake it is.
        code: Code,
        /// Where it is.
        position: Position,
        /// What is wrong, in an English sentence.
        message: String,
    }
    /// Where in what was asked a mistake is.
    Position {
        /// The argument, or the path of the field in it, such as `options.scenario.workers`.
        argument: String,
        /// Where in the text of it, in characters from 0; null if it is not about a character.
        character: Option<u32>,
        /// Which step of the schedule, from 1; null if it is not about a step.
        step: Option<u32>,
    }
    /// A design: one choice on each axis.
    Design {
        /// Its name.
        name: DesignName,
        /// The part of what is taught that it belongs to.
        chapter: ChapterName,
        /// The name of its choice on each axis.
        choices: BTreeMap<AxisName, &'static str>,
    }
    /// What a design is put to.
    Scenario {
        /// How often each event is published at the start.
        deliveries: u8,
        /// How many consumers there are.
        workers: u8,
        /// How many effects each event has.
        effects: u8,
        /// How many versions of the ticket are announced, each by an event of its own.
        versions: u8,
        /// How many relays there are, in a design with an outbox.
        relays: u8,
        /// How many senders there are, in a design with one.
        senders: u8,
        /// Whether the ticket is there.
        ticket: TicketName,
        /// What is wrong with the tasks.
        task: TaskName,
        /// What the provider outside does with an idempotency key.
        provider: ProviderName,
    }
    /// How many of each fault may happen.
    Bounds {
        /// Workers that crash.
        crashes: u8,
        /// At which moments.
        crash_at: CrashMoment,
        /// Acks that get lost.
        lost_acks: u8,
        /// Replies to a commit that get lost.
        lost_replies: u8,
        /// Events that their producer publishes once more.
        published_again: u8,
        /// Waits that a worker gives up.
        given_up: u8,
        /// Leases that expire while their relay is still at work.
        overruns: u8,
        /// Messages that the broker refuses.
        nacks: u8,
        /// Messages that the broker returns, because no queue takes them.
        returns: u8,
        /// Confirms that get lost.
        lost_confirms: u8,
        /// Answers of the provider that get lost.
        lost_answers: u8,
    }
    /// A lesson of the course.
    Lesson {
        /// Its name.
        name: LessonName,
        /// Its title in each language.
        title: BTreeMap<Tag, &'static str>,
        /// What it says in each language.
        text: BTreeMap<Tag, &'static str>,
        /// The design on the left.
        left: String,
        /// The design on the right.
        right: String,
        /// What both are put to.
        scenario: Scenario,
        /// Which faults its search may use.
        bounds: Bounds,
        /// Its opening schedule, which one of the designs may not be able to follow to its end.
        schedule: String,
    }
    /// An exercise of the course.
    Exercise {
        /// Its name.
        name: ExerciseName,
        /// Whether a schedule or a design is asked for.
        kind: ExerciseKind,
        /// Its title in each language.
        title: BTreeMap<Tag, &'static str>,
        /// What it says in each language.
        text: BTreeMap<Tag, &'static str>,
        /// The design that fails.
        design: String,
        /// What it is put to.
        scenario: Scenario,
        /// Which faults may happen.
        bounds: Bounds,
        /// What a puzzle asks to be brought about; null for a repair.
        verdict: Option<VerdictName>,
        /// The axes on which a repair may change the design; none for a puzzle.
        axes: Vec<AxisName>,
    }
    /// A step that may happen next.
    EnabledStep {
        /// The step, as a schedule writes it.
        step: String,
        /// The worker that it is about, by its letter.
        worker: Option<String>,
        /// Whether the system itself gets on by it; otherwise it is a fault, or help from outside.
        is_progress: bool,
    }
    /// A statement that was run.
    Statement {
        /// Its text.
        sql: &'static str,
        /// The values that were bound, as SQL would write them.
        values: BTreeMap<&'static str, String>,
    }
    /// What a step did.
    StepTaken {
        /// Its number in the run, from 1.
        number: u32,
        /// The step, as a schedule writes it.
        step: String,
        /// Who did it: a worker's letter, or who stands outside.
        who: String,
        /// What came of it, in English.
        says: String,
        /// The statement that was run, if one was.
        statement: Option<Statement>,
        /// Whom its worker waits for now.
        waits_for: Vec<String>,
        /// What is violated now.
        violations: Vec<Violation>,
        /// What happened and is allowed.
        noted: Vec<Violation>,
    }
    /// A property that does not hold, or something that is worth a note.
    Violation {
        /// What it is.
        verdict: VerdictName,
        /// The property, in an English sentence.
        property: &'static str,
        /// Why, in an English sentence.
        cause: String,
    }
    /// The state of the whole machine.
    State {
        /// How many steps were taken.
        at: u32,
        /// Those steps, as text: with design, scenario and bounds they make the same state again.
        schedule: String,
        /// The design: its name, or its choices joined by dots.
        design: String,
        /// What it is put to.
        scenario: Scenario,
        /// How many of each fault may still happen.
        left: Bounds,
        /// What may happen next, in a fixed order.
        enabled: Vec<EnabledStep>,
        /// Whether nothing is left to consume and every worker is idle.
        is_settled: bool,
        /// The workers.
        workers: Vec<Worker>,
        /// What the broker has, in the order of publishing.
        deliveries: Vec<DeliveryState>,
        /// What is committed.
        tables: Tables,
        /// The messages that reached the outside.
        sent: Vec<Message>,
        /// What is violated.
        violations: Vec<Violation>,
        /// What happened and is allowed.
        noted: Vec<Violation>,
    }
    /// A worker: a process with a connection of its own.
    Worker {
        /// Its letter.
        name: String,
        /// What it is there for.
        kind: WorkerKind,
        /// Whether it is at work.
        is_busy: bool,
        /// The event that it is at work on, if that is known.
        event: Option<String>,
        /// The lock that its connection holds.
        lock: Lock,
        /// Whether its connection is inside a transaction.
        in_transaction: bool,
        /// Whom it waits for.
        waits_for: Vec<String>,
        /// What the tables hold as it alone sees them; null unless it has written and not committed.
        own: Option<Tables>,
    }
    /// One copy of an event on its way to a consumer.
    DeliveryState {
        /// Its number, from 1, in the order of publishing.
        number: u32,
        /// The event.
        event: String,
        /// How often it was handed to a worker.
        attempts: u8,
        /// Whether the broker says that it handed it out before.
        redelivered: bool,
        /// Where it is.
        place: PlaceName,
        /// The worker that has it, while it is unacked.
        worker: Option<String>,
    }
    /// What the tables hold.
    Tables {
        /// The ids in `tickets`.
        tickets: Vec<String>,
        /// `effect_receipts`.
        receipts: Vec<Receipt>,
        /// `business_tasks`.
        tasks: Vec<Task>,
        /// `outbox_events`; empty in a design without an outbox.
        outbox: Vec<OutboxRow>,
    }
    /// A row of `effect_receipts`.
    Receipt {
        /// The event.
        event_id: String,
        /// The effect.
        effect_name: String,
    }
    /// A row of `business_tasks`.
    Task {
        /// Its id.
        id: String,
        /// The ticket.
        ticket_id: String,
        /// The tenant.
        tenant_id: String,
        /// What is to be done: the name of the effect.
        task_type: String,
        /// How far it is.
        status: String,
    }
    /// A row of `outbox_events`.
    OutboxRow {
        /// The event.
        event_id: String,
        /// How far it is.
        state: String,
        /// Who claimed it.
        owner: Option<String>,
        /// How often it was claimed: the token of the last claim.
        token: f64,
        /// How often it was tried.
        attempt: f64,
        /// Until when the claim is good; beyond every clock if it never ends.
        lease_until: Option<f64>,
    }
    /// A message that reached the outside, by the task that it was sent for.
    Message {
        /// The event.
        event: String,
        /// The effect.
        effect: Effect,
        /// The delivery that carried the event, from 1.
        delivery: u32,
        /// Which attempt at that delivery, from 1.
        attempt: u8,
    }
    /// How far a search has come.
    Progress {
        /// Distinct states so far.
        states: u32,
        /// Steps tried so far.
        steps: f64,
        /// States that were reached and not gone on from yet.
        unexplored: u32,
        /// Whether the search is over.
        is_over: bool,
    }
    /// What a search found. Counts of schedules are text, for they may be larger than a number can hold.
    Findings {
        /// Whether every schedule was tried and none violates anything.
        holds: bool,
        /// Whether every schedule was tried; if not, the counts are lower bounds and nothing is claimed
        /// about the rest.
        coverage: CoverageName,
        /// Distinct states.
        states: u32,
        /// Complete schedules.
        schedules: String,
        /// Those that end with something violated.
        failing: String,
        /// The same as a part of all, from 0 to 1.
        failing_share: f64,
        /// For each verdict in which any schedule ends, how many do.
        verdicts: Vec<VerdictCount>,
        /// For each verdict that stands in any state, the shortest schedule to it.
        counterexamples: Vec<Counterexample>,
        /// The same for what happens and is allowed.
        allowed: Vec<Counterexample>,
        /// A shortest complete schedule on which nothing is violated, if there is one.
        passing: Option<String>,
        /// The result in one English sentence, which claims no more than was searched.
        says: String,
    }
    /// How many complete schedules end in a verdict.
    VerdictCount {
        /// The verdict.
        verdict: VerdictName,
        /// How many, as text.
        schedules: String,
    }
    /// The shortest schedule to a verdict.
    Counterexample {
        /// The verdict.
        verdict: VerdictName,
        /// The schedule, up to the step that does it.
        schedule: String,
        /// How many steps it has.
        steps: u32,
        /// Why it ends so, in an English sentence.
        cause: String,
    }
    /// A run to take away.
    Exported {
        /// In which format.
        format: Format,
        /// A name for a file of it.
        file_name: String,
        /// The media type of the text.
        media_type: &'static str,
        /// The text.
        text: String,
    }
}

/// What `listDesigns` returns.
pub fn designs() -> Vec<Design> {
    design::presets().map(Design::from).collect()
}

/// What `listLessons` returns.
pub fn lessons() -> Vec<Lesson> {
    lesson::built_in().iter().map(Lesson::from).collect()
}

/// What `listExercises` returns.
pub fn exercises() -> Vec<Exercise> {
    exercise::built_in().iter().map(Exercise::from).collect()
}

/// Values by their keys. One after the other: the standard library's own way would bring its sorting of
/// long lists into the module.
pub fn keyed<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    for (key, value) in pairs {
        map.insert(key, value);
    }
    map
}

/// What a text says in each language.
fn in_each_language(words: impl Fn(&'static str) -> &'static str) -> BTreeMap<Tag, &'static str> {
    let tags = Language::ALL.map(Language::tag);
    keyed(tags.map(|tag| (Tag(tag), words(tag))))
}

impl From<&Preset> for Design {
    fn from(preset: &Preset) -> Self {
        let choice = |axis: Axis| (AxisName(axis.as_str()), axis.choice(&preset.design));
        Design {
            name: DesignName(preset.name),
            chapter: ChapterName(preset.design.chapter().as_str()),
            choices: keyed(Axis::ALL.map(choice)),
        }
    }
}

impl From<&lesson::Lesson> for Lesson {
    fn from(lesson: &lesson::Lesson) -> Self {
        let [left, right] = lesson.designs;
        Lesson {
            name: LessonName(lesson.id),
            title: in_each_language(|tag| lesson.words("title", tag)),
            text: in_each_language(|tag| lesson.words("text", tag)),
            left: left.to_string(),
            right: right.to_string(),
            scenario: lesson.scenario.into(),
            bounds: lesson.bounds.into(),
            schedule: lesson.schedule.to_string(),
        }
    }
}

impl From<&exercise::Exercise> for Exercise {
    fn from(exercise: &exercise::Exercise) -> Self {
        let (kind, verdict, axes) = match &exercise.goal {
            Goal::Break(verdict) => ("puzzle", Some(VerdictName(verdict.as_str())), &[][..]),
            Goal::Repair { axes, .. } => ("repair", None, &axes[..]),
        };
        Exercise {
            name: ExerciseName(exercise.id),
            kind: ExerciseKind(kind),
            title: in_each_language(|tag| exercise.words("title", tag)),
            text: in_each_language(|tag| exercise.words("text", tag)),
            design: exercise.design.to_string(),
            scenario: exercise.scenario.into(),
            bounds: exercise.bounds.into(),
            verdict,
            axes: axes.iter().map(|axis| AxisName(axis.as_str())).collect(),
        }
    }
}

impl From<scenario::Scenario> for Scenario {
    fn from(scenario: scenario::Scenario) -> Self {
        // Without `..`: a further field has to find its place here. So below.
        let scenario::Scenario {
            deliveries,
            workers,
            effects,
            versions,
            ticket,
            task,
            relays,
            senders,
            provider,
        } = scenario;
        Scenario {
            deliveries,
            workers,
            effects,
            versions,
            relays,
            senders,
            ticket: TicketName(ticket.as_str()),
            task: TaskName(task.as_str()),
            provider: ProviderName(provider.as_str()),
        }
    }
}

impl From<scenario::Bounds> for Bounds {
    fn from(bounds: scenario::Bounds) -> Self {
        let scenario::Bounds {
            crashes,
            crash_at,
            lost_acks,
            lost_replies,
            published_again,
            given_up,
            overruns,
            nacks,
            returns,
            lost_confirms,
            lost_answers,
        } = bounds;
        Bounds {
            crashes,
            crash_at: CrashMoment(crash_at.as_str()),
            lost_acks,
            lost_replies,
            published_again,
            given_up,
            overruns,
            nacks,
            returns,
            lost_confirms,
            lost_answers,
        }
    }
}

impl From<&Step> for EnabledStep {
    fn from(step: &Step) -> Self {
        EnabledStep {
            step: step.to_string(),
            worker: step.worker().as_ref().map(WorkerId::to_string),
            is_progress: step.is_progress(),
        }
    }
}

impl Worker {
    /// A worker, and whom it waits for.
    pub fn of(worker: &state::Worker, waits_for: &[ConnectionId]) -> Self {
        let event = worker.job.as_ref().and_then(state::Job::event);
        Worker {
            name: worker.id.to_string(),
            kind: WorkerKind(kind(worker.id.kind())),
            is_busy: worker.job.is_some(),
            event: event.map(|event| event.to_string()),
            lock: Lock(lock(worker.lock)),
            in_transaction: worker.in_transaction,
            waits_for: waits_for.iter().map(|id| holder_name(*id)).collect(),
            own: worker.own.as_deref().map(Tables::from),
        }
    }
}

impl From<(DeliveryId, &Delivery)> for DeliveryState {
    fn from((id, delivery): (DeliveryId, &Delivery)) -> Self {
        let (place, worker) = match delivery.place {
            Place::Queued => ("queued", None),
            Place::Unacked(worker) => ("unacked", Some(worker.to_string())),
            Place::Acked => ("acked", None),
            Place::Parked => ("parked", None),
        };
        DeliveryState {
            number: u32::from(id.0) + 1,
            event: delivery.event.to_string(),
            attempts: delivery.attempts,
            redelivered: delivery.redelivered,
            place: PlaceName(place),
            worker,
        }
    }
}

impl From<&schema::Tables> for Tables {
    fn from(tables: &schema::Tables) -> Self {
        Tables {
            tickets: tables.tickets.clone(),
            receipts: tables.receipts.iter().map(Receipt::from).collect(),
            tasks: tables.tasks.iter().map(Task::from).collect(),
            outbox: tables.outbox.iter().map(OutboxRow::from).collect(),
        }
    }
}

impl From<&schema::Receipt> for Receipt {
    fn from(receipt: &schema::Receipt) -> Self {
        Receipt {
            event_id: receipt.event_id.clone(),
            effect_name: receipt.effect_name.clone(),
        }
    }
}

impl From<&schema::Task> for Task {
    fn from(task: &schema::Task) -> Self {
        Task {
            id: task.id.clone(),
            ticket_id: task.ticket_id.clone(),
            tenant_id: task.tenant_id.clone(),
            task_type: task.task_type.clone(),
            status: task.status.clone(),
        }
    }
}

impl From<&schema::OutboxRow> for OutboxRow {
    fn from(row: &schema::OutboxRow) -> Self {
        OutboxRow {
            event_id: row.event_id.clone(),
            state: row.state.clone(),
            owner: row.owner.clone(),
            token: row.token as f64,
            attempt: row.attempt as f64,
            lease_until: row.lease_until.map(|until| until as f64),
        }
    }
}

impl From<&state::Message> for Message {
    fn from(message: &state::Message) -> Self {
        Message {
            event: message.task.event.to_string(),
            effect: Effect(message.task.effect.as_str()),
            delivery: u32::from(message.task.delivery.0) + 1,
            attempt: message.task.attempt,
        }
    }
}

#[cfg(test)]
const KINDS: [Kind; 4] = [Kind::Consumer, Kind::Producer, Kind::Relay, Kind::Sender];

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Consumer => "consumer",
        Kind::Producer => "producer",
        Kind::Relay => "relay",
        Kind::Sender => "sender",
    }
}

#[cfg(test)]
const LOCKS: [LockLevel; 5] = [
    LockLevel::None,
    LockLevel::Shared,
    LockLevel::Reserved,
    LockLevel::Pending,
    LockLevel::Exclusive,
];

fn lock(level: LockLevel) -> &'static str {
    match level {
        LockLevel::None => "none",
        LockLevel::Shared => "shared",
        LockLevel::Reserved => "reserved",
        LockLevel::Pending => "pending",
        LockLevel::Exclusive => "exclusive",
    }
}
