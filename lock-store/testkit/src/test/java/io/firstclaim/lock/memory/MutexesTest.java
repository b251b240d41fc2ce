package io.firstclaim.lock.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.lock.mutex.Mutexes;
import java.lang.ref.WeakReference;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** {@link Mutexes} of as many names as there are customers. */
class MutexesTest {
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  /** Else an application with a mutex for each of its customers runs out of memory in the end. */
  @Test
  void nameThatIsHeldNoLonger_isForgotten() throws Exception {
    try (var mutexes = mutexes()) {
      WeakReference<Mutex> used = used(mutexes);

      await()
          .atMost(PATIENCE)
          .until(
              () -> {
                System.gc();
                return used.refersTo(null);
              });
      assertThat(mutexes.of("customer").acquire(Duration.ZERO)).isPresent();
    }
  }

  private static Mutexes mutexes() {
    TimeSource time = TimeSource.system();
    return new Mutexes(new MemoryClaimStore(ClaimSettings.of("shop", "a"), time), time);
  }

  private static WeakReference<Mutex> used(Mutexes mutexes) throws InterruptedException {
    Mutex mutex = mutexes.of("customer");
    try (HeldMutex held = mutex.acquire(Duration.ZERO).orElseThrow()) {
      held.ensureHeld();
    }
    return new WeakReference<>(mutex);
  }
}
