// Asks every few seconds, and shows what is new.
import { $, isSelecting, setAttribute, setText } from "./dom.js";
import { Refusal, forgetToken, get, hasToken, keepToken } from "./api.js";
import { afterActs, askForToken, dismissMany, isAsking, redriveMany } from "./acts.js";
import { remember } from "./meters.js";
import { showNow } from "./now.js";
import { askList, fillFilters, picked, unpick } from "./lists.js";
import { redriveThese, showRecord } from "./record.js";
import { view } from "./view.js";

const EVERY = 3_000;

/** What it means that this was answered: [mood, headline, remark]. */
const REFUSALS = {
  403: ["warn", "Not for everyone"],
  404: ["warn", "No records here", "This instance serves claims over HTTP and takes no records: there is nothing to show"],
};

let summary = null;
let shownAt = 0;
let refused = null;
let held = false;
let rounds = null;
let again = false;
let timer = 0;

/** Asks for all that is shown, and shows it; one round at a time. Resolves once what is wanted now is shown. */
function look() {
  again = true;
  rounds ??= turn();
  return rounds;
}

async function turn() {
  clearTimeout(timer);
  try {
    while (again) {
      again = false;
      await round();
    }
  } finally {
    rounds = null;
    if (!held && !document.hidden) timer = setTimeout(look, EVERY);
  }
}

async function round() {
  const wanted = view();
  try {
    summary = await get("api/summary");
    remember([summary.instance, ...summary.others]);
    const [record, list] = await Promise.all([
      showRecord(wanted.record, summary),
      askList(wanted, summary),
    ]);
    refused = null;
    if (isSelecting()) return; // shown with an answer after it
    showNow(summary);
    record?.();
    list();
    shownAt = Date.now();
    setText($("application"), summary.application);
    document.title = `${summary.application}, zone ${summary.instance.zone}: Firstclaim`;
  } catch (refusal) {
    fail(refusal);
  }
  showWho();
  tellAge();
}

function fail(refusal) {
  refused = refusal;
  if (!(refusal instanceof Refusal)) console.error(refusal);
  if (refusal.status === 401) {
    setText($("headline"), "Who asks?");
    setAttribute($("headline"), "data-mood", "wait");
    const wrong = hasToken() ? "This token is not known here." : "";
    forgetToken();
    if (!isAsking()) askForToken(wrong, (token) => { keepToken(token); hold(false); });
    hold(true);
    return;
  }
  const [mood, title, text = refusal.message] = REFUSALS[refusal.status] ?? ["bad", refusal instanceof Refusal ? "No answer" : "This page has failed"];
  setText($("headline"), title);
  setAttribute($("headline"), "data-mood", mood);
  const remark = document.createElement("li");
  remark.dataset.key = "refusal";
  remark.textContent = `${text}.`;
  $("remarks").replaceChildren(remark);
}

function showWho() {
  $("who").hidden = !hasToken() && refused?.status !== 401;
  setText($("who"), hasToken() ? "Forget token" : "Give a token");
  setAttribute($("who"), "title", hasToken() && summary !== null ? `You are ${summary.caller.name}` : null);
}

function tellAge() {
  const seconds = Math.max(0, Math.floor((Date.now() - shownAt) / 1000));
  const age = shownAt === 0 ? "" : seconds < 2 ? "now" : `${seconds} s old`;
  setText($("live"), refused !== null && shownAt > 0 ? `no answer, ${age}` : isSelecting() ? `waits for your selection, ${age}` : held ? `held, ${age}` : age);
}

function hold(on) {
  held = on;
  setAttribute($("hold"), "aria-pressed", String(on));
  clearTimeout(timer);
  if (!on) look();
}

$("hold").addEventListener("click", () => hold(!held));
$("who").addEventListener("click", () => {
  forgetToken();
  refused = null;
  hold(false);
});
$("bulk").addEventListener("click", () => redriveMany(summary.topics));
$("bulk-dismiss").addEventListener("click", () => dismissMany(summary.topics));
$("bulk-picked").addEventListener("click", () => redriveThese(picked(), unpick));
$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const id = $("wanted").value;
  if (id === "") return;
  const parts = new URLSearchParams(location.hash.slice(1));
  parts.set("record", id);
  if (`#${parts}` === location.hash) look();
  location.hash = `#${parts}`;
});

let before = view().record;
addEventListener("hashchange", async () => {
  const { record, list } = view();
  $("wanted").value = record ?? "";
  fillFilters(list);
  await look();
  if (record !== null && record !== before) {
    $("record").scrollIntoView({ block: "start" });
    $("record").focus({ preventScroll: true });
  }
  before = record;
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !held) look();
});

afterActs(look);
setInterval(tellAge, 1_000);
$("wanted").value = view().record ?? "";
look();
