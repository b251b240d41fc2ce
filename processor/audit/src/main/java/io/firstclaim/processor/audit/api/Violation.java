package io.firstclaim.processor.audit.api;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.api.Outcome;
import java.time.Instant;

/**
 * Something that must not have happened.
 *
 * @param outcome the one that showed it
 * @param otherToken the token that it contradicts; the outcome's own if that lease was lost
 * @param at when the outcome was published
 */
public record Violation(
    RecordId id, ViolationKind verdict, Outcome outcome, long otherToken, Instant at) {}
