package io.firstclaim.processor.engine.identity;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.processor.engine.api.LetterHeaders;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * What a record says that was given up once and is delivered again.
 *
 * @param id the ID under which it was given up; null if what it says is none
 * @param by the redrive
 */
record Redriven(@Nullable RecordId id, RedriveId by) {
  /** What this record says; null if it says nothing, or what is meant for another application. */
  static @Nullable Redriven of(Headers headers, String application) {
    @Nullable String by = LetterHeaders.text(headers, LetterHeaders.REDRIVE);
    if (by == null) {
      return null; // nearly all records come without a redrive
    }
    @Nullable String id = LetterHeaders.text(headers, LetterHeaders.ID);
    @Nullable String whose = LetterHeaders.text(headers, LetterHeaders.APPLICATION);
    if (id == null || (whose != null && !whose.equals(application))) {
      return null;
    }
    try {
      return new Redriven(parsed(id), new RedriveId(by));
    } catch (IllegalArgumentException e) {
      return null; // this is not what a redrive can be called
    }
  }

  private static @Nullable RecordId parsed(String id) {
    try {
      return RecordId.parse(id);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}
