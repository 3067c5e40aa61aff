// What <deliver-twice> tells its page, for a learning record store (xAPI) or a SCORM runtime. It runs in the
// host's page: the laboratory knows of no learner.

const VERBS = "http://adlnet.gov/expapi/verbs/";
const TYPES = "http://adlnet.gov/expapi/activities/";
const GRADED = ["answered", "completed"];

/** Hands every event of these elements to `record(name, detail)`. Returns what ends that. */
export function follow(target, record) {
  const hear = ({ type, detail }) => record(type.split(":")[1], detail);
  const names = ["ready", "step", ...GRADED].map((name) => `delivertwice:${name}`);
  for (const name of names) target.addEventListener(name, hear);
  return () => names.forEach((name) => target.removeEventListener(name, hear));
}

/** An xAPI 1.0.3 statement, or nothing if there is nothing to state. `activity` is an IRI of the course's own. */
export function statement(name, detail, { actor, activity, timestamp = new Date().toISOString() }) {
  const verb = { ready: "initialized", step: detail.n === 1 && "attempted", answered: "answered", completed: "completed" }[name];
  if (!verb) return undefined;
  const task = detail.question ?? detail.id;
  const whole = {
    actor,
    verb: { id: VERBS + verb, display: { en: verb } },
    object: {
      objectType: "Activity",
      id: task ? `${activity}#${encodeURIComponent(detail.item || task)}` : activity,
      definition: { type: TYPES + (task ? "question" : "simulation"), name: { en: task ?? "Deliver Twice" } },
    },
    timestamp,
  };
  if (GRADED.includes(name)) whole.result = result(name, detail, activity);
  return whole;
}

function result(name, detail, activity) {
  const { success, evidence, durationMs } = detail;
  return {
    success,
    completion: name === "completed" || undefined,
    score: { scaled: scaled(detail) },
    response: String(detail.answer ?? evidence.schedule),
    duration: seconds(durationMs),
    // A replay of it leads to the same result.
    extensions: { [`${activity}/evidence`]: evidence, [`${activity}/attempts`]: detail.attempts },
  };
}

/** From 0 to 1. */
function scaled({ scaled, score, max }) {
  return scaled ?? score / max;
}

function seconds(ms) {
  return `PT${(ms / 1000).toFixed(2)}S`;
}

/** Records into the runtime's `API` of SCORM 1.2. The score is the best so far. */
export function scorm12(api) {
  return recorder({
    begin: () => api.LMSInitialize(""),
    get: (name) => api.LMSGetValue(name),
    set: (name, value) => api.LMSSetValue(name, String(value)),
    commit: () => api.LMSCommit(""),
    score: (set, best) => {
      set("cmi.core.score.min", 0);
      set("cmi.core.score.max", 100);
      set("cmi.core.score.raw", Math.round(best * 100));
    },
    status: (set, isPassed) => set("cmi.core.lesson_status", isPassed ? "passed" : "incomplete"),
    words: { response: "student_response", right: "correct", wrong: "wrong", time: "time" },
    latency: (ms) => clock(ms),
    time: () => clock((Date.now() / 1000 % 86400) * 1000),
    identifier: (text) => text.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 255),
    suspend: 4096,
  });
}

/** Records into the runtime's `API_1484_11` of SCORM 2004. The score is the best so far. */
export function scorm2004(api) {
  return recorder({
    begin: () => api.Initialize(""),
    get: (name) => api.GetValue(name),
    set: (name, value) => api.SetValue(name, String(value)),
    commit: () => api.Commit(""),
    score: (set, best) => {
      set("cmi.score.min", 0);
      set("cmi.score.max", 100);
      set("cmi.score.raw", Math.round(best * 100));
      set("cmi.score.scaled", best.toFixed(4));
    },
    status: (set, isPassed) => {
      set("cmi.success_status", isPassed ? "passed" : "unknown");
      set("cmi.completion_status", isPassed ? "completed" : "incomplete");
    },
    words: { response: "learner_response", right: "correct", wrong: "incorrect", time: "timestamp" },
    latency: seconds,
    time: () => new Date().toISOString().slice(0, 19),
    identifier: (text) => `urn:deliver-twice:${encodeURIComponent(text)}`,
    suspend: 64000,
  });
}

function recorder(scorm) {
  let best = 0;
  let isPassed = false;
  scorm.begin();
  return (name, detail) => {
    if (!GRADED.includes(name)) return;
    best = Math.max(best, scaled(detail));
    isPassed ||= detail.success;
    interaction(scorm, detail);
    scorm.score(scorm.set, best);
    scorm.status(scorm.set, isPassed);
    const evidence = JSON.stringify(detail.evidence);
    if (evidence.length <= scorm.suspend) scorm.set("cmi.suspend_data", evidence);
    scorm.commit();
  };
}

/** Appends what was answered or done. */
function interaction({ get, set, words, latency, time, identifier }, detail) {
  const at = `cmi.interactions.${Number(get("cmi.interactions._count")) || 0}.`;
  const isNumber = detail.answer !== undefined;
  set(at + "id", identifier(detail.item || (detail.question ?? detail.id)));
  set(at + "type", isNumber ? "numeric" : "performance");
  set(at + words.time, time());
  if (isNumber) set(at + words.response, detail.answer);
  set(at + "result", detail.success ? words.right : words.wrong);
  set(at + "latency", latency(detail.durationMs));
}

/** Hours, minutes and seconds, as SCORM 1.2 wants them. */
function clock(ms) {
  const all = Math.floor(ms / 1000);
  const two = (number) => String(number).padStart(2, "0");
  return `${two(Math.floor(all / 3600) % 10000)}:${two(Math.floor(all / 60) % 60)}:${two(all % 60)}`;
}
