package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.service.acts.ActLog;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.ActMessage.End;
import io.firstclaim.processor.service.acts.NotWrittenException;
import io.firstclaim.processor.service.acts.RedriveCounts;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes the progress of a run to the log of acts, but not each step of it. For one thread. */
final class Teller implements RedriveRun.Report {
  private static final Logger LOG = LoggerFactory.getLogger(Teller.class);
  private static final Duration TELL_EVERY = Duration.ofSeconds(1);
  private static final Duration BEAT_EVERY = Duration.ofSeconds(3);
  private static final Duration HEARD_WITHIN = Duration.ofSeconds(10);

  private final Job job;
  private final long token;
  private final String instance;
  private final ActLog log;
  private final TimeSource time;
  private Moment lastTold;
  private ActMessage.@Nullable RedriveProgress last;

  /**
   * A teller of this redrive.
   *
   * @param token of the writer's mutex
   * @param instance the writer
   */
  Teller(Job job, long token, String instance, ActLog log, TimeSource time) {
    this.job = job;
    this.token = token;
    this.instance = instance;
    this.log = log;
    this.time = time;
    this.lastTold = time.now();
  }

  @Override
  public void progress(
      int range,
      long offset,
      RedriveCounts counts,
      int underWay,
      @Nullable String note,
      @Nullable End end) {
    var progress =
        new ActMessage.RedriveProgress(
            job.id(), token, instance, "", range, offset, counts, underWay, note, end);
    Duration since = time.now().since(lastTold);
    boolean isFirstMove = underWay > 0 && (last == null || last.underWay() == 0);
    boolean isNews = !progress.equals(last);
    if (end != null
        || isFirstMove
        || (isNews && since.compareTo(TELL_EVERY) >= 0)
        || since.compareTo(BEAT_EVERY) >= 0) {
      write(progress);
    }
  }

  private void write(ActMessage.RedriveProgress progress) {
    try {
      long offset = log.write(progress.saidAt(time.now().wall().toString()));
      last = progress;
      lastTold = time.now();
      if (progress.end() != null) {
        var _ = log.awaitHeard(offset, HEARD_WITHIN);
      }
    } catch (NotWrittenException e) {
      // Told with the next; whoever goes on repeats what was not told, which does no harm.
      LOG.debug("Progress of redrive {} was not written: {}", job.id(), e.getMessage());
      lastTold = time.now();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
