package io.firstclaim.lock.document;

/**
 * A document as a store has it.
 *
 * @param content its text
 * @param version names this state of it: no other write, before or after, ever has the same; where
 *     others have written it, none of another text
 * @param history who wrote it last; {@link History#NONE} if something else than a {@link
 *     DocumentStore} did
 */
public record Document(String content, String version, History history) {}
