package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.admission.Admission;
import io.firstclaim.processor.engine.admission.Candidate;
import io.firstclaim.processor.engine.admission.Checkpoint;
import io.firstclaim.processor.engine.admission.InFlightLimit;
import io.firstclaim.processor.engine.intake.Delivery;
import io.firstclaim.processor.engine.trace.Trace;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A record from its delivery until its end, while it is claimed under one ID: what is done with it,
 * where it is, what it is woken for, and the other deliveries of its ID that follow it. Its own
 * thread changes its state and waits; any thread may wake it, and have another one follow it.
 */
final class RecordInFlight implements Candidate {
  private static final Duration LONGEST_WAIT = Duration.ofHours(1);

  private final Delivery delivery;
  private final Work work;
  private final RecordsInFlight records;
  private volatile State state;
  private volatile @Nullable Signal signal;
  private volatile @Nullable Thread thread;

  // Guarded by this.
  private List<RecordInFlight> followers = List.of();
  private boolean hasLeft;

  // Used by its own thread alone, once it is the one of its ID.
  private Admission.@Nullable Entry entry;
  private @Nullable Claim lastClaim;

  /** A record whose work has not begun. */
  RecordInFlight(Delivery delivery, Work work, RecordsInFlight records) {
    this(delivery, work, records, new State.Due());
  }

  private RecordInFlight(Delivery delivery, Work work, RecordsInFlight records, State state) {
    this.delivery = delivery;
    this.work = work;
    this.records = records;
    this.state = state;
  }

  Delivery delivery() {
    return delivery;
  }

  Work work() {
    return work;
  }

  State state() {
    return state;
  }

  Trace trace() {
    return delivery.trace();
  }

  /** The record is in this state from now on, for people and for its trace. */
  void reach(State next) {
    state = next;
    if (next instanceof State.Waiting waiting) {
      trace().waits(waiting.what());
    }
  }

  @Override
  public RecordId id() {
    return work.reportId();
  }

  @Override
  public Moment arrival() {
    return delivery.arrival();
  }

  @Override
  public boolean isWanted() {
    return delivery.isWanted();
  }

  @Override
  public Object partition() {
    return delivery.partition().id();
  }

  @Override
  public InFlightLimit.Usage usage() {
    return delivery.partition().usage();
  }

  @Override
  public List<String> resources() {
    return work.resourceNames();
  }

  @Override
  public byte[] grouping() {
    byte[] key = delivery.record().key();
    return switch (records.ordering()) {
      case UNORDERED ->
          (work.resources().isEmpty() ? work.claimId().inStore() : work.resources().getFirst())
              .bytes();
      case KEY -> key == null ? work.claimId().inStore().bytes() : key;
      case PARTITION -> partition().toString().getBytes(StandardCharsets.UTF_8);
    };
  }

  /** What it has to pass before it is claimed, from its first question on. */
  Admission.Entry entry(Admission admission) {
    if (entry == null) {
      entry = admission.entry(this);
    }
    return entry;
  }

  /** What it has passed. */
  Admission.Entry entry() {
    return Objects.requireNonNull(entry);
  }

  /** Leaves all that it has passed. */
  void leaveEntry() {
    if (entry != null) {
      entry.leave();
    }
  }

  /** The claim that was sent last; null if none was, or it must not be sent again. */
  @Nullable Claim lastClaim() {
    return lastClaim;
  }

  /** This claim is sent now. */
  void claims(Claim claim) {
    lastClaim = claim;
  }

  /** The last claim must not be sent again. */
  void forgetsClaim() {
    lastClaim = null;
  }

  /**
   * Whether both, which have one ID, have the same payload: then they are one record. One that was
   * redriven is no twin of one that was not, as what ends the one may be the old end of the other.
   */
  boolean isTwinOf(RecordInFlight other) {
    return records.mayBeTwins()
        && work.fingerprint().equals(other.work.fingerprint())
        && Objects.equals(work.redrive(), other.work.redrive());
  }

  /** Whether it is counted among the records that are present: a twin is not. */
  boolean isCounted() {
    return !(state instanceof State.Twin);
  }

  /** A record of the same delivery, whose work has not begun, or is other work. */
  RecordInFlight anew(Work instead) {
    return new RecordInFlight(delivery, instead, records);
  }

  /**
   * Takes the current thread's work on it up, or has it follow the one of its ID that is worked on.
   *
   * @return null if it is the one; otherwise as what it follows
   */
  @Nullable State enter() {
    thread = Thread.currentThread();
    RecordInFlight first;
    while ((first = records.enter(this)) != null) {
      RecordInFlight follower = behind(first);
      if (first.isFollowedBy(follower)) {
        return follower.state;
      }
    }
    return null;
  }

  /**
   * What follows another in this one's place. A twin keeps nothing of its own: if it must go on,
   * the other's record serves.
   */
  RecordInFlight behind(RecordInFlight first) {
    return isTwinOf(first)
        ? new RecordInFlight(
            delivery.withRecordOf(first.delivery), first.work, records, new State.Twin())
        : new RecordInFlight(delivery, work, records, new State.Following());
  }

  /** Has another wait until this one leaves; false if it has left already. */
  synchronized boolean isFollowedBy(RecordInFlight follower) {
    if (hasLeft) {
      return false;
    }
    if (followers.isEmpty()) {
      followers = new ArrayList<>(1);
    }
    return followers.add(follower);
  }

