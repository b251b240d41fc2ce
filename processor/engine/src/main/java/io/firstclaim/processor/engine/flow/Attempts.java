package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.lock.deduplicator.Attempted;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RetryPolicy;
import io.firstclaim.lock.deduplicator.Verdict;
import io.firstclaim.lock.keeper.KeptLease;
import io.firstclaim.processor.engine.admission.Suspects;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.deadletter.DeadLetterException;
import io.firstclaim.processor.engine.deadletter.DeadLetters;
import io.firstclaim.processor.engine.flow.Work.Task;
import io.firstclaim.processor.engine.handler.CallResult;
import io.firstclaim.processor.engine.handler.Cause;
import io.firstclaim.processor.engine.handler.HandlerCall;
import io.firstclaim.processor.engine.handler.HandlerCalls;
import io.firstclaim.processor.engine.trace.Trace;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.slf4j.event.Level;

/**
 * Makes attempts on records: each is handled under its lease, then settled. {@link HandlerCalls}
 * has the handler called; here that becomes a verdict, with a dead letter if the record is given
 * up; the {@link Deduplicator} keeps the lease and records the verdict. Blocks; thread-safe.
 */
public final class Attempts {
  private static final Logger LOG = LoggerFactory.getLogger(Attempts.class);

  private final Deduplicator deduplicator;
  private final RetryPolicy retry;
  private final HandlerCalls calls;
  private final DeadLetters deadLetters;
  private final OutcomePublisher publisher;
  private final EngineListener listener;
  private final @Nullable Findings findings;
  private final TimeSource time;
  private final OncePerMinute loss;

  /**
   * Attempts by these parts.
   *
   * @param findings is told which records are done here, in shadow mode; else null
   */
  public Attempts(
      Deduplicator deduplicator,
      HandlerCalls calls,
      DeadLetters deadLetters,
      OutcomePublisher publisher,
      EngineListener listener,
      @Nullable Findings findings,
      TimeSource time) {
    this.deduplicator = deduplicator;
    this.retry = deduplicator.retry();
    this.calls = calls;
    this.deadLetters = deadLetters;
    this.publisher = publisher;
    this.listener = listener;
    this.findings = findings;
    this.time = time;
    this.loss = new OncePerMinute(time);
  }

  /** The engine has waited long enough: all handlers are interrupted. */
  void interruptAll() {
    calls.interruptAll();
  }

  /**
   * Makes one attempt on a record.
   *
   * @param abandoned run if the handler ignores its interrupt; another thread must then go on
   */
  State make(RecordInFlight record, ClaimResult.Granted granted, Runnable abandoned)
      throws InterruptedException {
    MDC.put("token", Long.toString(granted.lease().token()));
    try {
      return new Attempt(record, granted, abandoned).make();
    } finally {
      MDC.remove("token");
    }
  }

  /**
   * What an attempt came to.
   *
   * @param verdict what is to be recorded of it
   * @param next where the record goes; null if that follows from what was recorded
   */
  private record Judgement(Verdict verdict, @Nullable State next) {
    Judgement(Verdict verdict) {
      this(verdict, null);
    }
  }

  /** One attempt under way. For the record's own thread. */
  private final class Attempt implements Deduplicator.Judged {
    private final RecordInFlight record;
    private final Work work;
    private final Trace trace;
    private final ClaimResult.Granted granted;
    private final Suspects.Suspect suspect;
    private final Runnable abandoned;
    private final int number;

    /** How many attempts were made, as far as is known. */
    private final int made;

    private Duration took = Duration.ZERO;
    private Judgement judgement = new Judgement(new Verdict.Leave());

    Attempt(RecordInFlight record, ClaimResult.Granted granted, Runnable abandoned) {
      this.record = record;
      this.work = record.work();
      this.trace = record.trace();
      this.granted = granted;
      this.suspect = record.entry().suspect();
      this.abandoned = abandoned;
      this.number = granted.lease().attempt();
      this.made =
          work.task() instanceof Task.GiveUpAfter(_, int attempts, _, _)
              ? attempts
              : retry.made(number);
    }

    State make() throws InterruptedException {
      trace.granted(number, granted.lease().token());
      String takenFrom = granted.takenFrom();
      // A suspect that was postponed here was taken over then.
      if (takenFrom != null && !(suspect.isTaken() && takenFrom.equals(granted.lease().holder()))) {
        listener.tookOver();
        trace.tookOver(takenFrom);
        publisher.happened(
            record,
            new Event(
                Outcome.Kind.TAKEN_OVER,
                takeover(granted.lease()),
                "the lease of " + takenFrom + " was over"));
        LOG.info("Took {} over from {}", work.reportId(), takenFrom);
      }
      State next = attempted();
      return judgement.next == null ? next : judgement.next;
    }

