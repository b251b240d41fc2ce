package io.firstclaim.processor.service.redrive;

import io.firstclaim.processor.engine.api.DeadLetter;
import io.firstclaim.processor.service.acts.RedriveSpec;
import io.firstclaim.processor.service.acts.RedriveSpec.Selection;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The dead letters that a redrive is for: those that the filter takes of what was in their topics
 * when the redrive began. Immutable.
 */
final class FrozenSet {
  private final Predicate<DeadLetter> selected;

  FrozenSet(RedriveSpec spec) {
    this.selected =
        switch (spec.selection()) {
          case Selection.One(String record) -> letter -> record.equals(letter.id().text());
          case Selection.Named(List<String> listed) -> {
            Set<String> ids = Set.copyOf(listed);
            yield letter -> ids.contains(letter.id().text());
          }
          case Selection.Filter filter -> {
            Predicate<Instant> moments = filter.moments();
            yield letter ->
                filter.topic().equals(letter.topic())
                    && filter.takesCause(letter.cause())
                    && moments.test(Instant.ofEpochMilli(letter.letter().timestamp()));
          }
        };
  }

  /** Whether a letter of the topics is among them. */
  boolean contains(DeadLetter letter) {
    return selected.test(letter);
  }
}
