// The state in one sentence, the zones and the instances.
import { $, el, figures, keyed, setAttribute, setText } from "./dom.js";
import { ago, atLeast, count, millis, rate, whose } from "./format.js";
import { showMinutes } from "./charts.js";
import { quantile, rateOf, ratesOf } from "./meters.js";
import { ask } from "./acts.js";
import { showShadow } from "./shadow.js";
import { address } from "./view.js";

const QUIET_AFTER = 180_000;

/** An instance says something every five seconds: one that is not heard for so long has missed two. */
const SILENT_AFTER = 15;

/** All zones that are configured or have done something, in a lasting order. */
function zonesOf(summary) {
  const done = (summary.overview?.minutes ?? []).map((row) => row.zone);
  const heard = (summary.heard ?? []).map((instance) => instance.zone);
  return [...new Set([...summary.zones, summary.instance.zone, ...done, ...heard])].sort();
}

/** The instances of a zone: how many say that they are there, and how long the others are silent; null if nobody knows. */
function presence({ heard, instance }, zone) {
  if (heard === null) return null;
  const silence = new Map(); // one that was started again is heard under the same name
  for (const each of heard.filter((other) => other.zone === zone)) {
    silence.set(each.name, Math.min(each.silentSeconds, silence.get(each.name) ?? Infinity));
  }
  if (instance.zone === zone) silence.set(instance.name, 0);
  const silent = [...silence].filter(([, seconds]) => seconds >= SILENT_AFTER);
  return { living: silence.size - silent.length, silent };
}

const isGone = (summary, zone) => presence(summary, zone)?.living === 0;

export function showNow(summary) {
  const zones = zonesOf(summary);
  headline(summary, zones);
  showShadow(summary);
  showZones(summary, zones);
  showInstances(summary);
}

/** What is amiss, the worst first: [mood, headline, remark, address]. */
function problems(summary, zones) {
  const { instance, overview, overviewFault } = summary;
  const found = [];
  const add = (mood, title, remark, link) => found.push({ mood, title, remark, link });
  if (overview && overview.violations.count > 0) {
    const open = { ...overview.violations, count: overview.violations.count - (overview.acknowledged ?? 0) };
    if (open.count > 0 || !open.isAll) {
      const seen = overview.acknowledged === null ? " Whether it was acknowledged is not known now." : "";
      add("bad", `${atLeast(open)} ${open.count === 1 ? "violation" : "violations"}`, `The audit has found what must not have happened.${seen}`);
    }
    for (const each of overview.found) {
      const seen = each.acknowledged === null ? "" : ` (acknowledged by ${each.acknowledged})`;
      add(each.acknowledged === null ? "bad" : "calm", null, `${each.id}${seen}: ${each.verdict.toLowerCase().replaceAll("_", " ")}, token ${each.token} against ${each.otherToken}, ${whose(each)}, ${ago(each.at)}`, address({ record: each.id }));
    }
  }
  const own = [instance, ...summary.others].map((each) => [each, each === instance ? "" : `${each.zone}/${each.name}: `]);
  for (const [each, whose] of own) {
    if (each.lifeFault) add("bad", "Only a restart helps", whose + each.lifeFault);
    if (each.state === "ENDED") add("bad", whose ? "An instance has ended" : "This instance has ended", whose + (each.why ?? "It was told to stop."));
    if (each.storeFault) add("bad", "The lock store does not answer", whose + each.storeFault);
  }
  for (const [each, whose] of own) {
    if (each.state === "STARTING") add("warn", "Starting", `${whose}${whose ? "waits" : "It waits"} for ${each.why}.`);
    if (each.state === "PAUSED") add("warn", "Paused", whose + each.why);
  }
  for (const zone of zones.filter((each) => isGone(summary, each))) {
    add("bad", `Zone ${zone} is gone`, `Nothing is heard of zone ${zone}. The other zones take over what it held as its leases run out.`);
  }
  for (const zone of zones.filter((each) => !isGone(summary, each))) {
    for (const [name, seconds] of presence(summary, zone)?.silent ?? []) {
      add("warn", null, `Nothing is heard of instance ${zone}/${name} for ${seconds} s.`);
    }
  }
  for (const [each, whose] of own) {
    if (each.downstreamFault) add("warn", "Records wait for the downstream", whose + each.downstreamFault);
  }
  if (overview && overview.stuck.count > 0) {
    add("warn", `${atLeast(overview.stuck)} stuck`, "Begun long ago and not settled since.", address({ list: "stuck", after: null }));
  }
  if (overview && overview.missing.length > 0) add("warn", "Not all is known", `The counts are the least there are. Missing are ${overview.missing.join("; ")}.`);
  if (overviewFault) add("warn", null, `What became of records cannot be said now: ${overviewFault}.`);
  if (instance.actsFault) add("warn", null, `Nothing can be changed here: ${instance.actsFault}.`);
  return found;
}

