package io.firstclaim.processor.service.redrive;

import io.firstclaim.processor.engine.api.DeadLetter;
import io.firstclaim.processor.service.acts.RedriveSpec;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Which dead letters are meant. Immutable. */
final class LetterFilter {
  private final RedriveSpec spec;
  private final @Nullable Instant since;
  private final @Nullable Instant until;

  LetterFilter(RedriveSpec spec) {
    this.spec = spec;
    this.since = spec.since() == null ? null : Instant.parse(spec.since());
    this.until = spec.until() == null ? null : Instant.parse(spec.until());
  }

  boolean takes(DeadLetter letter) {
    Instant at = Instant.ofEpochMilli(letter.letter().timestamp());
    return (spec.topic() == null || spec.topic().equals(letter.topic()))
        && (spec.record() == null || spec.record().equals(letter.id().text()))
        && (spec.cause() == null || letter.cause().contains(spec.cause()))
        && (since == null || !at.isBefore(since))
        && (until == null || at.isBefore(until));
  }
}
