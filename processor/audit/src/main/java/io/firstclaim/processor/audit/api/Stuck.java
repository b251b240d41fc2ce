package io.firstclaim.processor.audit.api;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.api.Outcome;
import java.time.Instant;

/**
 * A record that was begun long ago and has not been settled since.
 *
 * @param since when the first outcome was published of those since which it is under way
 * @param last what was last published of it
 */
public record Stuck(RecordId id, Instant since, Outcome last) {}
