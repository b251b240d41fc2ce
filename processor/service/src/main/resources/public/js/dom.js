// Builds and updates the page. Data becomes text nodes, never markup.

/** The element with this ID. */
export const $ = (id) => document.getElementById(id);

/**
 * Makes an element. Of the attributes, "text" is its text, "on…" is a listener; those that are
 * null, undefined or false are left out.
 */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "text") made.textContent = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Sets a text, if it is another: what is selected or read aloud stays undisturbed. */
export function setText(of, text) {
  if (of.textContent !== String(text)) of.textContent = text;
}

/** Sets an attribute, if it is another; null takes it away. */
export function setAttribute(of, name, value) {
  if (value === null || value === undefined) of.removeAttribute(name);
  else if (of.getAttribute(name) !== String(value)) of.setAttribute(name, value);
}

/**
 * Brings the children of a parent in line with items: one child a key, made once, updated after.
 * Focus stays where it is.
 */
export function keyed(parent, items, keyOf, make, update = () => {}) {
  const wanted = new Map(items.map((item) => [String(keyOf(item)), item]));
  const before = new Map();
  for (const child of [...parent.children]) {
    if (wanted.has(child.dataset.key)) before.set(child.dataset.key, child);
    else child.remove(); // first, so that nothing else has to move, which would lose the focus
  }
  let place = parent.firstElementChild;
  for (const [key, item] of wanted) {
    let child = before.get(key);
    if (!child) {
      child = make(item);
      child.dataset.key = key;
    }
    update(child, item);
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
  }
}

/** A list of terms and values: [term, value, mood], one element a term. */
export function figures(parent, entries) {
  keyed(
    parent,
    entries,
    ([term]) => term,
    ([term]) => el("div", {}, el("dt", { text: term }), el("dd")),
    (child, [, value, mood]) => {
      const dd = child.querySelector("dd");
      setText(dd, value);
      setAttribute(dd, "data-mood", mood ?? null);
    },
  );
}

/** Whether somebody has text of the page selected. */
export function isSelecting() {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && $("main").contains(selection.anchorNode);
}
