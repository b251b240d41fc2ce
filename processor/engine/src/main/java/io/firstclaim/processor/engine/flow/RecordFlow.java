package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.admission.InFlightLimit;
import io.firstclaim.processor.engine.flow.WaitingRoom.Seat;
import io.firstclaim.processor.engine.handler.HandlerWatch;
import io.firstclaim.processor.engine.identity.Identifier;
import io.firstclaim.processor.engine.intake.AssignedPartition;
import io.firstclaim.processor.engine.intake.Delivery;
import io.firstclaim.processor.engine.intake.Processing;
import io.firstclaim.processor.engine.trace.Trace;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * What happens to one delivered record, from top to bottom: it is identified, takes its seat as the
 * only one of its ID, and is {@linkplain Leader led} to its end. Runs on a virtual thread for each
 * record, and blocks. Others of its ID follow it without a thread of their own: when it is settled,
 * so are its twins, of the same payload; else the first of them goes on.
 *
 * <p>It ends in one of two ways. Either the record is settled, by whichever zone, and its offset
 * may be committed. Or this instance has lost the partition or is stopping: then whoever gets the
 * partition next goes on from what the lock store says.
 */
public final class RecordFlow implements Processing {
  private static final Logger LOG = LoggerFactory.getLogger(RecordFlow.class);

  /** The pause after an unforeseen fault, before the record is looked at again. */
  private static final Duration AFTER_DEFECT = Duration.ofSeconds(1);

  private final Identifier identifier;
  private final RecordHandler handler;
  private final WaitingRoom room;
  private final Leader leader;
  private final InFlightLimit limit;
  private final HandlerWatch handlers;

  /** A flow of these parts. */
  public RecordFlow(
      Identifier identifier,
      RecordHandler handler,
      WaitingRoom room,
      Leader leader,
      InFlightLimit limit,
      HandlerWatch handlers) {
    this.identifier = identifier;
    this.handler = handler;
    this.room = room;
    this.leader = leader;
    this.limit = limit;
    this.handlers = handlers;
  }

  @Override
  public void begin(Delivery delivery) {
    Thread _ = Thread.startVirtualThread(() -> run(delivery));
  }

  @Override
  public void leaveAll() {
    room.stopAll();
  }

  @Override
  public void interruptAll() {
    handlers.interruptAll();
  }

  /**
   * Takes a delivery that has arrived at {@link InFlightLimit}, and whose turn it is, to its end.
   */
  public void run(Delivery delivery) {
    Deque<Errand> followers = new ArrayDeque<>();
    conclude(
        delivery,
        followers,
        () -> {
          ConsumerRecord<byte[], byte[]> record = delivery.record();
          Work work =
              Work.of(
                  identifier.identify(record),
                  record.value(),
                  handler,
                  identifier.redriveOf(record));
          return process(new Errand(delivery, work, true), followers);
        });
  }

  @Override
  public void leave(AssignedPartition partition) {
    room.stop(partition).forEach(this::drop);
  }

  /** Carries on, on a new thread, with a delivery whose handler does not come back. */
  private void goOnWithout(Seat abandoned, Errand errand) {
    Deque<Errand> followers = new ArrayDeque<>(abandoned.leave());
    arrive(errand.delivery());
    start(errand, followers);
  }

  private void start(Errand errand, Deque<Errand> followers) {
    Thread _ =
        Thread.startVirtualThread(
            () -> conclude(errand.delivery(), followers, () -> process(errand, followers)));
  }

  /** Has the first of these that is still wanted lead the others. */
  private void goOn(Deque<Errand> errands) {
    Errand next;
    while ((next = errands.poll()) != null) {
      if (next.delivery().isWanted()) {
        start(counted(next), errands);
        return;
      }
      drop(next);
    }
  }

  private void arrive(Delivery delivery) {
    limit.arrive(delivery.partition().usage(), delivery.bytes());
  }

  private void depart(Delivery delivery) {
    limit.depart(delivery.partition().usage(), delivery.bytes());
  }

  private Errand counted(Errand errand) {
    if (errand.counted()) {
      return errand;
    }
    arrive(errand.delivery());
    return new Errand(errand.delivery(), errand.work(), true);
  }

  private void uncount(Errand errand) {
    if (errand.counted()) {
      depart(errand.delivery());
    }
  }

