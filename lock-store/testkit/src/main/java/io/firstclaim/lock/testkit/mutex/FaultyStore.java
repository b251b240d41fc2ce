package io.firstclaim.lock.testkit.mutex;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreUnavailableException;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A store on whose way requests and answers are lost as a test asks for. */
final class FaultyStore implements ClaimStore {
  /** What becomes of a request. */
  enum Fault {
    /** It does not arrive. */
    LOST_REQUEST,
    /** It is applied and not answered. */
    LOST_ANSWER,
    /** It is applied and not answered, and the caller is interrupted. */
    INTERRUPTED,
    /** It does not return before {@link #wake}. */
    SILENCE,
    /** The store throws what it never should. */
    DEFECT,
    /** The JVM is out of memory. */
    ERROR
  }

  private final ClaimStore store;
  private final Queue<Fault> faults = new ConcurrentLinkedQueue<>();
  private final AtomicInteger calls = new AtomicInteger();
  private final CountDownLatch silence = new CountDownLatch(1);
  private final Queue<SettleResult> renewals = new ConcurrentLinkedQueue<>();
  private volatile BooleanSupplier down = () -> false;

  FaultyStore(ClaimStore store) {
    this.store = store;
  }

  /** What becomes of the next requests. */
  void next(Fault... next) {
    faults.addAll(Arrays.asList(next));
  }

  /** What the next renewal is answered, whatever is stored. */
  void nextRenewal(SettleResult answer) {
    renewals.add(answer);
  }

  /** No request arrives while this holds. */
  void downWhile(BooleanSupplier holds) {
    down = holds;
  }

  /** Ends every {@link Fault#SILENCE}. */
  void wake() {
    silence.countDown();
  }

  /** How many requests were sent. */
  int calls() {
    return calls.get();
  }

  @Override
  public ClaimResult claim(Claim claim) {
    return call(
        () -> store.claim(claim),
        () -> {
          throw new StoreUnavailableException("no answer", new IOException("connection reset"));
        });
  }

  @Override
  public SettleResult renew(Lease lease) {
    SettleResult told = renewals.poll();
    return settle(() -> told == null ? store.renew(lease) : told);
  }

  @Override
  public SettleResult complete(Lease lease, @Nullable String result) {
    return settle(() -> store.complete(lease, result));
  }

  @Override
  public SettleResult release(Lease lease, Instant retryAt, String cause) {
    return settle(() -> store.release(lease, retryAt, cause));
  }

  @Override
  public SettleResult bury(Lease lease, String cause) {
    return settle(() -> store.bury(lease, cause));
  }

  @Override
  public Optional<ClaimRecord> find(RecordId id) {
    return store.find(id);
  }

  private SettleResult settle(Supplier<SettleResult> step) {
    return call(step, () -> new SettleResult.Unknown("no answer"));
  }

  private <R> R call(Supplier<R> request, Supplier<R> noAnswer) {
    calls.incrementAndGet();
    Fault fault = down.getAsBoolean() ? Fault.LOST_REQUEST : faults.poll();
    return switch (fault) {
      case null -> request.get();
      case LOST_REQUEST -> noAnswer.get();
      case LOST_ANSWER -> {
        R unused = request.get();
        yield noAnswer.get();
      }
      case INTERRUPTED -> {
        R unused = request.get();
        Thread.currentThread().interrupt();
        yield noAnswer.get();
      }
      case SILENCE -> {
        awaitWake();
        yield noAnswer.get();
      }
      case DEFECT -> throw new IllegalStateException("a defect");
      case ERROR -> throw new OutOfMemoryError("as the test asked for");
    };
  }

  private void awaitWake() {
    try {
      silence.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
