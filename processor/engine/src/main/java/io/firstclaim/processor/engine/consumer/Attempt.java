package io.firstclaim.processor.engine.consumer;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.claim.HeldLease;
import io.firstclaim.processor.engine.claim.LeaseKeeper;
import io.firstclaim.processor.engine.claim.StoreGate;
import io.firstclaim.processor.engine.consumer.Work.Task;
import io.firstclaim.processor.engine.deadletter.DeadLetterException;
import io.firstclaim.processor.engine.deadletter.DeadLetters;
import io.firstclaim.processor.engine.outcome.Outcome;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** One attempt on a record under a lease: handle, then settle. Blocks; thread-safe. */
final class Attempt {
  private static final Logger LOG = LoggerFactory.getLogger(Attempt.class);

  private final ClaimStore store;
  private final StoreGate gate;
  private final LeaseKeeper keeper;
  private final DeadLetters deadLetters;
  private final Announcer announcer;
  private final RetryPolicy retry;
  private final Duration handlerLimit;
  private final String zone;
  private final EngineListener listener;
  private final TimeSource time;

  /** The one place of those that may kill the process. */
  private final Semaphore suspects = new Semaphore(1);

  Attempt(
      ClaimStore store,
      StoreGate gate,
      LeaseKeeper keeper,
      DeadLetters deadLetters,
      Announcer announcer,
      RetryPolicy retry,
      Duration handlerLimit,
      String zone,
      EngineListener listener,
      TimeSource time) {
    this.store = store;
    this.gate = gate;
    this.keeper = keeper;
    this.deadLetters = deadLetters;
    this.announcer = announcer;
    this.retry = retry;
    this.handlerLimit = handlerLimit;
    this.zone = zone;
    this.listener = listener;
    this.time = time;
  }

  /**
   * Makes one attempt.
   *
   * @param abandoned run if the handler heeds no interrupt; another thread must go on then
   */
  Next make(Delivery delivery, Work work, ClaimResult.Granted granted, Runnable abandoned)
      throws InterruptedException {
    Lease lease = granted.lease();
    MDC.put("token", Long.toString(lease.token()));
    HeldLease held = keeper.keep(lease, abandoned);
    try {
      return new Run(delivery, work, held, granted.takenFrom()).make();
    } finally {
      keeper.drop(held);
      MDC.remove("token");
    }
  }

  /** One attempt under way. */
  private final class Run {
    private final Delivery delivery;
    private final Work work;
    private final HeldLease held;
    private final @Nullable String takenFrom;
    private final int number;
    private Duration took = Duration.ZERO;

    Run(Delivery delivery, Work work, HeldLease held, @Nullable String takenFrom) {
      this.delivery = delivery;
      this.work = work;
      this.held = held;
      this.takenFrom = takenFrom;
      this.number = held.lease().attempt();
    }

    Next make() throws InterruptedException {
      if (takenFrom != null) {
        listener.tookOver();
        happened(Outcome.Kind.TAKEN_OVER, "the lease of " + takenFrom + " was over", null);
        LOG.info("Took {} over from {}", work.reportId(), takenFrom);
      }
      if (!held.isHeld()) {
        return new Next.LookAgain(Duration.ZERO, null); // the grant was as long in coming
      }
      return switch (work.task()) {
        case Task.GiveUp(String cause) -> bury(cause);
        case Task.Handle _ when number > retry.maxAttempts() ->
            bury("%d attempts ended without a verdict".formatted(number - 1));
        case Task.Handle(RecordHandler handler) when takenFrom != null && retry.isSuspect(number) ->
            handleAlone(handler);
        case Task.Handle(RecordHandler handler) -> handle(handler);
      };
    }

    /**
     * A record whose holders die again and again may be what they die of. Of such records one runs
     * at a time, and those that wait do not count as tried: the next death is the culprit's alone.
     */
    private Next handleAlone(RecordHandler handler) throws InterruptedException {
      boolean _ = held.count(number - 1);
      suspects.acquire();
      try {
        return held.count(number) ? handle(handler) : giveBack("it was not begun");
      } finally {
        suspects.release();
      }
    }

    private Next handle(RecordHandler handler) throws InterruptedException {
      if (held.interruption() != null) {
        return giveBack("it was not begun");
      }
      Moment start = time.now();
      HandlerCall call =
          new HandlerCall(
              work.reportId(), delivery.record(), held, zone, start.wall().plus(handlerLimit));
      HandlerResult result;
      held.beginWork();
      boolean mine;
      try {
        result =
            Objects.requireNonNullElseGet(
                handler.handle(call), () -> HandlerResult.retry("the handler returned null"));
      } catch (InterruptedException e) {
        result = HandlerResult.retry("the handler was interrupted");
      } catch (Exception | Error e) { // whatever it throws, the record needs a verdict
        LOG.warn("Handler failed on {}", work.reportId(), e);
        result = HandlerResult.retry(Cause.of(e));
      } finally {
        mine = held.endWork();
      }
      took = time.now().since(start);
      listener.handled(took);
      return mine ? settle(result) : new Next.Abandoned();
    }

