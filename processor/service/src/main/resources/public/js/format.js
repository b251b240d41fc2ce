// Numbers, times and words as people read them.

const whole = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit", minute: "2-digit", second: "2-digit",
});
const day = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit",
});

export const count = (number) => whole.format(Math.round(number));

/** A number a second, with as many digits as one reads. */
export function rate(number) {
  if (number === null) return "–";
  if (number === 0) return "0";
  return number < 10 ? number.toFixed(1) : count(number);
}

/** A duration given in milliseconds. */
export function millis(given) {
  if (given === null || given === undefined) return "–";
  if (given < 10) return `${given.toFixed(given < 1 ? 2 : 1).replace(/\.?0+$/, "")} ms`;
  if (given < 1000) return `${Math.round(given)} ms`;
  if (given < 60_000) return `${(given / 1000).toFixed(1)} s`;
  if (given < 3_600_000) return `${Math.round(given / 60_000)} min`;
  if (given < 172_800_000) return `${Math.round(given / 3_600_000)} h`;
  return `${Math.round(given / 86_400_000)} days`;
}

/** A moment, with its day if that is another than today. */
export function moment(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return String(iso);
  return at.toDateString() === new Date().toDateString() ? clock.format(at) : day.format(at);
}

/** How long ago a moment was. */
export function ago(iso) {
  const passed = Date.now() - new Date(iso).getTime();
  if (Number.isNaN(passed)) return "";
  return passed < 1000 ? "just now" : `${coarse(passed)} ago`;
}

function coarse(passed) {
  return passed < 60_000 ? `${Math.floor(passed / 1000)} s` : millis(passed);
}

/** What the API calls in capitals and underscores. */
export const words = (name) => name.toLowerCase().replaceAll("_", " ");

/** Whose outcome it is: a zone's, or that of somebody who claimed outside the zones. */
export const whose = ({ zone, instance }) => (zone ? `zone ${zone}` : instance);

/** "1 record", "2 records". */
export const some = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

/** "at least" where not all were counted. */
export const atLeast = ({ count: number, isAll }) => (isAll ? "" : "≥ ") + count(number);
