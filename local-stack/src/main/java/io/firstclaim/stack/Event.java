package io.firstclaim.stack;

/**
 * One document to publish.
 *
 * @param id its record ID, the key wherever it is published
 * @param lines how many lines of the file have it
 */
record Event(String id, String json, int lines) {

  /** An event that its file has once. */
  Event(String id, String json) {
    this(id, json, 1);
  }

  /** The same event, found once more. */
  Event again() {
    return new Event(id, json, lines + 1);
  }
}
