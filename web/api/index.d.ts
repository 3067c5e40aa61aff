// The package's functions. The plain values that they return are in types.d.ts.
import type {
  Bounds,
  Code,
  Design,
  EnabledStep,
  Exercise,
  ExerciseName,
  Exported,
  Findings,
  Format,
  Lesson,
  LessonName,
  Position,
  Progress,
  Scenario,
  State,
  StepTaken,
} from "./types.js";

export type * from "./types.js";

/**
 * What a laboratory or a search is about: a design, or one of a lesson's, or that of an exercise.
 * `scenario` and `bounds` need to name only what is to be other than usual.
 */
export interface About {
  /** A design's name, or its choices joined by dots. */
  readonly design?: string;
  /** A lesson, whose scenario and bounds are then the usual ones. */
  readonly lesson?: LessonName;
  /** Which of the lesson's two designs; the left one unless said otherwise. */
  readonly side?: "left" | "right";
  /** An exercise, whose scenario and bounds are then the usual ones. */
  readonly exercise?: ExerciseName;
  /** What the design is put to. */
  readonly scenario?: Partial<Scenario>;
  /** How many of each fault may happen. By hand many may, unless it is said; in a search, one crash. */
  readonly bounds?: Partial<Bounds>;
}

export interface OpenOptions extends About {
  /** A schedule to begin with, such as `s1:dA.A3.xA`. */
  readonly schedule?: string;
}

export interface ExploreOptions extends About {
  /** The most states to visit, 1 to 100,000; 25,000 unless said otherwise. */
  readonly statesMax?: number;
}

export interface ReplayControl {
  /** Leave out the steps that may not be taken when their turn comes, instead of refusing the schedule. */
  readonly leaveOut?: boolean;
}

export interface ExploreControl {
  /** Is told after each slice of some milliseconds how far the search has come. What it throws ends the search. */
  readonly onProgress?: (progress: Progress) => void;
  /** Gives the search up: its promise is rejected with the code `aborted`. */
  readonly signal?: AbortSignal;
}

/** A laboratory: one design on a SQLite of its own. At most 64 may be open at once. */
export interface Lab {
  /** The steps that may happen next, in a fixed order. */
  enabledSteps(): readonly EnabledStep[];
  /** Takes a step, such as `dA`, `A` or `xA`, and says what it did. */
  step(step: string): StepTaken;
  /** What each step of the run did. */
  steps(): readonly StepTaken[];
  /** Goes back to the start and carries a schedule out. If that cannot be done, nothing is changed. */
  replay(schedule: string, control?: ReplayControl): State;
  /** Goes back to the state after so many steps, and forgets those that came after it. */
  goTo(steps: number): State;
  /** Takes the last step back. */
  undo(): State;
  /** The state it is in. */
  state(): State;
  /** The run, to take away. */
  exportRun(format: Format): Exported;
  /** Gives the memory back. Whatever is asked after that has the code `freed`. */
  free(): void;
}

/** What `load` comes to. */
export interface DeliverTwice {
  /** Every named design, chapter by chapter. */
  listDesigns(): readonly Design[];
  /** Every lesson, in the order in which they teach. */
  listLessons(): readonly Lesson[];
  /** Every exercise: the puzzles and then the repairs, of each the easy ones first. */
  listExercises(): readonly Exercise[];
  /** Opens a laboratory. */
  open(options: OpenOptions): Lab;
  /** Searches every schedule within bounds, without holding the program up. */
  explore(options: ExploreOptions, control?: ExploreControl): Promise<Findings>;
}

/** What the module is loaded from: its bytes, or where they are. */
export type Source = BufferSource | WebAssembly.Module | URL | string | Response | Promise<Response>;

/**
 * Loads the module, once: every call comes to the same. Nothing is loaded before.
 * Without a source it is the file beside the package's own.
 */
export function load(source?: Source): Promise<DeliverTwice>;

/** What is thrown, and what promises are rejected with. */
export class DeliverTwiceError extends Error {
  private constructor();
  /** What kind of mistake it is. Codes stay. */
  readonly code: Code;
  /** Where in what was asked it is. */
  readonly position: Position;
}
