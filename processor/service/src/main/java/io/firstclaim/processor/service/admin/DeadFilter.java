package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.Moment;
import io.firstclaim.processor.service.acts.RedriveSpec.Selection;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Which of the dead an act is about, as a request asks for it. */
final class DeadFilter {
  private DeadFilter() {}

  /**
   * The filter that a body asks for.
   *
   * @param topics the input topics, of which one must be given
   * @throws Problem if a field is wrong
   */
  static Selection.Filter of(
      @Nullable String topic,
      @Nullable String cause,
      @Nullable String since,
      @Nullable String until,
      List<String> topics) {
    if (topic == null || !topics.contains(topic)) {
      throw Problem.wrong(
          "topic", topic, "give one of the input topics: " + String.join(", ", topics));
    }
    if (cause != null && cause.isBlank()) {
      throw Problem.wrong("cause", cause, "give a text that is not blank");
    }
    return new Selection.Filter(topic, cause, moment("since", since), moment("until", until));
  }

  private static @Nullable String moment(String field, @Nullable String given) {
    try {
      return given == null ? null : Instant.parse(given).toString();
    } catch (DateTimeException e) {
      throw Problem.wrong(field, given, "give a moment such as 2026-11-22T21:00:00Z");
    }
  }

  /**
   * The moment before which those died that are dead now. They died by the clock of another
   * instance, which may be ahead.
   */
  static Instant end(Moment now, Duration maxSkew) {
    return now.wall().plus(maxSkew);
  }

  /** Whether a filter takes this end of a record; made once for many. */
  static Predicate<OutcomeView> taking(Selection.Filter filter) {
    Predicate<Instant> moments = filter.moments();
    return dead ->
        filter.topic().equals(dead.topic())
            && filter.takesCause(dead.cause())
            && moments.test(Instant.parse(dead.at()));
  }
}
