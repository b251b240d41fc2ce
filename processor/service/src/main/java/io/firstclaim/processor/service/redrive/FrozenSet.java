package io.firstclaim.processor.service.redrive;

import io.firstclaim.processor.engine.api.DeadLetter;
import io.firstclaim.processor.service.acts.RedriveSpec;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The dead letters that a redrive is for: those that the filter takes of what was in their topics
 * when the redrive began. Immutable.
 */
final class FrozenSet {
  private final RedriveSpec spec;
  private final @Nullable Set<String> ids;
  private final @Nullable Instant since;
  private final @Nullable Instant until;

  FrozenSet(RedriveSpec spec) {
    this.spec = spec;
    this.ids = spec.ids() == null ? null : Set.copyOf(spec.ids());
    this.since = spec.since() == null ? null : Instant.parse(spec.since());
    this.until = spec.until() == null ? null : Instant.parse(spec.until());
  }

  /** Whether a letter of the topics is among them. */
  boolean contains(DeadLetter letter) {
    Instant at = Instant.ofEpochMilli(letter.letter().timestamp());
    return (spec.topic() == null || spec.topic().equals(letter.topic()))
        && (spec.record() == null || spec.record().equals(letter.id().text()))
        && (ids == null || ids.contains(letter.id().text()))
        && (spec.cause() == null || letter.cause().contains(spec.cause()))
        && (since == null || !at.isBefore(since))
        && (until == null || at.isBefore(until));
  }
}
