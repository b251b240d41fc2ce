package io.firstclaim.lock.mutex;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.keeper.LeaseKeeper;
import java.util.List;

/**
 * Mutexes by their names, in one claim store. There may be as many names as there are customers:
 * only what is held is kept.
 *
 * {@snippet :
 * try (HeldMutex held = mutexes.of("nightly").acquire(Duration.ofSeconds(30)).orElseThrow()) {
 *   report(held.token());
 * }
 * }
 *
 * <p>Thread-safe. Needs closing only by a process that ends and may leave mutexes held.
 */
public final class Mutexes implements AutoCloseable {
  private final ClaimStore store;
  private final TimeSource time;
  private final LeaseKeeper keeper;
  private final HeldMutexes held = new HeldMutexes();

  /** Mutexes in this store. */
  public Mutexes(ClaimStore store, TimeSource time) {
    this.store = store;
    this.time = time;
    this.keeper = new LeaseKeeper(store, time, true);
  }

  /**
   * The mutex of this name.
   *
   * @throws IllegalArgumentException if the name is empty or has more than {@value
   *     RecordId#MAX_BYTES} bytes
   */
  public Mutex of(String name) {
    return new Mutex(store, List.of(RecordId.of(name)), null, time, keeper, new HeldMutexes(held));
  }

  /** Gives back what is held of them, as {@link Mutex#close} does. */
  @Override
  public void close() {
    held.giveBack(time);
  }
}
