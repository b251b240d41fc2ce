package io.firstclaim.simulation;

import io.firstclaim.processor.engine.api.LetterHeaders;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordContext;
import io.firstclaim.processor.handler.RecordHandler;
import io.firstclaim.simulation.check.Event;
import io.firstclaim.simulation.check.History;
import io.firstclaim.simulation.world.Machine;
import io.firstclaim.simulation.world.World;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** A user's: quick or slow, with failures, and for some records deaf or hopeless. */
final class Handler implements RecordHandler {
  private static final Duration QUICK = Duration.ofMillis(100);
  private static final Duration SLOW = Duration.ofSeconds(15);
  private static final Duration VERY_SLOW = Duration.ofSeconds(28);

  private final World world;
  private final Machine machine;
  private final History history;
  private final double slow;

  Handler(World world, Machine machine, History history, double slow) {
    this.world = world;
    this.machine = machine;
    this.history = history;
    this.slow = slow;
  }

  /** Whether what a redrive brings again is done now: half of all such. */
  private static boolean isMended(RecordContext context) {
    return context.record().headers().lastHeader(LetterHeaders.REDRIVE) != null
        && Math.floorMod(context.id().text().hashCode(), 2) == 0;
  }

  /** Whether no handler ever gets this record done. */
  static boolean isPoison(String id) {
    return Math.floorMod(id.hashCode(), 23) == 7;
  }

  /** Whether handlers heed no interrupt on this one. */
  private static boolean isDeaf(String id) {
    return Math.floorMod(id.hashCode(), 29) == 3;
  }

  @Override
  public HandlerResult handle(RecordContext context) throws InterruptedException {
    String id = context.id().text();
    history.add(
        new Event.Began(world.now(), machine.name(), id, context.token(), context.attempt()));
    context
        .resourceTokens()
        .forEach(
            (resource, token) ->
                history.add(
                    new Event.Used(world.now(), machine.name(), Locker.text(resource), token)));
    try {
      if (isDeaf(id) && world.chance(0.2)) {
        sleepDeaf(world.upTo(VERY_SLOW));
      } else {
        Thread.sleep(world.upTo(world.chance(slow) ? SLOW : QUICK));
      }
      history.add(new Event.Asks(world.now(), machine.name(), id, context.token()));
      context.ensureHeld();
      history.add(new Event.ToldHeld(world.now(), machine.name(), id, context.token()));
      if (isPoison(id) && !isMended(context)) {
        if (world.chance(0.3)) {
          throw new StackOverflowError("poison");
        }
        return HandlerResult.retry("poison");
      }
      return world.chance(0.03) ? HandlerResult.retry("flaky") : HandlerResult.done();
    } catch (InterruptedException e) {
      history.add(new Event.Interrupted(world.now(), machine.name(), id, context.token()));
      throw e;
    } finally {
      history.add(new Event.Ended(world.now(), machine.name(), id, context.token()));
    }
  }

  private void sleepDeaf(Duration length) {
    Duration end = world.elapsed().plus(length);
    boolean interrupted = false;
    while (world.elapsed().compareTo(end) < 0) {
      LockSupport.parkNanos(end.minus(world.elapsed()).toNanos());
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
