package io.firstclaim.processor.engine.flow;

import static java.util.stream.Collectors.joining;

import io.firstclaim.lock.Backoff;
import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.OncePerMinute;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.processor.engine.admission.Affinity;
import io.firstclaim.processor.engine.admission.Breaker;
import io.firstclaim.processor.engine.admission.InFlightLimit;
import io.firstclaim.processor.engine.admission.ResourceTurns;
import io.firstclaim.processor.engine.admission.StoreGate;
import io.firstclaim.processor.engine.admission.Suspects;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineListener.Claimed;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.WaitsFor;
import io.firstclaim.processor.engine.flow.WaitingRoom.Seat;
import io.firstclaim.processor.engine.flow.WaitingRoom.Woken;
import io.firstclaim.processor.engine.intake.Delivery;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Leads records to their end, each as the only one of its ID in this instance: leaves it to its
 * preferred zone at first, claims it, makes an attempt if it is granted, and waits if it is not.
 * Blocks; thread-safe.
 */
public final class Leader {
  private static final Logger LOG = LoggerFactory.getLogger(Leader.class);

  /** Between two questions to the store while no outcomes can be read. */
  private static final Backoff PAUSES = new Backoff(Duration.ofMillis(100), Duration.ofMinutes(2));

  private final EngineSettings settings;
  private final Duration lease;
  private final Duration longestHeadStart;
  private final Affinity affinity;
  private final ClaimStore store;
  private final StoreGate gate;
  private final Breaker breaker;
  private final Attempt attempt;
  private final OutcomePublisher publisher;
  private final InFlightLimit limit;
  private final Suspects suspects = new Suspects();
  private final ResourceTurns resourceTurns;
  private final EngineListener listener;
  private final TimeSource time;
  private final OncePerMinute unreadable;

  public Leader(
      EngineSettings settings,
      Affinity affinity,
      ClaimStore store,
      StoreGate gate,
      Breaker breaker,
      ResourceTurns resourceTurns,
      Attempt attempt,
      OutcomePublisher publisher,
      InFlightLimit limit,
      EngineListener listener,
      TimeSource time) {
    this.settings = settings;
    this.lease = settings.claim().store().lease();
    this.longestHeadStart = lease.dividedBy(3);
    this.affinity = affinity;
    this.store = store;
    this.gate = gate;
    this.breaker = breaker;
    this.resourceTurns = resourceTurns;
    this.attempt = attempt;
    this.publisher = publisher;
    this.limit = limit;
    this.listener = listener;
    this.time = time;
    this.unreadable = new OncePerMinute(time);
  }

  /**
   * Works on a record until it ends or is not wanted.
   *
   * @param seat the record's own, entered by the current thread
   * @param abandoned run if the handler ignores its interrupt; another thread must then go on
   */
  Next lead(Delivery delivery, Work work, Seat seat, Runnable abandoned)
      throws InterruptedException {
    RecordInWork record = new RecordInWork(delivery, work, seat, abandoned);
    try {
      return record.lead();
    } finally {
      record.trial.end();
      record.leaveResources();
    }
  }

  /** The record has ended without this delivery's doing. */
  Next duplicate(Delivery delivery) {
    delivery.letOffsetGo();
    publisher.delivered(delivery, Delivered.DUPLICATE);
    return new Next.Settled();
  }

  /** One record, on its way from its head start to its end. */
  private final class RecordInWork {
    private final Delivery delivery;
    private final Work work;
    private final Seat seat;
    private final Suspects.Turn turn = suspects.turn();
    private final Runnable abandoned;
    private final Breaker.Trial trial;

    /** Null if it touches nothing. */
    private final ResourceTurns.@Nullable Turn resources;

    /** The last claim that was sent. */
    private @Nullable Claim claim;

    private int answered;
    private int unansweredInARow;
    private int blockedInARow;
    private @Nullable Moment blockedTold;

    RecordInWork(Delivery delivery, Work work, Seat seat, Runnable abandoned) {
      this.delivery = delivery;
      this.work = work;
      this.seat = seat;
      this.trial = breaker.trial(delivery.partition().id(), seat::call);
      this.resources =
          work.resources().isEmpty()
              ? null
              : resourceTurns.turn(work.reportId(), work.resourceNames(), seat::call, seat::free);
      this.abandoned =
          () -> {
            delivery.trace().abandoned();
            turn.giveBack();
            trial.end(); // another may try in its stead
            leaveResources();
            abandoned.run();
          };
    }

