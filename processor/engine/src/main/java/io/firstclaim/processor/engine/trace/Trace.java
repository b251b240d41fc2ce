package io.firstclaim.processor.engine.trace;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.api.EngineListener.Claimed;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.WaitsFor;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import org.jspecify.annotations.Nullable;

/**
 * The trace of one delivery. Every method says what happens to it now, so whatever it did before is
 * over. For one thread at a time, which hands it on together with the delivery.
 */
public interface Trace {
  /** The trace of a delivery while tracing is off: does nothing and keeps nothing. */
  Trace NONE = new Trace() {};

  /** The trace's ID, 32 hex digits; null while tracing is off. */
  default @Nullable String id() {
    return null;
  }

  /** The record has this ID. */
  default void identified(RecordId id) {}

  /** It waits for this. */
  default void waits(WaitsFor what) {}

  /** The lock store is asked for it. */
  default void claims() {}

  /** The lock store's answer is here, or will not come. */
  default void claimed(Claimed answer) {}

  /** It is this instance's, for this attempt, under a lease with this token. */
  default void granted(int attempt, long token) {}

  /** The lease was taken over from this holder. */
  default void tookOver(String from) {}

  /**
   * Its handler is called now, by way of the one that is returned, so that it goes on with the
   * trace.
   */
  default RecordHandler handles(RecordHandler handler) {
    return handler;
  }

  /** Its handler has come back. */
  default void handled(HandlerResult result) {}

  /** Its dead letter is written. */
  default void buries() {}

  /** What became of it is recorded in the lock store. */
  default void settles() {}

  /**
   * The delivery, or an attempt on it, has ended. Whatever is said later is of the next attempt.
   */
  default void delivered(Delivered result) {}

  /** Its handler does not come back. Whatever is said later is of the next attempt. */
  default void abandoned() {}

  /** Another delivery of the same record has settled it. */
  default void settledBy(Trace other) {}

  /** Nothing more is done with it here. */
  default void end() {}
}
