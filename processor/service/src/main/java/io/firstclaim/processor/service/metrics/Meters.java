package io.firstclaim.processor.service.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micronaut.core.annotation.Introspected;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * What an instance has counted since its start; the difference of two answers is what happened
 * between them. Immutable.
 *
 * @param deliveries how deliveries and attempts ended, by result
 * @param takeovers leases of other holders that were over and taken over
 * @param store how long calls to the lock store took
 * @param handler how long handlers ran
 */
@Introspected
public record Meters(Map<String, Long> deliveries, long takeovers, Timing store, Timing handler) {

  /** Keeps a copy. */
  public Meters {
    deliveries = Map.copyOf(deliveries);
  }

  /**
   * How long many things took.
   *
   * @param count how many
   * @param millis all together
   * @param buckets how many took at most so long, in rising order; where that does not rise, there
   *     is none
   */
  @Introspected
  public record Timing(long count, double millis, List<Bucket> buckets) {
    /** Keeps a copy. */
    public Timing {
      buckets = List.copyOf(buckets);
    }
  }

  /**
   * How many took at most so long.
   *
   * @param millis the bound
   * @param count of all that are within it
   */
  @Introspected
  public record Bucket(double millis, long count) {}

  /** What the registry has counted by now. */
  static Meters of(MeterRegistry registry) {
    Map<String, Long> deliveries = new TreeMap<>();
    for (Counter counter : registry.find("firstclaim.deliveries").counters()) {
      String result = counter.getId().getTag("result");
      if (result != null) {
        deliveries.put(result, (long) counter.count());
      }
    }
    long takeovers =
        registry.find("firstclaim.takeovers").counters().stream()
            .mapToLong(counter -> (long) counter.count())
            .sum();
    return new Meters(
        deliveries,
        takeovers,
        timing(registry, "firstclaim.store"),
        timing(registry, "firstclaim.handler"));
  }

  private static Timing timing(MeterRegistry registry, String name) {
    long count = 0;
    double millis = 0;
    TreeMap<Double, Long> bounds = new TreeMap<>();
    for (Timer timer : registry.find(name).timers()) {
      var taken = timer.takeSnapshot();
      count += taken.count();
      millis += taken.total(TimeUnit.MILLISECONDS);
      for (CountAtBucket bucket : taken.histogramCounts()) {
        var _ =
            bounds.merge(bucket.bucket(TimeUnit.MILLISECONDS), (long) bucket.count(), Long::sum);
      }
    }
    List<Bucket> buckets = new ArrayList<>();
    long before = 0;
    for (Map.Entry<Double, Long> bound : bounds.entrySet()) {
      if (bound.getValue() > before && Double.isFinite(bound.getKey())) {
        before = bound.getValue();
        buckets.add(new Bucket(bound.getKey(), before));
      }
    }
    return new Timing(count, millis, buckets);
  }
}
