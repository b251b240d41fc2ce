package io.firstclaim.processor.engine.consumer;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.claim.Affinity;
import io.firstclaim.processor.engine.claim.Signal;
import io.firstclaim.processor.engine.claim.StoreGate;
import io.firstclaim.processor.engine.claim.Ticket;
import io.firstclaim.processor.engine.claim.Tickets;
import io.firstclaim.processor.engine.identity.Identifier;
import io.firstclaim.processor.engine.outcome.KnownDone;
import io.firstclaim.processor.engine.outcome.Outcome;
import io.firstclaim.processor.handler.RecordHandler;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * What happens to one delivered record, from top to bottom: it waits for its turn, is identified,
 * claimed, handled and settled. Runs on a virtual thread for each record, and blocks.
 *
 * <p>It ends in one of two ways. Either the record is settled, by whichever zone, and its offset
 * may be committed. Or this instance lost the partition or stops: then whoever gets the partition
 * next goes on from the lock store's state.
 */
final class RecordFlow {
  private static final Logger LOG = LoggerFactory.getLogger(RecordFlow.class);

  /** The first pause between two questions to the store while no outcomes can be read. */
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);

  private static final int MAX_DOUBLINGS = 10;

  /** After a fault that nobody foresaw, before the record is looked at again. */
  private static final Duration AFTER_DEFECT = Duration.ofSeconds(1);

  private final EngineSettings settings;
  private final Identifier identifier;
  private final RecordHandler handler;
  private final ClaimStore store;
  private final StoreGate gate;
  private final Tickets tickets;
  private final Affinity affinity;
  private final KnownDone known;
  private final BooleanSupplier feedIsLive;
  private final Announcer announcer;
  private final Attempt attempt;
  private final Places places;
  private final EngineListener listener;
  private final TimeSource time;

  RecordFlow(
      EngineSettings settings,
      Identifier identifier,
      RecordHandler handler,
      ClaimStore store,
      StoreGate gate,
      Tickets tickets,
      Affinity affinity,
      KnownDone known,
      BooleanSupplier feedIsLive,
      Announcer announcer,
      Attempt attempt,
      Places places,
      EngineListener listener,
      TimeSource time) {
    this.settings = settings;
    this.identifier = identifier;
    this.handler = handler;
    this.store = store;
    this.gate = gate;
    this.tickets = tickets;
    this.affinity = affinity;
    this.known = known;
    this.feedIsLive = feedIsLive;
    this.announcer = announcer;
    this.attempt = attempt;
    this.places = places;
    this.listener = listener;
    this.time = time;
  }

  /** Takes a delivery from arrival to its end. */
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

  /** Goes on, on a new thread, with a delivery whose handler does not come back. */
  private void goOnWithout(Ticket abandoned, Delivery delivery, Work work) {
    tickets.leave(abandoned, false);
    places.arrive();
    Thread.startVirtualThread(() -> conclude(delivery, () -> process(delivery, work)));
  }

  private interface Body {
    /** False if another thread goes on with the delivery. */
    boolean run() throws InterruptedException;
  }

  private void conclude(Delivery delivery, Body body) {
    boolean concluded = true;
    try {
      concluded = runThroughInterrupts(body);
    } finally {
      if (concluded) {
        delivery.end().run();
      }
      places.depart();
    }
  }

  /**
   * Firstclaim interrupts nobody but handlers; a timer of some library may strike late. A record
   * that ended by that would hold up its partition for ever.
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
      Ticket ticket = new Ticket(work.claimId(), work.fingerprint(), delivery.partition());
      Ticket leader = tickets.enter(ticket);
      if (leader != null) {
        if (leader.awaitEnd() && leader.isFor(work.fingerprint())) {
          duplicate(delivery);
          return true;
        }
        continue;
      }
      boolean settled = false;
      try {
        switch (lead(delivery, work, ticket)) {
          case Next.Settled _ -> {
            settled = true;
            return true;
          }
          case Next.Abandoned _ -> {
            return false;
          }
          case Next.Instead(Work instead) -> work = instead;
          case Next.LookAgain _, Next.Unannounced _, Next.WhenStoreAnswers _ -> {}
        }
      } catch (RuntimeException | Error e) {
        // Else its offset would hold up the partition until the next start. If it had a lease, that
        // runs out; an attempt was counted, so there is an end to it.
        LOG.error("Work on {} failed in an unforeseen way; trying again", work.reportId(), e);
        Signal _ = ticket.await(AFTER_DEFECT);
      } finally {
        tickets.leave(ticket, settled);
      }
    }
    return true;
  }

  /** Works on a record, as the only one in this instance, until it ends or is not wanted. */
  private Next lead(Delivery delivery, Work work, Ticket ticket) throws InterruptedException {
    if (leftToItsZone(delivery, work, ticket)) {
      return duplicate(delivery);
    }
    Next next = new Next.LookAgain(Duration.ZERO, null);
    Claim claim = null;
    int rounds = 0;
    int unanswered = 0;
    while (delivery.isWanted()) {
      switch (next) {
        case Next.Settled _, Next.Instead _, Next.Abandoned _ -> {
          return next;
        }
        case Next.Unannounced unannounced -> {
          return announceUnlessHeard(delivery, work, ticket, unannounced);
        }
        case Next.WhenStoreAnswers _ -> {
          if (hearsOfItsEnd(work, ticket, StoreGate.pauseAfter(++unanswered))) {
            return duplicate(delivery);
          }
        }
        case Next.LookAgain(Duration after, _) -> {
          unanswered = 0;
          if (hearsOfItsEnd(work, ticket, after)) {
            return duplicate(delivery);
          }
        }
      }
      if (delivery.isWanted()) {
        places.takeOff();
        try {
          if (gate.claims().enter(delivery::isWanted)) {
            ClaimResult answer;
            try {
              if (known.contains(work.reportId(), work.fingerprint())) {
                return duplicate(delivery); // heard of while it waited for its place
              }
              claim = nextClaim(work, next, claim);
              answer = claim(claim);
            } finally {
              gate.claims().leave();
            }
            next =
                answer == null
                    ? new Next.WhenStoreAnswers()
                    : next(delivery, work, ticket, answer, rounds++);
          }
        } finally {
          places.land();
        }
      }
    }
    return next;
  }

  /**
   * Gives the preferred zone its head start, from the record's arrival on, and says whether that
   * zone ended it. With its hands full, this one leaves it alone for longer: to claim what it
   * cannot begin with soon would cost a request and gain nothing.
   */
  private boolean leftToItsZone(Delivery delivery, Work work, Ticket ticket)
      throws InterruptedException {
    Duration headStart = affinity.headStartOfOthers(grouping(delivery, work));
    Duration most = settings.claim().store().lease().dividedBy(3);
    Duration until = headStart;
    while (true) {
      switch (listen(work, ticket, until.minus(time.now().since(delivery.arrival())))) {
        case ITS_END -> {
          return true;
        }
        case OTHERWISE -> {
          return false; // its zone has let it go
        }
        case NOTHING -> {
          boolean handsFull = places.isFull() || gate.claims().isFull();
          if (headStart.isZero() || !handsFull || until.compareTo(most) > 0) {
            return false;
          }
          until = until.multipliedBy(2);
        }
      }
    }
  }

  /** What was heard of a record while it waited. */
  private enum Heard {
    ITS_END,
    NOTHING,
    OTHERWISE
  }

  /** Waits, and says whether the record's end was announced meanwhile. */
  private boolean hearsOfItsEnd(Work work, Ticket ticket, Duration atMost)
      throws InterruptedException {
    return listen(work, ticket, atMost) == Heard.ITS_END;
  }

  /** Waits for so long, or until the record is due, if an attempt is announced to have failed. */
  private Heard listen(Work work, Ticket ticket, Duration atMost) throws InterruptedException {
    Heard heard = Heard.NOTHING;
    Duration left = atMost;
    while (!known.contains(work.reportId(), work.fingerprint())) {
      switch (ticket.await(left)) {
        case null -> {
          return known.contains(work.reportId(), work.fingerprint()) ? Heard.ITS_END : heard;
        }
        case Signal.Stop _ -> {
          return Heard.OTHERWISE;
        }
        case Signal.Ended _ -> {
          if (!known.contains(work.reportId(), work.fingerprint())) {
            return Heard.OTHERWISE; // another payload's end: the store must say
          }
        }
        case Signal.DueIn(Duration delay) -> {
          heard = Heard.OTHERWISE;
          left = delay;
        }
      }
    }
    return Heard.ITS_END;
  }

  /**
   * The claim to send. One whose answer never came is sent again for as long as its lease could
   * run, so that it is recognised if it took.
   */
  private Claim nextClaim(Work work, Next why, @Nullable Claim previous) {
    Moment now = time.now();
    if (previous != null) {
      if (why instanceof Next.LookAgain(_, ClaimResult.Held held) && held != null) {
        return Claim.after(held, previous, now);
      }
      if (why instanceof Next.WhenStoreAnswers
          && now.since(previous.start()).compareTo(settings.claim().store().lease()) < 0) {
        return previous;
      }
    }
    return Claim.of(work.claimId(), work.fingerprint(), now);
  }

  /** Asks the store for the record; null if it does not answer, or nothing that can be read. */
  private @Nullable ClaimResult claim(Claim claim) {
    try {
      ClaimResult answer = store.claim(claim);
      listener.claimed(answer.getClass().getSimpleName().toLowerCase(Locale.ROOT));
      return answer;
    } catch (UnreadableClaimException e) {
      // Of this record alone: the gate stays open for the others.
      listener.claimed("unreadable");
      LOG.warn("{} cannot be claimed, trying again: {}", claim.id(), e.getMessage());
      return null;
    } catch (StoreUnavailableException e) {
      listener.claimed("unavailable");
      gate.shut(String.valueOf(e.getMessage()));
      return null;
    }
  }

  /** What the store's answer means; if it granted the record, works on it. */
  private Next next(Delivery delivery, Work work, Ticket ticket, ClaimResult answer, int round)
      throws InterruptedException {
    return switch (answer) {
      case ClaimResult.Granted granted ->
          attempt.make(delivery, work, granted, () -> goOnWithout(ticket, delivery, work));
      case ClaimResult.Held held -> new Next.LookAgain(patience(held.remaining(), round), held);
      case ClaimResult.Later(Instant retryAt, _) ->
          new Next.LookAgain(Duration.between(time.now().wall(), retryAt), null);
      case ClaimResult.Done(Ending ending, _) ->
          ended(delivery, work, Outcome.Kind.COMPLETED, ending, null);
      case ClaimResult.Dead(Ending ending, String cause) ->
          ended(delivery, work, work.deadKind(), ending, cause);
      case ClaimResult.Mismatch(Fingerprint stored) -> mismatch(delivery, work, stored);
    };
  }

  /** While outcomes are read, the end of the lease is soon enough to ask again. */
  private Duration patience(Duration remaining, int round) {
    if (feedIsLive.getAsBoolean()) {
      return remaining;
    }
    Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(round, MAX_DOUBLINGS));
    return pause.compareTo(remaining) < 0 ? pause : remaining;
  }

  /**
   * The store says that the record has ended. If that was lately and nothing is heard of it for a
   * lease, its holder has died before it could say so; then it is said here, for whoever redelivers
   * the record until it hears of its end.
   */
  private Next ended(
      Delivery delivery, Work work, Outcome.Kind kind, Ending ending, @Nullable String cause) {
    boolean shouldHaveHeard =
        feedIsLive.getAsBoolean()
            && ending.at().isAfter(known.horizon())
            && !known.contains(work.reportId(), work.fingerprint());
    if (!shouldHaveHeard) {
      return duplicate(delivery);
    }
    Duration lease = settings.claim().store().lease();
    Duration left = lease.minus(Duration.between(ending.at(), time.now().wall()));
    // Its holder's clock may be ahead.
    return new Next.Unannounced(left.compareTo(lease) < 0 ? left : lease, kind, ending, cause);
  }

  /** The record has ended for good: there is nothing more to ask the store. */
  private Next announceUnlessHeard(
      Delivery delivery, Work work, Ticket ticket, Next.Unannounced end)
      throws InterruptedException {
    Signal heard;
    do {
      if (known.contains(work.reportId(), work.fingerprint())) {
        return duplicate(delivery);
      }
      heard = ticket.await(end.atMost());
    } while (heard instanceof Signal.DueIn); // of an attempt before the last
    if (known.contains(work.reportId(), work.fingerprint())) {
      return duplicate(delivery);
    }
    if (heard instanceof Signal.Stop) {
      return end;
    }
    announcer.ended(delivery, work, end.kind(), end.ending(), Duration.ZERO, end.cause());
    listener.delivered(Delivered.DUPLICATE);
    return new Next.Settled();
  }

  private Next mismatch(Delivery delivery, Work work, Fingerprint stored) {
    return switch (settings.claim().onMismatch()) {
      case DEAD_LETTER -> new Next.Instead(work.mismatched(stored));
      case SKIP -> {
        LOG.warn("{} is known with another payload; this one is skipped", work.reportId());
        announcer.skipped(delivery, work, settings.claim().store().holder());
        listener.delivered(Delivered.MISMATCH);
        yield new Next.Settled();
      }
    };
  }

  private Next duplicate(Delivery delivery) {
    delivery.mark().settle();
    listener.delivered(Delivered.DUPLICATE);
    return new Next.Settled();
  }

  private byte[] grouping(Delivery delivery, Work work) {
    ConsumerRecord<byte[], byte[]> record = delivery.record();
    return switch (settings.input().ordering()) {
      case UNORDERED -> work.claimId().bytes();
      case KEY -> record.key() == null ? work.claimId().bytes() : record.key();
      case PARTITION -> delivery.partition().id().toString().getBytes(StandardCharsets.UTF_8);
    };
  }
}
