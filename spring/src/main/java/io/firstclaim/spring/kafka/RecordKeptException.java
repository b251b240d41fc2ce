package io.firstclaim.spring.kafka;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A record is not done, so its offset stays where it is; it is to be delivered again. */
final class RecordKeptException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final Duration pause;

  /**
   * Kept.
   *
   * @param why for the log
   * @param pause how long until it is worth asking again; may be negative
   */
  RecordKeptException(String why, Duration pause, @Nullable Throwable cause) {
    super(why, cause);
    this.pause = pause;
  }

  Duration pause() {
    return pause;
  }
}
