// Shadow mode: what would have become of records, told by the instances of this zone.
import { $, el, figures, keyed, setText } from "./dom.js";
import { count, millis, moment } from "./format.js";

const NAMES = { DUPLICATE: "Duplicate", MISMATCH: "Another payload under one ID", NO_ID: "No ID" };
const spot = ({ topic, partition, offset, timestamp }) => `${topic}/${partition}/${offset} of ${moment(timestamp)}`;

/** What was found, as long as one reads it. */
function verdict(sum, lag, retention) {
  if (sum("mismatches") > 0) return "Some records come with another payload under a known ID: look at the samples. If they are other events, the ID is the wrong one.";
  if (lag > retention) return "Some duplicates come later than claims are remembered: their retention is too short.";
  return "Nothing is handled, skipped or given up here. Each record of a zone counts once, whichever zone has done it.";
}

export function showShadow({ instance, others }) {
  const found = [instance, ...others].map(({ shadow }) => shadow).filter((each) => each);
  $("shadow").hidden = found.length === 0;
  if (found.length === 0) return;
  const sum = (name) => found.reduce((total, each) => total + each[name], 0);
  const lag = Math.max(...found.map((each) => each.longestLagMillis));
  const retention = Math.min(...found.map((each) => each.retentionMillis));
  const bad = (number, mood) => (number > 0 ? mood : null);
  setText($("shadow-note"), verdict(sum, lag, retention));
  figures($("shadow-figures"), [
    ["Records", count(sum("records"))],
    ["Different IDs", count(sum("ids"))],
    ["Would be handled here", count(sum("first"))],
    ["Done by another zone", count(sum("otherZone"))],
    ["Delivered again by Kafka", count(sum("redelivered"))],
    ["Duplicates: same ID, same payload", count(sum("duplicates"))],
    ["Same ID, another payload", count(sum("mismatches")), bad(sum("mismatches"), "bad")],
    ["No usable ID", count(sum("noId")), bad(sum("noId"), "warn")],
    ["Longest lag of a duplicate", lag > 0 ? millis(lag) : "–", bad(lag - retention, "bad")],
    ["Claims are remembered for", millis(retention)],
  ]);
  keyed(
    $("shadow-samples"),
    found.flatMap((each) => each.samples),
    ({ at, finding }) => [finding, at.topic, at.partition, at.offset].join("|"),
    ({ finding, id, at, first, by, cause }) =>
      el("li", {},
        el("p", {}, el("b", { text: `${NAMES[finding] ?? finding}: ` }), el("span", { class: "mono", text: id })),
        el("p", { class: "quiet", text: [spot(at), first ? `after ${spot(first)}` : null, by ? `done by ${by}` : null, cause].filter((part) => part).join(", ") })),
  );
}
