// Lists of records, a page at a time, and the redrives.
import { $, el, keyed, setAttribute, setText } from "./dom.js";
import { ago, count, moment, rate, whose, words } from "./format.js";
import { get } from "./api.js";
import { ask } from "./acts.js";
import { dismiss, redrive, release } from "./record.js";
import { FILTERS, LISTS, address, view } from "./view.js";

const PAGE = 50;

const NAMES = { dead: "Dead", stuck: "Stuck", parked: "Parked", held: "Held", dismissed: "Dismissed", redrives: "Redrives", search: "Search" };
const NOTES = {
  dead: "Given up, and neither completed nor dismissed since, in all zones.",
  stuck: "Begun long ago and not settled since, in all zones.",
  parked: "What this instance has and cannot go on with, and what each waits for.",
  held: "What this instance has a lease on.",
  dismissed: "Dead records that need no redrive, by an operator's word; they stay known as long as their claims.",
  redrives: "Those that are not over, and the last that are; the newest first.",
  search: "By ID; of each record, the latest outcome that is searched for.",
};
const NONE = {
  dead: "No dead letters.", stuck: "Nothing is stuck.", parked: "Nothing waits here.",
  held: "Nothing is at work here.", dismissed: "Nothing was dismissed.", redrives: "Nothing was redriven yet.",
  search: "No record has that in its history.",
};
const WAITS = {
  HEAD_START: "its preferred zone's head start", HOLDER: "another holder's lease",
  RETRY: "its next attempt", RESOURCE: "what it touches", PLACE: "a permit to be in flight",
  RATE: "its turn, as handlers have a rate",
  STORE: "the lock store", DOWNSTREAM: "the downstream", SUSPECT: "its turn as a suspect",
  ANNOUNCEMENT: "the announcement of its end", SAME_ID: "another record of its ID",
  DEFECT: "the end of a pause after a fault",
};

/** What may be done to a record of a list. */
const ACTS = {
  dead: [["Redrive …", redrive], ["Dismiss …", dismiss]],
  stuck: [["Release …", release]],
  held: [["Release …", release]],
  dismissed: [["Redrive …", (id, item) => redrive(id, { dismissed: item })]],
};
const REDRIVES = { RUNNING: "good", PAUSED: "warn", STOPPED: "bad", CANCELLED: "calm", DONE: "good" };
let current = null;

/** What is selected of the dead, on whichever page of the list. */
const picks = new Set();
const MOST_PICKS = 100;

/** The selected IDs. */
export const picked = () => [...picks];

/** Nothing is selected any more. */
export function unpick() {
  picks.clear();
  showPicks();
}

function pick(id, on) {
  if (on && picks.size < MOST_PICKS) picks.add(id);
  else picks.delete(id);
  showPicks();
}

function showPicks() {
  $("bulk-picked").hidden = picks.size === 0;
  setText($("bulk-picked"), `Redrive selected ${picks.size} …`);
  for (const box of $("rows").querySelectorAll("input[type=checkbox]")) box.checked = picks.has(box.value);
}

/** Asks for the list; gives what shows it. */
export async function askList(wanted, summary) {
  const { list, after } = wanted;
  const known = summary.overview !== null || !["dead", "stuck", "search"].includes(list);
  const running = ["RUNNING", "PAUSED"].includes(summary.instance.state) || !["parked", "held"].includes(list);
  let page = { items: [], next: null };
  let fault = known ? (running ? null : "This instance does not run.") : `Not known now: ${summary.overviewFault}.`;
  if (fault === null) {
    try {
      const query = new URLSearchParams(list === "redrives" ? {} : { limit: PAGE });
      if (after && list !== "redrives") query.set("after", after);
      if (list === "search") {
        for (const name of FILTERS) if (wanted[name]) query.set(name, wanted[name]);
      }
      page = await get(`api/${list}?${query}`);
    } catch (refusal) {
      if (refusal.status === 401) throw refusal;
      fault = `Not known now: ${refusal.message}`;
    }
  }
  return () => show(list, after, page, fault, summary);
}

