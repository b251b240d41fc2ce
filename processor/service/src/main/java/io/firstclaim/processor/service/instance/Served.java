package io.firstclaim.processor.service.instance;

import io.firstclaim.lock.store.DrivenClaimStore;
import java.time.Duration;
import java.util.Optional;

/** What a process serves, from start to stop. Thread-safe once it runs. */
public sealed interface Served permits Service, ClaimServer {
  /** Waits for what it needs, begins to serve, and returns. */
  void run() throws InterruptedException;

  /**
   * Stops in good order.
   *
   * @return for how long what is left may be closed, before the process ends all the same
   */
  Duration stop() throws InterruptedException;

  /** The claims as they were opened; empty until the store has answered for the first time. */
  Optional<DrivenClaimStore> opened();

  /** Whether it was told to stop. */
  boolean isStopping();
}