    Next lead() throws InterruptedException {
      if (seat.isKnownToHaveEnded()) {
        return duplicate(delivery);
      }
      if (isEndedByItsZone()) {
        return endedElsewhere();
      }
      Next next = new Next.LookAgain(Duration.ZERO, null);
      while (delivery.isWanted()) {
        switch (next) {
          case Next.Settled _, Next.Instead _, Next.Abandoned _ -> {
            return next;
          }
          case Next.Unannounced end -> {
            return announceUnlessHeard(end);
          }
          case Next.WhenStoreAnswers _ ->
              next = lookAfter(StoreGate.pauseAfter(++unansweredInARow), next);
          case Next.Refused(Duration after) -> {
            waits(WaitsFor.DOWNSTREAM, after, null);
            next = seat.awaitEnd(after) == Woken.ITS_END ? duplicate(delivery) : lookInTurn(next);
          }
          case Next.LookAgain(Duration after, _) -> {
            unansweredInARow = 0;
            next = lookAfter(after, next);
          }
          case Next.Blocked(Duration after, _) -> {
            unansweredInARow = 0;
            next = lookAfter(after, next);
          }
        }
      }
      return next;
    }

    /**
     * Gives the preferred zone its head start, counted from the record's arrival, and says whether
     * that zone ended the record. While its own hands are full, this zone leaves the record alone
     * for longer: claiming what it cannot start soon would cost a request and gain nothing.
     */
    private boolean isEndedByItsZone() throws InterruptedException {
      Duration until = affinity.headStartOfOthers(grouping());
      while (until.isPositive()) {
        seat.doing(
            new Doing.Waiting(WaitsFor.HEAD_START, delivery.arrival().wall().plus(until), null));
        switch (seat.await(until.minus(time.now().since(delivery.arrival())))) {
          case ITS_END -> {
            return true;
          }
          case ANOTHERS_END, RETRY_DUE, FREED, STOP -> {
            return false; // its zone has let it go
          }
          case TIME_UP -> {
            Duration headStart = affinity.headStartOfOthers(grouping());
            if (headStart.compareTo(until) > 0) {
              until = headStart; // its zone was seen to need more since
            } else {
              boolean handsFull = limit.isFull(delivery.partition().usage()) || gate.isFull();
              if (!handsFull || until.compareTo(longestHeadStart) > 0) {
                return false;
              }
              until = until.multipliedBy(2);
            }
          }
        }
      }
      return false;
    }

    /** Heard just now: what its zone needed for it, it may need for the next. */
    private Next endedElsewhere() {
      affinity.ended(grouping(), time.now().since(delivery.arrival()));
      return duplicate(delivery);
    }

    private byte[] grouping() {
      ConsumerRecord<byte[], byte[]> record = delivery.record();
      return switch (settings.input().ordering()) {
        case UNORDERED ->
            (resources == null ? work.claimId().inStore() : work.resources().getFirst()).bytes();
        case KEY -> record.key() == null ? work.claimId().inStore().bytes() : record.key();
        case PARTITION -> delivery.partition().id().toString().getBytes(StandardCharsets.UTF_8);
      };
    }

    /**
     * Looks at the record after this time, and when it is its turn at its resources, and as a
     * suspect, unless its end is heard of first.
     */
    private Next lookAfter(Duration pause, Next why) throws InterruptedException {
      if (pause.isPositive()) {
        tellWhy(pause, why);
      }
      return seat.await(pause) == Woken.ITS_END ? endedElsewhere() : lookInTurn(why);
    }

    private void tellWhy(Duration pause, Next why) {
      switch (why) {
        case Next.LookAgain(_, ClaimResult.Held held) when held != null ->
            waits(WaitsFor.HOLDER, pause, held.by());
        case Next.LookAgain _, Next.Settled _, Next.Instead _, Next.Abandoned _ ->
            waits(WaitsFor.RETRY, pause, null);
        case Next.Blocked(_, ClaimResult.Blocked answer) ->
            waits(WaitsFor.RESOURCE, pause, inTheWay(answer));
        case Next.WhenStoreAnswers _ -> waits(WaitsFor.STORE, pause, null);
        case Next.Refused _ -> waits(WaitsFor.DOWNSTREAM, pause, null);
        case Next.Unannounced _ -> waits(WaitsFor.ANNOUNCEMENT, pause, null);
      }
    }

    private void waits(WaitsFor what, Duration atMost, @Nullable String by) {
      Instant until = time.now().wall().plus(atMost);
      seat.doing(new Doing.Waiting(what, until, by == null ? null : OneLine.of(by)));
    }

