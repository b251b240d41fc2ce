// What operators do: each act is confirmed, and has a reason.
import { $, el, keyed, setText } from "./dom.js";
import { count, moment, words } from "./format.js";
import { isOpen, newId, post } from "./api.js";
import { address } from "./view.js";

let done = () => {};

/** What is to happen after an act. */
export const afterActs = (listener) => { done = listener; };

for (const button of document.querySelectorAll("dialog [data-close]")) {
  button.addEventListener("click", () => { if (!isPosting) button.closest("dialog").close(); });
}

const actDialog = $("act-dialog");
const actGo = actDialog.querySelector("[type=submit]");
const actWrong = actDialog.querySelector(".wrong");
let asked = null;

/** A dialog whose act is under way stays open, so that what comes of it is seen. */
let isPosting = false;

for (const dialog of document.querySelectorAll("#act-dialog, #bulk-dialog")) {
  dialog.addEventListener("cancel", (event) => { if (isPosting) event.preventDefault(); });
}

/** Does what was confirmed; if it is not done, the dialog stays open and says why. */
async function perform(dialog, act, wrong, go) {
  isPosting = true;
  go.disabled = true;
  setText(wrong, "");
  try {
    await post(act.path, act.body);
    dialog.close();
    act.then?.();
  } catch (refusal) {
    const again = isOpen(refusal) && act.again ? ` ${act.again}` : "";
    setText(wrong, `Not done${isOpen(refusal) ? ", as far as is known" : ""}: ${refusal.message}.${again}`);
    go.disabled = false;
    if (!dialog.open) dialog.showModal(); // a browser lets nobody be kept in one
  } finally {
    isPosting = false;
    done();
  }
}

/**
 * Asks whether an act is meant, and why, and does it.
 *
 * act: title, target, effect, verb, grave, path, what else its body has, and what to do then
 */
export function ask(act) {
  if (isPosting) return;
  asked = act;
  setText($("act-title"), act.title);
  setText(actDialog.querySelector(".target"), act.target);
  setText(actDialog.querySelector(".effect"), act.effect);
  setText(actWrong, "");
  setText(actGo, act.verb);
  actGo.classList.toggle("grave", act.grave ?? false);
  actGo.disabled = false;
  $("reason").value = "";
  actDialog.showModal();
  $("reason").focus();
}

actDialog.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const reason = $("reason").value.trim();
  if (reason === "") {
    setText(actWrong, "Say why.");
    return;
  }
  await perform(actDialog, { ...asked, body: { ...asked.body, reason } }, actWrong, actGo);
});

const bulk = $("bulk-dialog");
const bulkGo = bulk.querySelector("[type=submit]");
const bulkWrong = bulk.querySelector(".wrong");
let tried = null;

const REDRIVE = {
  title: "Redrive dead letters", verb: "Redrive", path: "api/redrive", isRated: true, atMost: "all",
  effect: "All that pass the filter and died before it was tried out: each record is freed and published again.",
  noun: ["dead letter", "dead letters"],
  samples: "Some of them, and where each record stands: only what is dead is redriven.",
  after: "redrives", again: "Sent again, it is the same redrive.",
};
const DISMISS = {
  title: "Dismiss dead records", verb: "Dismiss", path: "api/dismiss", isRated: false, atMost: "10,000",
  effect: "All that pass the filter leave the list of the dead, and redrives of many pass them over. They stay dead, and each can be redriven by itself.",
  noun: ["dead record", "dead records"],
  samples: "Some of them, and where each stands.",
  after: "dead", again: "Sent again, it dismisses what is left.",
};
let many = REDRIVE;

/** Opens the redrive of many. */
export const redriveMany = (topics) => openMany(REDRIVE, topics);

/** Opens the dismissal of many. */
export const dismissMany = (topics) => openMany(DISMISS, topics);

function openMany(which, topics) {
  if (isPosting) return;
  many = which;
  setText($("bulk-title"), many.title);
  setText($("bulk-effect"), many.effect);
  $("bulk-rated").hidden = !many.isRated;
  $("bulk-limit").placeholder = many.atMost;
  keyed($("bulk-topic"), topics, (topic) => topic, (topic) => el("option", { value: topic, text: topic }));
  forget();
  $("bulk-reason").value = "";
  bulk.showModal();
  $("bulk-cause").focus();
}

