package io.firstclaim.processor.service.admin;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which of the dead an act is about, as a request asks for it.
 *
 * @param topic an input topic: where the records came from
 * @param cause what the cause contains; null for any
 * @param since the first moment of their deaths, in ISO 8601; null for any
 * @param until the moment before which they died; null for any
 */
record DeadFilter(
    String topic, @Nullable String cause, @Nullable String since, @Nullable String until) {
  /**
   * The filter that a body asks for.
   *
   * @param topics the input topics, of which one must be given
   * @throws Problem if a field is wrong
   */
  static DeadFilter of(
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
    return new DeadFilter(topic, cause, moment("since", since), moment("until", until));
  }

  private static @Nullable String moment(String field, @Nullable String given) {
    try {
      return given == null ? null : Instant.parse(given).toString();
    } catch (DateTimeException e) {
      throw Problem.wrong(field, given, "give a moment such as 2026-11-22T21:00:00Z");
    }
  }

  /** Whether it takes this end of a record. */
  boolean takes(OutcomeView dead) {
    Instant at = Instant.parse(dead.at());
    return dead.topic().equals(topic)
        && (cause == null || (dead.cause() != null && dead.cause().contains(cause)))
        && (since == null || !at.isBefore(Instant.parse(since)))
        && (until == null || at.isBefore(Instant.parse(until)));
  }

  /** The filter in words, for messages. */
  @Override
  public String toString() {
    return "topic "
        + topic
        + (cause == null ? "" : ", cause " + cause)
        + (since == null ? "" : ", since " + since)
        + (until == null ? "" : ", until " + until);
  }
}
