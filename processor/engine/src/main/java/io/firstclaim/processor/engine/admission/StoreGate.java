package io.firstclaim.processor.engine.admission;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.UnreadableClaimException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a bounded number of requests go to the lock store at once, so that they queue here, where no
 * clock runs, and not in the store, where they time out. The bound follows what the store can do:
 * see {@link Pace}.
 *
 * <p>The steps of what is begun, renewals and settlements, go before claims, which fill half of the
 * bound at most. A record that is granted is begun until it is settled or abandoned, and no claim
 * is sent while all that is begun could not be renewed or settled within a third of a lease: then
 * the leases hold however slow the store is.
 *
 * <p>If a step gets no answer, nobody is let in; if a claim gets none, no claim is. Then what
 * failed is tried by one at a time, less and less often, until it gets an answer. Thread-safe.
 */
public final class StoreGate {
  private static final Logger LOG = LoggerFactory.getLogger(StoreGate.class);
  private static final int SPINS = 1000;

  private final TimeSource time;
  private final OncePerMinute told;
  private final Duration third;
  private final GateMending mending;
  final ReentrantLock lock = new ReentrantLock();
  private final GateLane claims = new GateLane("claims", lock);
  private final GateLane steps = new GateLane("steps", lock);

  // Guarded by the lock.
  private final Pace pace;
  private int begun;
  private int lastMost = ClaimStore.REQUESTS_AT_ONCE;

  /**
   * An open gate.
   *
   * @param question asks the store something when nobody comes who would try what failed; throws
   *     {@link StoreException} if there is no answer
   * @param most how many reads and writes the store makes the most of at once; asked again and
   *     again
   * @param lease the length of a lease
   */
  public StoreGate(Runnable question, IntSupplier most, Duration lease, TimeSource time) {
    this(question, most, lease, time, GateMending.CALL);
  }

  StoreGate(Runnable question, IntSupplier most, Duration lease, TimeSource time, Duration call) {
    this.time = time;
    this.told = new OncePerMinute(time);
    this.third = lease.dividedBy(3);
    this.pace = new Pace(third, () -> most(most));
    this.mending = new GateMending(this, question, lease, time, call);
  }

  /**
   * How many requests the store takes at once. If it throws, which it must not, this is what it
   * said last: an exception from here would keep the place of a request from being given back.
   */
  private int most(IntSupplier store) {
    try {
      lastMost = store.getAsInt();
    } catch (RuntimeException | Error e) {
      if (told.isDue()) {
        LOG.error("The lock store does not say how many requests it takes; as before, then", e);
      }
    }
    return lastMost;
  }

  /**
   * How long a record waits to repeat a step after this many went unanswered: a store that answers
   * the others may still fail on that very step, again and again.
   */
  public static Duration pauseAfter(int failuresInARow) {
    return GateMending.PAUSES.after(failuresInARow - 1);
  }

  /** Whether the store answers. */
  public boolean isOpen() {
    return fault() == null;
  }

  /** Why the gate is shut; null if it is open. */
  public @Nullable String fault() {
    String fault = steps.fault;
    return fault == null ? claims.fault : fault;
  }

  /** Whether a record that wants to be claimed would have to wait. */
  public boolean isFull() {
    lock.lock();
    try {
      return !hasPlace(claims);
    } finally {
      lock.unlock();
    }
  }

  private boolean hasPlace(GateLane lane) {
    if (lane.isShut()) {
      return false;
    }
    int half = (pace.limit() + 1) / 2;
    boolean room = claims.inside + steps.inside < pace.limit();
    if (lane == steps) {
      // Steps may have half, though claims that were sent while there was more room fill the rest.
      return room || steps.inside < half;
    }
    return room
        && steps.fault == null
        && steps.waiting == 0
        && claims.inside < half
        && (begun == 0 || pace.toRenew(begun + 1).compareTo(third) <= 0);
  }