  private void drop(Errand errand) {
    errand.delivery().passTurnOn();
    uncount(errand);
  }

  /** How a thread's work on a delivery ended. */
  private enum End {
    /** Nothing more is done with it here. */
    OVER,
    /** Its twin, or another thread, goes on with it. */
    ELSEWHERE,
    /** It waits, with its value, for another record of its ID. */
    FOLLOWS
  }

  private interface Body {
    End run() throws InterruptedException;
  }

  private void conclude(Delivery delivery, Deque<Errand> followers, Body body) {
    End end = End.OVER;
    try {
      end = runThroughInterrupts(body);
    } finally {
      if (end == End.OVER) {
        delivery.passTurnOn();
      }
      if (end != End.FOLLOWS) {
        depart(delivery);
      }
      goOn(followers);
    }
  }

  /**
   * Firstclaim interrupts only handlers, but a timer of some library may strike late. A record that
   * ended because of it would hold up its partition for ever.
   */
  private static End runThroughInterrupts(Body body) {
    while (true) {
      try {
        return body.run();
      } catch (InterruptedException e) {
        LOG.warn("A record was interrupted from outside and is looked at again", e);
      }
    }
  }

  /**
   * Processes a record.
   *
   * @param followers others of its ID, which follow it; those that are left when it ends go on
   */
  private End process(Errand given, Deque<Errand> followers) throws InterruptedException {
    Delivery delivery = given.delivery();
    Work work = given.work();
    delivery.trace().identified(work.reportId());
    logUnder(work.reportId(), delivery.trace());
    while (delivery.isWanted()) {
      Errand errand = new Errand(delivery, work, true);
      Seat seat = room.seat(errand);
      Errand first = seat.enter();
      if (first != null) {
        return errand.isTwinOf(first) ? End.ELSEWHERE : End.FOLLOWS;
      }
      switch (lead(errand, seat, followers)) {
        case Next.Settled _ -> {
          for (Errand twin : take(followers, errand::isTwinOf)) {
            twin.delivery().trace().settledBy(delivery.trace());
            Next _ = leader.duplicate(twin.delivery());
            drop(twin);
          }
          return End.OVER;
        }
        case Next.Abandoned _ -> {
          return End.ELSEWHERE;
        }
        case Next.Instead(Work instead) -> {
          goOn(take(followers, other -> !other.isTwinOf(errand)));
          work = instead;
        }
        case Next.LookAgain _,
            Next.Blocked _,
            Next.Refused _,
            Next.Unannounced _,
            Next.WhenStoreAnswers _ -> {}
      }
    }
    return End.OVER;
  }

  private static void logUnder(RecordId id, Trace trace) {
    MDC.put("id", id.text());
    String traceId = trace.id();
    if (traceId != null) {
      MDC.put("trace_id", traceId);
    }
  }

  private void letFollow(Seat seat, Errand leader, Deque<Errand> followers) {
    Errand follower;
    while ((follower = followers.poll()) != null) {
      if (!follower.isTwinOf(leader)) {
        seat.letFollow(counted(follower));
      } else {
        seat.letFollow(follower.behind(leader));
        uncount(follower);
      }
    }
  }

  private static Deque<Errand> take(Deque<Errand> from, Predicate<Errand> meant) {
    Deque<Errand> taken = new ArrayDeque<>();
    boolean _ = from.removeIf(errand -> meant.test(errand) && taken.add(errand));
    return taken;
  }

  /** Has the record led to its end, whatever goes wrong, and leaves its seat. */
  private Next lead(Errand errand, Seat seat, Deque<Errand> followers) throws InterruptedException {
    try {
      letFollow(seat, errand, followers);
      return leader.lead(errand.delivery(), errand.work(), seat, () -> goOnWithout(seat, errand));
    } catch (RuntimeException | Error e) {
      // Otherwise its offset would hold up the partition until the next start. If it had a lease,
      // that runs out; an attempt was counted, so this comes to an end.
      LOG.error(
          "Work on {} failed in an unforeseen way; trying again", errand.work().reportId(), e);
      seat.pause(AFTER_DEFECT);
      return new Next.LookAgain(Duration.ZERO, null);
    } finally {
      followers.addAll(seat.leave());
    }
  }
}