    /**
     * The takeover, dated when the record was claimed: after a pause it may be announced later than
     * the next one.
     */
    private static Ending takeover(Lease lease) {
      return new Ending(lease.holder(), lease.token(), lease.attempt(), lease.start().wall());
    }

    private State attempted() throws InterruptedException {
      try {
        Attempted attempted = deduplicator.attempt(granted, this);
        if (Thread.interrupted()) {
          LOG.warn("Settling {} was interrupted from outside and went on", work.reportId());
        }
        return switch (attempted.answer()) {
          case SettleResult.Settled(Lease lease) -> settled(attempted.verdict(), lease);
          case SettleResult.Lost(String by) ->
              lost(by == null ? "nobody holds it" : by + " has it");
          case SettleResult.Unknown(String why) ->
              throw new IllegalStateException("an attempt ends once it is known: " + why);
        };
      } catch (UnreadableClaimException e) {
        return lost(OneLine.of(e));
      }
    }

    /** Effects that the store does not take are the handler's own failure. */
    @Override
    public Verdict withoutResult(KeptLease held, IllegalArgumentException refused) {
      return toSettle(tryAgain(held, Cause.of(refused.getMessage()), Optional.empty()));
    }

    @Override
    public Verdict run(KeptLease held) throws InterruptedException {
      return toSettle(judged(held));
    }

    private Verdict toSettle(Judgement judged) {
      judgement = judged;
      if (!(judged.verdict instanceof Verdict.Leave)) {
        trace.settles();
      }
      return judged.verdict;
    }

    private Judgement judged(KeptLease held) throws InterruptedException {
      boolean mustWait = isSuspect() && !(suspect.isTaken() && held.isHeld());
      suspect.setNeeded(mustWait);
      if (mustWait) {
        return postpone();
      }
      if (held.lease().isDueForRenewal(time.now())) {
        return release("the grant came too late for it to begin", Duration.ZERO, number - 1);
      }
      return switch (work.task()) {
        case Task.GiveUp(String cause) -> bury(held, cause);
        case Task.GiveUpAfter(_, _, Work attempted, RedriveId freedBy)
            when !Objects.equals(freedBy, granted.lease().redrive()) ->
            new Judgement(
                released("it was redriven since it was given up", Duration.ZERO, number - 1),
                new State.Anew(attempted));
        case Task.GiveUpAfter(String cause, _, _, _) -> bury(held, cause);
        case Task.Handle _ when retry.isSpent(number) -> bury(held, RetryPolicy.SPENT);
        case Task.Handle(RecordHandler handler) -> handle(handler, held);
      };
    }

    /** Whether the record has holders who died, and so many that it may be what they died of. */
    private boolean isSuspect() {
      return granted.takenFrom() != null
          && work.task() instanceof Task.Handle
          && number > Math.max(1, retry.maxAttempts() / 2)
          && number <= retry.maxAttempts();
    }

    /**
     * Leaves a suspect alone, not begun and so uncounted, until its lease is over: whoever claims
     * it then, in whichever zone, takes it over and so knows it for a suspect. Even one that nobody
     * is ahead of waits that long, so that all that were held by the process that died are known
     * and claimed no more before the first of them may kill the next.
     */
    private Judgement postpone() {
      return new Judgement(new Verdict.Leave());
    }

    private Judgement handle(RecordHandler handler, KeptLease held) throws InterruptedException {
      record.entry().begins();
      HandlerCalls.Called called =
          calls.make(
              new HandlerCall(
                  handler,
                  work.reportId(),
                  record.delivery(),
                  held,
                  granted.lease().resources(),
                  record.entry().trial(),
                  abandoned));
      took = called.took();
      return switch (called.result()) {
        case CallResult.Handled(var result, var effects) ->
            new Judgement(new Verdict.Complete(result, effects));
        case CallResult.Hopeless(String cause) -> bury(held, cause);
        case CallResult.TryAgain(String cause, var after) -> tryAgain(held, cause, after);
        case CallResult.Excused excused -> excuse(excused);
        case CallResult.CutShort(String cause, boolean counts) ->
            release(cause, Duration.ZERO, counts ? number : number - 1);
        case CallResult.Abandoned _ -> new Judgement(new Verdict.Leave(), new State.Abandoned());
      };
    }

    /**
     * Lets the record go with an attempt that says nothing of it. Another zone may have it once
     * that is due; here it stays away for longer, the more often it was refused.
     */
    private Judgement excuse(CallResult.Excused excused) {
      LOG.debug("{} was tried in vain: {}", work.reportId(), excused.cause());
      Duration after = excused.after();
      Duration pause = retry.after(excused.refusals());
      return new Judgement(
          released(excused.cause(), after, number - 1),
          new State.Refused(pause(pause.compareTo(after) > 0 ? pause : after)));
    }

