package io.firstclaim.processor.engine.api;

import java.time.Duration;

/**
 * Told of what happens to records; for metrics. Thread-safe; its methods must neither block nor
 * throw.
 */
public interface EngineListener {
  /** How one delivery ended for this instance. */
  enum Delivered {
    /** Processed here. */
    COMPLETED,
    /** Done or dead already, by whichever zone. */
    DUPLICATE,
    /** An attempt failed and will be repeated. */
    FAILED,
    /** Given up here. */
    DEAD,
    /** The lease was lost. */
    LOST,
    /** The ID is known with another payload. */
    MISMATCH
  }

  /** A delivery, or an attempt on it, ended. */
  default void delivered(Delivered result) {}

  /**
   * A claim was answered {@code granted}, {@code held}, …, {@code unreadable} or {@code
   * unavailable}.
   */
  default void claimed(String result) {}

  /** A lease of another holder was taken over. */
  default void tookOver() {}

  /** A handler ran for this long. */
  default void handled(Duration took) {}
}
