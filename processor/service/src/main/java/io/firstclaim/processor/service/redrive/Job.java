package io.firstclaim.processor.service.redrive;

import io.firstclaim.processor.service.acts.RedriveCounts;
import io.firstclaim.processor.service.acts.RedriveSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A redrive, as the log of acts tells it.
 *
 * @param by who began it
 * @param reason why
 * @param at when, in ISO 8601
 * @param state where it stands
 * @param position up to which everything is counted
 * @param counts of what is before the position
 * @param underWay records moved after the position
 * @param note what it waits for, or why it stopped
 * @param token the highest of its runners
 * @param instance its last runner; empty if none has begun
 * @param beat rises with everything that a runner says
 */
public record Job(
    String id,
    RedriveSpec spec,
    String by,
    String reason,
    String at,
    State state,
    Position position,
    RedriveCounts counts,
    int underWay,
    @Nullable String note,
    long token,
    String instance,
    long beat) {
  /** Where a redrive stands. */
  public enum State {
    /** Somebody works on it, or will. */
    RUNNING,
    /** An operator had it wait. */
    PAUSED,
    /** It had itself wait: most died again. */
    STOPPED,
    /** An operator ended it. */
    CANCELLED,
    /** All its letters are dealt with. */
    DONE
  }

  /** Whether nothing will happen to it any more. */
  public boolean isOver() {
    return state == State.DONE || state == State.CANCELLED;
  }

  /** The moment before which nothing is moved; empty if it began at once. */
  public Optional<Instant> notBefore() {
    return Optional.ofNullable(spec.delay())
        .map(delay -> Instant.parse(at).plus(Duration.parse(delay)));
  }

  /** How many offsets it has to read. */
  public long size() {
    return Position.size(spec.ranges());
  }

  /** How many of them are before the position. */
  public long read() {
    return position.offsetsBefore(spec.ranges());
  }

  Job withState(State now, @Nullable String why) {
    return new Job(
        id, spec, by, reason, at, now, position, counts, underWay, why, token, instance, beat);
  }
}
