// Written from the tables in web/src/api/answers.rs; a test holds it to them.

/** Why a request was refused. Codes stay; messages are for people and may change. */
export type Code =
  | "bad-argument"
  | "unknown-field"
  | "missing-field"
  | "conflicting-fields"
  | "unknown-name"
  | "out-of-range"
  | "bad-design"
  | "nonsense-design"
  | "bad-schedule"
  | "not-enabled"
  | "too-long"
  | "too-many-open"
  | "database"
  | "freed"
  | "aborted"
  | "broken";

/** A language of titles and texts. */
export type Tag =
  | "en"
  | "zh-CN";

/** The name of a design, for ever. */
export type DesignName =
  | "no-guard"
  | "trust-redelivered"
  | "check-then-insert"
  | "check-in-transaction"
  | "constraint-arbitration"
  | "on-conflict-do-nothing"
  | "insert-or-ignore"
  | "receipt-first"
  | "effect-first"
  | "event-key"
  | "ticket-key"
  | "swallow-integrity-errors"
  | "ack-first"
  | "commit-then-publish"
  | "publish-then-commit"
  | "outbox"
  | "outbox-marked-when-sent"
  | "outbox-marked-when-claimed"
  | "outbox-unfenced"
  | "outbox-leased-forever"
  | "call-in-transaction"
  | "call-after-commit"
  | "pending-row"
  | "pending-row-with-key"
  | "pending-row-reconciled";

/** The name of a lesson, for ever. */
export type LessonName =
  | "same-event-twice"
  | "dangerous-line"
  | "flag-false"
  | "flag-true"
  | "check-loses-a-race"
  | "constraint-decides"
  | "two-commits"
  | "three-effects"
  | "two-versions"
  | "not-every-error"
  | "missing-ticket"
  | "ack-first"
  | "lost-reply"
  | "busy-is-no-error"
  | "crash-before-publish"
  | "ghost-of-a-rollback"
  | "row-that-waits"
  | "sent-is-not-taken"
  | "nowhere-to-go"
  | "claimed-is-not-sent"
  | "relay-that-is-gone"
  | "relay-that-is-late"
  | "confirm-lost-on-the-way"
  | "mail-is-outside"
  | "call-after-commit"
  | "sent-and-not-marked"
  | "key-that-nobody-reads"
  | "ask-before-you-call"
  | "asking-loses-a-race";

/** The name of an exercise, for ever. */
export type ExerciseName =
  | "done-before-begun"
  | "flag-after-crash"
  | "two-look-at-once"
  | "one-receipt-for-two"
  | "receipt-alone"
  | "same-ticket-again"
  | "effect-alone"
  | "two-wait-in-circle"
  | "between-two-systems"
  | "no-ticket-behind-it"
  | "published-it-says"
  | "sent-and-sent-again"
  | "late-to-its-own-row"
  | "ack-too-early"
  | "key-too-wide"
  | "not-a-duplicate"
  | "half-committed"
  | "nobody-moves"
  | "lost-race"
  | "all-wrong-at-once"
  | "event-that-never-came"
  | "mail-that-came-twice"
  | "from-end-to-end";

/** A part of what is taught. */
export type ChapterName =
  | "consumer"
  | "producer"
  | "outside";

/** What a design chooses on. */
export type AxisName =
  | "arbitration"
  | "grouping"
  | "key"
  | "errors"
  | "ack"
  | "begin"
  | "publication"
  | "marking"
  | "lease"
  | "outside";

/** What can go wrong, or happen and be allowed. */
export type VerdictName =
  | "duplicate-effect"
  | "lost-effect"
  | "stuck"
  | "orphan-receipt"
  | "swallowed-error"
  | "false-success"
  | "ghost-event"
  | "lost-event"
  | "false-published"
  | "stuck-row"
  | "stale-write"
  | "sent-twice"
  | "never-sent"
  | "sent-in-vain"
  | "doubled-publication";

/** Whether the ticket that the events speak of is there at the start. */
export type TicketName =
  | "present"
  | "missing";

/** What is wrong with the tasks that the events ask for. */
export type TaskName =
  | "sound"
  | "unknown-status"
  | "no-tenant"
  | "second-escalation";

