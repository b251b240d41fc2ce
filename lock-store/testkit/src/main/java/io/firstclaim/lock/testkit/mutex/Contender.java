package io.firstclaim.lock.testkit.mutex;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.mutex.HeldMutex;
import io.firstclaim.lock.mutex.Mutex;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The program of a process of contenders: each gets the mutex once and writes into the {@link
 * Ledger} when it begins to wait, when it has it, and when it is about to give it back.
 *
 * @param namespace of the mutex
 * @param process names the process
 * @param contenders how many wait in it; zero means one that never gives it back
 * @param lease of the mutex
 * @param ledger the file that all processes append to
 */
public record Contender(
    String namespace, String process, int contenders, Duration lease, Path ledger) {
  public static final Duration MAX_SKEW = Duration.ofSeconds(1);

  private static final RecordId ID = RecordId.of("shared");
  private static final Duration PATIENCE = Duration.ofMinutes(20);
  private static final int QUESTIONS = 3;

  /** Opens the backend's store. */
  public interface Opener {
    ClaimStore open(ClaimSettings settings, TimeSource time);
  }

  /** The contender with these arguments of its program. */
  public static Contender of(List<String> args) {
    return new Contender(
        args.get(0),
        args.get(1),
        Integer.parseInt(args.get(2)),
        Duration.parse(args.get(3)),
        Path.of(args.get(4)));
  }

  /** The arguments of its program. */
  public List<String> args() {
    return List.of(
        namespace, process, Integer.toString(contenders), lease.toString(), ledger.toString());
  }

  /** What all processes say of the mutex and its leases. */
  ClaimSettings settings() {
    return new ClaimSettings(namespace, process, lease, MAX_SKEW, Duration.ofDays(8));
  }

  /** Runs the program. */
  public void run(Opener opener) throws Exception {
    TimeSource time = TimeSource.system();
    ClaimStore store = opener.open(settings(), time);
    Mutex mutex = new Mutex(store, ID, time);
    if (contenders == 0) {
      holdForEver(mutex);
    }
    List<Callable<Boolean>> all = new ArrayList<>();
    for (int i = 0; i < contenders; i++) {
      String name = process + "-" + i;
      all.add(() -> workUnder(mutex, store, name));
    }
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<Boolean> contender : threads.invokeAll(all)) {
        contender.get();
      }
    }
  }

  private boolean workUnder(Mutex mutex, ClaimStore store, String name)
      throws IOException, InterruptedException {
    var book = new Ledger(ledger);
    book.add(Ledger.Kind.WAITS, name, 0);
    try (HeldMutex held = mutex.acquire(PATIENCE).orElseThrow()) {
      book.add(Ledger.Kind.HOLDS, name, held.token());
      for (int i = 0; i < QUESTIONS; i++) {
        ClaimRecord unused = found(store);
      }
      held.ensureHeld();
      book.add(Ledger.Kind.LEAVES, name, held.token());
      return true;
    }
  }

  /** Asks until the store answers: the lease is kept meanwhile, however slow the machine is. */
  private static ClaimRecord found(ClaimStore store) {
    while (true) {
      try {
        return store.find(ID.asMutex()).orElseThrow();
      } catch (StoreUnavailableException unused) {
        Thread.onSpinWait();
      }
    }
  }

  private void holdForEver(Mutex mutex) throws IOException, InterruptedException {
    var book = new Ledger(ledger);
    book.add(Ledger.Kind.WAITS, process, 0);
    HeldMutex held = mutex.acquire(PATIENCE).orElseThrow();
    book.add(Ledger.Kind.HOLDS, process, held.token());
    new CountDownLatch(1).await();
  }
}
