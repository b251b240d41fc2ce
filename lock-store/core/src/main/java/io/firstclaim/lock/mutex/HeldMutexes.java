package io.firstclaim.lock.mutex;

import io.firstclaim.lock.Patience;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The mutexes that are held here, and those that are being given back. Thread-safe. */
final class HeldMutexes {
  /** How long their holders have to close them, at most. */
  private static final Duration TO_CLOSE = Duration.ofSeconds(10);

  private final Set<HeldMutex> held = ConcurrentHashMap.newKeySet();

  private final @Nullable HeldMutexes all;
  private volatile boolean closed;

  HeldMutexes() {
    this(null);
  }

  /** Those of one name, which are among all that are held. */
  HeldMutexes(@Nullable HeldMutexes all) {
    this.all = all;
  }

  /** Adds one; once all are to be given back, its holder is to stop at once. */
  void add(HeldMutex mutex) {
    held.add(mutex);
    if (closed) { // asked after it was added: whoever closes them now finds it there
      mutex.stop();
    }
    if (all != null) {
      all.add(mutex);
    }
  }

  void remove(HeldMutex mutex) {
    held.remove(mutex);
    if (all != null) {
      all.remove(mutex);
    }
  }

  /** Tells each holder to stop, and awaits all; what is not closed then is left to its lease. */
  void giveBack(TimeSource time) {
    closed = true;
    held.forEach(HeldMutex::stop);
    Patience patience = new Patience(time, TO_CLOSE);
    try {
      while (!held.isEmpty() && !patience.isOver()) {
        patience.pause();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    held.forEach(HeldMutex::abandon);
  }
}
