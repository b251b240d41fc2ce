package io.firstclaim.lock.testkit.fault;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.UnreadableClaimException;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A store with the faults that a test asks for. Counts and remembers the calls. */
public final class FaultyStore implements ClaimStore {
  /** What it can be asked to do. */
  public enum Op {
    CLAIM,
    RENEW,
    COMPLETE,
    RELEASE,
    BURY,
    FIND
  }

  /** What goes wrong. */
  public enum Fault {
    /** The request is lost: nothing happens and no answer comes. */
    LOST_REQUEST,
    /** It happens, but no answer comes. */
    LOST_ANSWER,
    /** It happens, but no answer comes, and the caller is interrupted. */
    INTERRUPTED,
    /** It does not return before {@link #wake}. */
    SILENCE,
    /** The store does not permit it; nothing happens. */
    DENIED,
    /** What it is to keep is too large; nothing happens. */
    TOO_LARGE,
    /** The store throws what it never should. */
    DEFECT,
    /** The JVM is out of memory. */
    ERROR
  }

  /** A call that is held up on its way to the store. */
  public static final class Hold {
    private final AtomicInteger arrived = new AtomicInteger();
    private final CountDownLatch released = new CountDownLatch(1);

    /** How many calls have come this far. */
    public int arrived() {
      return arrived.get();
    }

    /** Lets them go, and those to come. */
    public void release() {
      released.countDown();
    }

    private void pass() {
      arrived.incrementAndGet();
      await(released);
    }
  }

  private final ClaimStore store;
  private final Map<Op, AtomicInteger> calls = new EnumMap<>(Op.class);
  private final Map<Op, Deque<Fault>> faults = new EnumMap<>(Op.class);
  private final Queue<Fault> faultsOfAny = new ConcurrentLinkedQueue<>();
  private final CountDownLatch silence = new CountDownLatch(1);
  private final Map<Op, Hold> holds = new ConcurrentHashMap<>();
  private final Queue<SettleResult> renewals = new ConcurrentLinkedQueue<>();
  private final Queue<Claim> claims = new ConcurrentLinkedQueue<>();
  private final Queue<Lease> leases = new ConcurrentLinkedQueue<>();
  private final Set<RecordId> unreadable = ConcurrentHashMap.newKeySet();
  private final Map<Op, BooleanSupplier> downs = new ConcurrentHashMap<>();
  private final Map<Op, BooleanSupplier> mutes = new ConcurrentHashMap<>();
  private volatile BooleanSupplier down = () -> false;
  private volatile boolean denies;
  private volatile int mostAtOnce = Integer.MAX_VALUE;

  /** Faults on the way to this store. */
  public FaultyStore(ClaimStore store) {
    this.store = store;
    for (Op op : Op.values()) {
      calls.put(op, new AtomicInteger());
      faults.put(op, new ConcurrentLinkedDeque<>());
    }
  }

  /** It makes the most of no more than so many writes at once. */
  public void narrowTo(int writes) {
    this.mostAtOnce = writes;
  }

  /** The next calls go wrong like this, one after the other. */
  public void next(Op op, Fault... wrong) {
    of(faults, op).addAll(Arrays.asList(wrong));
  }

  /** The next calls, whatever they ask, go wrong like this, one after the other. */
  public void next(Fault... wrong) {
    faultsOfAny.addAll(Arrays.asList(wrong));
  }

  /** Answers the next renewal like this. */
  public void nextRenewal(SettleResult answer) {
    renewals.add(answer);
  }

  /** Whether every request is lost. */
  public void setDown(boolean isDown) {
    downWhile(() -> isDown);
  }

  /** Every request is lost while this holds. */
  public void downWhile(BooleanSupplier holds) {
    down = holds;
  }

  /** Whether it permits nothing. */
  public void setDenies(boolean all) {
    denies = all;
  }

  /** Every request of this kind is lost while this holds. */
  public void downWhile(Op op, BooleanSupplier holds) {
    downs.put(op, holds);
  }

  /** Every request of this kind happens, and none is answered, while this holds. */
  public void muteWhile(Op op, BooleanSupplier holds) {
    mutes.put(op, holds);
  }

  /** Ends every {@link Fault#SILENCE}. */
  public void wake() {
    silence.countDown();
  }

  /** The IDs for which it holds something that is not a claim. */
  public Set<RecordId> unreadable() {
    return unreadable;
  }

  /** Holds up calls from now on. */
  public Hold hold(Op op) {
    Hold hold = new Hold();
    holds.put(op, hold);
    return hold;
  }

