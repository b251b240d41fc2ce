// Asks the instance that served the page. Paths are relative: the page may stand under a prefix.

const KEY = "firstclaim.token";

const UNREADABLE = "what answered is not Firstclaim, or broke off: reload this page, to sign in again";

/** The API refused, or gave no answer; the message is the API's own. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * Whether an act may have been done all the same: there was no answer, or not the whole of one, or a
 * server failed. That may be a proxy which did not wait for the instance.
 */
export const isOpen = ({ status }) => status === 0 || status >= 500;

/** Sent twice under it, a redrive is one. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const hasToken = () => sessionStorage.getItem(KEY) !== null;
export const keepToken = (token) => sessionStorage.setItem(KEY, token);
export const forgetToken = () => sessionStorage.removeItem(KEY);

async function send(path, options = {}) {
  const headers = { Accept: "application/json", ...options.headers };
  const token = sessionStorage.getItem(KEY);
  if (token !== null) headers.Authorization = `Bearer ${token}`;
  let answer;
  try {
    answer = await fetch(path, {
      ...options, headers, cache: "no-store", credentials: "same-origin",
      signal: AbortSignal.timeout(options.method === "POST" ? 40_000 : 15_000),
    });
  } catch {
    throw new Refusal(0, "this instance gives no answer");
  }
  const body = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refusal(answer.status, body?.error ?? `HTTP ${answer.status}`);
  if (body === null) throw new Refusal(0, UNREADABLE); // such as the page of a login in between
  return { status: answer.status, body };
}

export const get = async (path) => (await send(path)).body;

export const post = (path, body) =>
  send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

/** The path of a record. A browser takes the IDs "." and ".." for folders, however they are written. */
export function recordPath(id) {
  if (id === "." || id === "..") {
    throw new Refusal(0, `a browser cannot ask for this ID: admin record ${id} on the command line can`);
  }
  return `api/records/${encodeURIComponent(id)}`;
}