  /** Waits for a place; returns null if {@code wanted} no longer holds. */
  private @Nullable UnderWay enter(GateLane lane, BooleanSupplier wanted)
      throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    acquire();
    try {
      lane.waiting++;
      while (wanted.getAsBoolean()) {
        if (hasPlace(lane)) {
          return new UnderWay(lane);
        }
        lane.room.await();
      }
      return null;
    } finally {
      lane.waiting--;
      wake();
      lock.unlock();
    }
  }

  /**
   * Wakes the next in each lane, if there is a place; whoever takes it wakes the one after that.
   */
  void wake() {
    wake(steps);
    wake(claims);
  }

  void wake(GateLane lane) {
    if (lane.waiting > 0 && hasPlace(lane)) {
      lane.room.signal();
    }
  }

  /** Has all waiters check whether they are still wanted. */
  public void lookAgain() {
    locked(
        () -> {
          claims.room.signalAll();
          steps.room.signalAll();
        });
  }

  /** A request under way, and its place at the store. Made and changed under the lock. */
  private final class UnderWay {
    private final GateLane lane;
    private final boolean tries;
    private final Moment sent = time.now();
    private boolean isInside = true;
    private boolean isBegun;

    UnderWay(GateLane lane) {
      this.lane = lane;
      this.tries = lane.letIn();
      if (lane == claims) {
        isBegun = true;
        begun++;
      }
    }

    /** The store answered, after a time that tells how fast it is, or not. */
    void answered(boolean measured) {
      if (measured) {
        pace.answered(time.now().since(sent), claims.inside + steps.inside);
      }
      if (tries) {
        lane.hasAsked(null);
      }
      if (lane.fault == null) {
        lane.failures.set(0);
      }
      leave();
    }

    /** The store gave no answer. */
    void failed(String why) {
      try {
        if (tries) {
          lane.hasAsked(why);
        } else if (lane.fault == null) {
          pace.failed();
          mending.shut(lane, why);
        }
      } finally {
        leave(); // even if no thread could be started to mend the lane
      }
    }

    /** Gives the place back, if that has not happened yet. */
    void leave() {
      if (isInside) {
        isInside = false;
        lane.letOut(tries);
        wake();
      }
    }

    /** The request's record is settled, or was not begun. */
    void settle() {
      if (isBegun) {
        isBegun = false;
        begun--;
        wake();
      }
    }
  }

  /**
   * Makes a step of what is begun once there is room for it: renews, completes, releases or buries
   * a record.
   *
   * @return null if the step returns null, as the store need not be asked
   * @throws UnreadableClaimException if the step does: that is an answer, about one record
   */
  public @Nullable SettleResult step(Supplier<@Nullable SettleResult> step)
      throws InterruptedException {
    UnderWay underWay = Objects.requireNonNull(enter(steps, () -> true));
    @Nullable SettleResult result = null;
    try {
      result = answer(step);
      return result;
    } catch (UnreadableClaimException e) {
      locked(() -> underWay.answered(false));
      throw e;
    } finally {
      finish(underWay, result);
    }
  }

  private void finish(UnderWay underWay, @Nullable SettleResult result) {
    locked(
        () -> {
          switch (result) {
            case SettleResult.Unknown(String why) -> underWay.failed(why);
            case SettleResult.Settled _, SettleResult.Lost _ -> underWay.answered(true);
            case null -> underWay.leave();
          }
        });
  }

  /** A step that is not permitted is made again like one without an answer, until it is. */
  private static @Nullable SettleResult answer(Supplier<@Nullable SettleResult> step) {
    try {
      return step.get();
    } catch (StoreRefusedException e) {
      return new SettleResult.Unknown(String.valueOf(e.getMessage()));
    }
  }

  /**
   * The request of a record to be claimed, which is not let in yet.
   *
   * @param wanted whether the record is still to be claimed; asked whenever its thread is woken
   */
  public Request request(BooleanSupplier wanted) {
    return new Request(wanted);
  }

  /** A record that is to be claimed and, if that is granted, is begun until it leaves. */
  public final class Request implements Checkpoint {
    private final BooleanSupplier wanted;

    /** Set by the record's own thread; another may leave for it, and so may both. */
    private volatile @Nullable UnderWay underWay;

    private Request(BooleanSupplier wanted) {
      this.wanted = wanted;
    }

    /**
     * Waits until a claim may be sent and its record begun, or the record is not wanted any more,
     * for which see {@link #lookAgain()}.
     */
    @Override
    public @Nullable Duration pass() throws InterruptedException {
      underWay = enter(claims, wanted);
      return underWay == null ? Duration.ZERO : null;
    }

    /** The store answered the claim: by a grant, or otherwise. */
    public void answered(boolean granted) {
      UnderWay current = Objects.requireNonNull(underWay);
      locked(
          () -> {
            // Other answers take more than one request in some stores.
            current.answered(granted);
            if (!granted) {
              current.settle();
            }
          });
    }

    /** The store did not answer the claim. */
    public void failed(String why) {
      UnderWay current = Objects.requireNonNull(underWay);
      locked(
          () -> {
            current.failed(why);
            current.settle();
          });
    }

    @Override
    public void leave() {
      UnderWay current = underWay;
      if (current != null) {
        underWay = null;
        locked(
            () -> {
              current.leave();
              current.settle();
            });
      }
    }
  }

  /**
   * The lock is held for less than it takes to park; and one that parks here, inside, keeps its
   * place until it is its turn among all the threads that can run.
   */
  private void acquire() {
    for (int spins = 0; spins < SPINS; spins++) {
      if (lock.tryLock()) {
        return;
      }
      Thread.onSpinWait();
    }
    lock.lock();
  }

  void locked(Runnable change) {
    acquire();
    try {
      change.run();
    } finally {
      lock.unlock();
    }
  }
}
