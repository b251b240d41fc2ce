package io.firstclaim.processor.engine;

import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waits for what a start needs, and says what it waits for: at once, then every 15 s. */
final class StartWait {
  private static final Logger LOG = LoggerFactory.getLogger(StartWait.class);
  private static final Duration LOOK_EVERY = Duration.ofMillis(500);
  private static final Duration SAY_EVERY = Duration.ofSeconds(15);

  private final TimeSource time;
  private volatile String waitsFor = "its start";

  StartWait(TimeSource time) {
    this.time = time;
  }

  /** A question that is asked until it is answered. */
  @FunctionalInterface
  interface Question<T> {
    Answer<T> ask() throws InterruptedException;
  }

  /** The answer to a question. */
  sealed interface Answer<T> {
    /** What was asked for is there. */
    record Here<T>(T value) implements Answer<T> {}

    /** What was asked for is not there yet; {@code what} is waited for. */
    record NotYet<T>(String what) implements Answer<T> {}
  }

  /** What was waited for last. */
  String waitsFor() {
    return waitsFor;
  }

  /** Asks until the answer is there. */
  <T> T await(Question<T> question) throws InterruptedException {
    long said = 0;
    while (true) {
      switch (question.ask()) {
        case Answer.Here<T>(T value) -> {
          return value;
        }
        case Answer.NotYet<T>(String what) -> {
          waitsFor = what;
          if (said == 0 || time.now().ticks() - said > SAY_EVERY.toNanos()) {
            said = time.now().ticks();
            LOG.warn("Waiting for {}", what);
          }
        }
      }
      time.sleep(LOOK_EVERY);
    }
  }
}
