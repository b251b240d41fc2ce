package io.firstclaim.processor.engine.handler;

import io.firstclaim.lock.Effects;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.handler.HandlerWatch.Interruption;
import io.firstclaim.processor.engine.handler.HandlerWatch.Watched;
import io.firstclaim.processor.engine.trace.Trace;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls handlers, each under a watch, and tells the breaker how the downstream took each record.
 * Blocks; thread-safe.
 */
public final class HandlerCalls {
  private static final Logger LOG = LoggerFactory.getLogger(HandlerCalls.class);

  private final HandlerWatch watch;
  private final Duration limit;
  private final String zone;
  private final EngineListener listener;
  private final TimeSource time;

  /**
   * No handler is called yet.
   *
   * @param limit how long a handler may take
   */
  public HandlerCalls(Duration limit, String zone, EngineListener listener, TimeSource time) {
    this.watch = new HandlerWatch(limit);
    this.limit = limit;
    this.zone = zone;
    this.listener = listener;
    this.time = time;
  }

  /** How many abandoned handlers have not come back. */
  public int abandoned() {
    return watch.abandoned();
  }

  /** Interrupts every handler, including those of records yet to come: the engine stops. */
  public void interruptAll() {
    watch.interruptAll();
  }

  /** What came of a call, and how long the handler took. */
  public record Called(CallResult result, Duration took) {}

  /**
   * Makes a call, unless it is called off before it begins, or the store is not known to count it.
   */
  public Called make(HandlerCall call) throws InterruptedException {
    try (Watched watched = watch.watch(call.held(), call.abandoned())) {
      boolean begins =
          !call.trial().isCalledOff()
              && watched.interruption() == null
              && call.held().begin() instanceof SettleResult.Settled
              && watched.interruption() == null;
      if (!begins) {
        return new Called(new CallResult.CutShort("it was not begun", false), Duration.ZERO);
      }
      Moment start = time.now();
      HandlerResult answer = answer(call, watched, start);
      Duration took = time.now().since(start);
      listener.handled(took);
      if (answer == null) {
        return new Called(new CallResult.Abandoned(), took);
      }
      call.delivery().trace().handled(answer);
      return new Called(result(call, answer, watched.interruption()), took);
    }
  }

  /** The handler's answer; null if it has been abandoned. */
  private @Nullable HandlerResult answer(HandlerCall call, Watched watched, Moment start) {
    CallContext context =
        new CallContext(
            call.id(),
            call.delivery().record(),
            call.held(),
            call.resourceTokens(),
            zone,
            start.wall().plus(limit));
    Trace trace = call.delivery().trace();
    RecordHandler traced = trace.handles(call.handler());
    HandlerResult answer;
    boolean mine;
    watched.beginWork();
    try {
      answer =
          Objects.requireNonNullElseGet(
              traced.handle(context), () -> HandlerResult.retry("the handler returned null"));
    } catch (InterruptedException e) {
      answer = HandlerResult.retry("the handler was interrupted");
    } catch (Exception | Error e) { // whatever it throws, the record needs a verdict
      LOG.warn("Handler failed on {}", call.id(), e);
      answer = HandlerResult.retry(Cause.of(e));
    } finally {
      mine = watched.endWork();
    }
    return mine ? answer : null;
  }

  private CallResult result(
      HandlerCall call, HandlerResult answer, @Nullable Interruption interruption) {
    return switch (answer) {
      case HandlerResult.Done(String result, Effects effects) -> {
        call.trial().passed();
        yield new CallResult.Handled(result, effects);
      }
      case HandlerResult.Failed(String cause) -> {
        call.trial().passed();
        yield new CallResult.Hopeless(Cause.of(cause));
      }
      case HandlerResult.Unavailable(String cause, Duration after) ->
          interruption == null
              ? refused(call, Cause.of(cause), after)
              : interrupted(call, interruption);
      case HandlerResult.Retry(String cause, Optional<Duration> after) ->
          interruption == null
              ? failed(call, Cause.of(cause), after)
              : interrupted(call, interruption);
    };
  }

  private CallResult interrupted(HandlerCall call, Interruption why) {
    return switch (why) {
      case STOPPED -> new CallResult.CutShort("stopped with the service", false);
      case LEASE_LOST ->
          call.held().awaitsRenewal()
              ? new CallResult.CutShort(
                  "the lease was lost, as the lock store was too slow to renew it", false)
              : new CallResult.CutShort("the lease was lost", true);
      case TIMED_OUT -> failed(call, "the handler took longer than " + limit, Optional.empty());
    };
  }

  private static CallResult refused(HandlerCall call, String cause, Duration after) {
    return call.trial().refused(cause)
        ? new CallResult.TryAgain(cause, Optional.of(after))
        : new CallResult.Excused(cause, after, call.trial().refusals());
  }

  private static CallResult failed(HandlerCall call, String cause, Optional<Duration> after) {
    return call.trial().failed(cause)
        ? new CallResult.TryAgain(cause, after)
        : new CallResult.Excused(cause, Duration.ZERO, 0);
  }
}
