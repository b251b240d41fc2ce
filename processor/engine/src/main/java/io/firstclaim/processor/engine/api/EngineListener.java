package io.firstclaim.processor.engine.api;

import io.firstclaim.lock.ClaimResult;
import java.time.Duration;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;

/**
 * Hears of what happens to records; for metrics. Thread-safe; its methods must neither block nor
 * throw.
 */
public interface EngineListener {
  /** How one delivery ended for this instance. */
  enum Delivered {
    /** Processed here. */
    COMPLETED,
    /** Done or dead already, in whichever zone. */
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

  /** What came of a claim. */
  enum Claimed {
    /** The record is this instance's. */
    GRANTED,
    /** Somebody else holds it. */
    HELD,
    /** Somebody else holds what is to be claimed with it. */
    BLOCKED,
    /** Its next attempt is not due yet. */
    LATER,
    /** It is done. */
    DONE,
    /** It was given up. */
    DEAD,
    /** Its ID is known with another payload. */
    MISMATCH,
    /** What the lock store holds for it is not a claim. */
    UNREADABLE,
    /** The lock store did not answer. */
    UNAVAILABLE;

    /** The result to report for this answer of the store. */
    public static Claimed of(ClaimResult answer) {
      return switch (answer) {
        case ClaimResult.Granted _ -> GRANTED;
        case ClaimResult.Held _ -> HELD;
        case ClaimResult.Blocked _ -> BLOCKED;
        case ClaimResult.Later _ -> LATER;
        case ClaimResult.Done _ -> DONE;
        case ClaimResult.Dead _ -> DEAD;
        case ClaimResult.Mismatch _ -> MISMATCH;
      };
    }
  }

  /** A delivery, or an attempt on it, ended. */
  default void delivered(Delivered result) {}

  /** A claim was sent. */
  default void claimed(Claimed result) {}

  /** A lease of another holder was taken over. */
  default void tookOver() {}

  /**
   * A record was claimed that the store did not know, and that is older than what claims remember:
   * it may have been handled before.
   */
  default void tooOld() {}

  /** A handler ran for this long. */
  default void handled(Duration took) {}

  /** In shadow mode: this was found of a delivery. */
  default void found(ShadowFinding finding) {}

  /** Offsets could not be committed; they are committed again later. */
  default void commitFailed() {}

  /**
   * A Kafka consumer was made, which lives as long as the engine runs, or until it is told to be
   * {@link #replaced}; for its own metrics.
   */
  default void opened(Consumer<?, ?> consumer) {}

  /** A Kafka consumer gave itself up, and was closed; another was opened in its place. */
  default void replaced(Consumer<?, ?> consumer) {}

  /** A Kafka producer was made, which lives as long as the engine runs; for its own metrics. */
  default void opened(Producer<?, ?> producer) {}

  /** A Kafka admin client was made, which lives as long as the process; for its own metrics. */
  default void opened(AdminClient admin) {}
}
