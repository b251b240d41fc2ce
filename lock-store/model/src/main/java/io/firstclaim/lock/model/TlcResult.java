package io.firstclaim.lock.model;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What TLC found.
 *
 * @param violated the invariant or property that does not hold; null if all hold
 * @param states distinct ones that were reached
 * @param depth of the longest of the shortest ways to a state
 * @param isComplete whether every state that can be reached was
 * @param output of TLC; for a violation with the way there, state by state
 */
public record TlcResult(
    @Nullable String violated, long states, int depth, boolean isComplete, String output) {
  private static final Pattern VIOLATED =
      Pattern.compile("(?:Invariant|Action property) (\\w+) is violated");
  private static final Pattern STATES =
      Pattern.compile("([\\d,]+) distinct states found, ([\\d,]+) states left on queue\\.\n");
  private static final Pattern DEPTH =
      Pattern.compile("The depth of the complete state graph search is (\\d+)\\.");

  /**
   * Reads what TLC printed.
   *
   * @throws IllegalStateException if it came to no result, as with a fault in the model
   */
  static TlcResult of(String output) {
    Matcher violated = VIOLATED.matcher(output);
    Matcher depth = DEPTH.matcher(output);
    String broken = violated.find() ? violated.group(1) : null;
    boolean complete = output.contains("Model checking completed. No error has been found.");
    if (broken == null && !complete) {
      throw new IllegalStateException("TLC came to no result:\n" + output);
    }
    long states = 0;
    for (Matcher each = STATES.matcher(output); each.find(); ) {
      states = Long.parseLong(each.group(1).replace(",", ""));
    }
    return new TlcResult(
        broken, states, depth.find() ? Integer.parseInt(depth.group(1)) : 0, complete, output);
  }
}
