package io.firstclaim.processor.service.redrive;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** Has one instance at a time work on a redrive. Thread-safe. */
final class RedriveMutex {
  /**
   * The store keeps mutexes and records side by side, so the name must be no record's. The engine
   * takes no record whose ID begins with {@code mismatch:}, and its own stand-ins of that kind go
   * on with a hash.
   */
  private static final String SPACE = "mismatch:redrive:";

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

  /** The name of a redrive's mutex in the lock store. */
  static RecordId name(RedriveId redrive) {
    return RecordId.of(SPACE + redrive);
  }

  /** The mutex of this redrive, if it can be had at once. */
  Optional<HeldMutex> tryAcquire(RedriveId redrive) throws InterruptedException {
    Optional<ClaimStore> store = claims.get();
    return store.isEmpty()
        ? Optional.empty()
        : new Mutex(store.get(), name(redrive), time).acquire(Duration.ZERO);
  }
}