  /** Those that wait until it leaves. */
  synchronized List<RecordInFlight> followers() {
    return List.copyOf(followers);
  }

  /** Takes out those of its followers that are meant. */
  synchronized List<RecordInFlight> takeOut(Predicate<? super RecordInFlight> meant) {
    List<RecordInFlight> taken = followers.stream().filter(meant).toList();
    if (!taken.isEmpty()) {
      followers.removeIf(meant);
    }
    return taken;
  }

  /** It is worked on no more. Returns those that have followed it: none, if it is called again. */
  List<RecordInFlight> leave() {
    records.remove(this);
    synchronized (this) {
      hasLeft = true;
      List<RecordInFlight> all = followers;
      followers = List.of();
      return all;
    }
  }

  /** Whether its end was announced, and that is enough. */
  boolean isKnownToHaveEnded() {
    return records.knowEndOf(work);
  }

  @Override
  public void call() {
    signal(Signal.YOUR_TURN);
  }

  @Override
  public void free() {
    signal(Signal.FREED);
  }

  /** Wakes it. A stop is never overwritten. */
  void signal(Signal what) {
    synchronized (this) {
      if (!(signal instanceof Signal.Stop)) {
        signal = what;
      }
    }
    LockSupport.unpark(thread);
  }

  /**
   * Waits for its turn, until it is woken by anything, as by its end, or this time is up. An end
   * that was known before is no reason not to wait: who comes here has just looked.
   */
  Woken awaitTurn(Duration atMost) throws InterruptedException {
    Signal came = atMost.equals(Checkpoint.LONG) ? awaitCall() : awaitSignal(atMost);
    if (isKnownToHaveEnded()) {
      return Woken.ITS_END;
    }
    return switch (came) {
      case null -> Woken.TIME_UP;
      case Signal.Stop _ -> Woken.STOP;
      case Signal.Ended _, Signal.DueIn _, Signal.Freed _, Signal.YourTurn _ -> Woken.SIGNALLED;
    };
  }

  /** Waits this long or, if an attempt is announced to have failed, until the next one is due. */
  Woken await(Duration atMost) throws InterruptedException {
    return await(atMost, true);
  }

  /** Waits this long to hear the end of a record that has ended: no other attempt is due. */
  Woken awaitEnd(Duration atMost) throws InterruptedException {
    return await(atMost, false);
  }

  private Woken await(Duration atMost, boolean mayBeDue) throws InterruptedException {
    if (isKnownToHaveEnded()) {
      return Woken.ITS_END;
    }
    long deadline = deadline(atMost);
    Woken whenTimeIsUp = Woken.TIME_UP;
    do {
      @Nullable Signal came = awaitSignal(deadline);
      if (isKnownToHaveEnded()) {
        return Woken.ITS_END;
      }
      switch (came) {
        case null -> {}
        case Signal.Stop _ -> {
          return Woken.STOP;
        }
        case Signal.Ended _ -> {
          return Woken.SIGNALLED;
        }
        case Signal.DueIn(Duration delay) when mayBeDue -> {
          deadline = deadline(delay);
          whenTimeIsUp = Woken.SIGNALLED;
        }
        case Signal.Freed _ when mayBeDue -> {
          return Woken.SIGNALLED;
        }
        // These are not what it waits for.
        case Signal.DueIn _, Signal.Freed _, Signal.YourTurn _ -> {}
      }
    } while (left(deadline) > 0);
    return whenTimeIsUp;
  }

  /** Waits for a signal that is sure to come: a bound would cost each record a timer. */
  private @Nullable Signal awaitCall() throws InterruptedException {
    while (signal == null) {
      LockSupport.park(this);
      requireNoInterrupt();
    }
    return takeSignal();
  }

  /**
   * Waits for a signal, for at most an hour, as the time asked for may come from other machines'
   * clocks.
   *
   * @return the signal, or null if none came within the time
   */
  @Nullable Signal awaitSignal(Duration atMost) throws InterruptedException {
    return awaitSignal(deadline(atMost));
  }

  private @Nullable Signal awaitSignal(long deadline) throws InterruptedException {
    while (signal == null) {
      long left = left(deadline);
      if (left <= 0) {
        return null;
      }
      LockSupport.parkNanos(this, left);
      requireNoInterrupt();
    }
    return takeSignal();
  }

  private static long deadline(Duration atMost) {
    return System.nanoTime() + bounded(atMost).toNanos();
  }

  private static long left(long deadline) {
    return deadline - System.nanoTime();
  }

  private static void requireNoInterrupt() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  private synchronized @Nullable Signal takeSignal() {
    Signal came = signal;
    if (!(came instanceof Signal.Stop)) {
      signal = null;
    }
    return came;
  }

  private static Duration bounded(Duration wait) {
    if (wait.isNegative()) {
      return Duration.ZERO;
    }
    return wait.compareTo(LONGEST_WAIT) < 0 ? wait : LONGEST_WAIT;
  }

  /** Whether waiting is enough, as what the others announce is heard at once. */
  boolean hearsOutcomes() {
    return records.hearOutcomes();
  }

  /** Whether this end would be known here if it had been announced, and is not. */
  boolean misses(Ending ending) {
    return records.miss(work, ending);
  }

  /** The store says that the record lives, under a lease with this token. */
  void lives(long token) {
    records.lives(work, token);
  }
}