/** What was tried out is not what would be done any more. */
function forget() {
  tried = null;
  bulkGo.disabled = true;
  setText(bulkGo, many.verb);
  setText(bulkWrong, "");
  $("bulk-go").hidden = true;
  $("bulk-found").replaceChildren();
}

for (const id of ["topic", "cause", "since", "until", "rate", "limit"]) {
  $(`bulk-${id}`).addEventListener("input", forget);
}

function filter() {
  const given = { topic: $("bulk-topic").value };
  const cause = $("bulk-cause").value.trim();
  if (cause !== "") given.cause = cause;
  for (const name of ["since", "until"]) {
    const value = $(`bulk-${name}`).value;
    if (value !== "") given[name] = new Date(value).toISOString();
  }
  for (const name of many.isRated ? ["rate", "limit"] : ["limit"]) {
    const value = $(`bulk-${name}`).valueAsNumber;
    if (!Number.isNaN(value)) given[name] = value;
  }
  return given;
}

$("bulk-try").addEventListener("click", async () => {
  forget();
  const button = $("bulk-try");
  const wanted = filter();
  button.disabled = true;
  setText($("bulk-found"), "Looking …");
  try {
    const { body } = await post(many.path, { ...wanted, dryRun: true });
    if (JSON.stringify(filter()) !== JSON.stringify(wanted)) return;
    showFound(body);
    if (body.count > 0) {
      // Nobody has seen what dies from now on: it is left out.
      tried = { ...wanted, until: body.until, ...(many === REDRIVE ? { id: newId() } : {}) };
      $("bulk-go").hidden = false;
      bulkGo.disabled = false;
      setText(bulkGo, `${many.verb} ${taken(body, wanted.limit)}`);
      $("bulk-reason").focus();
    }
  } catch (refusal) {
    $("bulk-found").replaceChildren();
    setText(bulkWrong, refusal.message);
  } finally {
    button.disabled = false;
  }
});

/** How many are taken of those found: a redrive finds them all, a dismissal looks no further than its limit. */
function taken({ count: found, counted }, limit = Infinity) {
  if (limit > found || (limit === found && many === REDRIVE)) return counted;
  return limit === found ? count(limit) : `${count(limit)} of ${counted}`;
}

function showFound(found) {
  const causes = Object.entries(found.causes);
  if (found.otherCauses > 0) causes.push(["other causes", found.otherCauses]);
  $("bulk-found").replaceChildren(
    el("p", { class: "found-count", text: `${found.counted} ${many.noun[found.count === 1 ? 0 : 1]}` }),
    el("ul", { class: "causes" },
      ...causes.map(([cause, number]) =>
        el("li", {}, el("span", { text: cause }), el("b", { text: count(number) }),
          el("meter", { min: 0, max: found.count, value: number, "aria-label": `${cause}: ${number}` }))),
    ),
    found.samples.length > 0 ? el("p", { class: "quiet", text: many.samples }) : "",
    el("ul", { class: "samples", tabindex: "0", "aria-label": "Samples" },
      ...found.samples.map((sample) =>
        el("li", {}, el("span", { class: "mono", text: sample.id }), el("span", { text: `${words(sample.state)}, ${moment(sample.at)}` }))),
    ),
  );
}

bulk.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (tried === null) {
    $("bulk-try").click();
    return;
  }
  const reason = $("bulk-reason").value.trim();
  if (reason === "") {
    setText(bulkWrong, "Say why.");
    $("bulk-reason").focus();
    return;
  }
  const { path, again, after } = many;
  const then = () => { location.hash = address({ list: after, after: null }); };
  await perform(bulk, { path, body: { ...tried, reason }, again, then }, bulkWrong, bulkGo);
});

const tokenDialog = $("token-dialog");

/** Asks for a token; calls back with it. */
export function askForToken(wrong, use) {
  setText(tokenDialog.querySelector(".wrong"), wrong);
  if (tokenDialog.open) return;
  $("token").value = "";
  tokenDialog.querySelector("form").onsubmit = (event) => {
    event.preventDefault();
    const token = $("token").value.trim();
    $("token").value = "";
    if (token === "") return;
    if (!/^[!-~]+$/.test(token)) {
      setText(tokenDialog.querySelector(".wrong"), "A token has no blanks and no special letters.");
      return;
    }
    tokenDialog.close();
    use(token);
  };
  tokenDialog.showModal();
}

/** Whether somebody is about to do something. */
export const isAsking = () => document.querySelector("dialog[open]") !== null;

