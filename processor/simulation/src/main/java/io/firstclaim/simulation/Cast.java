package io.firstclaim.simulation;

import io.firstclaim.lock.ClaimSettings;
import java.time.Duration;
import java.util.Random;

/**
 * Who and what takes part in one run beside its engines, all of it from its seed.
 *
 * @param onS3 whether claims are kept on S3; else in DynamoDB
 * @param versioned whether the bucket keeps versions
 * @param deletesInTwoSteps whether the store compares first and deletes then, as some servers do
 * @param storeIsTried whether the first store tries out what it rests on
 * @param accounts how many resources there are that records touch; none: records touch nothing
 * @param lockers how many machines use mutexes
 * @param workers how many machines use a deduplicator of their own
 * @param operators how many machines redrive and release
 * @param slewed whether clock daemons slew the machines' clocks
 * @param storeSkew how much the clocks of any two of the store's machines differ at most
 */
record Cast(
    boolean onS3,
    boolean versioned,
    boolean deletesInTwoSteps,
    boolean storeIsTried,
    int accounts,
    int lockers,
    int workers,
    int operators,
    boolean slewed,
    Duration storeSkew) {
  /** How long the jobs of deduplicators are remembered: longer than any request is on its way. */
  static final Duration JOBS_KEPT = Duration.ofSeconds(60);

  /** Engines and DynamoDB, as it would be if its machines had one clock. */
  private static final Cast ALONE =
      new Cast(false, false, false, false, 0, 0, 0, 0, false, Duration.ofNanos(2));

  /** The cast of a seed; engines alone in half of them, and in all with {@code -Dcast=alone}. */
  static Cast of(long seed) {
    if (System.getProperty("cast", "").equals("alone")) {
      return ALONE;
    }
    Random random = new Random(seed * 0x9E3779B97F4A7C15L + 2);
    boolean others = random.nextBoolean();
    return new Cast(
        random.nextInt(5) < 2,
        random.nextInt(3) == 0,
        random.nextInt(4) == 0,
        random.nextInt(4) == 0,
        random.nextInt(3) == 0 ? 6 + random.nextInt(20) : 0,
        others ? random.nextInt(3) : 0,
        others ? random.nextInt(3) : 0,
        others ? random.nextInt(3) : 0,
        random.nextBoolean(),
        ClaimSettings.LEAST_SKEW.dividedBy(2));
  }

  /** Whether nobody but the engines asks DynamoDB for anything. */
  boolean isOfEnginesAlone() {
    return !onS3 && lockers + workers + operators == 0;
  }

  /** Whether a record may have to wait for somebody who has what it touches, or for an operator. */
  boolean waitsForOthers() {
    return accounts + operators > 0;
  }
}
