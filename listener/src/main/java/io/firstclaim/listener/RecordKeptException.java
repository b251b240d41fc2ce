package io.firstclaim.listener;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A record is not done, so its offset stays where it is; it is to be delivered again. */
public final class RecordKeptException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final Duration pause;

  /**
   * Kept.
   *
   * @param why for the log
   * @param pause how long until it is worth asking again; may be negative
   */
  public RecordKeptException(String why, Duration pause, @Nullable Throwable cause) {
    super(why, cause);
    this.pause = pause;
  }

  /** How long until it is worth asking again; may be negative. */
  public Duration pause() {
    return pause;
  }
}
