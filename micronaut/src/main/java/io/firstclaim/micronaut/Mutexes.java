package io.firstclaim.micronaut;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.mutex.Mutex;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Mutexes by their names, in the application's claim store.
 *
 * {@snippet :
 * try (HeldMutex held = mutexes.of("nightly").acquire(Duration.ofSeconds(30)).orElseThrow()) {
 *   report(held.token());
 * }
 * }
 *
 * <p>Thread-safe. Closed by the application's context, which gives back what is still held.
 */
public final class Mutexes implements AutoCloseable {
  private final ClaimStore store;
  private final TimeSource time;
  private final ConcurrentMap<RecordId, Mutex> mutexes = new ConcurrentHashMap<>();

  /** Mutexes in this store. */
  public Mutexes(ClaimStore store, TimeSource time) {
    this.store = store;
    this.time = time;
  }

  /**
   * The mutex of this name; the same one each time.
   *
   * @throws IllegalArgumentException if the name is empty or has more than {@value
   *     RecordId#MAX_BYTES} bytes
   */
  public Mutex of(String name) {
    return mutexes.computeIfAbsent(RecordId.of(name), id -> new Mutex(store, id, time));
  }

  @Override
  public void close() {
    // Side by side: each tells its holders to stop, and waits for them.
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      mutexes.values().forEach(mutex -> threads.execute(mutex::close));
    }
  }
}
