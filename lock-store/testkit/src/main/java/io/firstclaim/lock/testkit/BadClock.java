package io.firstclaim.lock.testkit;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.Random;

/**
 * The clocks of a machine in bad company: before, between and after any two readings somebody may
 * set the wall clock, slew both, suspend the machine, or freeze the process. For one thread.
 */
final class BadClock implements TimeSource {
  /** One in so many readings goes wrong. */
  private static final int RARITY = 25;

  private static final int MOST_SLEW = 83_000;

  private final ManualTime machine;
  private final Random random;
  private final boolean wallIsTheStores;
  private boolean calm;

  /**
   * A machine's clocks.
   *
   * @param wallIsTheStores whether leases are judged by its wall clock, which is then right: it is
   *     only suspended and frozen
   */
  BadClock(ManualTime machine, Random random, boolean wallIsTheStores) {
    this.machine = machine;
    this.random = random;
    this.wallIsTheStores = wallIsTheStores;
  }

  @Override
  public Moment now() {
    misfortune();
    long ticks = machine.now().ticks();
    misfortune();
    Moment both = new Moment(machine.now().wall(), ticks);
    misfortune();
    return both;
  }

  /** Both clocks, now, and nothing goes wrong. */
  Moment calmly() {
    return machine.now();
  }

  /** Nothing goes wrong any more. */
  void calmDown() {
    calm = true;
  }

  private void misfortune() {
    if (calm || random.nextInt(RARITY) > 0) {
      return;
    }
    switch (random.nextInt(wallIsTheStores ? 2 : 4)) {
      case 0 -> machine.advance(upTo(Duration.ofSeconds(45)));
      case 1 -> machine.suspend(upTo(Duration.ofMinutes(15)));
      case 2 -> {
        Duration step = upTo(Duration.ofHours(1));
        machine.setSkew(random.nextBoolean() ? step : step.negated());
      }
      default -> machine.slew(random.nextInt(2 * MOST_SLEW + 1) - MOST_SLEW);
    }
  }

  /** A random time of any order of magnitude, from a millisecond on. */
  private Duration upTo(Duration most) {
    return Duration.ofMillis(
        Math.round(Math.exp(random.nextDouble() * Math.log((double) most.toMillis()))));
  }
}
