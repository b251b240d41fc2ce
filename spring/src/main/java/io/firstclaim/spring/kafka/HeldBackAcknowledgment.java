package io.firstclaim.spring.kafka;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.Acknowledgment;

/**
 * What a listener with a manual acknowledge mode is given: its acknowledgement is passed on once it
 * is recorded that the record is done, and not before, or the record could be lost. Thread-safe.
 */
final class HeldBackAcknowledgment implements Acknowledgment {
  private final @Nullable Acknowledgment container;
  private boolean acknowledged;
  private boolean done;

  /**
   * Holds back the acknowledgement of the container, which is null where it acknowledges by itself.
   */
  HeldBackAcknowledgment(@Nullable Acknowledgment container) {
    this.container = container;
  }

  @Override
  public synchronized void acknowledge() {
    acknowledged = true;
    pass();
  }

  /** It is recorded that the record is done. */
  synchronized void done() {
    done = true;
    pass();
  }

  /** The record was done before, or is given up: there is no listener to acknowledge it. */
  synchronized void doneWithoutListener() {
    acknowledged = true;
    done();
  }

  private void pass() {
    if (acknowledged && done && container != null) {
      container.acknowledge();
    }
  }

  @Override
  public void nack(Duration sleep) {
    throw refused();
  }

  @Override
  public void nack(int index, Duration sleep) {
    throw refused();
  }

  private static UnsupportedOperationException refused() {
    return new UnsupportedOperationException(
        "a deduplicated listener that cannot do a record throws: firstclaim.retry.* says when it is"
            + " tried again");
  }
}