  /** How often it was asked to do this. */
  public int calls(Op op) {
    return of(calls, op).get();
  }

  /** How often it was asked anything. */
  public int calls() {
    return calls.values().stream().mapToInt(AtomicInteger::get).sum();
  }

  /** The claims as they were sent. */
  public Collection<Claim> claims() {
    return List.copyOf(claims);
  }

  /** The leases that steps were asked for under. */
  public Collection<Lease> leases() {
    return List.copyOf(leases);
  }

  @Override
  public ClaimResult claim(Claim claim) {
    claims.add(claim);
    return call(
        Op.CLAIM,
        () -> {
          requireReadable(claim.id());
          return store.claim(claim);
        },
        () -> {
          throw unavailable();
        });
  }

  @Override
  public SettleResult renew(Lease lease) {
    leases.add(lease);
    SettleResult told = renewals.poll();
    return settle(Op.RENEW, lease, () -> told == null ? store.renew(lease) : told);
  }

  @Override
  public SettleResult complete(Lease lease, @Nullable String result) {
    leases.add(lease);
    return settle(Op.COMPLETE, lease, () -> store.complete(lease, result));
  }

  @Override
  public int writesAtOnce() {
    return Math.min(mostAtOnce, store.writesAtOnce());
  }

  @Override
  public boolean writesEffects() {
    return store.writesEffects();
  }

  @Override
  public SettleResult release(Lease lease, Instant retryAt, String cause) {
    leases.add(lease);
    return settle(Op.RELEASE, lease, () -> store.release(lease, retryAt, cause));
  }

  @Override
  public SettleResult bury(Lease lease, String cause) {
    leases.add(lease);
    return settle(Op.BURY, lease, () -> store.bury(lease, cause));
  }

  @Override
  public Optional<ClaimRecord> find(RecordId id) {
    return call(
        Op.FIND,
        () -> {
          requireReadable(id);
          return store.find(id);
        },
        () -> {
          throw unavailable();
        });
  }

  /** Never fails: it is asked for when a store is opened. */
  @Override
  public String identity() {
    return store.identity();
  }

  private SettleResult settle(Op op, Lease lease, Supplier<SettleResult> call) {
    return call(
        op,
        () -> {
          requireReadable(lease.id());
          return call.get();
        },
        () -> new SettleResult.Unknown("no answer to " + op));
  }

  private void requireReadable(RecordId id) {
    if (unreadable.contains(id)) {
      throw new UnreadableClaimException("what is stored for %s is not a claim".formatted(id));
    }
  }

  private <R> R call(Op op, Supplier<R> call, Supplier<R> noAnswer) {
    of(calls, op).incrementAndGet();
    Hold hold = holds.get(op);
    if (hold != null) {
      hold.pass();
    }
    return switch (fault(op)) {
      case null -> call.get();
      case LOST_REQUEST -> noAnswer.get();
      case LOST_ANSWER -> {
        R unused = call.get();
        yield noAnswer.get();
      }
      case INTERRUPTED -> {
        R unused = call.get();
        Thread.currentThread().interrupt();
        yield noAnswer.get();
      }
      case SILENCE -> {
        await(silence);
        yield noAnswer.get();
      }
      case DENIED -> throw new StoreRefusedException("the role may not " + op);
      case TOO_LARGE -> throw new IllegalArgumentException("too large for " + op);
      case DEFECT -> throw new IllegalStateException("a defect in " + op);
      case ERROR -> throw new OutOfMemoryError("in " + op);
    };
  }

  private @Nullable Fault fault(Op op) {
    if (down.getAsBoolean() || downs.getOrDefault(op, () -> false).getAsBoolean()) {
      return Fault.LOST_REQUEST;
    }
    if (denies) {
      return Fault.DENIED;
    }
    if (mutes.getOrDefault(op, () -> false).getAsBoolean()) {
      return Fault.LOST_ANSWER;
    }
    Fault fault = of(faults, op).poll();
    return fault == null ? faultsOfAny.poll() : fault;
  }

  /** Waits through interrupts. */
  private static void await(CountDownLatch latch) {
    boolean interrupted = false;
    while (true) {
      try {
        latch.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static <T> T of(Map<Op, T> map, Op op) {
    return Objects.requireNonNull(map.get(op));
  }

  private static StoreUnavailableException unavailable() {
    return new StoreUnavailableException("no answer", new IOException("connection reset"));
  }
}
