package io.firstclaim.processor.engine.api;

import java.time.Instant;

/**
 * A record on which this instance has a lease.
 *
 * @param id printable
 * @param topic where it was delivered
 * @param partition where it was delivered
 * @param offset where it was delivered
 * @param since when it was claimed, by this machine's clock
 * @param token of the lease
 * @param attempt which it is, from 1
 */
public record HeldRecord(
    String id, String topic, int partition, long offset, Instant since, long token, int attempt) {}