    private static String inTheWay(ClaimResult.Blocked answer) {
      return answer.inTheWay().stream().map(each -> each.id().text()).collect(joining(", "));
    }

    private Next lookInTurn(Next why) throws InterruptedException {
      if (resources == null) {
        return lookAsSuspect(why);
      }
      // A claim that may have been granted is settled first: its lease would run out as it waits.
      boolean mayHold = why instanceof Next.WhenStoreAnswers;
      while (!mayHold && delivery.isWanted()) {
        Duration pause = resources.take();
        if (pause == null) {
          break;
        }
        seat.doing(Doing.RESOURCE);
        if (seat.awaitCall(pause)) {
          return duplicate(delivery);
        }
      }
      Next next = lookAsSuspect(why);
      if (!(next instanceof Next.Blocked || next instanceof Next.WhenStoreAnswers)) {
        leaveResources();
      }
      return next;
    }

    private void leaveResources() {
      if (resources != null) {
        resources.giveBack();
      }
    }

    private Next lookAsSuspect(Next why) throws InterruptedException {
      Woken woken = Woken.TIME_UP;
      while (woken != Woken.ITS_END && delivery.isWanted() && !turn.takeIfNeeded()) {
        seat.doing(Doing.SUSPECT);
        woken = seat.await(Suspects.PAUSE);
      }
      try {
        return woken == Woken.ITS_END ? endedElsewhere() : look(why);
      } finally {
        turn.giveBack();
      }
    }

    /** Claims the record, once there is a place for it, and acts upon the store's answer. */
    private Next look(Next why) throws InterruptedException {
      if (!delivery.isWanted()) {
        return why;
      }
      // A claim that may have been granted is settled first: its lease would run out as it waits.
      boolean mayHold = why instanceof Next.WhenStoreAnswers;
      while (!mayHold && !trial.begin()) {
        seat.doing(Doing.DOWNSTREAM);
        if (seat.awaitCall()) {
          return duplicate(delivery);
        }
        if (!delivery.isWanted()) {
          return why;
        }
      }
      seat.doing(Doing.PLACE);
      limit.acquire(delivery.partition().usage());
      seat.doing(Doing.STORE);
      try {
        try (StoreGate.Begun begun = gate.begin(delivery::isWanted)) {
          if (begun == null) {
            return why;
          }
          if (seat.isKnownToHaveEnded()) {
            return duplicate(delivery); // heard of while it waited for its place
          }
          if (!mayHold && trial.isCalledOff()) {
            return new Next.LookAgain(Duration.ZERO, null);
          }
          claim = nextClaim(why, claim);
          if (resources != null) {
            resources.asks();
          }
          ClaimResult answer = send(claim, begun);
          return answer == null ? new Next.WhenStoreAnswers() : next(answer, answered++);
        }
      } finally {
        trial.end();
        limit.release(delivery.partition().usage());
      }
    }

    /**
     * The claim to send. One whose answer never came is sent again for as long as its lease could
     * run, so that it is recognised if it was granted.
     */
    private Claim nextClaim(Next why, @Nullable Claim previous) {
      Moment now = time.now();
      if (previous != null) {
        if (why instanceof Next.LookAgain(_, ClaimResult.Held held) && held != null) {
          return Claim.after(held, previous, now);
        }
        if (why instanceof Next.Blocked(_, ClaimResult.Blocked answer)) {
          return Claim.after(answer, previous, now);
        }
        if (why instanceof Next.WhenStoreAnswers
            && now.since(previous.start()).compareTo(lease) < 0) {
          return previous;
        }
      }
      Claim first = work.claimId().claim(work.fingerprint(), now);
      return work.resources().isEmpty() ? first : first.withResources(work.resources());
    }

    /** The store's answer; null if there is none, or none that can be read. */
    private @Nullable ClaimResult send(Claim toSend, StoreGate.Begun begun) {
      delivery.trace().claims();
      try {
        ClaimResult answer = store.claim(toSend);
        begun.answered(answer instanceof ClaimResult.Granted);
        claimed(Claimed.of(answer));
        return answer;
      } catch (UnreadableClaimException e) {
        // It concerns this record alone: the gate stays open for the others.
        begun.answered(false);
        claimed(Claimed.UNREADABLE);
        leaveResources();
        LOG.atLevel(unreadable.isDue() ? Level.WARN : Level.DEBUG)
            .log("{} cannot be claimed, trying again: {}", toSend.id(), e.getMessage());
        return null;
      } catch (StoreException e) {
        claimed(Claimed.UNAVAILABLE);
        begun.failed(String.valueOf(e.getMessage()));
        return null;
      }
    }

