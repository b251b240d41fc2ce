package io.firstclaim.processor.handler;

import io.firstclaim.lock.StoreUnavailableException;

/**
 * What is done with a record. One handler serves all records of an instance, as many at once as may
 * be in flight, each on a platform thread out of a pool (the service's own handlers, which only
 * wait, on virtual threads): block as you like, keep no state that is not thread-safe, and leave
 * none in the thread. End when the thread is interrupted: one that does not is abandoned, and its
 * permit to be in flight is lost until it comes back.
 *
 * <p>At most one handler in all zones runs for an ID while its lease is held. When the lease is
 * lost, or the handler's time is up, its thread is interrupted. A handler whose effect must not
 * happen twice passes {@link RecordContext#token()} to its sink, which refuses tokens lower than
 * one it has seen, and calls {@link RecordContext#ensureHeld()} right before the effect.
 *
 * <p>While records are traced, OpenTelemetry's current context on the handler's thread is that of
 * the call: clients that are traced too go on with it.
 *
 * <p>The service finds an implementation by {@code firstclaim.handler.type} if its jar names it as
 * a service, or if it is a bean.
 */
@FunctionalInterface
public interface RecordHandler {
  /**
   * Called before the first record, and again from time to time while it throws {@link
   * StoreUnavailableException}: the place to check what has to be there and may not be yet.
   *
   * @throws StoreUnavailableException if that does not answer; the message says what is waited for
   * @throws RuntimeException for anything else, which ends the start
   */
  default void open() throws InterruptedException {}

  /**
   * Handles a record.
   *
   * @return what became of it
   * @throws Exception counts as {@link HandlerResult.Retry}
   */
  HandlerResult handle(RecordContext context) throws Exception;
}
