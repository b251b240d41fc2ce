// What is shown, kept in the address: a view can be sent to a colleague.

export const LISTS = ["dead", "stuck", "parked", "held", "dismissed", "redrives", "search"];

/** What is searched for. */
export const FILTERS = ["prefix", "zone", "outcome", "cause", "since", "until"];

/** What the address asks for: record, list, after, and what is searched for. */
export function view() {
  const given = new URLSearchParams(location.hash.slice(1));
  const list = given.get("list");
  return {
    record: given.get("record"),
    list: LISTS.includes(list) ? list : "dead",
    after: given.get("after"),
    ...Object.fromEntries(FILTERS.map((name) => [name, given.get(name)])),
  };
}

/** The address of a view: this one but for the changes. */
export function address(changes) {
  const wanted = { ...view(), ...changes };
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(wanted)) {
    if (value !== null && value !== "" && !(name === "list" && value === "dead")) {
      parts.set(name, value);
    }
  }
  return `#${parts}`;
}