    private Next settle(HandlerResult handled) throws InterruptedException {
      return switch (handled) {
        case HandlerResult.Done(String result) -> complete(result);
        case HandlerResult.Failed(String cause) -> bury(Cause.of(cause));
        case HandlerResult.Retry(String cause, Optional<Duration> after) ->
            switch (held.interruption()) {
              case STOPPED -> giveBack("stopped with the service");
              case LEASE_LOST -> release("the lease was lost", Duration.ZERO, number);
              case TIMED_OUT ->
                  failed("the handler took longer than " + handlerLimit, Optional.empty());
              case null -> failed(Cause.of(cause), after);
            };
      };
    }

    private Next failed(String cause, Optional<Duration> asked) throws InterruptedException {
      return retry.isLast(number)
          ? bury(cause)
          : release(cause, retry.after(number, asked), number);
    }

    private Next complete(@Nullable String result) throws InterruptedException {
      return step(
          lease -> store.complete(lease, result),
          lease -> {
            ended(Outcome.Kind.COMPLETED, lease, null);
            listener.delivered(Delivered.COMPLETED);
            return new Next.Settled();
          });
    }

    private Next bury(String cause) throws InterruptedException {
      if (!held.isHeld()) {
        return release(cause, Duration.ZERO, number);
      }
      try {
        deadLetters.write(delivery.record(), work.reportId(), retry.made(number), cause);
      } catch (DeadLetterException e) {
        LOG.warn("No dead letter of {} yet", work.reportId(), e);
        Next _ = release(Cause.of(e.getMessage()), retry.after(number), number);
        return new Next.Instead(work.givenUp(cause));
      }
      return step(
          lease -> store.bury(lease, cause),
          lease -> {
            ended(work.deadKind(), lease, cause);
            listener.delivered(
                work.deadKind() == Outcome.Kind.MISMATCH ? Delivered.MISMATCH : Delivered.DEAD);
            LOG.warn("Gave {} up after attempt {}: {}", work.reportId(), retry.made(number), cause);
            return new Next.Settled();
          });
    }

    /** Releases at once what its handler could not try: the attempt does not count. */
    private Next giveBack(String cause) throws InterruptedException {
      return release(cause, Duration.ZERO, number - 1);
    }

    private Next release(String cause, Duration after, int attempts) throws InterruptedException {
      Instant retryAt = time.now().wall().plus(after);
      return step(
          lease -> store.release(lease.ofAttempt(attempts), retryAt, cause),
          _ -> {
            happened(Outcome.Kind.FAILED, cause, retryAt);
            listener.delivered(Delivered.FAILED);
            return new Next.LookAgain(after, null);
          });
    }

    private Next lost(@Nullable String by) {
      String cause = by == null ? "nobody holds it" : by + " has it";
      happened(Outcome.Kind.LEASE_LOST, cause, null);
      listener.delivered(Delivered.LOST);
      LOG.warn(
          "The lease on {} with token {} was lost, nothing is recorded: {}",
          work.reportId(),
          held.lease().token(),
          cause);
      return new Next.LookAgain(Duration.ZERO, null);
    }

    private void ended(Outcome.Kind kind, Lease lease, @Nullable String cause) {
      announcer.ended(delivery, work, kind, announcer.by(lease), took, cause);
    }

    private void happened(Outcome.Kind kind, String cause, @Nullable Instant retryAt) {
      announcer.happened(delivery, work, kind, announcer.by(held.lease()), took, cause, retryAt);
    }

    /** The last step, repeated until the store says what became of it, through interrupts too. */
    private Next step(Function<Lease, SettleResult> last, Function<Lease, Next> then) {
      for (int failures = 1; ; failures++) {
        try {
          boolean _ = gate.settlements().enter(() -> true);
          SettleResult result;
          try {
            result = held.settle(last);
            if (result instanceof SettleResult.Unknown(String why)) {
              gate.shut(why);
            }
          } finally {
            gate.settlements().leave();
          }
          switch (result) {
            case SettleResult.Settled(Lease lease) -> {
              return then.apply(lease);
            }
            case SettleResult.Lost(String by) -> {
              return lost(by);
            }
            case SettleResult.Unknown _ -> Thread.sleep(StoreGate.pauseAfter(failures));
          }
        } catch (InterruptedException e) {
          LOG.warn("Settling {} was interrupted from outside and goes on", held.lease().id(), e);
        }
      }
    }
  }
}
