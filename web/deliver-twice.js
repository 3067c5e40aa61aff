// <deliver-twice>: the laboratory as an element of any page. It shows its own content until the laboratory,
// in a frame, is ready. At most three are alive on a page; the others come back by a replay of their state.
const NS = "delivertwice";
const ALIVE_MAX = 3;
const BOOTING_MAX = 2;
const READY_MS = 20_000;
// What is about the element and not about the laboratory.
const OWN = /^(src|loading|mode|sizing|height|m(in|ax)-height|title|class|id|style|slot|hidden|lang|theme|(data|aria)-.*)$/;
const RULES = /^(view|controls|predict|readonly|nokeys|item)$/;
const SWITCHES = /^(readonly|present|nokeys)$/;
const METHODS = ["goto", "run", "pause", "explore", "link", "exportTrace", "reset", "step"];
const SAYS = {
  en: ["Start the laboratory", "The laboratory did not start.", "Open it in a tab of its own"],
  zh: ["启动实验室", "实验室没有启动。", "在新标签页中打开"],
};
const all = new Set();

class DeliverTwice extends (globalThis.HTMLElement ?? Object) {
  #root = this.attachShadow({ mode: "open" });
  #slot = this.#root.appendChild(document.createElement("slot"));
  #watch = new MutationObserver(() => this.#changed());
  #sight = new IntersectionObserver((seen) => this.#seen(seen.at(-1).isIntersecting), { rootMargin: "400px" });
  #hear = (event) => event.source === this.#frame?.contentWindow && event.origin === this.#base.origin && this.#heard(event.data);
  #calls = new Map();
  #queue = [];
  #heights = [];
  #ready = Promise.withResolvers?.() ?? deferred();
  #asked = 0;
  #frame;
  #note;
  #timer;
  #query;
  #kept = ""; // how far the visitor was, beside the query
  #last;
  #id;
  wanted = false; // whether it is to be alive: on sight, or once it was clicked
  booting = false;

