package io.firstclaim.simulation;

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
    boolean slewed) {
  /** How long the jobs of deduplicators are remembered: longer than any request is on its way. */
  static final Duration JOBS_KEPT = Duration.ofSeconds(60);

  static Cast of(long seed) {
    Random random = new Random(seed * 0x9E3779B97F4A7C15L + 2);
    return new Cast(
        random.nextInt(5) < 2,
        random.nextInt(3) == 0,
        random.nextInt(4) == 0,
        random.nextInt(4) == 0,
        random.nextInt(3) == 0 ? 6 + random.nextInt(20) : 0,
        random.nextInt(3),
        random.nextInt(3),
        random.nextInt(3),
        random.nextBoolean());
  }
}
