package io.firstclaim.processor.audit.api;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.api.Outcome;
import java.time.Instant;

/**
 * A record that was given up and has not been completed since.
 *
 * @param since when that was published
 * @param last the outcome that says so, with the cause
 */
public record Dead(RecordId id, Instant since, Outcome last) {}
