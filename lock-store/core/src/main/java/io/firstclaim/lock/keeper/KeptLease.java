package io.firstclaim.lock.keeper;

import io.firstclaim.lock.Lease;
import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.UnreadableClaimException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * A lease in the hands of a {@link LeaseKeeper}, which renews it until it is settled, lost or
 * {@linkplain #letGo() let go}. Its steps in the store, the renewals and the last one, are made one
 * at a time, each with the lease as the one before left it. Thread-safe.
 */
public final class KeptLease implements HeldLease {
  private static final Logger LOG = LoggerFactory.getLogger(KeptLease.class);
  private static final int LOOKS_PER_LEASE = 24;

  /** An alarm that is set while the keeper sleeps is heard when it looks next. */
  private static final Duration LONGEST_SLEEP = Duration.ofSeconds(1);

  /** A longer bound is none; nanoseconds count no further than three times this. */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  /** The threads that tell a holder of a loss at this moment, of whatever lease. */
  private static final Set<Thread> TELLERS = ConcurrentHashMap.newKeySet();

  private final LeaseKeeper keeper;
  private final Moment begin;

  /** Held while the holder is told of a loss. */
  private final ReentrantLock telling = new ReentrantLock();

  /** Held across every step in the store, so that two never cross. */
  private final ReentrantLock step = new ReentrantLock();

  private volatile Lease lease;
  private volatile Moment lastTry;
  private volatile boolean renewing;

  /** Whether a settlement heard no answer. Guarded by the step. */
  private boolean mayBeSettled;

  private volatile boolean overdue;
  private volatile boolean lost;
  private volatile boolean closed;

  /** Guarded by this. */
  private final List<Runnable> whenLost = new ArrayList<>(1);

  /** Guarded by this. */
  private final List<Alarm> alarms = new ArrayList<>(2);

  /** What to run that long after the keeping began. */
  private record Alarm(Duration after, Runnable ring) {}

  KeptLease(LeaseKeeper keeper, Lease lease, Moment begin) {
    this.keeper = keeper;
    this.lease = lease;
    this.begin = begin;
    this.lastTry = lease.start();
  }

  /** The lease as it stands. */
  public Lease lease() {
    return lease;
  }

  @Override
  public long token() {
    return lease.token();
  }

  @Override
  public int attempt() {
    return lease.attempt();
  }

  /**
   * Whether a renewal was tried since the last that succeeded: if the lease is lost then, the store
   * did not answer in time; if not, this process stood still, or it does not renew.
   */
  public boolean awaitsRenewal() {
    return lastTry.since(lease.start()).isPositive();
  }

  @Override
  public boolean isHeld() {
    Lease current = lease;
    Moment now = keeper.time.now();
    return !closed && !lost && !overdue && !current.isOver(now) && !current.isDoubtful(now);
  }

  /**
   * Bounds the holding: after this long its holder is told as of a loss, and if it then holds it
   * for a lease more, it is renewed no longer. Nobody else gets it before that.
   */
  public void atMost(Duration bound) {
    Duration most = shorter(bound, LONGEST);
    after(
        most,
        () -> {
          LOG.warn(
              "The lease on {} with token {} has been held for {}: its holder is told to stop, and"
                  + " it is renewed for {} more",
              lease.id(),
              token(),
              bound,
              lease.length());
          stop();
        });
    after(most.plus(lease.length()), () -> lose("it was held for longer than " + bound));
  }

  /** Tells the holder to stop, as if it were lost; until it has, the lease is kept. */
  public void stop() {
    overdue = true;
    tellOfLoss();
  }

  /** Whether it has been held for {@linkplain #atMost longer than was agreed}, and is not lost. */
  public boolean isOverdue() {
    return overdue && !lost && !lease.isOver(keeper.time.now());
  }

  /** How long it has been kept. */
  public Duration kept() {
    return keeper.time.now().since(begin);
  }

  /**
   * Whether nobody else can have it as far as is known, though its holder may have been told to
   * stop, or cannot tell for how long: what it has done may still be recorded.
   */
  public boolean isKept() {
    return !closed && !lost && !lease.isOver(keeper.time.now());
  }

  /** Whether only a renewal can tell that it is held: this machine's clocks leapt. */
  public boolean isInDoubt() {
    return !closed && !lost && lease.isDoubtful(keeper.time.now());
  }

  /** What to say of it when it is not held. */
  public String whyNotHeld() {
    return isInDoubt()
        ? "in doubt until it is renewed: this machine's clocks leapt"
        : isOverdue() ? "held for longer than was agreed" : "no longer held";
  }

  @Override
  public void ensureHeld() {
    if (!isHeld()) {
      throw new LeaseLostException(
          "the lease on %s with token %d is %s".formatted(lease.id(), token(), whyNotHeld()));
    }
  }

  @Override
  public void whenLost(Runnable told) {
    synchronized (this) {
      if (closed) {
        return;
      }
      if (!lost && !overdue) {
        whenLost.add(told);
        return;
      }
    }
    told.run();
  }

  /**
   * Runs this once, on the keeper's thread, when the lease has been kept for that long, lost or
   * not, unless it was let go before; up to a second late. It must not block.
   */
  public synchronized void after(Duration kept, Runnable ring) {
    alarms.add(new Alarm(kept, ring));
  }

  /**
   * Makes a last step, such as completing, with the lease as any renewal under way leaves it. While
   * the answer is unknown the lease is still kept, and the step may be repeated.
   */
  public SettleResult settle(Function<Lease, SettleResult> last) {
    step.lock();
    try {
      return settled(last);
    } finally {
      step.unlock();
    }
  }

  /** Like {@link #settle}, but does nothing and returns empty if another step is under way. */
  public Optional<SettleResult> settleUnlessBusy(Function<Lease, SettleResult> last) {
    if (!step.tryLock()) {
      return Optional.empty();
    }
    try {
      return Optional.of(settled(last));
    } finally {
      step.unlock();
    }
  }

  private SettleResult settled(Function<Lease, SettleResult> last) {
    SettleResult result = last.apply(lease);
    mayBeSettled = result instanceof SettleResult.Unknown;
    if (!mayBeSettled) {
      letGo();
    }
    return result;
  }

  /**
   * To be called before the work begins: has the store count this attempt, unless it does so
   * already, as of the first grant of an ID. Work whose beginning is not known to be recorded must
   * not begin, as it may kill its process without end.
   */
  public SettleResult begin() throws InterruptedException {
    return lease.counted()
        ? new SettleResult.Settled(lease)
        : Objects.requireNonNull(keeper.passage.pass(this::begun));
  }

  private SettleResult begun() {
    step.lock();
    try {
      SettleResult answer = renewed(lease.counted(true));
      // It may just have found an earlier renewal, which did not count the attempt.
      return answer instanceof SettleResult.Settled && !lease.counted()
          ? renewed(lease.counted(true))
          : answer;
    } finally {
      step.unlock();
    }
  }

  /**
   * Stops keeping it: it runs out unless it is settled, and nobody is told of anything any more. If
   * the holder is being told of its loss, this waits until that is over: an interrupt that came
   * later would hit other work. A holder that lets it go while it is told of a loss, of this lease
   * or of another, does not wait: two of them would wait for each other.
   */
  public void letGo() {
    if (TELLERS.contains(Thread.currentThread())) {
      abandon();
      return;
    }
    synchronized (this) {
      closed = true;
    }
    telling.lock();
    try {
      keeper.drop(this);
    } finally {
      telling.unlock();
    }
  }

  /**
   * Stops keeping it like {@link #letGo()}, but waits for no holder: one that is being told of its
   * loss may never return.
   */
  public void abandon() {
    synchronized (this) {
      closed = true;
    }
    keeper.drop(this);
  }

  /** Does what is due; returns how soon to look again. */
  Duration tend(Moment now) {
    Duration alarm = ring(now); // first, as it may let the lease go, which is then renewed no more
    Lease current = lease;
    if (lost) {
      tellOfLoss(); // once more, in case no thread could be started for it before
    } else if (current.isOver(now)) {
      lose("it has run out");
    } else if (keeper.renews && isDue(current, now)) {
      beginRenewal(now);
    }
    Duration sleep = shorter(current.length().dividedBy(LOOKS_PER_LEASE), LONGEST_SLEEP);
    return shorter(shorter(sleep, current.remaining(now)), alarm);
  }

  /**
   * A third of the lease after its start, and a sixth after a renewal that failed; at once after a
   * leap of the clocks.
   */
  private boolean isDue(Lease current, Moment now) {
    Duration sixth = current.length().dividedBy(6);
    return !closed
        && !renewing
        && !step.isLocked()
        && (now.hasLeaptSince(lastTry)
            || ((current.isDoubtful(now) || current.isDueForRenewal(now))
                && now.since(lastTry).compareTo(sixth) >= 0));
  }

  private void beginRenewal(Moment now) {
    renewing = true;
    try {
      keeper.renewals.execute(this::renew);
      lastTry = now;
    } catch (RuntimeException | Error e) { // there was no thread for it: the next look tries again
      renewing = false;
      throw e;
    }
  }

  private void renew() {
    try {
      var unused = keeper.passage.pass(this::renewedUnlessNeedless);
    } catch (InterruptedException | RuntimeException | Error e) {
      LeaseKeeper.report("Renewing a lease failed in an unforeseen way", e);
    } finally {
      renewing = false;
    }
  }

  /** Null if another step is under way, or the lease is not kept any more. */
  private @Nullable SettleResult renewedUnlessNeedless() {
    if (!step.tryLock()) {
      return null;
    }
    try {
      return closed || lost ? null : renewed(lease);
    } finally {
      step.unlock();
    }
  }

  private SettleResult renewed(Lease as) {
    SettleResult answer = renewal(as);
    switch (answer) {
      case SettleResult.Settled(Lease renewed) -> lease = renewed;
      case SettleResult.Lost(String by)
          when mayBeSettled && (by == null || lease.holder().equals(by)) ->
          // That may be our own doing: the settlement is repeated, and hears what is true.
          LOG.debug("The lease on {} has ended; its settlement heard no answer", lease.id());
      case SettleResult.Lost(String by) -> lose(by == null ? "nobody has it now" : by + " has it");
      case SettleResult.Unknown(String why) ->
          LOG.atLevel(keeper.failed.isDue() ? Level.WARN : Level.DEBUG)
              .log("The lease on {} could not be renewed, trying again: {}", lease.id(), why);
    }
    return answer;
  }

  /**
   * A store that does not permit it may do so again before the lease is over; but what is no claim
   * any more is nobody's.
   */
  private SettleResult renewal(Lease as) {
    try {
      return keeper.store.renew(as);
    } catch (StoreRefusedException e) {
      return new SettleResult.Unknown(String.valueOf(e.getMessage()));
    } catch (UnreadableClaimException e) {
      lose(String.valueOf(e.getMessage()));
      return new SettleResult.Lost(null);
    }
  }

  private void lose(String how) {
    synchronized (this) {
      if (closed || lost) {
        return;
      }
      lost = true;
    }
    LOG.atLevel(keeper.lost.isDue() ? Level.WARN : Level.DEBUG)
        .log("The lease on {} with token {} is lost: {}", lease.id(), token(), how);
    tellOfLoss();
  }

  /**
   * Tells the holder on a thread of its own, so that one who is slow to hear it holds up no other
   * lease.
   */
  private synchronized void tellOfLoss() {
    if (!whenLost.isEmpty()) {
      List<Runnable> told = List.copyOf(whenLost);
      keeper.losses.execute(() -> tell(told));
      whenLost.clear();
    }
  }

  private void tell(List<Runnable> all) {
    telling.lock();
    try {
      TELLERS.add(Thread.currentThread());
      for (Runnable told : all) {
        if (!closed) {
          runSafely(told);
        }
      }
    } finally {
      TELLERS.remove(Thread.currentThread());
      telling.unlock();
    }
  }

  /** Rings the alarms that are due; returns how soon the next one is. */
  private Duration ring(Moment now) {
    Duration kept = now.since(begin);
    List<Runnable> due = new ArrayList<>();
    Duration next = lease.length();
    synchronized (this) {
      for (Alarm alarm : List.copyOf(alarms)) {
        Duration left = alarm.after.minus(kept);
        if (left.isPositive()) {
          next = shorter(next, left);
        } else if (!closed) {
          alarms.remove(alarm);
          due.add(alarm.ring);
        }
      }
    }
    due.forEach(KeptLease::runSafely);
    return next;
  }

  /** Runs this so that an error in it does not keep the others from being told. */
  private static void runSafely(Runnable told) {
    try {
      told.run();
    } catch (RuntimeException | Error e) {
      LeaseKeeper.report("Telling the holder of a lease failed", e);
    }
  }

  /** The shorter of those two that are positive. */
  private static Duration shorter(Duration one, Duration other) {
    return !other.isPositive() || one.compareTo(other) < 0 ? one : other;
  }
}
