package io.firstclaim.lock;

import java.time.Instant;

/**
 * Who ended a claim for good, and when.
 *
 * @param by the holder that completed or buried it
 * @param token its token
 * @param attempt its attempt
 * @param at the time, on its wall clock
 */
public record Ending(String by, long token, int attempt, Instant at) {}
