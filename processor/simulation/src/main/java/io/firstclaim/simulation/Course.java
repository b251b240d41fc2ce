package io.firstclaim.simulation;

import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How one run goes, all of it from its seed: light load proves nothing, nor does heavy load alone,
 * so each run has its own of everything.
 *
 * @param mode whether faults ever stop
 * @param preemptOneIn of so many points where threads could see each other, one yields; 0: none
 * @param records how many distinct IDs there are
 * @param storm for how long faults happen
 * @param loss how many of a hundred requests, and of a hundred answers, meet with something
 * @param throttled how many of a hundred requests are throttled
 * @param slow how many of a hundred handler runs are slow
 * @param newProtocol whether groups use the protocol of KIP-848
 * @param batch writes in one request
 * @param inFlight how many records an instance may have in flight
 * @param burst how many records come at one moment: some go to the store together only then
 * @param losesZone whether one zone is cut off for good when the faults stop
 * @param strikes which of the storm's strikes take place, by their numbers; null: all
 */
record Course(
    long seed,
    Mode mode,
    int preemptOneIn,
    int records,
    Duration storm,
    double loss,
    double throttled,
    double slow,
    boolean newProtocol,
    int batch,
    int inFlight,
    int burst,
    boolean losesZone,
    @Nullable Set<Integer> strikes) {
  private static final int LONG = 3;
  private static final Duration CALM = Duration.ofSeconds(30);

  static Course of(long seed) {
    Random random = new Random(seed * 0x9E3779B97F4A7C15L + 1);
    int[] preempting = {0, 5, 20, 100};
    double[] losses = {0, 0.01, 0.03};
    double[] throttling = {0, 0, 0.02};
    double[] slowness = {0.02, 0.2, 0.4};
    int[] inFlight = {4, 16, 256};
    int[] bursts = {1, 10, 60};
    Mode mode = random.nextBoolean() ? Mode.SAFETY : Mode.LIVENESS;
    int length = mode == Mode.SAFETY ? LONG : 1;
    return new Course(
        seed,
        mode,
        preempting[random.nextInt(preempting.length)],
        (30 + random.nextInt(120)) * length,
        Duration.ofSeconds((40L + random.nextInt(60)) * length),
        losses[random.nextInt(losses.length)],
        throttling[random.nextInt(throttling.length)],
        slowness[random.nextInt(slowness.length)],
        random.nextBoolean(),
        random.nextInt(3) == 0 ? 1 : 25,
        inFlight[random.nextInt(inFlight.length)],
        bursts[random.nextInt(bursts.length)],
        mode == Mode.LIVENESS && random.nextInt(3) == 0,
        null);
  }

  /** For how long records come: while it is calm, too. */
  Duration publishing() {
    return mode == Mode.LIVENESS ? storm.plus(CALM) : storm;
  }

  /** Whether the storm's strike of this number takes place. */
  boolean has(int strike) {
    return strikes == null || strikes.contains(strike);
  }

  /** The same with one thing changed. */
  Course with(Change change) {
    return new Course(
        seed,
        mode,
        change instanceof Change.PreemptOneIn(int one) ? one : preemptOneIn,
        change instanceof Change.Records(int fewer) ? fewer : records,
        storm,
        change instanceof Change.Loss(double share) ? share : loss,
        change instanceof Change.Throttled(double share) ? share : throttled,
        change instanceof Change.Slow(double share) ? share : slow,
        newProtocol,
        batch,
        inFlight,
        burst,
        losesZone,
        change instanceof Change.Strikes(Set<Integer> only) ? only : strikes);
  }

  /** This course with all of these changes made, as its text has them, with commas. */
  Course with(String changes) {
    Course course = this;
    for (String each : changes.split(",", -1)) {
      if (!each.isBlank()) {
        course = course.with(Change.parse(each));
      }
    }
    return course;
  }

  /** Something that is other than the seed has it. */
  sealed interface Change {
    /** How often threads are preempted. */
    record PreemptOneIn(int one) implements Change {
      @Override
      public String toString() {
        return "preempt=" + one;
      }
    }

    /** How many records there are. */
    record Records(int fewer) implements Change {
      @Override
      public String toString() {
        return "records=" + fewer;
      }
    }

    /** How many requests meet with something. */
    record Loss(double share) implements Change {
      @Override
      public String toString() {
        return "loss=" + share;
      }
    }

    /** How many requests are throttled. */
    record Throttled(double share) implements Change {
      @Override
      public String toString() {
        return "throttled=" + share;
      }
    }

    /** How many handler runs are slow. */
    record Slow(double share) implements Change {
      @Override
      public String toString() {
        return "slow=" + share;
      }
    }

    /** Which strikes take place. */
    record Strikes(Set<Integer> only) implements Change {
      @Override
      public String toString() {
        return "strikes="
            + new TreeSet<>(only).stream().map(String::valueOf).collect(Collectors.joining("+"));
      }
    }

    /**
     * What {@link #toString} printed.
     *
     * @throws IllegalArgumentException if it is none of these
     */
    static Change parse(String text) {
      String value = text.substring(text.indexOf('=') + 1);
      return switch (text.substring(0, Math.max(0, text.indexOf('=')))) {
        case "preempt" -> new PreemptOneIn(Integer.parseInt(value));
        case "records" -> new Records(Integer.parseInt(value));
        case "loss" -> new Loss(Double.parseDouble(value));
        case "throttled" -> new Throttled(Double.parseDouble(value));
        case "slow" -> new Slow(Double.parseDouble(value));
        case "strikes" ->
            new Strikes(
                Arrays.stream(value.split("\\+", -1))
                    .filter(each -> !each.isEmpty())
                    .map(Integer::valueOf)
                    .collect(Collectors.toSet()));
        default ->
            throw new IllegalArgumentException(
                ("\"%s\" is none of preempt=N, records=N, loss=SHARE, throttled=SHARE, slow=SHARE"
                        + " and strikes=N+N")
                    .formatted(text));
      };
    }
  }
}
