// One record: where it stands, what became of it, and what may be done to it.
import { $, el, keyed, setAttribute, setText } from "./dom.js";
import { ago, millis, moment, words } from "./format.js";
import { get, newId, recordPath } from "./api.js";
import { ask, isAsking } from "./acts.js";
import { address } from "./view.js";

const STATES = {
  ABSENT: ["calm", "The lock store knows nothing of it: nobody has claimed it, or its claim is past its retention."],
  FREE: ["warn", "Nobody holds it: it waits for its next attempt."],
  HELD: ["calm", "Somebody works on it."],
  DONE: ["good", "It is done."],
  DEAD: ["bad", "It was given up; its dead letter is written."],
};

const OUTCOMES = {
  COMPLETED: ["good", "Completed"],
  FAILED: ["warn", "Failed, to be tried again"],
  DEAD: ["bad", "Given up"],
  TAKEN_OVER: ["warn", "Taken over"],
  LEASE_LOST: ["warn", "Lease lost"],
  MISMATCH: ["bad", "Known with another payload"],
  BLOCKED: ["calm", "Waits for what it touches"],
  DISMISSED: ["calm", "Dismissed"],
};

const panel = $("record");
let shown = null;

/** Asks who holds it now: by the time that a reason is given, it may be somebody else. */
export async function release(id) {
  const record = await get(recordPath(id)).catch(() => null);
  if (isAsking()) return; // about something else, that was begun meanwhile
  if (record?.state !== "HELD") {
    location.hash = address({ record: id }); // which says how it stands
    return;
  }
  ask({
    title: "Release this record?", target: id, verb: "Release", grave: true,
    effect: `It is taken from ${record.holder}, which has it under token ${record.token}, and freed for the next who asks. Its holder is told with its next step; its handler may still be at work when another begins.`,
    path: `${recordPath(id)}/release`, body: { token: record.token },
  });
}

export function redrive(id, { dismissed } = {}) {
  const before = dismissed ? `It was dismissed by ${dismissed.by}: ${dismissed.reason}. ` : "";
  ask({
    title: "Redrive this record?", target: id, verb: "Redrive", grave: false,
    effect: `${before}It is freed from its end as if nobody had tried it, and published again: its handler runs once more.`,
    path: `${recordPath(id)}/redrive`,
  });
}

export function redriveForgotten(id) {
  ask({
    title: "Redrive this record, though it is forgotten?", target: id, verb: "Redrive", grave: true,
    effect: "The lock store knows nothing of it any more: it may have been done since it died. Its oldest dead letter, if there is one, is published again: its handler runs once more.",
    path: `${recordPath(id)}/redrive`, body: { mayBeDone: true },
  });
}

export function redriveThese(ids, then) {
  ask({
    title: `Redrive these ${ids.length} records?`, target: ids.join(", "), verb: "Redrive", grave: false,
    effect: "Each is freed from its end as if nobody had tried it, and published again.",
    path: "api/redrive", body: { ids, id: newId() }, again: "Sent again, it is the same redrive.", then,
  });
}

export function acknowledge(id) {
  ask({
    title: "Acknowledge this violation?", target: id, verb: "Acknowledge", grave: false,
    effect: "It needs no alert any more, and stays listed.",
    path: `api/violations/${encodeURIComponent(id)}/acknowledge`,
  });
}

export function dismiss(id) {
  ask({
    title: "Dismiss this record?", target: id, verb: "Dismiss", grave: false,
    effect: "It stays dead and leaves the list; a redrive of many passes it over. It can be redriven by itself.",
    path: `${recordPath(id)}/dismiss`,
  });
}

/** Shows this record as it is now; null for none. */
export async function showRecord(id, { caller, overview }) {
  const { mayChange } = caller;
  const violation = overview?.found.find((each) => each.id === id);
  if (id === null) {
    panel.hidden = true;
    panel.replaceChildren();
    shown = null;
    return;
  }
  if (shown !== id) {
    shown = id;
    frame(id);
  }
  try {
    const record = await get(recordPath(id));
    if (shown === id) return () => fill(record, mayChange, violation);
  } catch (refusal) {
    if (refusal.status === 401) throw refusal;
    if (shown === id) {
      return () => {
        setText(panel.querySelector(".record-note"), `Not known now: ${refusal.message}`);
        setText(panel.querySelector(".badge"), "");
      };
    }
  }
  return undefined;
}

function frame(id) {
  panel.hidden = false;
  panel.replaceChildren(
    el("div", { class: "record-head" },
      el("h2", { id: "record-id", text: id }),
      el("div", { class: "record-acts" },
        el("span", { class: "record-acts", "data-acts": true }),
        copyButton("Copy link", () => location.href),
        copyButton("Copy as command", () => `java -jar firstclaim.jar admin record ${quoted(id)} --url ${quoted(new URL(".", location.href).href)}`),
        el("button", { type: "button", class: "small", text: "Close", onclick: () => { location.hash = address({ record: null }); $("wanted").focus(); } }),
      ),
    ),
    el("div", { class: "record-state" }, el("span", { class: "badge" }), el("span", { class: "record-note quiet", text: "Asking …" })),
    el("dl", { class: "facts" }),
    el("h3", { text: "What became of it" }),
    el("p", { class: "note history-note" }),
    el("ol", { class: "timeline" }),
  );
}

