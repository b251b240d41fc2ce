package io.firstclaim.simulation;

import java.time.Duration;
import java.util.Random;

/**
 * How one run goes, all of it from its seed: light load proves nothing, nor does heavy load alone,
 * so each run has its own of everything.
 *
 * @param preemptOneIn of so many points where threads could see each other, one yields; 0: none
 * @param records how many distinct IDs there are
 * @param storm for how long faults happen
 * @param loss how many of a hundred requests, and of a hundred answers, meet with something
 * @param throttled how many of a hundred requests are throttled
 * @param slow how many of a hundred handler runs are slow
 * @param newProtocol whether groups use the protocol of KIP-848
 * @param batch writes in one request
 */
record Course(
    long seed,
    int preemptOneIn,
    int records,
    Duration storm,
    double loss,
    double throttled,
    double slow,
    boolean newProtocol,
    int batch) {
  static Course of(long seed) {
    Random random = new Random(seed * 0x9E3779B97F4A7C15L + 1);
    int[] preempting = {0, 5, 20, 100};
    double[] losses = {0, 0.01, 0.03};
    double[] throttling = {0, 0, 0.02};
    double[] slowness = {0.02, 0.2, 0.4};
    return new Course(
        seed,
        preempting[random.nextInt(preempting.length)],
        30 + random.nextInt(120),
        Duration.ofSeconds(40 + random.nextInt(60)),
        losses[random.nextInt(losses.length)],
        throttling[random.nextInt(throttling.length)],
        slowness[random.nextInt(slowness.length)],
        random.nextBoolean(),
        random.nextInt(3) == 0 ? 1 : 25);
  }
}
