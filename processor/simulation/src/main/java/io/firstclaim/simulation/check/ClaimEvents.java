package io.firstclaim.simulation.check;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** What a write to a store's table means for a record's claim. */
public final class ClaimEvents {
  private ClaimEvents() {}

  /** How a record is called that comes by a redrive. */
  public static String redriven(String id, String redrive) {
    return Safety.redriven(id, redrive);
  }

  /** The loss of the answer to a write; empty if the item is no claim. */
  public static Optional<Event> lost(Instant at, String machine, Map<String, String> took) {
    return ClaimItem.of(took, took).map(item -> new Event.AnswerLost(at, machine, item));
  }

  /** The event; empty if the item is no claim. */
  public static Optional<Event> of(
      Instant at, String machine, Map<String, String> before, Map<String, String> after) {
    Map<String, String> some = after.isEmpty() ? before : after;
    return ClaimItem.of(before, some)
        .flatMap(was -> ClaimItem.of(after, some).map(is -> new Event.Wrote(at, machine, was, is)));
  }
}
