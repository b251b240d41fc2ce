package io.firstclaim.stack;

/**
 * One document to publish.
 *
 * @param id its record ID, the key of every delivery
 */
record Event(String id, String json) {}
