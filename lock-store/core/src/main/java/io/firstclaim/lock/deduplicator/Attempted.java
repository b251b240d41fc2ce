package io.firstclaim.lock.deduplicator;

import io.firstclaim.lock.SettleResult;

/**
 * An attempt that has ended.
 *
 * @param verdict what was to be recorded of it
 * @param answer what became of that in the store; of {@link Verdict.Leave}, which is not sent, that
 *     it is settled
 */
public record Attempted(Verdict verdict, SettleResult answer) {}