/** For a POSIX shell. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function copyButton(text, what) {
  if (!navigator.clipboard) return null;
  const button = el("button", { type: "button", class: "small", text });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(what()).then(() => setText(button, "Copied"), () => setText(button, "Not allowed"));
    setTimeout(() => setText(button, text), 1500);
  });
  return button;
}

function fill(record, mayChange, violation) {
  const [mood, note] = record.isDismissed
    ? ["calm", `${record.dismissed.by} dismissed it: it needs no redrive.`]
    : (STATES[record.state] ?? ["calm", ""]);
  const badge = panel.querySelector(".badge");
  setText($("record-id"), record.id);
  setText(badge, record.isDismissed ? "dead, dismissed" : words(record.state));
  setAttribute(badge, "data-mood", mood);
  const open = record.state === "DEAD" && record.isDismissed === null ? " Whether it was dismissed is not known now." : "";
  setText(panel.querySelector(".record-note"), note + open);
  const facts = [
    [record.state === "HELD" ? "Held by" : "Ended by", record.holder],
    ["Token", record.token],
    ["Attempts", record.attempts],
    ["Lease until", record.until && moment(record.until)],
    ["Ended", record.at && `${moment(record.at)}, ${ago(record.at)}`],
    ["Next attempt", record.retryAt && moment(record.retryAt)],
    ["Redriven by", record.redrive],
    ["Cause", record.cause, true],
    ["Result", record.result, true],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
  keyed(
    panel.querySelector(".facts"),
    facts,
    ([term]) => term,
    ([term, , broad]) => el("div", { class: broad ? "broad" : null }, el("dt", { text: term }), el("dd", { class: broad ? "mono" : null })),
    (child, [, value]) => setText(child.lastChild, value),
  );
  acts(record, mayChange, violation);
  history(record);
}

/** Whether a redrive has freed it, and nobody has tried it since: whoever freed it may have died. */
const isFreed = ({ state, redrive: by, attempts }) => state === "FREE" && by !== null && attempts === 0;

function acts(record, mayChange, violation) {
  const allowed = [];
  if (mayChange && violation?.acknowledged === null) allowed.push(["Acknowledge violation …", acknowledge, "main"]);
  if (mayChange && isFreed(record)) allowed.push(["Redrive …", redrive]);
  if (mayChange && record.state === "ABSENT") allowed.push(["Redrive, though forgotten …", redriveForgotten]);
  if (mayChange && record.state === "HELD") allowed.push(["Release …", release, "main"]);
  if (mayChange && record.state === "DEAD") allowed.push(["Redrive …", () => redrive(record.id, record.isDismissed ? record : {}), record.isDismissed ? "" : "main"]);
  if (mayChange && record.state === "DEAD" && record.isDismissed === false) allowed.push(["Dismiss …", dismiss]);
  keyed(
    panel.querySelector("[data-acts]"),
    allowed,
    ([text, , weight]) => text + weight,
    ([text, act, weight = ""]) => el("button", { type: "button", class: `small ${weight}`, text, onclick: () => act(record.id) }),
  );
}

/** A dismissal is no outcome, and stands among them all the same. */
function pastOf({ history: past, dismissed }) {
  if (past === null || dismissed === null) return past;
  const event = { ...dismissed, outcome: "DISMISSED", cause: dismissed.reason };
  const place = past.findIndex(({ at }) => Date.parse(at) > Date.parse(event.at));
  return past.toSpliced(place < 0 ? past.length : place, 0, event);
}

function history(record) {
  const past = pastOf(record);
  setText(
    panel.querySelector(".history-note"),
    past === null ? "The audit cannot say now." : past.length === 0 ? "Nothing was said of it yet." : "",
  );
  const events = (past ?? []).map((event, i) => ({ ...event, before: past[i - 1] }));
  keyed(
    panel.querySelector(".timeline"),
    events,
    ({ outcome, token, attempt, at, zone, instance, partition, offset }) => [outcome, token, attempt, at, zone, instance, partition, offset].join("|"),
    (event) => {
      const [mood, text] = OUTCOMES[event.outcome] ?? ["calm", words(event.outcome)];
      const passed = event.before ? Date.parse(event.at) - Date.parse(event.before.at) : null;
      return el("li", { "data-mood": mood },
        el("div", { class: "what" },
          el("b", { text }),
          el("span", { text: `by ${event.by ?? (event.zone ? `${event.zone}/${event.instance}` : event.instance)}` }),
          el("time", { class: "quiet", datetime: event.at, title: event.at, text: moment(event.at) }),
          passed !== null && passed >= 0 ? el("span", { class: "quiet", text: `${millis(passed)} later` }) : null),
        event.by ? null : el("p", { class: "quiet", text: `attempt ${event.attempt}, token ${event.token}, handler ${millis(event.millis)}, ${event.topic}-${event.partition} at ${event.offset}` }),
        event.cause ? el("p", { class: "cause mono", text: event.cause }) : null);
    },
  );
}
