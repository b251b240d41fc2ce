package io.firstclaim.stack.standin;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The transactions of the last ten minutes by their tokens. Thread-safe. */
final class Repetitions {
  private static final Duration KEPT = Duration.ofMinutes(10);

  private final Map<String, Done> done = new ConcurrentHashMap<>();
  private volatile long lastSweep = System.nanoTime();

  private record Done(JsonNode actions, long at) {
    boolean isOld(long now) {
      return now - at > KEPT.toNanos();
    }
  }

  /**
   * Whether the same has been done under this token.
   *
   * @throws Refusal if something else has
   */
  boolean isKnown(String token, JsonNode actions) {
    Done before = done.get(token);
    if (before == null || before.isOld(System.nanoTime())) {
      return false;
    }
    if (!before.actions().equals(actions)) {
      throw Refusal.of(
          "IdempotentParameterMismatchException",
          "The token was used with other parameters before");
    }
    return true;
  }

  void done(String token, JsonNode actions) {
    long now = System.nanoTime();
    var _ = done.putIfAbsent(token, new Done(actions, now));
    if (now - lastSweep > KEPT.toNanos()) {
      lastSweep = now;
      done.values().removeIf(each -> each.isOld(now));
    }
  }
}
