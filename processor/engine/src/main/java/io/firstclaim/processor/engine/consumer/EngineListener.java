package io.firstclaim.processor.engine.consumer;

import io.firstclaim.lock.ClaimResult;
import java.time.Duration;

/** Told of what happens to records; for metrics. Must not block or throw. Thread-safe. */
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

  /** What a claim came to. */
  enum Claimed {
    /** The record is this instance's. */
    GRANTED,
    /** Somebody else holds it. */
    HELD,
    /** Its next attempt is not due yet. */
    LATER,
    /** It is done. */
    DONE,
    /** It was given up. */
    DEAD,
    /** Its ID is known with another payload. */
    MISMATCH,
    /** What the lock store holds in its place is no claim. */
    UNREADABLE,
    /** The lock store did not answer. */
    UNAVAILABLE;

    /** The store's answer. */
    static Claimed of(ClaimResult answer) {
      return switch (answer) {
        case ClaimResult.Granted _ -> GRANTED;
        case ClaimResult.Held _ -> HELD;
        case ClaimResult.Later _ -> LATER;
        case ClaimResult.Done _ -> DONE;
        case ClaimResult.Dead _ -> DEAD;
        case ClaimResult.Mismatch _ -> MISMATCH;
      };
    }
  }

  /** A delivery, or an attempt on it, ended. */
  void delivered(Delivered result);

  /** A claim was sent. */
  void claimed(Claimed result);

  /** A lease of another holder was taken over. */
  void tookOver();

  /** A handler ran for this long. */
  void handled(Duration took);
}