  connectedCallback() {
    all.add(this);
    Object.assign(this.style, { display: "block" });
    this.#last = this.#asks();
    addEventListener("message", this.#hear);
    this.#watch.observe(this, { attributes: true });
    // The page's own theme and language, where the element leaves them to it.
    for (const one of [document.documentElement, document.body]) this.#watch.observe(one, { attributes: true });
    const loading = this.getAttribute("loading");
    if (loading === "click" && !this.#query) return this.#offer();
    this.#sight.observe(this);
    if (loading === "eager") this.#seen(true);
  }

  disconnectedCallback() {
    all.delete(this);
    removeEventListener("message", this.#hear);
    this.#watch.disconnect();
    this.#sight.disconnect();
    this.suspend();
    schedule();
  }

  get ready() { return this.#ready.promise; }
  get alive() { return !!this.#frame; }
  get state() { return { query: this.#query ?? this.#asks().state }; }
  set state({ query }) {
    this.#query = String(query);
    this.#kept = "";
    this.#say("set", { state: { query: this.#query } });
  }
  print() { this.#say("print", {}); }
  crash(worker) { return this.call("step", "x" + worker); }

  /** Calls a method of the laboratory, once it is ready. */
  call(method, ...args) {
    const reqId = String(++this.#asked);
    const { promise, resolve, reject } = deferred();
    this.#calls.set(reqId, { resolve, reject });
    this.#say("call", { method, args: args.map(String), reqId });
    return promise;
  }

  boot() {
    this.booting = true;
    this.#note?.remove();
    const asks = this.#asks();
    this.#base = new URL(this.getAttribute("src") ?? "./", this.hasAttribute("src") ? document.baseURI : import.meta.url);
    const state = (this.#query ?? asks.state).replace(/^\?/, "");
    const frame = document.createElement("iframe");
    frame.src = new URL(`?embed=1&${asks.rules}&parent=${encodeURIComponent(origin)}&${state}${this.#query ? this.#kept : asks.looks}`, this.#base);
    frame.title = this.title || "Deliver Twice";
    frame.allow = "clipboard-write; fullscreen";
    frame.referrerPolicy = "no-referrer";
    Object.assign(frame.style, { display: "block", width: "100%", border: "0", height: 0, visibility: "hidden" });
    this.#frame = this.#root.appendChild(frame);
    this.#timer = setTimeout(() => this.#failed(), READY_MS);
  }

  /** Gives the frame up and keeps its state and its place. */
  suspend() {
    clearTimeout(this.#timer);
    this.booting = false;
    if (!this.#frame) return;
    this.style.minHeight = this.#frame.style.height;
    this.#frame.remove();
    this.#frame = this.#id = undefined;
    this.#heights = [];
    this.#slot.hidden = false;
    for (const { reject } of this.#calls.values()) reject(new Error("suspended"));
    this.#calls.clear();
    this.#queue = [];
  }

  #base = new URL("about:blank");

  /** What the attributes ask for, as parts of a query. */
  #asks() {
    const state = [], rules = [];
    for (const { name, value } of this.attributes) {
      if (OWN.test(name)) continue;
      const said = SWITCHES.test(name) && value !== "0" ? "1" : value;
      (RULES.test(name) ? rules : state).push(`${name}=${encodeURIComponent(said)}`);
    }
    const looks = { theme: this.#theme(), lang: this.#lang() };
    const query = Object.entries(looks).filter(([, value]) => value).map((pair) => "&" + pair.join("="));
    return { state: "?" + state.join("&"), rules: rules.join("&"), looks: query.join(""), said: looks };
  }

  #theme() {
    const own = this.getAttribute("theme") ?? "host";
    if (own !== "host") return own;
    const named = this.closest("[data-theme]")?.dataset.theme;
    return [named, getComputedStyle(this).colorScheme].find((name) => name === "light" || name === "dark") ?? "auto";
  }

  #lang() {
    const tag = this.closest("[lang]")?.lang;
    return tag === "auto" ? undefined : tag;
  }

  /** Follows attributes without a reload. */
  #changed() {
    const [old, asks] = [this.#last, this.#asks()];
    this.#last = asks;
    if (this.#frame) this.#frame.title = this.title || "Deliver Twice";
    if (this.#id) this.#size();
    if (asks.looks !== old.looks) this.#say("theme", asks.said);
    if (asks.rules !== old.rules) this.#say("rules", { query: asks.rules });
    if (asks.state !== old.state) this.state = { query: asks.state };
  }

  #seen(isSeen) {
    this.wanted = isSeen;
    this.#say("visibility", { visible: isSeen });
    schedule();
  }

  #offer() {
    const button = this.#notice("button", this.#words()[0]);
    button.onclick = () => {
      this.#note.remove();
      this.#sight.observe(this);
      this.#seen(true);
    };
  }

  #failed() {
    this.suspend();
    this.wanted = false;
    const note = this.#notice("p", this.#words()[1] + " ");
    note.setAttribute("role", "alert");
    const link = note.appendChild(document.createElement("a"));
    Object.assign(link, { href: this.#base.href + this.state.query, target: "_blank", textContent: this.#words()[2] });
    this.#tell("error", { code: "not-started", message: note.textContent, recoverable: false });
    schedule();
  }

  #notice(tag, text) {
    this.#note?.remove();
    this.#note = this.#root.appendChild(document.createElement(tag));
    this.#note.textContent = text;
    return this.#note;
  }

  #words() { return SAYS[this.#lang()?.startsWith("zh") ? "zh" : "en"]; }

  #heard(data) {
    if (data?.ns !== NS || data.v !== 1 || !data.payload) return;
    const { type, payload, id } = data;
    if (type === "hello" && id !== this.#id) this.#post("init", this.#asks().said);
    else if (type === "ready") this.#begun(id, payload);
    else if (type === "resize") this.#size(payload.height);
    else if (type === "result") this.#answered(payload);
    else if (type === "event") {
      if (payload.name === "statechange") {
        this.#query = payload.detail.query;
        this.#kept = payload.detail.kept ? "&kept=" + payload.detail.kept : "";
      }
      this.#tell(payload.name, payload.detail);
    }
  }

  #begun(id, { state, version }) {
    clearTimeout(this.#timer);
    this.#id = id;
    this.booting = false;
    this.#query = state.query;
    this.#slot.hidden = true;
    this.style.minHeight = "";
    this.#frame.style.visibility = "";
    this.#size();
    for (const said of this.#queue.splice(0)) this.#post(...said);
    this.#ready.resolve(this);
    this.#tell("ready", { version, state });
    schedule();
  }

  /** As high as was declared, or as high as the laboratory is; a height that swings back and forth is given up. */
  #size(height) {
    if (!this.#frame || !this.#id) return;
    const px = (name, usual) => parseInt(this.getAttribute(name), 10) || usual;
    const set = (value) => { this.#frame.style.height = value + "px"; };
    if (this.getAttribute("sizing") !== "auto") return set(px("height", 520));
    if (!Number.isInteger(height)) return this.#frame.style.height === "0px" && set(px("height", 520));
    const now = performance.now();
    this.#heights = [...this.#heights, { now, height }].filter((one) => now - one.now < 1000);
    if (this.#heights.length > 5) return;
    const bounded = Math.min(Math.max(height, px("min-height", 320)), px("max-height", 900));
    set(bounded);
    this.#tell("resize", { height: bounded });
  }

  #answered({ reqId, value, error }) {
    const call = this.#calls.get(reqId);
    this.#calls.delete(reqId);
    if (error) call?.reject(Object.assign(new Error(error), { code: error }));
    else call?.resolve(value);
  }

  #say(type, payload) {
    if (this.#id) this.#post(type, payload);
    else if (type === "call") this.#queue.push([type, payload]);
  }

  #post(type, payload) {
    this.#frame.contentWindow.postMessage({ ns: NS, v: 1, id: this.#id ?? "", type, payload }, this.#base.origin);
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(`${NS}:${name}`, { detail, bubbles: true, composed: true }));
  }
}

for (const method of METHODS) {
  DeliverTwice.prototype[method] ??= function (...args) { return this.call(method, ...args); };
}

function deferred() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

/** Lets whoever is in sight live; whoever is out of sight gives way. */
function schedule() {
  for (const one of all) {
    const living = [...all].filter((other) => other.alive);
    if (!one.wanted || one.alive || living.filter((other) => other.booting).length >= BOOTING_MAX) continue;
    if (living.length >= ALIVE_MAX) {
      const idle = living.find((other) => !other.wanted);
      if (!idle) return;
      idle.suspend();
    }
    one.boot();
  }
}

// Imported where there is no page, or twice, it does nothing.
if (globalThis.customElements && !customElements.get("deliver-twice")) {
  customElements.define("deliver-twice", DeliverTwice);
}
