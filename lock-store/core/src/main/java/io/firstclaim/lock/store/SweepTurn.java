package io.firstclaim.lock.store;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Whose turn it is to sweep: of several sweepers one at a time, under a claim of their own, and the
 * next not before the interval is over.
 *
 * <p>One thread calls {@link #take} again and again; all threads of its sweep may ask {@link
 * #isKept}.
 */
public final class SweepTurn {
  /** Claims of the sweepers. */
  public static final String NAMESPACE = "firstclaim-sweeper";

  /** The least time to wait for another's sweep: nothing is lost by coming late. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final ClaimStore store;
  private final RecordId id;
  private final ClaimSettings settings;
  private final Duration interval;
  private final TimeSource time;

  /** Held by whoever renews the lease, so that one thread of a sweep does. */
  private final Lock renewing = new ReentrantLock();

  /** The lease on the turn; null while the turn is another's. */
  private @Nullable Lease lease;

  /** Hears of every page of a sweep, on any of its threads. Must not block or throw. */
  @FunctionalInterface
  public interface Listener {
    /**
     * A page was swept.
     *
     * @param listed what is on it
     * @param removed how many claims of it were deleted
     */
    void swept(int listed, int removed);
  }

  /** What is done in a turn. */
  @FunctionalInterface
  public interface Sweep {
    /** Sweeps for as long as the turn {@linkplain SweepTurn#isKept is kept}. */
    void run() throws InterruptedException;
  }

  /**
   * The turns of those who sweep the same.
   *
   * @param store of {@link #settings}
   * @param id what is swept
   * @param settings of that store
   * @param interval from one sweep to the next
   */
  public SweepTurn(
      ClaimStore store, RecordId id, ClaimSettings settings, Duration interval, TimeSource time) {
    this.store = store;
    this.id = id;
    this.settings = settings;
    this.interval = interval;
    this.time = time;
  }

  /** How the sweepers of these claims claim their turns. */
  public static ClaimSettings settings(ClaimSettings swept) {
    return new ClaimSettings(
        NAMESPACE, swept.holder(), swept.lease(), swept.maxSkew(), swept.retention());
  }

  /**
   * Sweeps, unless another is at it or it is not yet due. What the sweep throws passes through, and
   * leaves the turn to whoever asks first once its lease is over.
   *
   * @return how long until the next call
   */
  public Duration take(Sweep sweep) throws InterruptedException {
    Claim claim = Claim.of(id, Fingerprint.none(), time.now());
    return switch (store.claim(claim)) {
      case ClaimResult.Granted(Lease granted, var takenFrom) -> {
        lease = granted;
        sweep.run();
        if (lease != null) {
          var unused = store.release(lease, time.now().wall().plus(interval), "swept");
        }
        yield interval;
      }
      case ClaimResult.Later(Instant retryAt, var unused) ->
          atLeastPatience(Duration.between(time.now().wall(), retryAt));
      case ClaimResult.Held held -> atLeastPatience(held.remaining());
      case ClaimResult.Blocked unused -> throw ended();
      case ClaimResult.Done unused -> throw ended();
      case ClaimResult.Dead unused -> throw ended();
      case ClaimResult.Mismatch unused -> throw ended();
    };
  }

  /** Whether the turn lasts; renews its lease if more than a third of that has passed. */
  public boolean isKept() {
    renewing.lock();
    try {
      Moment now = time.now();
      if (lease != null && now.since(lease.start()).compareTo(settings.renewAfter()) >= 0) {
        lease =
            switch (store.renew(lease)) {
              case SettleResult.Settled(Lease renewed) -> renewed;
              case SettleResult.Unknown unused -> lease;
              case SettleResult.Lost unused -> null;
            };
      }
      return lease != null && !lease.isOver(time.now());
    } finally {
      renewing.unlock();
    }
  }

  private static IllegalStateException ended() {
    return new IllegalStateException("a sweeper never ends its claim");
  }

  private static Duration atLeastPatience(Duration wait) {
    return wait.compareTo(PATIENCE) < 0 ? PATIENCE : wait;
  }
}