    private Judgement tryAgain(KeptLease held, String cause, Optional<Duration> asked) {
      if (retry.isLast(number)) {
        return bury(held, cause);
      }
      Duration pause = retry.after(number, asked);
      LOG.info("Attempt {} on {} failed, next in {}: {}", number, work.reportId(), pause, cause);
      return release(cause, pause, number);
    }

    /** Gives the record up once its dead letter is written. */
    private Judgement bury(KeptLease held, String cause) {
      if (!held.isHeld()) {
        return notGivenUpYet(cause, cause, Duration.ZERO);
      }
      try {
        trace.buries();
        deadLetters.write(record.delivery().record(), work.reportId(), made, cause, work.redrive());
        return new Judgement(new Verdict.Bury(cause));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // it is heeded once the release is recorded
        return withoutLetter(cause, e);
      } catch (RuntimeException | Error e) {
        return withoutLetter(cause, e);
      }
    }

    /**
     * Whatever kept the dead letter from being written, the attempt needs its verdict: if none were
     * recorded, the lease would run out, and who takes the record over would call its handler
     * again.
     */
    private Judgement withoutLetter(String cause, Throwable fault) {
      logWithoutLetter(fault);
      String why =
          fault instanceof DeadLetterException
              ? fault.getMessage()
              : "its dead letter could not be written: " + fault;
      return notGivenUpYet(cause, Cause.of(why), retry.after(number));
    }

    /**
     * Lets the record go for now, such that neither its handler here nor that of another zone is
     * called again: that it is to be given up is known.
     */
    private Judgement notGivenUpYet(String cause, String why, Duration after) {
      int attempts =
          work.task() instanceof Task.GiveUp ? retry.counted(number) : retry.spent(number);
      return new Judgement(
          released(why, after, attempts),
          new State.Anew(work.givenUp(cause, made, granted.lease().redrive())));
    }

    private void logWithoutLetter(Throwable fault) {
      try {
        LOG.warn("No dead letter of {} yet", work.reportId(), fault);
      } catch (RuntimeException | Error e) {
        // The verdict must go on even where nothing can be logged, such as without memory.
      }
    }

    private Judgement release(String cause, Duration after, int attempts) {
      return new Judgement(released(cause, after, attempts));
    }

    private Verdict released(String cause, Duration after, int attempts) {
      Instant retryAt = after.isZero() ? ClaimStore.AT_ONCE : time.now().wall().plus(after);
      return new Verdict.Release(retryAt, attempts, cause);
    }

    private State settled(Verdict verdict, Lease lease) {
      return switch (verdict) {
        case Verdict.Complete _ -> {
          ended(Outcome.Kind.COMPLETED, lease, null);
          publisher.delivered(record.delivery(), Delivered.COMPLETED);
          if (findings != null) {
            findings.first();
          }
          yield new State.Settled();
        }
        case Verdict.Bury(String cause) -> {
          ended(work.deadKind(), lease, cause);
          publisher.delivered(
              record.delivery(),
              work.deadKind() == Outcome.Kind.MISMATCH ? Delivered.MISMATCH : Delivered.DEAD);
          LOG.warn("Gave {} up after attempt {}: {}", work.reportId(), made, cause);
          yield new State.Settled();
        }
        case Verdict.Release(Instant due, _, String cause) -> {
          Instant retryAt = due.equals(ClaimStore.AT_ONCE) ? time.now().wall() : due;
          happened(Outcome.Kind.FAILED, cause, retryAt);
          publisher.delivered(record.delivery(), Delivered.FAILED);
          yield new State.NotDue(pause(Duration.between(time.now().wall(), retryAt)));
        }
        case Verdict.Leave _ -> new State.NotDue(pause(lease.remaining(time.now())));
      };
    }

    private State lost(String cause) {
      happened(Outcome.Kind.LEASE_LOST, cause, null);
      publisher.delivered(record.delivery(), Delivered.LOST);
      LOG.atLevel(loss.isDue() ? Level.WARN : Level.DEBUG)
          .log(
              "The lease on {} with token {} was lost, nothing is recorded: {}",
              work.reportId(),
              granted.lease().token(),
              cause);
      return new State.Due();
    }

    private void ended(Outcome.Kind kind, Lease lease, @Nullable String cause) {
      publisher.ended(record, new Event(kind, publisher.by(lease), took, cause, null));
    }

    private void happened(Outcome.Kind kind, String cause, @Nullable Instant retryAt) {
      publisher.happened(
          record, new Event(kind, publisher.by(granted.lease()), took, cause, retryAt));
    }

    private State.Pause pause(Duration length) {
      return State.Pause.of(length, time.now());
    }
  }
}