function headline(summary, zones) {
  const found = problems(summary, zones);
  const worst = found.find(({ title }) => title !== null);
  setText($("headline"), worst?.title ?? (summary.instance.shadow ? "Shadow mode: nothing is handled here." : summary.overview ? "Each record once." : "Running."));
  setAttribute($("headline"), "data-mood", worst?.mood ?? "good");
  const remarks = found.length > 0 ? found : [{ mood: "good", remark: "No violations, nothing stuck, and nothing to wait for." }];
  if (summary.overview?.dead?.count > 0) {
    remarks.push({ mood: "calm", remark: `${atLeast(summary.overview.dead)} given up: dead letters to look at.`, link: address({ list: "dead", after: null }) });
  }
  keyed(
    $("remarks"),
    remarks,
    ({ remark }) => remark.replace(/, [^,]* ago$/, "").replace(/for \d+ s\.$/, ""),
    ({ link }) => el("li", {}, link ? el("a", {}) : el("span")),
    (child, { mood, remark, link }) => {
      setAttribute(child, "data-mood", mood);
      setText(child.firstChild, remark);
      if (link) setAttribute(child.firstChild, "href", link);
    },
  );
}

function showZones(summary, zones) {
  const { overview, overviewFault, at } = summary;
  $("no-past").hidden = overview !== null;
  if (overview === null) {
    setText($("no-past"), `Not known now: ${overviewFault}.`);
    $("zones").replaceChildren();
    $("charts").hidden = true;
    return;
  }
  $("charts").hidden = false;
  const now = Date.parse(at);
  const all = overview.minutes.reduce((sum, row) => sum + row.completed, 0);
  keyed(
    $("zones"),
    zones.map((zone, i) => ({ zone, i, rows: overview.minutes.filter((row) => row.zone === zone) })),
    ({ zone }) => zone,
    ({ zone, i }) =>
      el("article", { class: `zone tone-${i % 4}` },
        el("div", { class: "zone-head" }, el("h3", { text: `Zone ${zone}` }), el("span", { class: "badge" })),
        el("p", { class: "big" }), el("p", { class: "quiet" }), el("dl", { class: "figures" })),
    (card, { zone, rows }) => {
      const sum = (value) => rows.reduce((total, row) => total + value(row), 0);
      const completed = sum((row) => row.completed);
      const last = rows.at(-1);
      const silence = last ? now - Date.parse(last.start) : Infinity;
      const badge = card.querySelector(".badge");
      const gone = isGone(summary, zone);
      const isWhole = overview.missing.length === 0;
      card.classList.toggle("gone", gone);
      setText(badge, gone ? "gone" : !last ? "nothing in this hour" : silence < QUIET_AFTER ? "at work" : `quiet for ${millis(silence)}`);
      setAttribute(badge, "data-mood", gone ? "bad" : silence < QUIET_AFTER ? "good" : "calm");
      setText(card.querySelector(".big"), atLeast({ count: completed, isAll: isWhole }));
      setText(card.querySelector(".big + p"), all > 0 && isWhole ? `completed, ${((100 * completed) / all).toFixed(1)} % of all` : "completed");
      const latest = rows.findLast((row) => row.completed > 0);
      const dead = sum((row) => row.deadLetters);
      const lost = sum((row) => row.lost);
      figures(card.querySelector("dl"), [
        ["Took over", count(sum((row) => row.takeovers))],
        ["Tried again", count(sum((row) => row.failures))],
        ["Gave up", count(dead), dead > 0 ? "warn" : null],
        ["Leases lost", count(lost), lost > 0 ? "warn" : null],
        ["Handler p50", millis(latest?.p50Millis)],
        ["Handler p99", millis(latest?.p99Millis)],
      ]);
    },
  );
  showMinutes(overview.minutes, zones, now);
}

const MOODS = { RUNNING: "good", STARTING: "warn", PAUSED: "warn", ENDED: "bad" };

/** Those that did not answer, each as "host:port: why"; what else is missing is no instance. */
function showMissing({ overview }) {
  setText($("others-note"), overview === null ? "Whether this zone has other instances cannot be said now." : "");
  keyed(
    $("missing"),
    (overview?.missing ?? []).map((each) => each.match(/^(\S+?:\d+): (.*)$/)?.slice(1)).filter(Boolean),
    ([address]) => address,
    ([address]) =>
      el("article", { class: "instance" },
        el("div", { class: "instance-head" }, el("span", { class: "mono", text: address }), el("span", { class: "badge", "data-mood": "bad", text: "no answer" })),
        el("p", { class: "waits" })),
    (card, [, why]) => setText(card.querySelector(".waits"), `It does not answer: ${why}. What it counts, holds and knows is not on this page.`),
  );
}