/** What the provider outside does with an idempotency key. */
export type ProviderName =
  | "honours-keys"
  | "ignores-keys";

/** At which moments a worker may crash. */
export type CrashMoment =
  | "any-moment"
  | "before-ack"
  | "between-commits";

/** What an event asks a consumer for. */
export type Effect =
  | "notification"
  | "search_projection"
  | "audit";

/** A format that a run can be taken away in. */
export type Format =
  | "mermaid"
  | "plantuml"
  | "svg"
  | "markdown"
  | "json"
  | "sql"
  | "psql"
  | "rust-test";

/** What a worker is there for. */
export type WorkerKind =
  | "consumer"
  | "producer"
  | "relay"
  | "sender";

/** A lock on the database, from the weakest to the strongest. */
export type Lock =
  | "none"
  | "shared"
  | "reserved"
  | "pending"
  | "exclusive";

/** Where a delivery is. */
export type PlaceName =
  | "queued"
  | "unacked"
  | "acked"
  | "parked";

/** How much of the schedules a search tried. */
export type CoverageName =
  | "exhausted"
  | "cut";

/** What an exercise asks for. */
export type ExerciseKind =
  | "puzzle"
  | "repair";

/** Why a request was refused. */
export interface Refusal {
  /** What kind of mistake it is. */
  readonly code: Code;
  /** Where it is. */
  readonly position: Position;
  /** What is wrong, in an English sentence. */
  readonly message: string;
}

/** Where in what was asked a mistake is. */
export interface Position {
  /** The argument, or the path of the field in it, such as `options.scenario.workers`. */
  readonly argument: string;
  /** Where in the text of it, in characters from 0; null if it is not about a character. */
  readonly character: number | null;
  /** Which step of the schedule, from 1; null if it is not about a step. */
  readonly step: number | null;
}

/** A design: one choice on each axis. */
export interface Design {
  /** Its name. */
  readonly name: DesignName;
  /** The part of what is taught that it belongs to. */
  readonly chapter: ChapterName;
  /** The name of its choice on each axis. */
  readonly choices: Readonly<Record<AxisName, string>>;
}

/** What a design is put to. */
export interface Scenario {
  /** How often each event is published at the start. */
  readonly deliveries: number;
  /** How many consumers there are. */
  readonly workers: number;
  /** How many effects each event has. */
  readonly effects: number;
  /** How many versions of the ticket are announced, each by an event of its own. */
  readonly versions: number;
  /** How many relays there are, in a design with an outbox. */
  readonly relays: number;
  /** How many senders there are, in a design with one. */
  readonly senders: number;
  /** Whether the ticket is there. */
  readonly ticket: TicketName;
  /** What is wrong with the tasks. */
  readonly task: TaskName;
  /** What the provider outside does with an idempotency key. */
  readonly provider: ProviderName;
}

/** How many of each fault may happen. */
export interface Bounds {
  /** Workers that crash. */
  readonly crashes: number;
  /** At which moments. */
  readonly crashAt: CrashMoment;
  /** Acks that get lost. */
  readonly lostAcks: number;
  /** Replies to a commit that get lost. */
  readonly lostReplies: number;
  /** Events that their producer publishes once more. */
  readonly publishedAgain: number;
  /** Waits that a worker gives up. */
  readonly givenUp: number;
  /** Leases that expire while their relay is still at work. */
  readonly overruns: number;
  /** Messages that the broker refuses. */
  readonly nacks: number;
  /** Messages that the broker returns, because no queue takes them. */
  readonly returns: number;
  /** Confirms that get lost. */
  readonly lostConfirms: number;
  /** Answers of the provider that get lost. */
  readonly lostAnswers: number;
}

/** A lesson of the course. */
export interface Lesson {
  /** Its name. */
  readonly name: LessonName;
  /** Its title in each language. */
  readonly title: Readonly<Record<Tag, string>>;
  /** What it says in each language. */
  readonly text: Readonly<Record<Tag, string>>;
  /** The design on the left. */
  readonly left: string;
  /** The design on the right. */
  readonly right: string;
  /** What both are put to. */
  readonly scenario: Scenario;
  /** Which faults its search may use. */
  readonly bounds: Bounds;
  /** Its opening schedule, which one of the designs may not be able to follow to its end. */
  readonly schedule: string;
}

