package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.service.acts.ActLog;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.NotWrittenException;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the progress of a run to the log of acts: news once a second at most and in the end, and
 * something every three seconds, so that the other instances see that the redrive is worked on. For
 * one thread.
 */
final class ProgressWriter implements Consumer<RunReport> {
  private static final Logger LOG = LoggerFactory.getLogger(ProgressWriter.class);
  private static final Duration NEWS_EVERY = Duration.ofSeconds(1);
  private static final Duration BEAT_EVERY = Duration.ofSeconds(3);
  private static final Duration HEARD_WITHIN = Duration.ofSeconds(10);

  private final Job job;
  private final long token;
  private final String instance;
  private final ActLog log;
  private final TimeSource time;
  private Moment lastWritten;
  private ActMessage.@Nullable RedriveProgress last;

  /**
   * A writer for this redrive.
   *
   * @param token of the writer's mutex
   * @param instance the writer
   */
  ProgressWriter(Job job, long token, String instance, ActLog log, TimeSource time) {
    this.job = job;
    this.token = token;
    this.instance = instance;
    this.log = log;
    this.time = time;
    this.lastWritten = time.now();
  }

  @Override
  public void accept(RunReport report) {
    var progress =
        new ActMessage.RedriveProgress(
            job.id(),
            token,
            instance,
            "",
            report.position().range(),
            report.position().offset(),
            report.counts(),
            report.underWay(),
            report.note().orElse(null),
            report.end().orElse(null));
    Duration since = time.now().since(lastWritten);
    boolean isFirstMove = report.underWay() > 0 && (last == null || last.underWay() == 0);
    boolean isNews = !progress.equals(last);
    if (report.isLast()
        || isFirstMove
        || (isNews && since.compareTo(NEWS_EVERY) >= 0)
        || since.compareTo(BEAT_EVERY) >= 0) {
      write(progress);
    }
  }

  private void write(ActMessage.RedriveProgress progress) {
    try {
      long offset = log.write(progress.saidAt(time.now().wall().toString()));
      last = progress;
      lastWritten = time.now();
      if (progress.end() != null) {
        var _ = log.awaitHeard(offset, HEARD_WITHIN);
      }
    } catch (NotWrittenException e) {
      // The next one says it, too; whoever goes on repeats what was not written, which does no
      // harm.
      LOG.debug("Progress of redrive {} was not written: {}", job.id(), e.getMessage());
      lastWritten = time.now();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
