package io.firstclaim.micronaut.jobs;

import io.firstclaim.lock.TimeSource;
import io.micronaut.scheduling.cron.CronExpression;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;

/**
 * Which time of a cron expression a run is for, of which Micronaut tells a job nothing: the last
 * that has come, and never one that a run was for before. So a run that begins a moment early, by a
 * clock that was set, is for the time that it was scheduled for. Thread-safe.
 */
final class FireTimes {
  /** By how much a clock may have been set back since a run was scheduled. */
  private static final Duration EARLY = Duration.ofMinutes(1);

  private final CronExpression cron;
  private final ZoneId zone;
  private final TimeSource time;
  private ZonedDateTime next;

  /** The fire times from now on. */
  FireTimes(CronExpression cron, ZoneId zone, TimeSource time) {
    this.cron = cron;
    this.zone = zone;
    this.time = time;
    this.next = cron.nextTimeAfter(now());
  }

  private ZonedDateTime now() {
    return time.now().wall().atZone(zone);
  }

  /**
   * The time that the run which begins now is for.
   *
   * @throws IllegalStateException if none is due: somebody else than the schedule calls
   */
  synchronized Instant take() {
    ZonedDateTime now = now();
    if (now.plus(EARLY).isBefore(next)) {
      throw new IllegalStateException(
          "it is not due before %s, so it is not its schedule that calls it: call a method that is"
                  .formatted(next)
              + " not @Deduplicated");
    }
    ZonedDateTime due = next;
    for (next = cron.nextTimeAfter(due); !next.isAfter(now); next = cron.nextTimeAfter(due)) {
      due = next;
    }
    return due.toInstant();
  }
}