/** An exercise of the course. */
export interface Exercise {
  /** Its name. */
  readonly name: ExerciseName;
  /** Whether a schedule or a design is asked for. */
  readonly kind: ExerciseKind;
  /** Its title in each language. */
  readonly title: Readonly<Record<Tag, string>>;
  /** What it says in each language. */
  readonly text: Readonly<Record<Tag, string>>;
  /** The design that fails. */
  readonly design: string;
  /** What it is put to. */
  readonly scenario: Scenario;
  /** Which faults may happen. */
  readonly bounds: Bounds;
  /** What a puzzle asks to be brought about; null for a repair. */
  readonly verdict: VerdictName | null;
  /** The axes on which a repair may change the design; none for a puzzle. */
  readonly axes: readonly AxisName[];
}

/** A step that may happen next. */
export interface EnabledStep {
  /** The step, as a schedule writes it. */
  readonly step: string;
  /** The worker that it is about, by its letter. */
  readonly worker: string | null;
  /** Whether the system itself gets on by it; otherwise it is a fault, or help from outside. */
  readonly isProgress: boolean;
}

/** A statement that was run. */
export interface Statement {
  /** Its text. */
  readonly sql: string;
  /** The values that were bound, as SQL would write them. */
  readonly values: Readonly<Record<string, string>>;
}

/** What a step did. */
export interface StepTaken {
  /** Its number in the run, from 1. */
  readonly number: number;
  /** The step, as a schedule writes it. */
  readonly step: string;
  /** Who did it: a worker's letter, or who stands outside. */
  readonly who: string;
  /** What came of it, in English. */
  readonly says: string;
  /** The statement that was run, if one was. */
  readonly statement: Statement | null;
  /** Whom its worker waits for now. */
  readonly waitsFor: readonly string[];
  /** What is violated now. */
  readonly violations: readonly Violation[];
  /** What happened and is allowed. */
  readonly noted: readonly Violation[];
}

/** A property that does not hold, or something that is worth a note. */
export interface Violation {
  /** What it is. */
  readonly verdict: VerdictName;
  /** The property, in an English sentence. */
  readonly property: string;
  /** Why, in an English sentence. */
  readonly cause: string;
}

/** The state of the whole machine. */
export interface State {
  /** How many steps were taken. */
  readonly at: number;
  /** Those steps, as text: with design, scenario and bounds they make the same state again. */
  readonly schedule: string;
  /** The design: its name, or its choices joined by dots. */
  readonly design: string;
  /** What it is put to. */
  readonly scenario: Scenario;
  /** How many of each fault may still happen. */
  readonly left: Bounds;
  /** What may happen next, in a fixed order. */
  readonly enabled: readonly EnabledStep[];
  /** Whether nothing is left to consume and every worker is idle. */
  readonly isSettled: boolean;
  /** The workers. */
  readonly workers: readonly Worker[];
  /** What the broker has, in the order of publishing. */
  readonly deliveries: readonly DeliveryState[];
  /** What is committed. */
  readonly tables: Tables;
  /** The messages that reached the outside. */
  readonly sent: readonly Message[];
  /** What is violated. */
  readonly violations: readonly Violation[];
  /** What happened and is allowed. */
  readonly noted: readonly Violation[];
}

/** A worker: a process with a connection of its own. */
export interface Worker {
  /** Its letter. */
  readonly name: string;
  /** What it is there for. */
  readonly kind: WorkerKind;
  /** Whether it is at work. */
  readonly isBusy: boolean;
  /** The event that it is at work on, if that is known. */
  readonly event: string | null;
  /** The lock that its connection holds. */
  readonly lock: Lock;
  /** Whether its connection is inside a transaction. */
  readonly inTransaction: boolean;
  /** Whom it waits for. */
  readonly waitsFor: readonly string[];
  /** What the tables hold as it alone sees them; null unless it has written and not committed. */
  readonly own: Tables | null;
}

