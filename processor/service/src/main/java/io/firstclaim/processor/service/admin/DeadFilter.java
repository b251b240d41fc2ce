package io.firstclaim.processor.service.admin;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
  /** The fields that it has in a body. */
  static final Set<String> FIELDS = Set.of("topic", "cause", "since", "until");

  /**
   * The filter in a body.
   *
   * @param topics those of which one is to be given
   */
  static DeadFilter of(Map<String, ?> body, List<String> topics) {
    @Nullable String topic = Bodies.text(body, "topic");
    if (topic == null || !topics.contains(topic)) {
      throw Problem.wrong("topic: give one of the input topics: " + String.join(", ", topics));
    }
    return new DeadFilter(
        topic, Bodies.text(body, "cause"), instant(body, "since"), instant(body, "until"));
  }

  private static @Nullable String instant(Map<String, ?> body, String field) {
    @Nullable String given = Bodies.text(body, field);
    try {
      return given == null ? null : Instant.parse(given).toString();
    } catch (DateTimeException e) {
      throw Problem.wrong(field + ": give a moment such as 2026-11-22T21:00:00Z");
    }
  }

  /** Whether it takes this end of a record. */
  boolean takes(Event dead) {
    Instant at = Instant.parse(dead.at());
    return dead.topic().equals(topic)
        && (cause == null || (dead.cause() != null && dead.cause().contains(cause)))
        && (since == null || !at.isBefore(Instant.parse(since)))
        && (until == null || at.isBefore(Instant.parse(until)));
  }

  /** For people. */
  @Override
  public String toString() {
    return "topic "
        + topic
        + (cause == null ? "" : ", cause " + cause)
        + (since == null ? "" : ", since " + since)
        + (until == null ? "" : ", until " + until);
  }
}