function show(list, after, page, fault, summary) {
  if (current !== list) {
    current = list;
    $("rows").replaceChildren();
    unpick();
    fillFilters(list);
  }
  tabs(list, summary);
  setText($("list-note"), fault ?? noteOf(list, after, page, summary.instance));
  $("bulk").hidden = !(summary.caller.mayChange && ["dead", "redrives"].includes(list));
  $("bulk-dismiss").hidden = !(summary.caller.mayChange && list === "dead");
  const may = summary.caller.mayChange;
  if (list === "redrives") {
    keyed($("rows"), page.items, ({ id }) => id, jobRow, (row, job) => fillJob(row, job, may));
  } else {
    // The same record may wait here twice, delivered from two places.
    keyed($("rows"), page.items, ({ id, topic, partition, offset }) => [id, topic, partition, offset].join("|"), () => recordRow(), (row, item) => fillRecord(row, item, list, may));
  }
  pages(list, after, page.next);
}

function noteOf(list, after, page, { actsFault }) {
  if (["dismissed", "redrives"].includes(list) && page.items.length === 0 && actsFault) {
    return `Nothing is known of them here: ${actsFault}.`;
  }
  if (list === "search" && page.next !== null && page.items.length < PAGE) {
    return `${NOTES.search} ${count(page.lookedAt)} records were looked at, and there are more: the next page goes on.`;
  }
  return page.items.length === 0 && after === null ? NONE[list] : NOTES[list];
}

/** A moment as the field of a form has it, in this browser's time. */
const local = (text) => {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? "" : new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
};
const isMoment = (name) => name === "since" || name === "until";

/** Shows the form of the search, filled with what the address has. */
export function fillFilters(list) {
  const form = $("filters");
  form.hidden = list !== "search";
  const given = view();
  for (const name of FILTERS) {
    const text = given[name] ?? "";
    form.elements[name].value = isMoment(name) && text !== "" ? local(text) : text;
  }
}

$("filters").addEventListener("submit", (event) => {
  event.preventDefault();
  const wanted = { list: "search", after: null };
  for (const name of FILTERS) {
    const text = event.target.elements[name].value;
    wanted[name] = isMoment(name) && text !== "" ? new Date(text).toISOString() : text;
  }
  location.hash = address(wanted);
});

function tabs(list, { overview, instance, redrives }) {
  const numbers = {
    dead: overview && overview.dead, stuck: overview && overview.stuck,
    parked: { count: instance.parked, isAll: true }, held: null, dismissed: null, search: null,
    redrives: redrives && { count: redrives.length, isAll: true },
  };
  keyed(
    $("tabs"), LISTS, (name) => name, () => el("a"),
    (tab, name) => {
      const number = numbers[name];
      setText(tab, number && number.count > 0 ? `${NAMES[name]} ${number.isAll ? "" : "≥ "}${count(number.count)}` : NAMES[name]);
      setAttribute(tab, "href", address({ list: name, after: null }));
      setAttribute(tab, "aria-current", name === list ? "true" : null);
    },
  );
}

function recordRow() {
  return el("li", { class: "row" }, el("a", { class: "mono" }), el("span", { class: "what" }), el("span", { class: "where quiet" }), el("span", { class: "act" }));
}

function fillRecord(row, item, list, may) {
  const [link, what, where, act] = row.children;
  setText(link, item.id);
  setAttribute(link, "href", address({ record: item.id }));
  setText(what, whatOf(item, list));
  setText(where, list === "dismissed" ? `by ${item.by}, ${ago(item.at)}` : ["dead", "stuck", "search"].includes(list) ? `${whose(item)}, ${ago(item.since ?? item.at)}` : `${item.topic}-${item.partition} at ${item.offset}, ${ago(item.since)}`);
  const acts = may ? (ACTS[list] ?? []) : [];
  const all = may && list === "dead" ? [["Select", null], ...acts] : acts;
  keyed(act, all, ([text]) => text, ([text, does]) => does === null ? pickBox(item.id) : el("button", { type: "button", class: "small", text, "aria-label": `${text} ${item.id}`, onclick: () => does(item.id, item) }));
}

function pickBox(id) {
  const box = el("input", { type: "checkbox", value: id, "aria-label": `Select ${id}` });
  box.checked = picks.has(id);
  box.addEventListener("change", () => pick(id, box.checked));
  return box;
}

