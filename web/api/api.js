// What the package offers: the module's functions with errors of one class, and the search as a promise.
import init, {
  Lab as Machine,
  Search,
  listDesigns,
  listExercises,
  listLessons,
} from "./deliver-twice-web.js";

/** Why a request was refused: `code` stays, `position` says where, `message` is for people. */
export class DeliverTwiceError extends Error {
  constructor({ code, position, message }, options) {
    super(message, options);
    this.name = "DeliverTwiceError";
    this.code = code;
    this.position = position;
  }
}

/** An error of ours from whatever was thrown: a refusal is a plain object, and nothing else should come. */
function errorOf(thrown) {
  if (thrown instanceof DeliverTwiceError) return thrown;
  if (typeof thrown?.code === "string" && typeof thrown.message === "string") {
    return new DeliverTwiceError(thrown);
  }
  return refusal("broken", "", `the laboratory broke down: ${thrown}`, thrown);
}

function refusal(code, argument, message, cause) {
  const position = { argument, character: null, step: null };
  return new DeliverTwiceError({ code, position, message }, { cause });
}

/** Fields of an argument. Whatever stands behind them may throw. */
function fields(argument, value, ...names) {
  try {
    return Object.fromEntries(names.map((name) => [name, value?.[name]]));
  } catch (cause) {
    throw refusal("bad-argument", argument, `${argument}: it cannot be read`, cause);
  }
}

function asked(work) {
  try {
    return work();
  } catch (thrown) {
    throw errorOf(thrown);
  }
}

/** A laboratory. Its memory is the module's: free it, or declare it with `using`. */
class Lab {
  #machine;

  constructor(options) {
    this.#machine = asked(() => Machine.open(options));
  }

  #ask(work) {
    if (!this.#machine) throw refusal("freed", "this", "this laboratory was freed");
    return asked(() => work(this.#machine));
  }

  enabledSteps() {
    return this.#ask((machine) => machine.enabled());
  }

  step(step) {
    return this.#ask((machine) => machine.step(step));
  }

  steps() {
    return this.#ask((machine) => machine.steps());
  }

  replay(schedule, control) {
    const { leaveOut } = fields("control", control, "leaveOut");
    return this.#ask((machine) => machine.replay(schedule, leaveOut === true));
  }

  goTo(steps) {
    return this.#ask((machine) => machine.goTo(steps));
  }

  undo() {
    return this.#ask((machine) => machine.undo());
  }

  state() {
    return this.#ask((machine) => machine.state());
  }

  exportRun(format) {
    return this.#ask((machine) => machine.export(format));
  }

  free() {
    this.#machine?.free();
    this.#machine = undefined;
  }

  [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() {
    this.free();
  }
}

/** How long a slice of a search may take, in milliseconds: less than a frame. */
const SLICE = 8;

/** After how many steps of a search the time is looked at. How long one takes depends on what it meets. */
const STEPS = 32;

/** Searches every schedule, in slices between which the program has its turn. */
async function explore(options, control) {
  const { onProgress, signal } = fields("control", control, "onProgress", "signal");
  if (onProgress != null && typeof onProgress !== "function") {
    throw refusal("bad-argument", "control.onProgress", "control.onProgress: expected a function");
  }
  if (signal != null && typeof fields("control.signal", signal, "aborted").aborted !== "boolean") {
    throw refusal("bad-argument", "control.signal", "control.signal: expected an AbortSignal");
  }
  const stopIfAborted = () => {
    if (!signal?.aborted) return;
    throw refusal("aborted", "control.signal", "the search was aborted", signal.reason);
  };
  stopIfAborted();
  const search = asked(() => Search.open(options));
  try {
    for (;;) {
      const end = performance.now() + SLICE;
      let progress;
      do progress = asked(() => search.advance(STEPS));
      while (!progress.isOver && performance.now() < end);
      onProgress?.(progress);
      if (progress.isOver) return asked(() => search.findings());
      await new Promise((turn) => setTimeout(turn));
      stopIfAborted();
    }
  } finally {
    search.free();
  }
}

const api = Object.freeze({
  listDesigns: () => asked(listDesigns),
  listLessons: () => asked(listLessons),
  listExercises: () => asked(listExercises),
  open: (options) => new Lab(options),
  explore,
});

/** A function that loads the module once, from what `bytes` says unless it is told otherwise. */
export function loader(bytes) {
  let loading;
  return function load(source) {
    loading ??= Promise.resolve(source ?? bytes())
      .then((from) => init({ module_or_path: from }))
      .then(() => api)
      .catch((error) => {
        loading = undefined; // the next call tries again
        throw refusal("broken", "source", `the module could not be loaded: ${error}`, error);
      });
    return loading;
  };
}
