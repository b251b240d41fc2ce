package io.firstclaim.processor.engine.admission;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.UnreadableClaimException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
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
 * bound at most. A record that is granted is begun until it is settled, and no claim is sent while
 * all that is begun could not be renewed or settled within a third of a lease: then the leases hold
 * however slow the store is.
 *
 * <p>If a step gets no answer, nobody is let in; if a claim gets none, no claim is. Then what
 * failed is tried by one at a time, less and less often, until it gets an answer. Thread-safe.
 */
public final class StoreGate {
  private static final Logger LOG = LoggerFactory.getLogger(StoreGate.class);
  private static final Backoff PAUSES = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(4));

  /** How long somebody may take to come who tries what failed: those who failed come again. */
  private static final Duration CALL = PAUSES.longest().plusSeconds(1);

  private static final int SPINS = 1000;
  private final Runnable question;
  private final TimeSource time;
  private final Duration third;
  private final Duration call;

  /** Between two tries of what failed: short enough to save leases once the store answers. */
  private final Backoff pauses;

  private final OncePerMinute told;
  private final ReentrantLock lock = new ReentrantLock();
  private final Lane claims = new Lane("claims");
  private final Lane steps = new Lane("steps");

  // Guarded by the lock.
  private final Pace pace;
  private int begun;

  private volatile boolean outageTold;

  /**
   * An open gate.
   *
   * @param question asks the store something when nobody comes who would try what failed; throws
   *     {@link StoreException} if there is no answer
   * @param lease the length of a lease
   */
  public StoreGate(Runnable question, Duration lease, TimeSource time) {
    this(question, lease, time, CALL);
  }

  StoreGate(Runnable question, Duration lease, TimeSource time, Duration call) {
    this.call = call;
    this.question = question;
    this.time = time;
    this.third = lease.dividedBy(3);
    Duration sixth = lease.dividedBy(6);
    this.pauses =
        new Backoff(
            PAUSES.first(), sixth.compareTo(PAUSES.longest()) < 0 ? sixth : PAUSES.longest());
    this.told = new OncePerMinute(time);
    this.pace = new Pace(third);
  }

  /**
   * How long a record waits to repeat a step after this many went unanswered: a store that answers
   * the others may still fail on that very step, again and again.
   */
  public static Duration pauseAfter(int failuresInARow) {
    return PAUSES.after(failuresInARow - 1);
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

  /** A way through the gate. */
  private final class Lane {
    private final String name;
    private final Condition room = lock.newCondition();

    // Guarded by the lock; fault may be read without.
    private int waiting;
    private int inside;
    private volatile @Nullable String fault;

    // While there is a fault: whether the next one may try, whether one is trying, and whether one
    // has asked the store.
    private final Condition tried = lock.newCondition();
    private boolean mayTry;
    private boolean trying;
    private boolean asked;

    /** Of those who tried, in a row. */
    private int failures;

    Lane(String name) {
      this.name = name;
    }
  }

  private boolean hasPlace(Lane lane) {
    if (lane.fault != null && !lane.mayTry) {
      return false;
    }
    int half = (pace.limit() + 1) / 2;
    boolean room = claims.inside + steps.inside < pace.limit();
    if (lane == steps) {
      return room || steps.inside < half; // however many claims were sent when there was more room
    }
    return room
        && steps.fault == null
        && steps.waiting == 0
        && claims.inside < half
        && (begun == 0 || pace.toAsk(begun + 1).compareTo(third) <= 0);
  }

  /** Waits for a place; returns null if {@code wanted} no longer holds. */
  private @Nullable Slot enter(Lane lane, BooleanSupplier wanted) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    acquire();
    try {
      lane.waiting++;
      while (wanted.getAsBoolean()) {
        if (hasPlace(lane)) {
          return new Slot(lane);
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

  /** The next in each lane, if there is a place; whoever takes it wakes the one after that. */
  private void wake() {
    wake(steps);
    wake(claims);
  }

  private void wake(Lane lane) {
    if (lane.waiting > 0 && hasPlace(lane)) {
      lane.room.signal();
    }
  }

  /** Has all waiters check whether they are still wanted. */
  public void lookAgain() {
    lock.lock();
    try {
      claims.room.signalAll();
      steps.room.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** A request under way, and its place. Made and changed under the lock. */
  private final class Slot {
    private final Lane lane;
    private final boolean tries;
    private final Moment sent = time.now();
    private boolean isInside = true;
    private boolean isBegun;

    Slot(Lane lane) {
      this.lane = lane;
      this.tries = lane.fault != null;
      lane.inside++;
      if (lane == claims) {
        isBegun = true;
        begun++;
      }
      if (tries) {
        lane.mayTry = false;
        lane.trying = true;
        lane.tried.signal();
      }
    }

    /** The store answered, after a time that tells how fast it is, or not. */
    void answered(boolean measured) {
      if (measured) {
        pace.answered(time.now().since(sent), claims.inside + steps.inside);
      }
      if (tries) {
        lane.asked = true;
        lane.fault = null;
      }
      if (lane.fault == null) {
        lane.failures = 0;
      }
      leave();
    }

    /** The store gave no answer. */
    void failed(String why) {
      if (tries) {
        lane.asked = true;
        lane.fault = why;
        lane.failures++;
      } else if (lane.fault == null) {
        shut(lane, why);
      }
      leave();
    }

    /** Gives the place back, once. */
    void leave() {
      if (isInside) {
        isInside = false;
        lane.inside--;
        if (tries) {
          lane.trying = false;
          lane.tried.signal();
        }
        wake();
      }
    }

    /** Its record is settled, or was not begun. */
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
    Slot slot = Objects.requireNonNull(enter(steps, () -> true));
    @Nullable SettleResult result = null;
    try {
      result = answer(step);
      return result;
    } catch (UnreadableClaimException e) {
      locked(() -> slot.answered(false));
      throw e;
    } finally {
      finish(slot, result);
    }
  }

  private void finish(Slot slot, @Nullable SettleResult result) {
    acquire();
    try {
      switch (result) {
        case SettleResult.Unknown(String why) -> slot.failed(why);
        case SettleResult.Settled _, SettleResult.Lost _ -> slot.answered(true);
        case null -> slot.leave();
      }
    } finally {
      lock.unlock();
    }
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
    private @Nullable Slot slot;

    private Request(BooleanSupplier wanted) {
      this.wanted = wanted;
    }

    /**
     * Waits until a claim may be sent and its record begun, or the record is not wanted any more,
     * for which see {@link #lookAgain()}.
     */
    @Override
    public @Nullable Duration pass() throws InterruptedException {
      slot = enter(claims, wanted);
      return slot == null ? Duration.ZERO : null;
    }

    /** The store answered the claim: by a grant, or otherwise. */
    public void answered(boolean granted) {
      Slot current = Objects.requireNonNull(slot);
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
      Slot current = Objects.requireNonNull(slot);
      locked(
          () -> {
            current.failed(why);
            current.settle();
          });
    }

    @Override
    public void leave() {
      Slot current = slot;
      if (current != null) {
        slot = null;
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

  private void locked(Runnable change) {
    acquire();
    try {
      change.run();
    } finally {
      lock.unlock();
    }
  }

  private void shut(Lane lane, String why) {
    pace.failed();
    lane.fault = why;
    boolean mended = false;
    try {
      // Not a virtual thread: handlers may occupy all that carry those.
      var _ =
          Thread.ofPlatform()
              .daemon()
              .name("firstclaim-store-probe-" + lane.name)
              .start(() -> mend(lane));
      mended = true;
    } finally {
      if (!mended) {
        lane.fault = null;
      }
    }
  }

  /** Has one after the other try what failed until it gets an answer. */
  private void mend(Lane lane) {
    String fault;
    while ((fault = lane.fault) != null) {
      if (told.isDue()) {
        outageTold = true;
        LOG.warn(
            "The lock store answers no {}; no record is begun until it does: {}", lane.name, fault);
      }
      try {
        time.sleep(pause(lane));
        if (!isTried(lane)) {
          ask(lane);
        }
      } catch (InterruptedException e) {
        LOG.debug("Nobody interrupts this thread", e);
      }
    }
    if (outageTold && isOpen()) {
      outageTold = false;
      LOG.info("The lock store answers again");
    }
  }

  private Duration pause(Lane lane) {
    lock.lock();
    try {
      return pauses.after(lane.failures);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Lets one try and waits for what comes of it. One that need not ask any more, as its record has
   * ended, makes way for the next at once.
   *
   * @return false if nobody came who had to ask
   */
  private boolean isTried(Lane lane) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      lane.asked = false;
      boolean came = true;
      while (came && !lane.asked) {
        lane.mayTry = true;
        wake(lane);
        long left = call.toNanos();
        while (lane.mayTry && left > 0) {
          left = lane.tried.awaitNanos(left);
        }
        came = !lane.mayTry;
        lane.mayTry = false;
        while (lane.trying) {
          lane.tried.await();
        }
      }
      return lane.asked;
    } finally {
      lock.unlock();
    }
  }

  /** Asks the store something else, so that a fault does not outlive those who met it. */
  private void ask(Lane lane) {
    @Nullable String fault = null;
    try {
      question.run();
    } catch (StoreException e) {
      fault = String.valueOf(e.getMessage());
    } catch (RuntimeException | Error e) {
      LOG.error("Asking the lock store failed in an unforeseen way; trying again", e);
      fault = e.toString();
    }
    String found = fault;
    locked(
        () -> {
          lane.fault = found;
          if (found != null) {
            lane.failures++;
          }
          wake();
        });
  }
}