/** One copy of an event on its way to a consumer. */
export interface DeliveryState {
  /** Its number, from 1, in the order of publishing. */
  readonly number: number;
  /** The event. */
  readonly event: string;
  /** How often it was handed to a worker. */
  readonly attempts: number;
  /** Whether the broker says that it handed it out before. */
  readonly redelivered: boolean;
  /** Where it is. */
  readonly place: PlaceName;
  /** The worker that has it, while it is unacked. */
  readonly worker: string | null;
}

/** What the tables hold. */
export interface Tables {
  /** The ids in `tickets`. */
  readonly tickets: readonly string[];
  /** `effect_receipts`. */
  readonly receipts: readonly Receipt[];
  /** `business_tasks`. */
  readonly tasks: readonly Task[];
  /** `outbox_events`; empty in a design without an outbox. */
  readonly outbox: readonly OutboxRow[];
}

/** A row of `effect_receipts`. */
export interface Receipt {
  /** The event. */
  readonly eventId: string;
  /** The effect. */
  readonly effectName: string;
}

/** A row of `business_tasks`. */
export interface Task {
  /** Its id. */
  readonly id: string;
  /** The ticket. */
  readonly ticketId: string;
  /** The tenant. */
  readonly tenantId: string;
  /** What is to be done: the name of the effect. */
  readonly taskType: string;
  /** How far it is. */
  readonly status: string;
}

/** A row of `outbox_events`. */
export interface OutboxRow {
  /** The event. */
  readonly eventId: string;
  /** How far it is. */
  readonly state: string;
  /** Who claimed it. */
  readonly owner: string | null;
  /** How often it was claimed: the token of the last claim. */
  readonly token: number;
  /** How often it was tried. */
  readonly attempt: number;
  /** Until when the claim is good; beyond every clock if it never ends. */
  readonly leaseUntil: number | null;
}

/** A message that reached the outside, by the task that it was sent for. */
export interface Message {
  /** The event. */
  readonly event: string;
  /** The effect. */
  readonly effect: Effect;
  /** The delivery that carried the event, from 1. */
  readonly delivery: number;
  /** Which attempt at that delivery, from 1. */
  readonly attempt: number;
}

/** How far a search has come. */
export interface Progress {
  /** Distinct states so far. */
  readonly states: number;
  /** Steps tried so far. */
  readonly steps: number;
  /** States that were reached and not gone on from yet. */
  readonly unexplored: number;
  /** Whether the search is over. */
  readonly isOver: boolean;
}

/** What a search found. Counts of schedules are text, for they may be larger than a number can hold. */
export interface Findings {
  /** Whether every schedule was tried and none violates anything. */
  readonly holds: boolean;
  /** Whether every schedule was tried; if not, the counts are lower bounds and nothing is claimed about the rest. */
  readonly coverage: CoverageName;
  /** Distinct states. */
  readonly states: number;
  /** Complete schedules. */
  readonly schedules: string;
  /** Those that end with something violated. */
  readonly failing: string;
  /** The same as a part of all, from 0 to 1. */
  readonly failingShare: number;
  /** For each verdict in which any schedule ends, how many do. */
  readonly verdicts: readonly VerdictCount[];
  /** For each verdict that stands in any state, the shortest schedule to it. */
  readonly counterexamples: readonly Counterexample[];
  /** The same for what happens and is allowed. */
  readonly allowed: readonly Counterexample[];
  /** A shortest complete schedule on which nothing is violated, if there is one. */
  readonly passing: string | null;
  /** The result in one English sentence, which claims no more than was searched. */
  readonly says: string;
}

/** How many complete schedules end in a verdict. */
export interface VerdictCount {
  /** The verdict. */
  readonly verdict: VerdictName;
  /** How many, as text. */
  readonly schedules: string;
}

/** The shortest schedule to a verdict. */
export interface Counterexample {
  /** The verdict. */
  readonly verdict: VerdictName;
  /** The schedule, up to the step that does it. */
  readonly schedule: string;
  /** How many steps it has. */
  readonly steps: number;
  /** Why it ends so, in an English sentence. */
  readonly cause: string;
}

/** A run to take away. */
export interface Exported {
  /** In which format. */
  readonly format: Format;
  /** A name for a file of it. */
  readonly fileName: string;
  /** The media type of the text. */
  readonly mediaType: string;
  /** The text. */
  readonly text: string;
}
