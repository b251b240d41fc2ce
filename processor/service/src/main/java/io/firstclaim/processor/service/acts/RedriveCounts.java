package io.firstclaim.processor.service.acts;

import java.util.Map;
import java.util.TreeMap;

/**
 * What became of the dead letters that a redrive has read.
 *
 * @param moved records that were freed and published again: the sum of the next three
 * @param completed of those moved, done by now
 * @param diedAgain of those moved, given up again
 * @param open of those moved, neither when they were last looked at
 * @param failed records that could not be published again, and are dead as they were
 * @param skipped letters passed over, by why
 */
public record RedriveCounts(
    long moved, long completed, long diedAgain, long open, long failed, Map<String, Long> skipped) {
  /** Nothing has been read. */
  public static final RedriveCounts NONE = new RedriveCounts(0, 0, 0, 0, 0, Map.of());

  /** Keeps a copy. */
  public RedriveCounts {
    skipped = Map.copyOf(skipped);
  }

  /** These counts with one more completed. */
  public RedriveCounts plusCompleted() {
    return new RedriveCounts(moved + 1, completed + 1, diedAgain, open, failed, skipped);
  }

  /** These counts with one more given up again. */
  public RedriveCounts plusDiedAgain() {
    return new RedriveCounts(moved + 1, completed, diedAgain + 1, open, failed, skipped);
  }

  /** These counts with one more of which nothing is known but that it was moved. */
  public RedriveCounts plusOpen() {
    return new RedriveCounts(moved + 1, completed, diedAgain, open + 1, failed, skipped);
  }

  /** These counts with one more that could not be published. */
  public RedriveCounts plusFailed() {
    return new RedriveCounts(moved, completed, diedAgain, open, failed + 1, skipped);
  }

  /** These counts with one more passed over. */
  public RedriveCounts plusSkipped(String why) {
    Map<String, Long> more = new TreeMap<>(skipped);
    more.merge(why, 1L, Long::sum);
    return new RedriveCounts(moved, completed, diedAgain, open, failed, more);
  }
}
