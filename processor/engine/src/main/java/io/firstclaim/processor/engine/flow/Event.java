package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.Ending;
import io.firstclaim.processor.engine.api.Outcome;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What happened to a record.
 *
 * @param by who made it happen, under which lease, and when
 * @param took how long its handler ran
 * @param cause why; null if that needs no saying
 * @param retryAt when its next attempt is due; null if there is none
 */
record Event(
    Outcome.Kind kind,
    Ending by,
    Duration took,
    @Nullable String cause,
    @Nullable Instant retryAt) {

  /** An event without a handler's run and without a retry. */
  Event(Outcome.Kind kind, Ending by, @Nullable String cause) {
    this(kind, by, Duration.ZERO, cause, null);
  }
}
