package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** Has one instance at a time work on a redrive. Thread-safe. */
final class RedriveMutex {
  private final Supplier<Optional<ClaimStore>> claims;
  private final TimeSource time;

  /**
   * The mutexes of all redrives.
   *
   * @param claims empty until there is a store
   */
  RedriveMutex(Supplier<Optional<ClaimStore>> claims, TimeSource time) {
    this.claims = claims;
    this.time = time;
  }

  /** The mutex of this redrive, if it can be had at once. */
  Optional<HeldMutex> tryAcquire(RedriveId redrive) throws InterruptedException {
    Optional<ClaimStore> store = claims.get();
    return store.isEmpty()
        ? Optional.empty()
        : new Mutex(store.get(), redrive.mutexId(), time).acquire(Duration.ZERO);
  }
}
