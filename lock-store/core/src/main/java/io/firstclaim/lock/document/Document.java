package io.firstclaim.lock.document;

/**
 * A document as a store has it.
 *
 * @param content its text
 * @param version names this state of it: no other write, before or after, ever has the same
 * @param history who wrote it last
 */
public record Document(String content, String version, History history) {}
