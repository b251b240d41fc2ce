package io.firstclaim.lock.deduplicator;

import io.firstclaim.lock.SettleResult;

/**
 * An attempt that has ended.
 *
 * @param verdict what was to be recorded
 * @param answer the store's answer to that; {@link Verdict.Leave} is not sent and counts as settled
 */
public record Attempted(Verdict verdict, SettleResult answer) {}
