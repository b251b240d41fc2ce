package io.firstclaim.stack;

import java.time.Duration;
import java.util.List;

/**
 * The work for the zones, whoever started them: every event is fed until it is settled, and then
 * every offset is too.
 */
final class Work implements AutoCloseable {
  /** How long Kafka may be away; it comes back if someone restarts it under load. */
  static final Duration LONGEST_OUTAGE = Duration.ofMinutes(10);

  private static final Duration TICK = Duration.ofMillis(20);
  private static final int TICKS_PER_LAG = 5;
  private static final Duration PROGRESS = Duration.ofSeconds(1);

  /** How long no record is newly settled before the offsets are asked what is left. */
  private static final Duration QUIET = Duration.ofSeconds(20);

  private static final Duration LAST_OFFSETS = Duration.ofMinutes(2);

  /** Looks after the work while it goes on. */
  interface Observer {
    /** Called often. Throws {@link JobFailure} if the work cannot go on. */
    void check();

    /** Called about once a second, and at the end. */
    void show(Duration sinceBegin);

    /** Whether there is nothing left to see, once the records are settled. */
    boolean isContent();

    /** Whether the work ends when nothing more gets settled, though records are left. */
    boolean givesUp();
  }

  private final Ledger ledger;
  private final List<String> zones;
  private final Observer observer;
  private final Outcomes outcomes;
  private final Feeder feeder;
  private final GroupLag lag;
  private final long begin = System.nanoTime();
  private long shown;

  /**
   * Work that has not begun.
   *
   * @param zones whose consumer groups must settle every offset
   * @param perSecond how many new events are published a second, at most
   */
  Work(Ledger ledger, String kafka, List<String> zones, double perSecond, Observer observer) {
    this.ledger = ledger;
    this.zones = zones;
    this.observer = observer;
    this.outcomes = new Outcomes(ledger, kafka);
    this.feeder = new Feeder(ledger, kafka, LocalStack.TOPIC, perSecond);
    this.lag = new GroupLag(kafka, LocalStack.TOPIC);
  }

  /** Feeds the zones until every offset of every group is settled; returns what is left. */
  List<String> run() {
    outcomes.start();
    feeder.start();
    while (!isDone()) {
      watch();
    }
    feeder.stop();
    long stopped = System.nanoTime();
    while (left() > 0 && elapsed(stopped).compareTo(LAST_OFFSETS) < 0) {
      for (int tick = 0; tick < TICKS_PER_LAG; tick++) {
        watch();
      }
    }
    observer.show(elapsed(begin));
    return zones.stream()
        .filter(zone -> lag.of(group(zone)) > 0)
        .map(zone -> "%s has %,d offsets left".formatted(group(zone), lag.of(group(zone))))
        .toList();
  }

  /**
   * Whether every event is settled, or seems to be: a zone that dies between a record's completion
   * and its outcome leaves a settled offset and no outcome.
   */
  private boolean isDone() {
    return (feeder.isFinished() && observer.isContent())
        || (isQuiet() && (observer.givesUp() || (ledger.isPublished() && left() == 0)));
  }

  private boolean isQuiet() {
    return elapsed(begin).compareTo(QUIET) > 0
        && elapsed(ledger.lastSettled()).compareTo(QUIET) > 0
        && ledger.settled() > 0;
  }

  private long left() {
    return zones.stream().mapToLong(zone -> lag.of(group(zone))).sum();
  }

  private void watch() {
    outcomes.check();
    observer.check();
    if (elapsed(begin).compareTo(PROGRESS.multipliedBy(shown + 1)) > 0) {
      shown = elapsed(begin).toSeconds();
      observer.show(elapsed(begin));
    }
    try {
      Thread.sleep(TICK);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new JobFailure("interrupted", e);
    }
  }

  /** A zone's consumer group, unless it is configured otherwise. */
  static String group(String zone) {
    return "firstclaim-" + zone;
  }

  @Override
  public void close() {
    lag.close();
    feeder.close();
    outcomes.close();
  }

  private static Duration elapsed(long since) {
    return Duration.ofNanos(System.nanoTime() - since);
  }
}
