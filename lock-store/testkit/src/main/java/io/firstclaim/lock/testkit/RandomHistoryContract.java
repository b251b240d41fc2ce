package io.firstclaim.lock.testkit;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The contract that random histories find no fault with: the test of a store inherits it and says
 * how to make one and how many there is time for. What they do is said at {@link RandomHistory}.
 */
public abstract class RandomHistoryContract implements RandomHistory.Stores {
  /** Set to the seed that a failure printed to see it again. */
  private static final String SEED = "firstclaim.seed";

  @Override
  public Duration tick() {
    return Duration.ofMillis(1);
  }

  /** How many histories this backend has the time for. */
  protected abstract int histories();

  @Test
  void randomHistories_areAnsweredAsByTheModel_andKeepTheInvariants() {
    Long seed = Long.getLong(SEED);
    if (seed != null) {
      play(seed);
      return;
    }
    var seeds = new Random();
    for (int i = 0; i < histories(); i++) {
      play(seeds.nextLong());
    }
  }

  private void play(long seed) {
    var history = new RandomHistory(seed, this);
    try {
      history.play();
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError(
          "%s%nSee it again with -D%s=%d. What happened:%n%s"
              .formatted(e.getMessage(), SEED, seed, history.log()),
          e);
    }
  }
}
