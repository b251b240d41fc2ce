package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.DeadLetter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * What a redrive would take. Letters are counted, not what became of their records since.
 *
 * @param count of letters
 * @param isAll whether all were counted; if not, there are at least so many
 * @param causes how many have which cause
 * @param otherCauses how many have a cause that is not among them, as there were too many
 * @param samples some of them
 */
public record DryRun(
    long count, boolean isAll, Map<String, Long> causes, long otherCauses, List<Sample> samples) {
  /** How many are counted, at most: nobody waits for more. */
  public static final int MOST = 10_000;

  /** How many causes are counted apart, at most. */
  private static final int MOST_CAUSES = 50;

  /** How many samples are shown, at most. */
  private static final int MOST_SAMPLES = 20;

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** One of the letters. */
  public record Sample(
      RecordId id, String cause, Instant at, String topic, int partition, long offset) {
    private static Sample of(DeadLetter letter) {
      return new Sample(
          letter.id(),
          letter.cause(),
          Instant.ofEpochMilli(letter.letter().timestamp()),
          letter.topic(),
          letter.partition(),
          letter.offset());
    }
  }

  /** Counts them, one after the other. Not thread-safe. */
  public static final class Tally {
    private final Map<String, Long> causes = new HashMap<>();
    private final List<Sample> samples = new ArrayList<>();
    private long count;
    private long others;

    /** Counts one more. */
    public void add(Sample one) {
      count++;
      if (causes.size() < MOST_CAUSES || causes.containsKey(one.cause())) {
        causes.merge(one.cause(), 1L, Long::sum);
      } else {
        others++;
      }
      if (samples.size() < MOST_SAMPLES) {
        samples.add(one);
      }
    }

    /** What was counted; whether that is all there is. */
    public DryRun end(boolean isAll) {
      return new DryRun(count, isAll, causes, others, samples);
    }
  }

  static DryRun of(
      FrozenSet set, Predicate<DeadLetter> isMeant, Letters.Reading letters, TimeSource time) {
    Moment start = time.now();
    Tally tally = new Tally();
    while (!letters.isAtEnd()
        && tally.count < MOST
        && time.now().since(start).compareTo(PATIENCE) < 0) {
      if (letters.next() instanceof Letters.ReadResult.Letter(Position _, DeadLetter letter)
          && set.contains(letter)
          && isMeant.test(letter)) {
        tally.add(Sample.of(letter));
      }
    }
    return tally.end(letters.isAtEnd());
  }
}
