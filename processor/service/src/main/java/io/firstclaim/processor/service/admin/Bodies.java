package io.firstclaim.processor.service.admin;

import io.firstclaim.lock.OneLine;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads the JSON of a request field by field. A field that nobody knows is an error: it may be the
 * misspelt one that was to keep an act within bounds.
 */
final class Bodies {
  private static final int MAX_REASON = 500;

  private Bodies() {}

  /** Does nothing if there are no other fields than these. */
  static void requireOnly(Map<String, ?> body, Set<String> known) {
    TreeSet<String> unknown = new TreeSet<>(body.keySet());
    unknown.removeAll(known);
    if (!unknown.isEmpty()) {
      throw Problem.wrong(
          "there is no field %s; there are %s"
              .formatted(unknown.first(), String.join(", ", new TreeSet<>(known))));
    }
  }

  /** A text; null if it is not given. */
  static @Nullable String text(Map<String, ?> body, String field) {
    Object value = body.get(field);
    if (value == null) {
      return null;
    }
    if (value instanceof String text && !text.isBlank()) {
      return text;
    }
    throw Problem.wrong("%s: give a text that is not blank".formatted(field));
  }

  /** A number within bounds; the usual one if it is not given. */
  static int number(Map<String, ?> body, String field, int usual, int least, int most) {
    Object value = body.get(field);
    if (value == null) {
      return usual;
    }
    if (value instanceof Integer number && number >= least && number <= most) {
      return number;
    }
    throw Problem.wrong("%s: give a number from %d to %d".formatted(field, least, most));
  }

  /** A truth value; false if it is not given. */
  static boolean flag(Map<String, ?> body, String field) {
    Object value = body.get(field);
    if (value == null) {
      return false;
    }
    if (value instanceof Boolean flag) {
      return flag;
    }
    throw Problem.wrong("%s: give true or false".formatted(field));
  }

  /** The reason, in one line, which every act needs. */
  static String reason(Map<String, ?> body) {
    String reason = text(body, "reason");
    if (reason == null) {
      throw Problem.wrong("give a reason, such as {\"reason\":\"fixed in 1.4\"}");
    }
    return OneLine.of(reason.strip(), MAX_REASON);
  }

  /** The reason of a body that has nothing else. */
  static String onlyReason(Map<String, ?> body) {
    requireOnly(body, Set.of("reason"));
    return reason(body);
  }
}
