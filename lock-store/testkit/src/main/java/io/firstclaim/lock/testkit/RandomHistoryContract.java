package io.firstclaim.lock.testkit;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The contract that random histories find no fault with a store: its test inherits this and says
 * how to make one and how many histories there is time for. {@link RandomHistory} says what they
 * do.
 */
public abstract class RandomHistoryContract implements RandomHistory.Stores {
  /** Set it to the seed that a failure printed, to see that failure again. */
  private static final String SEED = "firstclaim.seed";

  @Override
  public Duration tick() {
    return Duration.ofMillis(1);
  }

  /**
   * How many histories this backend has the time for in a build; a soak plays ten times as many.
   */
  protected abstract int histories();

  @Test
  void randomHistories_areAnsweredAsByTheModel_andKeepTheInvariants() {
    Long seed = Long.getLong(SEED);
    if (seed != null) {
      play(seed);
      return;
    }
    var seeds = new Random();
    int all = Soak.times(histories(), 10 * histories());
    for (int i = 0; i < all; i++) {
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