function showInstances(summary) {
  showMissing(summary);
  const instances = [{ ...summary.instance, own: true }, ...summary.others];
  const steer = summary.caller.mayChange;
  keyed(
    $("instances"),
    instances,
    ({ name }) => name,
    ({ name, zone }) =>
      el("article", { class: "instance" },
        el("div", { class: "instance-head" }, el("span", { class: "mono", text: `${zone}/${name}` }), el("span", { class: "badge" }), el("span", { class: "steer record-acts" })),
        el("p", { class: "waits" }), el("dl", { class: "figures" })),
    (card, instance) => {
      const badge = card.querySelector(".badge");
      setText(badge, instance.state.toLowerCase());
      setAttribute(badge, "data-mood", MOODS[instance.state] ?? "calm");
      const fault = instance.lifeFault ?? instance.storeFault ?? instance.downstreamFault ?? instance.why;
      setText(card.querySelector(".waits"), fault ? `Waits: ${fault}` : "Waits for nothing.");
      setAttribute(card.querySelector(".waits"), "data-mood", instance.lifeFault || instance.storeFault ? "bad" : fault ? "warn" : "calm");
      pauseButtons(card, instance, summary.pauses, steer && instance.own);
      const { name } = instance;
      const dl = card.querySelector("dl");
      figures(dl, [
        ["Completed a second", rate(rateOf(name, "completed"))],
        ["Suppressed a second", rate(rateOf(name, "duplicate"))],
        ["Suppressed in all", count(instance.meters.deliveries.duplicate ?? 0)],
        ["Took over in all", count(instance.meters.takeovers)],
        ["In flight", count(instance.inFlight)],
        ["Parked", count(instance.parked)],
        ["Watermark lag", count(instance.watermarkLag)],
        ["Store p50", millis(quantile(name, "store", 0.5))],
        ["Store p99", millis(quantile(name, "store", 0.99))],
        ["Handler p50", millis(quantile(name, "handler", 0.5))],
        ["Handler p99", millis(quantile(name, "handler", 0.99))],
        ["Handlers abandoned", count(instance.abandoned), instance.abandoned > 0 ? "warn" : null],
      ]);
      spark(dl.children[0], ratesOf(name, "completed"));
      spark(dl.children[1], ratesOf(name, "duplicate"));
    },
  );
}

/** What may be done now: [text, verb, scope, effect]; nothing while nobody knows what is paused. */
function steering(instance, pauses) {
  if (pauses === null) return [];
  const all = pauses.find(({ scope }) => scope === "application");
  const zone = pauses.find((each) => each.zone === instance.zone);
  if (all) return [["Resume application …", "resume", "application", "All zones take records again."]];
  if (zone) return [["Resume zone …", "resume", "zone", "The zone's instances take records again."]];
  if (instance.state === "PAUSED") return [["Resume …", "resume", "instance", "It takes records again."]];
  if (instance.state !== "RUNNING") return [];
  return [
    ["Pause …", "pause", "instance", "It takes no new records; those it has go on."],
    ["Pause zone …", "pause", "zone", "No instance of the zone takes new records, even after a restart, until the zone is resumed."],
    ["Pause application …", "pause", "application", "No zone takes new records, even after a restart, until the application is resumed."],
  ];
}

function pauseButtons(card, instance, pauses, may) {
  keyed(
    card.querySelector(".steer"),
    may ? steering(instance, pauses) : [],
    ([text]) => text,
    ([text, verb, scope, effect]) =>
      el("button", {
        type: "button", class: "small", "data-verb": verb, text,
        onclick: () =>
          ask({
            title: `${text.slice(0, -2)}?`.replace("Pause?", "Pause this instance?").replace("Resume?", "Resume this instance?"),
            target: scope === "instance" ? `${instance.zone}/${instance.name}` : scope === "zone" ? `zone ${instance.zone}` : "all zones",
            effect,
            verb: verb === "pause" ? "Pause" : "Resume",
            grave: verb === "pause",
            path: `api/${verb}`,
            body: { scope },
          }),
      }),
  );
}

const SVG = "http://www.w3.org/2000/svg";

function spark(entry, values) {
  let line = entry.querySelector("svg");
  if (!line) {
    line = document.createElementNS(SVG, "svg");
    line.setAttribute("class", "spark");
    line.setAttribute("viewBox", "0 0 100 22");
    line.setAttribute("preserveAspectRatio", "none");
    line.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(SVG, "path");
    for (const [name, value] of Object.entries({ fill: "none", stroke: "currentColor", "stroke-width": "1.5", "vector-effect": "non-scaling-stroke" })) {
      path.setAttribute(name, value);
    }
    line.append(path);
    entry.querySelector("dd").after(line);
  }
  const most = Math.max(1, ...values);
  const step = 100 / Math.max(1, values.length - 1);
  line.firstChild.setAttribute(
    "d",
    values.length < 2 ? "M0 21H100" : values.map((value, i) => `${i ? "L" : "M"}${(i * step).toFixed(1)} ${(21 - (value / most) * 19).toFixed(1)}`).join(""),
  );
}

