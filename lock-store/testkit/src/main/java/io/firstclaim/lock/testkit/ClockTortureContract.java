package io.firstclaim.lock.testkit;

import org.junit.jupiter.api.Test;

/**
 * The contract that no clock, however bad, ends another's lease early or keeps one's own late: a
 * store's test inherits this and says how to make one. {@link ClockTorture} says what they suffer.
 *
 * <p>The seeds are 0, 1, 2 and so on; {@code -Dtortures=100000} plays so many.
 */
public abstract class ClockTortureContract implements ClockTorture.Stores {
  /** How many histories this backend has the time for. */
  protected abstract int histories();

  @Test
  void badClocks_endNoLeaseEarly_andKeepNoneLate() {
    int seeds = Integer.getInteger("tortures", histories());
    for (long seed = 0; seed < seeds; seed++) {
      var torture = new ClockTorture(seed, this);
      try {
        torture.play();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError(
            "seed %d: %s%nWhat happened:%n%s".formatted(seed, e.getMessage(), torture.log()), e);
      }
    }
  }
}
