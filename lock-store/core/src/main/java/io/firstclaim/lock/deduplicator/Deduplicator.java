package io.firstclaim.lock.deduplicator;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Effects;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Patience;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreRefusedException;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.lock.keeper.HeldLease;
import io.firstclaim.lock.keeper.KeptLease;
import io.firstclaim.lock.keeper.LeaseKeeper;
import io.firstclaim.lock.keeper.Passage;
import io.firstclaim.lock.keeper.Worker;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does work once for each ID among all processes that share a claim store: claims the ID, keeps the
 * lease while the work runs, and records how it ended.
 *
 * {@snippet :
 * var deduplicator = Deduplicator.builder(store, TimeSource.system()).build();
 * switch (deduplicator.run(RecordId.of(key), Fingerprint.of(body), lease -> charge(body, lease.token()))) {
 *   case RunResult.Ran(String receipt) -> answer(200, receipt);
 *   case RunResult.DoneBefore(Ending ending, String receipt) -> answer(200, receipt);
 *   case RunResult.OtherPayload other -> answer(422, "this key was used for something else");
 *   case RunResult.GivenUp given -> answer(410, "given up: do not come back, we look at it");
 *   case RunResult notNow -> {
 *     log(notNow); // what it tells of causes and hosts is not for the client
 *     answer(503, "not now: come back with the same key");
 *   }
 * }
 * }
 *
 * <p>"Once" is as strong as the work lets it be: if the process dies after the work is done and
 * before that is recorded, the work is done again by whoever comes after the lease. Let the last
 * effect of the work be one that can be repeated, or have its sink refuse a lower {@linkplain
 * HeldLease#token() token}.
 *
 * <p>Work that failed as often as {@link RetryPolicy} lets it is given up, and stays so for the
 * whole retention, until an operator frees its ID: on the command line with {@code java -jar
 * firstclaim.jar redrive ID --reason WHY}, in code with {@link
 * io.firstclaim.lock.ClaimOperations#redrive}. The next call then runs it.
 *
 * <p>Nobody is kept waiting: a caller that comes while another is at it, or before a failed attempt
 * is due again, is told so, and it is up to the caller to come back.
 *
 * <p>Thread-safe. Needs closing only by a process that ends while work may be running: its threads
 * end by themselves soon after the last lease.
 */
public final class Deduplicator implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Deduplicator.class);

  /** How long work is awaited that is interrupted as its deduplicator is closed. */
  private static final Duration TO_END = Duration.ofSeconds(10);

  /** Between two tries to record an end; none after the first, which may just be bad luck. */
  private static final Backoff PAUSES = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(4));

  private final ClaimStore store;
  private final TimeSource time;
  private final RetryPolicy retry;
  private final LeaseKeeper keeper;
  private final Passage passage;
  private final Duration atMost;
  private final RunListener listener;
  private final ClaimSender claims;
  private final Set<Run> running = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  private Deduplicator(Builder builder) {
    store = builder.store;
    time = builder.time;
    retry = builder.retry;
    passage = builder.passage;
    atMost = builder.atMost;
    listener = builder.listener;
    claims = new ClaimSender(store, time);
    keeper = new LeaseKeeper(store, time, builder.renew, passage);
  }

  /** Work that is to be done once. */
  @FunctionalInterface
  public interface Work {
    /**
     * Does the work. The thread is interrupted if the lease is lost, if the work takes {@linkplain
     * Builder#atMost too long}, and if the deduplicator is closed.
     *
     * @return what to store, for those who ask later; may be null. If it is too large for the
     *     store, the work has failed.
     * @throws Exception if it failed; whatever is thrown, the work is tried again until its
     *     attempts are used up
     */
    @Nullable String run(HeldLease lease) throws Exception;

    /**
     * Called before the work is given up for good, under the lease: to write a dead letter, and
     * wait until it is acknowledged. Whoever is told that it is {@linkplain RunResult.GivenUp given
     * up} may rely on it. More than once if the store does not learn of it in time. Its thread is
     * not interrupted by this class. Does nothing if not overridden.
     *
     * @param attempts how many were made
     * @param cause why it is given up
     * @throws Exception if it is not to be given up yet: that {@linkplain RunResult.AttemptFailed
     *     failed}, and is called again when the next attempt would be due, of which there is none
     */
    default void beforeGivenUp(HeldLease lease, int attempts, String cause) throws Exception {}
  }

  /** Work that is to be done once, and ends with writes that are made with its completion. */
  @FunctionalInterface
  public interface WorkWithEffects {
    /**
     * Does the work, like {@link Work#run}, and says how it ends.
     *
     * @throws Exception if it failed; so it has if the effects are {@linkplain
     *     io.firstclaim.lock.EffectsRefusedException refused}
     */
    Completion run(HeldLease lease) throws Exception;
  }

  /**
   * How work ends.
   *
   * @param result what to store, for those who ask later; may be null
   * @param effects written in the transaction that records it, of the kind that the store has
   */
  public record Completion(@Nullable String result, Effects effects) {}

  /** Work that itself says what to record of it. */
  @FunctionalInterface
  public interface Judged {
    /** Does the work, on a thread that this class does not interrupt. */
    Verdict run(KeptLease lease) throws InterruptedException;

    /** The verdict instead of one whose result or effects the store does not take. */
    default Verdict withoutResult(KeptLease lease, IllegalArgumentException tooLarge)
        throws InterruptedException {
      throw tooLarge;
    }
  }

  /** A deduplicator over this store, to be built. */
  public static Builder builder(ClaimStore store, TimeSource time) {
    return new Builder(store, time);
  }

  /** How a deduplicator is to work. Not thread-safe. */
  public static final class Builder {
    private final ClaimStore store;
    private final TimeSource time;
    private RetryPolicy retry = RetryPolicy.DEFAULT;
    private boolean renew = true;
    private Passage passage = Supplier::get;
    private Duration atMost = Duration.ofHours(1);
    private RunListener listener = (id, result, took) -> {};

    private Builder(ClaimStore store, TimeSource time) {
      this.store = store;
      this.time = time;
    }

    /** How often failing work is tried; {@link RetryPolicy#DEFAULT} if not given. */
    public Builder retry(RetryPolicy policy) {
      retry = policy;
      return this;
    }

    /** Whether leases are renewed while their work runs; they are if not given. */
    public Builder renew(boolean whether) {
      renew = whether;
      return this;
    }

    /** The way that renewals and last steps take to the store; straight there if not given. */
    public Builder passage(Passage through) {
      passage = through;
      return this;
    }

    /**
     * How long work may take; an hour if not given. Past it the work is interrupted and has failed,
     * even if it does not heed that for one lease more. Then its lease is renewed no longer, and
     * others do the work while it still hangs.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder atMost(Duration bound) {
      if (!bound.isPositive()) {
        throw new IllegalArgumentException(
            "work may not take at most %s: give a positive time".formatted(bound));
      }
      atMost = bound;
      return this;
    }

    /** Who hears how each run ended; nobody if not given. */
    public Builder listener(RunListener told) {
      listener = told;
      return this;
    }

    /** The deduplicator. */
    public Deduplicator build() {
      return new Deduplicator(this);
    }
  }

  /** How often failing work is tried. */
  public RetryPolicy retry() {
    return retry;
  }

  /**
   * Does the work, unless it was done before or somebody else is at it. Blocks while the work runs,
   * and then until the store has recorded its end, at most until the lease is over.
   *
   * @param fingerprint of the work's input, or {@link Fingerprint#none()}
   * @throws StoreUnavailableException if the store did not answer, though it was asked again and
   *     again for ten seconds; nothing ran. The ID may be {@link RunResult.Busy} to others for one
   *     lease; this deduplicator's next call for it goes on with what this one may have claimed.
   * @throws StoreRefusedException if the store does not permit it; if the work ran, its end is not
   *     recorded, and it is done again by whoever comes after the lease
   * @throws UnreadableClaimException if what is stored for the ID is not a claim; if the work ran,
   *     its end is not recorded, and it may be done again once that is removed
   * @throws InterruptedException if the work threw it, or anything once the deduplicator was
   *     closed, and the lease was not lost: the work is given back, due at once and not counted. Or
   *     if this thread was interrupted before the work began; nothing ran.
   * @throws IllegalStateException if the deduplicator is closed, or was closed before the work
   *     began; nothing ran
   */
  public RunResult run(RecordId id, Fingerprint fingerprint, Work work)
      throws InterruptedException {
    return runOnce(
        id, fingerprint, lease -> new Verdict.Complete(work.run(lease)), work::beforeGivenUp);
  }

  /**
   * Does the work like {@link #run}, and makes its effects in the very transaction that records its
   * end: they are written once, however often the work is repeated.
   *
   * @throws StoreUnavailableException as {@link #run} does
   * @throws StoreRefusedException as {@link #run} does
   * @throws InterruptedException as {@link #run} does
   * @throws IllegalStateException if the store writes no effects; nothing was claimed
   */
  public RunResult runWithEffects(RecordId id, Fingerprint fingerprint, WorkWithEffects work)
      throws InterruptedException {
    if (!store.writesEffects()) {
      throw new IllegalStateException(
          "%s has no transactions and writes no effects with a completion: call run, and make the"
                  .formatted(store.getClass().getSimpleName())
              + " effects such that they can be repeated, or use a table with transactions");
    }
    return runOnce(
        id,
        fingerprint,
        lease -> {
          Completion completion = work.run(lease);
          return new Verdict.Complete(completion.result(), completion.effects());
        },
        (lease, attempts, cause) -> {});
  }

  private interface Completing {
    Verdict.Complete run(HeldLease lease) throws Exception;
  }

  /** What comes {@linkplain Work#beforeGivenUp before giving up}. */
  private interface Ahead {
    void pass(HeldLease lease, int attempts, String cause) throws Exception;
  }

  private RunResult runOnce(RecordId id, Fingerprint fingerprint, Completing work, Ahead ofGivingUp)
      throws InterruptedException {
    Moment begin = time.now();
    RunResult result = ran(id, fingerprint, new Run(work, ofGivingUp));
    try {
      listener.ended(id, result, time.now().since(begin));
    } catch (RuntimeException e) {
      LOG.warn("The listener failed on {}", result, e);
    }
    return result;
  }

  private RunResult ran(RecordId id, Fingerprint fingerprint, Run run) throws InterruptedException {
    running.add(run); // before it claims, so that it is stopped however soon this is closed
    try {
      return made(claim(id, fingerprint), run);
    } finally {
      running.remove(run);
    }
  }

  private RunResult made(ClaimResult answer, Run run) throws InterruptedException {
    return switch (answer) {
      case ClaimResult.Granted granted -> run.make(granted);
      case ClaimResult.Held held -> new RunResult.Busy(held.by(), held.remaining());
      case ClaimResult.Blocked blocked ->
          new RunResult.Busy(
              String.valueOf(blocked.inTheWay().getFirst().by()), blocked.remaining());
      case ClaimResult.Later(Instant retryAt, int attempts) ->
          new RunResult.NotDue(retryAt, attempts);
      case ClaimResult.Done(Ending ending, String result) ->
          new RunResult.DoneBefore(ending, result);
      case ClaimResult.Dead(Ending ending, String cause) -> new RunResult.GivenUp(ending, cause);
      case ClaimResult.Mismatch(Fingerprint stored) -> new RunResult.OtherPayload(stored);
    };
  }

  /**
   * Claims the ID, again and again while the store does not answer, up to ten seconds. A claim that
   * was sent for it before and had no answer is sent again, so that the store knows it if it was
   * granted: by one caller, while others are told that it is held.
   *
   * @throws StoreUnavailableException if it does not answer
   * @throws UnreadableClaimException if what is stored for the ID is not a claim
   * @throws InterruptedException if this thread is interrupted while it waits to ask again
   * @throws IllegalStateException if the deduplicator is closed, or was closed meanwhile: what was
   *     granted is given back
   */
  public ClaimResult claim(RecordId id, Fingerprint fingerprint) throws InterruptedException {
    if (closed) {
      throw closed(id);
    }
    ClaimResult answer = claims.send(id, fingerprint);
    if (closed && answer instanceof ClaimResult.Granted(Lease lease, var unused)) {
      claims.giveBack(lease);
      throw closed(id);
    }
    return answer;
  }

  private static IllegalStateException closed(RecordId id) {
    return new IllegalStateException("%s is not claimed: the deduplicator is closed".formatted(id));
  }

  /**
   * Makes one attempt under a grant: keeps the lease while the work runs, then records the work's
   * own verdict, trying without end until the store says what became of it. Applying the retry
   * policy is up to the work.
   *
   * <p>A grant that came late is renewed first, as a claim may take several requests where a
   * renewal takes one: otherwise it would come too late each time. Nothing was done under it yet,
   * so it does not matter if it was over before the store renewed it. If somebody else has it by
   * then, nothing begins.
   *
   * <p>The work calls {@link KeptLease#begin} before its first effect.
   *
   * @throws UnreadableClaimException if what is stored for the ID is not a claim any more: the
   *     lease is lost, and nothing is recorded
   * @throws InterruptedException if the work threw it, or the passage before the work began;
   *     nothing is recorded, and the lease runs out
   */
  public Attempted attempt(ClaimResult.Granted granted, Judged work) throws InterruptedException {
    return attempt(granted, work, unused -> true);
  }

  /**
   * Makes one attempt like {@link #attempt(ClaimResult.Granted, Judged)}, but does not record its
   * verdict at any price.
   *
   * @param worthTryingAgain asked each time that the store has not said what became of the verdict;
   *     if it is not, the answer is {@link SettleResult.Unknown}
   * @throws UnreadableClaimException as that does
   * @throws InterruptedException as that does
   */
  public Attempted attempt(
      ClaimResult.Granted granted, Judged work, Predicate<KeptLease> worthTryingAgain)
      throws InterruptedException {
    Lease lease = granted.lease();
    if (lease.isDueForRenewal(time.now())) {
      switch (Objects.requireNonNull(passage.pass(() -> store.renew(granted.lease())))) {
        case SettleResult.Settled(Lease renewed) -> lease = renewed;
        case SettleResult.Lost lost -> {
          return new Attempted(new Verdict.Leave(), lost);
        }
        case SettleResult.Unknown unused -> {} // the work finds out itself whether it may begin
      }
    }
    KeptLease kept = keeper.keep(lease);
    try {
      Verdict verdict = work.run(kept);
      try {
        return new Attempted(verdict, record(kept, verdict, worthTryingAgain));
      } catch (IllegalArgumentException e) {
        verdict = work.withoutResult(kept, e);
        return new Attempted(verdict, record(kept, verdict, worthTryingAgain));
      }
    } finally {
      kept.letGo();
    }
  }

  private SettleResult record(
      KeptLease kept, Verdict verdict, Predicate<KeptLease> worthTryingAgain) {
    return switch (verdict) {
      case Verdict.Complete(String result, Effects effects) ->
          stepUntilAnswered(
              kept,
              lease ->
                  effects == null
                      ? store.complete(lease, result)
                      : store.complete(lease, result, effects),
              worthTryingAgain);
      case Verdict.Release(Instant retryAt, int attempts, String cause) -> {
        Supplier<Instant> due = byTicks(retryAt);
        yield stepUntilAnswered(
            kept,
            lease -> store.release(lease.ofAttempt(attempts), due.get(), cause),
            worthTryingAgain);
      }
      case Verdict.Bury(String cause) ->
          stepUntilAnswered(kept, lease -> store.bury(lease, cause), worthTryingAgain);
      case Verdict.Leave() -> new SettleResult.Settled(kept.lease());
    };
  }

  /**
   * What the wall clock says when it is that time. Until a release is stored the clock may be set,
   * and what was to be tried again in a minute would wait for as long as it was set back.
   */
  private Supplier<Instant> byTicks(Instant retryAt) {
    if (retryAt.equals(ClaimStore.AT_ONCE)) {
      return () -> retryAt;
    }
    Moment said = time.now();
    Duration delay = Duration.between(said.wall(), retryAt);
    return () -> {
      Moment now = time.now();
      return now.wall().plus(delay).minus(now.since(said));
    };
  }

  /** Makes the last step, again and again while its answer is unknown, through interrupts too. */
  private SettleResult stepUntilAnswered(
      KeptLease kept, Function<Lease, SettleResult> last, Predicate<KeptLease> worthTryingAgain) {
    boolean interrupted = Thread.interrupted();
    try {
      for (int failures = 0; ; failures++) {
        try {
          time.sleep(PAUSES.after(failures - 1));
          SettleResult answer = Objects.requireNonNull(passage.pass(() -> kept.settle(last)));
          if (!(answer instanceof SettleResult.Unknown(String why))) {
            return answer;
          }
          if (!worthTryingAgain.test(kept)) {
            return answer;
          }
          LOG.debug("Not yet known whether the end of {} is recorded: {}", kept.lease().id(), why);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * For a process that ends: nothing is claimed any more, work under way is interrupted and awaited
   * for ten seconds, and what was claimed without an answer is given back; so others need not wait
   * for leases of nobody. Claims under way are awaited with the work: what they are granted is
   * given back, and no work begins. Work that does not heed its interrupt is left to its lease,
   * which is renewed for as long as the process lives.
   */
  @Override
  public void close() {
    closed = true;
    Patience patience = new Patience(time, TO_END);
    try {
      running.forEach(Run::stop);
      claims.close(patience);
      while (!running.isEmpty() && !patience.isOver()) {
        patience.pause();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** One run under way. For one thread, but {@link #stop()}. */
  private final class Run implements Judged {
    private final Worker worker = new Worker();
    private final Completing work;
    private final Ahead ofGivingUp;
    private @Nullable Throwable thrown;
    private @Nullable String unrecorded;
    private int made;
    private boolean lost;
    private boolean tooLate;
    private volatile boolean stopped;

    Run(Completing work, Ahead ofGivingUp) {
      this.work = work;
      this.ofGivingUp = ofGivingUp;
    }

    /** Interrupts the work, or keeps it from beginning, as the deduplicator is closed. */
    void stop() {
      stopped = true;
      worker.interrupt();
    }

    RunResult make(ClaimResult.Granted granted) throws InterruptedException {
      Attempted attempted = attempt(granted, this, KeptLease::isKept);
      if (tooLate) {
        throw closed(granted.lease().id());
      }
      if (thrown instanceof InterruptedException interrupt && !lost) {
        throw interrupt;
      }
      if (unrecorded != null) {
        throw new StoreUnavailableException(
            "it is not known whether the beginning of the work is recorded, so it did not begin: "
                + unrecorded);
      }
      return switch (attempted.answer()) {
        case SettleResult.Lost(String by) -> new RunResult.LeaseLost(by, thrown);
        case SettleResult.Unknown unused when lost -> new RunResult.LeaseLost(null, thrown);
        case SettleResult.Unknown(String why) -> new RunResult.Unknown(why, thrown);
        case SettleResult.Settled(Lease lease) -> resultOf(attempted.verdict(), lease);
      };
    }

    private RunResult resultOf(Verdict verdict, Lease lease) {
      return switch (verdict) {
        case Verdict.Complete(String result, var unused) -> new RunResult.Ran(result);
        case Verdict.Bury(String cause) ->
            new RunResult.GivenUp(
                new Ending(lease.holder(), lease.token(), lease.attempt(), time.now().wall()),
                cause,
                thrown);
        case Verdict.Release release when !lost && thrown != null ->
            new RunResult.AttemptFailed(release.retryAt(), made, thrown);
        case Verdict.Release unused -> new RunResult.LeaseLost(null, thrown);
        case Verdict.Leave unused -> new RunResult.LeaseLost(null, thrown);
      };
    }

    /** What was done cannot be kept, so it counts as failed. */
    @Override
    public Verdict withoutResult(KeptLease kept, IllegalArgumentException tooLarge) {
      thrown = tooLarge;
      return failed(kept, tooLarge);
    }

    @Override
    public Verdict run(KeptLease kept) throws InterruptedException {
      int attempt = kept.attempt();
      made = retry.made(attempt);
      if (stopped) {
        return tooLate(attempt);
      }
      if (!kept.isHeld()) {
        lost = true;
        return new Verdict.Release(ClaimStore.AT_ONCE, attempt - 1, "the grant took too long");
      }
      if (retry.isSpent(attempt)) {
        return givenUp(kept, RetryPolicy.SPENT);
      }
      switch (kept.begin()) {
        case SettleResult.Settled unused when stopped -> {
          return tooLate(attempt);
        }
        case SettleResult.Settled unused -> {}
        case SettleResult.Lost unused -> {
          lost = true;
          return new Verdict.Leave();
        }
        case SettleResult.Unknown(String why) -> {
          unrecorded = why;
          return new Verdict.Release(ClaimStore.AT_ONCE, attempt - 1, "it was not begun");
        }
      }
      kept.whenLost(worker::interrupt);
      kept.atMost(atMost);
      try {
        worker.begin();
        try {
          return work.run(kept);
        } finally {
          boolean unused = worker.end();
        }
      } catch (Exception | Error e) { // whatever it throws, the work needs a verdict
        thrown = fault(kept, e);
        lost = !kept.isHeld() && !kept.isOverdue();
        return failed(kept, thrown);
      }
    }

    /** The work does not begin, as the deduplicator was closed before. */
    private Verdict tooLate(int attempt) {
      tooLate = true;
      return new Verdict.Release(ClaimStore.AT_ONCE, attempt - 1, "closed");
    }

    /** The fault of work that threw this: a time limit or a close may be behind it. */
    private Throwable fault(KeptLease kept, Throwable e) {
      if (kept.isOverdue()) {
        return tookTooLong(e);
      }
      return stopped ? interrupted(e) : e;
    }

    private TimeoutException tookTooLong(Throwable cause) {
      var timeout = new TimeoutException("the work took longer than " + atMost);
      timeout.initCause(cause);
      return timeout;
    }

    /**
     * The interrupt of work that was told to stop and has thrown this, as many wrap an interrupt:
     * the work did not fail.
     */
    private static InterruptedException interrupted(Throwable fault) {
      if (fault instanceof InterruptedException itself) {
        return itself;
      }
      var interrupt = new InterruptedException("stopped, as the deduplicator is closed");
      interrupt.initCause(fault);
      return interrupt;
    }

    private Verdict failed(KeptLease kept, Throwable fault) {
      int attempt = kept.attempt();
      if (lost) {
        int made = kept.awaitsRenewal() ? attempt - 1 : attempt;
        return new Verdict.Release(ClaimStore.AT_ONCE, made, "the lease was lost");
      }
      if (fault instanceof InterruptedException) {
        return new Verdict.Release(ClaimStore.AT_ONCE, attempt - 1, "interrupted");
      }
      return retry.isLast(attempt) ? givenUp(kept, fault.toString()) : later(attempt, fault);
    }

    private Verdict later(int attempt, Throwable fault) {
      return new Verdict.Release(
          time.now().wall().plus(retry.after(attempt)), retry.counted(attempt), fault.toString());
    }

    /** Given up, once what must be done before that is done. */
    private Verdict givenUp(KeptLease kept, String cause) {
      int attempt = kept.attempt();
      try {
        ofGivingUp.pass(kept, made, cause);
        return new Verdict.Bury(cause);
      } catch (Exception | Error e) { // whatever it throws, the work needs a verdict
        if (thrown != null && !thrown.equals(e)) {
          e.addSuppressed(thrown);
        }
        thrown = e;
        return e instanceof InterruptedException
            ? new Verdict.Release(ClaimStore.AT_ONCE, retry.counted(attempt), "interrupted")
            : later(attempt, e);
      }
    }
  }
}