    private void claimed(Claimed answer) {
      listener.claimed(answer);
      delivery.trace().claimed(answer);
    }

    /** What the store's answer means; if it granted the record, makes an attempt. */
    private Next next(ClaimResult answer, int round) throws InterruptedException {
      return switch (answer) {
        case ClaimResult.Granted granted -> {
          seat.lives(granted.lease().token());
          seat.doing(new Doing.Working(granted.lease()));
          yield attempt.make(delivery, work, granted, turn, trial, abandoned);
        }
        case ClaimResult.Held held -> {
          seat.lives(held.token());
          yield new Next.LookAgain(patience(held.remaining(), round), held);
        }
        case ClaimResult.Blocked blocked -> blocked(blocked);
        case ClaimResult.Later(Instant retryAt, _) ->
            new Next.LookAgain(Duration.between(time.now().wall(), retryAt), null);
        case ClaimResult.Done(Ending ending, _) -> ended(Outcome.Kind.COMPLETED, ending, null);
        case ClaimResult.Dead(Ending ending, String cause) -> ended(work.deadKind(), ending, cause);
        case ClaimResult.Mismatch(Fingerprint stored) -> mismatch(stored);
      };
    }

    /**
     * Others hold some of its resources. Each outcome at them wakes it. It asks now and then all
     * the same, less and less often, as not all that holds a resource ends in an outcome: in a
     * store without transactions, a claim that is refused has held some for a moment.
     */
    private Next blocked(ClaimResult.Blocked answer) {
      List<String> inTheWay = answer.inTheWay().stream().map(each -> each.id().text()).toList();
      if (resources != null && resources.blocked(inTheWay)) {
        return new Next.Blocked(Duration.ZERO, answer);
      }
      Moment now = time.now();
      if (blockedTold == null || now.since(blockedTold).compareTo(ResourceTurns.STAND_BACK) >= 0) {
        blockedTold = now;
        publisher.blocked(delivery, work, settings.claim().store().holder(), answer);
      }
      Duration pause = PAUSES.whole(++blockedInARow);
      Duration remaining = answer.remaining();
      return new Next.Blocked(pause.compareTo(remaining) < 0 ? pause : remaining, answer);
    }

    /** While outcomes can be read, it is soon enough to ask again at the end of the lease. */
    private Duration patience(Duration remaining, int round) {
      if (seat.hearsOutcomes()) {
        return remaining;
      }
      Duration pause = PAUSES.whole(round + 1);
      return pause.compareTo(remaining) < 0 ? pause : remaining;
    }

    /**
     * The store says that the record has ended. If that was lately and nothing is heard of it for a
     * lease, its holder died before it could say so; then it is announced here, for a source that
     * redelivers the record until it hears of its end.
     */
    private Next ended(Outcome.Kind kind, Ending ending, @Nullable String cause) {
      if (!seat.misses(ending)) {
        return endedElsewhere();
      }
      Duration left = lease.minus(Duration.between(ending.at(), time.now().wall()));
      // Its holder's clock may be ahead.
      return new Next.Unannounced(left.compareTo(lease) < 0 ? left : lease, kind, ending, cause);
    }

    /** The record has ended for good: there is nothing more to ask the store. */
    private Next announceUnlessHeard(Next.Unannounced end) throws InterruptedException {
      waits(WaitsFor.ANNOUNCEMENT, end.atMost(), null);
      return switch (seat.awaitEnd(end.atMost())) {
        case ITS_END -> endedElsewhere();
        case STOP -> end;
        case ANOTHERS_END, RETRY_DUE, FREED, TIME_UP -> {
          publisher.ended(delivery, work, end.kind(), end.ending(), Duration.ZERO, end.cause());
          publisher.delivered(delivery, Delivered.DUPLICATE);
          yield new Next.Settled();
        }
      };
    }

    private Next mismatch(Fingerprint stored) {
      return switch (settings.claim().onMismatch()) {
        case DEAD_LETTER -> new Next.Instead(work.mismatched(stored));
        case SKIP -> {
          LOG.warn("{} is known with another payload; this one is skipped", work.reportId());
          publisher.skipped(delivery, work, settings.claim().store().holder());
          publisher.delivered(delivery, Delivered.MISMATCH);
          yield new Next.Settled();
        }
      };
    }
  }
}