function whatOf(item, list) {
  switch (list) {
    case "dismissed": return item.reason;
    case "search": return `${words(item.outcome)}, attempt ${item.attempt}${item.cause ? `: ${item.cause}` : ""}`;
    case "dead": return item.cause ?? "no cause was given";
    case "stuck": return `${words(item.outcome)}, attempt ${item.attempt}${item.cause ? `: ${item.cause}` : ""}`;
    case "parked": return `waits for ${WAITS[item.waitsFor] ?? words(item.waitsFor)}${item.by ? `: ${item.by}` : ""}${item.until ? `, until ${moment(item.until)}` : ""}`;
    default: return `attempt ${item.attempt}, token ${item.token}`;
  }
}

function pages(list, after, next) {
  $("pages").hidden = list === "redrives" || (after === null && next === null);
  const wanted = [];
  if (after !== null) wanted.push(["First page", null]);
  if (next !== null) wanted.push(["Next page", next]);
  keyed($("pages"), wanted, ([text]) => text, ([text]) => el("a", { text }), (link, [, to]) => setAttribute(link, "href", address({ after: to })));
}

function jobRow({ id }) {
  return el("li", { class: "row job" },
    el("div", { class: "job-head" }, el("span", { class: "badge" }), el("b", { class: "about" }), el("span", { class: "record-acts" })),
    el("progress", { "aria-label": `Progress of redrive ${id}` }),
    el("p", { class: "counts" }), el("p", { class: "note" }));
}

function fillJob(row, job, may) {
  const badge = row.querySelector(".badge");
  setText(badge, words(job.state));
  setAttribute(badge, "data-mood", REDRIVES[job.state] ?? "calm");
  const filter = [job.record ? `record ${job.record}` : job.ids ? `${count(job.ids.length)} records` : `topic ${job.topic}`, job.cause && `cause “${job.cause}”`, job.since && `since ${moment(job.since)}`, job.until && `until ${moment(job.until)}`].filter(Boolean);
  setText(row.querySelector(".about"), filter.join(", "));
  const bar = row.querySelector("progress");
  setAttribute(bar, "max", Math.max(1, job.size));
  setAttribute(bar, "value", job.size === 0 || job.state === "DONE" ? Math.max(1, job.size) : job.read);
  const skipped = Object.entries(job.skipped).map(([why, number]) => `${count(number)} passed over (${words(why)})`);
  setText(row.querySelector(".counts"), [
    `${count(job.moved)} moved`, `${count(job.completed)} completed`,
    job.diedAgain > 0 && `${count(job.diedAgain)} died again`, job.underWay > 0 && `${count(job.underWay)} under way`,
    job.open > 0 && `${count(job.open)} not known any more`, job.failed > 0 && `${count(job.failed)} failed`, ...skipped,
  ].filter(Boolean).join(" · "));
  setText(row.querySelector(".note"), `${job.by}: ${job.reason} · ${moment(job.at)} · ${rate(job.rate)} a second at most · ${job.id}${job.notBefore && job.instance === "" ? ` · begins ${moment(job.notBefore)}` : ""}${job.note ? ` · ${job.note}` : ""}`);
  const acts = [];
  if (may && job.state === "RUNNING") acts.push(["Pause …", "pause", "Records that it has moved go on."]);
  if (may && ["PAUSED", "STOPPED"].includes(job.state)) acts.push(["Resume …", "resume", "It goes on where it stood."]);
  if (may && !["DONE", "CANCELLED"].includes(job.state)) acts.push(["Cancel …", "cancel", "It ends; what it has moved stays moved."]);
  keyed(row.querySelector(".record-acts"), acts, ([text]) => text, ([text, verb, effect]) =>
    el("button", {
      type: "button", class: "small", text, "aria-label": `${text} redrive ${job.id}`,
      onclick: () => ask({ title: `${text.slice(0, -2)} this redrive?`, target: job.id, effect, verb: verb === "cancel" ? "End it" : text.slice(0, -2), grave: verb === "cancel", path: `api/redrives/${encodeURIComponent(job.id)}/${verb}` }),
    }));
}

