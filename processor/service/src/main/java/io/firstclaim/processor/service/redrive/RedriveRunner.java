package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.processor.service.acts.ActLog;
import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.NotWrittenException;
import io.firstclaim.processor.service.redrive.Job.State;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs redrives on this instance, each as long as this instance has its mutex. Thread-safe. */
final class RedriveRunner implements RedriveScheduler.Runner {
  private static final Logger LOG = LoggerFactory.getLogger(RedriveRunner.class);

  private final RedriveMutex mutex;
  private final Letters letters;
  private final Function<Job, LetterSteps> steps;
  private final JobBook book;
  private final ActLog log;
  private final String instance;
  private final TimeSource time;

  /**
   * A runner.
   *
   * @param steps makes those of a redrive; they are closed when its run is over
   * @param instance this one, as the others are to know it
   */
  RedriveRunner(
      RedriveMutex mutex,
      Letters letters,
      Function<Job, LetterSteps> steps,
      JobBook book,
      ActLog log,
      String instance,
      TimeSource time) {
    this.mutex = mutex;
    this.letters = letters;
    this.steps = steps;
    this.book = book;
    this.log = log;
    this.instance = instance;
    this.time = time;
  }

  /**
   * Works on this redrive if its mutex can be had. Whatever goes wrong is logged: another run
   * begins where this one was.
   */
  @Override
  public void run(String id, BooleanSupplier mayGoOn) {
    try {
      Optional<HeldMutex> acquired = mutex.tryAcquire(new RedriveId(id));
      if (acquired.isPresent()) {
        try (HeldMutex held = acquired.get()) {
          run(id, held, mayGoOn);
        }
      }
    } catch (InterruptedException e) {
      LOG.debug("Left redrive {}", id);
    } catch (NotWrittenException | StoreException | KafkaException e) {
      LOG.warn("Redrive {} is left for now: {}", id, OneLine.of(e));
    } catch (RuntimeException | Error e) {
      LOG.error("Redrive {} is left for now", id, e);
    }
  }

  private void run(String id, HeldMutex held, BooleanSupplier mayGoOn) throws InterruptedException {
    // Once this is heard here, so is everything that the last runner said.
    log.tell(new ActMessage.RedriveTaken(id, held.token(), instance, time.now().wall().toString()));
    Optional<Job> job = book.get(id).filter(RedriveRunner::isRunning);
    if (job.isEmpty()) {
      return;
    }
    LOG.info("Redrive {} goes on here, at {} of {}", id, job.get().read(), job.get().size());
    try (Letters.Reading reading = letters.read(job.get().spec().ranges(), job.get().position());
        LetterSteps stepsOfJob = steps.apply(job.get())) {
      new RedriveRun(
              job.get(),
              reading,
              stepsOfJob,
              () ->
                  mayGoOn.getAsBoolean()
                      && held.isHeld()
                      && book.get(id).filter(RedriveRunner::isRunning).isPresent(),
              new ProgressWriter(job.get(), held.token(), instance, log, time),
              time)
          .run();
      if (held.isHeld()) {
        stepsOfJob.leave();
      }
    }
    book.get(id)
        .ifPresent(now -> LOG.info("Redrive {}: {}, {}", now.id(), now.state(), now.counts()));
  }

  private static boolean isRunning(Job job) {
    return job.state() == State.RUNNING;
  }
}
