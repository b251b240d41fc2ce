package io.firstclaim.processor.consumer;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.claim.HeldLease;
import io.firstclaim.processor.claim.HeldLease.Interruption;
import io.firstclaim.processor.claim.LeaseKeeper;
import io.firstclaim.processor.claim.StoreGate;
import io.firstclaim.processor.consumer.EngineListener.Delivered;
import io.firstclaim.processor.consumer.Work.Task;
import io.firstclaim.processor.deadletter.DeadLetterException;
import io.firstclaim.processor.deadletter.DeadLetters;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import io.firstclaim.processor.outcome.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
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

  /** What a handler call came to: its result, or why it was interrupted. */
  private record Handled(
      HandlerResult result, @Nullable Interruption interruption, Duration took) {}

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
      if (granted.takenFrom() != null) {
        tookOver(delivery, work, lease, granted.takenFrom());
      }
      if (!held.isHeld()) {
        return new Next.LookAgain(Duration.ZERO, null); // the grant was as long in coming
      }
      Handled handled =
          switch (work.task()) {
            case Task.GiveUp(String cause) -> unhandled(new HandlerResult.Failed(cause), null);
            case Task.Handle _ when lease.attempt() > retry.maxAttempts() ->
                unhandled(
                    new HandlerResult.Failed(
                        "%d attempts ended without a verdict".formatted(lease.attempt() - 1)),
                    null);
            case Task.Handle _ when held.interruption() != null ->
                unhandled(HandlerResult.retry("it was not begun"), held.interruption());
            case Task.Handle(RecordHandler handler) -> handle(delivery, work, handler, held);
          };
      return handled == null ? new Next.Abandoned() : settle(delivery, work, held, handled);
    } finally {
      keeper.drop(held);
      MDC.remove("token");
    }
  }

  private static Handled unhandled(HandlerResult result, @Nullable Interruption interruption) {
    return new Handled(result, interruption, Duration.ZERO);
  }

  private void tookOver(Delivery delivery, Work work, Lease lease, String from) {
    listener.tookOver();
    announcer.happened(
        delivery,
        work,
        Outcome.Kind.TAKEN_OVER,
        announcer.by(lease),
        Duration.ZERO,
        "the lease of " + from + " was over",
        null);
    LOG.info("Took {} over from {}", work.reportId(), from);
  }

  /** Calls the handler; null if it was abandoned meanwhile. */
  private @Nullable Handled handle(
      Delivery delivery, Work work, RecordHandler handler, HeldLease held) {
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
    Duration took = time.now().since(start);
    listener.handled(took);
    return mine ? new Handled(result, held.interruption(), took) : null;
  }

  private Next settle(Delivery delivery, Work work, HeldLease held, Handled handled)
      throws InterruptedException {
    Lease lease = held.lease();
    return switch (handled.result()) {
      case HandlerResult.Done(String result) -> complete(delivery, work, held, handled, result);
      case HandlerResult.Failed(String cause) ->
          bury(delivery, work, held, handled, Cause.of(cause));
      case HandlerResult.Retry(String cause, Optional<Duration> after) ->
          switch (handled.interruption()) {
            case STOPPED ->
                release(delivery, work, held, handled, "stopped with the service", Duration.ZERO);
            case TIMED_OUT -> {
              String late = "the handler took longer than " + handlerLimit;
              yield retry.isLast(lease.attempt())
                  ? bury(delivery, work, held, handled, late)
                  : release(delivery, work, held, handled, late, retry.after(lease.attempt()));
            }
            case LEASE_LOST ->
                release(delivery, work, held, handled, "the lease was lost", Duration.ZERO);
            case null ->
                retry.isLast(lease.attempt())
                    ? bury(delivery, work, held, handled, Cause.of(cause))
                    : release(
                        delivery,
                        work,
                        held,
                        handled,
                        Cause.of(cause),
                        retry.after(lease.attempt(), after));
          };
    };
  }

  private Next complete(
      Delivery delivery, Work work, HeldLease held, Handled handled, @Nullable String result)
      throws InterruptedException {
    return switch (step(held, lease -> store.complete(lease, result))) {
      case SettleResult.Settled(Lease lease) -> {
        announcer.ended(
            delivery, work, Outcome.Kind.COMPLETED, announcer.by(lease), handled.took(), null);
        listener.delivered(Delivered.COMPLETED);
        yield new Next.Settled();
      }
      case SettleResult.Lost(String by) -> lost(delivery, work, held, handled, by);
      case SettleResult.Unknown _ -> throw new IllegalStateException("step() resolves it");
    };
  }

  private Next bury(Delivery delivery, Work work, HeldLease held, Handled handled, String cause)
      throws InterruptedException {
    if (!held.isHeld()) {
      return release(delivery, work, held, handled, cause, Duration.ZERO);
    }
    try {
      deadLetters.write(
          delivery.record(), work.reportId(), retry.made(held.lease().attempt()), cause);
    } catch (DeadLetterException e) {
      LOG.warn("No dead letter of {} yet", work.reportId(), e);
      Next _ =
          release(
              delivery,
              work,
              held,
              handled,
              Cause.of(e.getMessage()),
              retry.after(held.lease().attempt()));
      return new Next.Instead(work.givenUp(cause));
    }
    return switch (step(held, lease -> store.bury(lease, cause))) {
      case SettleResult.Settled(Lease lease) -> {
        announcer.ended(
            delivery, work, work.deadKind(), announcer.by(lease), handled.took(), cause);
        listener.delivered(
            work.deadKind() == Outcome.Kind.MISMATCH ? Delivered.MISMATCH : Delivered.DEAD);
        LOG.warn(
            "Gave {} up after attempt {}: {}", work.reportId(), retry.made(lease.attempt()), cause);
        yield new Next.Settled();
      }
      case SettleResult.Lost(String by) -> lost(delivery, work, held, handled, by);
      case SettleResult.Unknown _ -> throw new IllegalStateException("step() resolves it");
    };
  }

  private Next release(
      Delivery delivery, Work work, HeldLease held, Handled handled, String cause, Duration after)
      throws InterruptedException {
    Instant retryAt = time.now().wall().plus(after);
    return switch (step(held, lease -> store.release(lease, retryAt, cause))) {
      case SettleResult.Settled(Lease lease) -> {
        announcer.happened(
            delivery,
            work,
            Outcome.Kind.FAILED,
            announcer.by(lease),
            handled.took(),
            cause,
            retryAt);
        listener.delivered(Delivered.FAILED);
        yield new Next.LookAgain(after, null);
      }
      case SettleResult.Lost(String by) -> lost(delivery, work, held, handled, by);
      case SettleResult.Unknown _ -> throw new IllegalStateException("step() resolves it");
    };
  }

  private Next lost(
      Delivery delivery, Work work, HeldLease held, Handled handled, @Nullable String by) {
    String cause = by == null ? "nobody holds it" : by + " has it";
    announcer.happened(
        delivery,
        work,
        Outcome.Kind.LEASE_LOST,
        announcer.by(held.lease()),
        handled.took(),
        cause,
        null);
    listener.delivered(Delivered.LOST);
    LOG.warn(
        "The lease on {} with token {} was lost, nothing is recorded: {}",
        work.reportId(),
        held.lease().token(),
        cause);
    return new Next.LookAgain(Duration.ZERO, null);
  }

  /** A last step, repeated until the store says what became of it, through interrupts too. */
  private SettleResult step(HeldLease held, Function<Lease, SettleResult> last) {
    for (int failures = 1; ; failures++) {
      try {
        boolean _ = gate.settlements().enter(() -> true);
        try {
          SettleResult result = held.settle(last);
          if (!(result instanceof SettleResult.Unknown(String why))) {
            return result;
          }
          gate.shut(why);
        } finally {
          gate.settlements().leave();
        }
        Thread.sleep(StoreGate.pauseAfter(failures));
      } catch (InterruptedException e) {
        LOG.warn("Settling {} was interrupted from outside and goes on", held.lease().id(), e);
      }
    }
  }
}
