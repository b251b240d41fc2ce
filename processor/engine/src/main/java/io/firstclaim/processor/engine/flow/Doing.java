package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.Lease;
import io.firstclaim.processor.engine.api.WaitsFor;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What the owner of a {@link Ticket} is doing, for people. */
public sealed interface Doing {
  /** It waits for the store to be asked. */
  Doing STORE = new Waiting(WaitsFor.STORE);

  /** It waits for a place in flight. */
  Doing PLACE = new Waiting(WaitsFor.PLACE);

  /** It waits for its turn among the suspects. */
  Doing SUSPECT = new Waiting(WaitsFor.SUSPECT);

  /** It waits for the downstream. */
  Doing DOWNSTREAM = new Waiting(WaitsFor.DOWNSTREAM);

  /** It waits for its turn at what it touches. */
  Doing RESOURCE = new Waiting(WaitsFor.RESOURCE);

  /** It waits for a while after a fault. */
  Doing DEFECT = new Waiting(WaitsFor.DEFECT);

  /**
   * It waits.
   *
   * @param until at most, if that is known
   * @param by who or what is in the way, if that has a name
   */
  record Waiting(WaitsFor what, @Nullable Instant until, @Nullable String by) implements Doing {
    /** Nobody knows how long, nor for whom. */
    public Waiting(WaitsFor what) {
      this(what, null, null);
    }
  }

  /** It has a lease. */
  record Working(Lease lease) implements Doing {}
}
