package io.firstclaim.processor.engine.consumer;

import io.firstclaim.processor.engine.consumer.WaitingRoom.Seat;
import io.firstclaim.processor.engine.identity.Identifier;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * What happens to one delivered record, from top to bottom: it waits for its turn, is identified,
 * takes its seat as the only one of its ID, and is {@linkplain Leader led} to its end. Runs on a
 * virtual thread for each record, and blocks.
 *
 * <p>It ends in one of two ways. Either the record is settled, by whichever zone, and its offset
 * may be committed. Or this instance has lost the partition or is stopping: then whoever gets the
 * partition next goes on from what the lock store says.
 */
final class RecordFlow {
  private static final Logger LOG = LoggerFactory.getLogger(RecordFlow.class);

  /** The pause after an unforeseen fault, before the record is looked at again. */
  private static final Duration AFTER_DEFECT = Duration.ofSeconds(1);

  private final Identifier identifier;
  private final RecordHandler handler;
  private final WaitingRoom room;
  private final Leader leader;
  private final Places places;

  RecordFlow(
      Identifier identifier,
      RecordHandler handler,
      WaitingRoom room,
      Leader leader,
      Places places) {
    this.identifier = identifier;
    this.handler = handler;
    this.room = room;
    this.leader = leader;
    this.places = places;
  }

  /** Takes a delivery that has arrived at {@link Places} to its end. */
  void run(Delivery delivery) {
    conclude(
        delivery,
        () -> {
          delivery.awaitTurn();
          return process(
              delivery,
              Work.of(identifier.identify(delivery.record()), delivery.record().value(), handler));
        });
  }

  /** Carries on, on a new thread, with a delivery whose handler does not come back. */
  private void goOnWithout(Seat abandoned, Delivery delivery, Work work) {
    abandoned.leave(false);
    places.arrive();
    Thread.startVirtualThread(() -> conclude(delivery, () -> process(delivery, work)));
  }

  private interface Body {
    /** Returns false if another thread carries on with the delivery. */
    boolean run() throws InterruptedException;
  }

  private void conclude(Delivery delivery, Body body) {
    boolean concluded = true;
    try {
      concluded = runThroughInterrupts(body);
    } finally {
      if (concluded) {
        delivery.passTurnOn();
      }
      places.depart();
    }
  }

  /**
   * Firstclaim interrupts only handlers, but a timer of some library may strike late. A record that
   * ended because of it would hold up its partition for ever.
   */
  private static boolean runThroughInterrupts(Body body) {
    while (true) {
      try {
        return body.run();
      } catch (InterruptedException e) {
        LOG.warn("A record was interrupted from outside and is looked at again", e);
      }
    }
  }

  private boolean process(Delivery delivery, Work first) throws InterruptedException {
    Work work = first;
    MDC.put("id", work.reportId().text());
    while (delivery.isWanted()) {
      Seat seat = room.seat(work, delivery.partition());
      switch (seat.enter()) {
        case SETTLED_BY_ANOTHER -> {
          Next _ = leader.duplicate(delivery);
          return true;
        }
        case LEFT_BY_ANOTHER -> {}
        case ENTERED -> {
          switch (lead(delivery, work, seat)) {
            case Next.Settled _ -> {
              return true;
            }
            case Next.Abandoned _ -> {
              return false;
            }
            case Next.Instead(Work instead) -> work = instead;
            case Next.LookAgain _, Next.Refused _, Next.Unannounced _, Next.WhenStoreAnswers _ -> {}
          }
        }
      }
    }
    return true;
  }

  /** Has the record led to its end, whatever goes wrong, and leaves its seat. */
  private Next lead(Delivery delivery, Work work, Seat seat) throws InterruptedException {
    boolean settled = false;
    try {
      Next next = leader.lead(delivery, work, seat, () -> goOnWithout(seat, delivery, work));
      settled = next instanceof Next.Settled;
      return next;
    } catch (RuntimeException | Error e) {
      // Otherwise its offset would hold up the partition until the next start. If it had a lease,
      // that runs out; an attempt was counted, so this comes to an end.
      LOG.error("Work on {} failed in an unforeseen way; trying again", work.reportId(), e);
      seat.pause(AFTER_DEFECT);
      return new Next.LookAgain(Duration.ZERO, null);
    } finally {
      seat.leave(settled);
    }
  }
}
