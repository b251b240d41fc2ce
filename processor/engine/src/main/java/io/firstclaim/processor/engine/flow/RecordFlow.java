package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.admission.Admission;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.WaitsFor;
import io.firstclaim.processor.engine.identity.Identifier;
import io.firstclaim.processor.engine.intake.AssignedPartition;
import io.firstclaim.processor.engine.intake.Delivery;
import io.firstclaim.processor.engine.intake.Processing;
import io.firstclaim.processor.engine.trace.Trace;
import io.firstclaim.processor.handler.RecordHandler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Takes each delivered record to its end, on a virtual thread of its own, which blocks: it is
 * identified, is the only one of its ID that is worked on here, and goes {@linkplain #next from
 * state to state}. Others of its ID follow it without a thread of their own: when it is settled, so
 * are its twins, of the same payload; else the first of them goes on.
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
  private final RecordsInFlight records;
  private final Admission admission;
  private final Claimer claimer;
  private final Attempts attempts;
  private final OutcomePublisher publisher;

  /** A flow of these parts. */
  public RecordFlow(
      Identifier identifier,
      RecordHandler handler,
      RecordsInFlight records,
      Admission admission,
      Claimer claimer,
      Attempts attempts,
      OutcomePublisher publisher) {
    this.identifier = identifier;
    this.handler = handler;
    this.records = records;
    this.admission = admission;
    this.claimer = claimer;
    this.attempts = attempts;
    this.publisher = publisher;
  }

  @Override
  public void begin(Delivery delivery) {
    Thread _ = Thread.startVirtualThread(() -> run(delivery));
  }

  /** Takes a delivery that has arrived, and whose turn it is, to its end on this thread. */
  public void run(Delivery delivery) {
    RecordInFlight record = identified(delivery);
    if (record == null) {
      delivery.passTurnOn();
      depart(delivery);
    } else {
      process(record, new ArrayDeque<>());
    }
  }

  /** The record, whatever goes wrong; null if it is not wanted any more. */
  private @Nullable RecordInFlight identified(Delivery delivery) {
    do {
      try {
        return new RecordInFlight(delivery, work(delivery), records);
      } catch (RuntimeException | Error e) {
        // Otherwise its offset would hold up the partition until the next start.
        restAfter(e, delivery);
      }
    } while (delivery.isWanted());
    return null;
  }

  private Work work(Delivery delivery) {
    ConsumerRecord<byte[], byte[]> record = delivery.record();
    return Work.of(
        identifier.identify(record, delivery.partition().topicId()),
        record.value(),
        handler,
        identifier.redriveOf(record));
  }

  /** Logs a defect, if there is memory left for that, and waits before the next try. */
  private void restAfter(Throwable defect, Delivery delivery) {
    try {
      LOG.error(
          "Work on what {} has at offset {} failed in an unforeseen way; trying again",
          delivery.partition().id(),
          delivery.record().offset(),
          defect);
    } catch (RuntimeException | Error e) {
      // The record must go on even where nothing can be logged.
    }
    boolean _ = Thread.interrupted(); // with which there would be no pause
    LockSupport.parkNanos(this, AFTER_DEFECT.toNanos());
  }

  @Override
  public void leave(AssignedPartition partition) {
    records.stop(partition).forEach(this::drop);
    admission.gate().lookAgain();
  }

  @Override
  public void leaveAll() {
    records.stopAll();
    admission.gate().lookAgain();
  }

  @Override
  public void interruptAll() {
    attempts.interruptAll();
  }

  /**
   * Takes a record to its end.
   *
   * @param followers others of its ID, which follow it; those that are left when it ends go on
   */
  private void process(RecordInFlight record, Deque<RecordInFlight> followers) {
    State end = new State.Left();
    try {
      record.trace().identified(record.id());
      logUnder(record.id(), record.trace());
      end = runToItsEnd(record, followers);
    } catch (RuntimeException | Error e) {
      // Outside its states there is no state for it: it begins anew, before those that follow it.
      followers.addFirst(record);
      end = new State.Following();
      restAfter(e, record.delivery());
    } finally {
      if (end instanceof State.Settled || end instanceof State.Left) {
        record.delivery().passTurnOn();
      }
      if (!(end instanceof State.Following)) {
        depart(record);
      }
      goOn(followers);
    }
  }

  private static void logUnder(RecordId id, Trace trace) {
    MDC.put("id", id.text());
    String traceId = trace.id();
    if (traceId != null) {
      MDC.put("trace_id", traceId);
    }
  }

  private State runToItsEnd(RecordInFlight given, Deque<RecordInFlight> followers) {
    RecordInFlight record = given;
    while (true) {
      State follows = record.enter();
      if (follows != null) {
        return follows;
      }
      State end;
      try {
        letFollow(record, followers);
        end = runAsTheOneOfItsId(record);
      } finally {
        followers.addAll(record.leave());
      }
      if (end instanceof State.Settled) {
        settleTwins(record, followers);
      }
      if (!(end instanceof State.Anew(Work instead))) {
        return end;
      }
      RecordInFlight before = record;
      goOn(take(followers, other -> !other.isTwinOf(before)));
      record = record.anew(instead);
    }
  }

  /** Has the record go from state to state, whatever goes wrong. */
  private State runAsTheOneOfItsId(RecordInFlight record) {
    try {
      while (!(record.state() instanceof State.Over)) {
        State next;
        try {
          boolean mayGoOn = record.isWanted() || record.state() instanceof State.Granted;
          next = mayGoOn ? next(record) : new State.Left();
        } catch (InterruptedException e) {
          // Firstclaim interrupts only handlers, but a timer of some library may strike late. A
          // record that ended because of it would hold up its partition for ever.
          LOG.warn("{} was interrupted from outside and is looked at again", record.id(), e);
          next = new State.Due();
        } catch (RuntimeException | Error e) {
          // Otherwise its offset would hold up the partition until the next start. If it had a
          // lease, that runs out; an attempt was counted, so this comes to an end.
          LOG.error("Work on {} failed in an unforeseen way; trying again", record.id(), e);
          next = new State.Defective();
        }
        leaveBehind(record, next);
        record.reach(next);
      }
      return record.state();
    } finally {
      record.leaveEntry();
    }
  }

  /** Gives back what the record has passed, but for what it needs in its next state. */
  private static void leaveBehind(RecordInFlight record, State next) {
    switch (next) {
      // It keeps all that it has passed.
      case State.Entering _, State.Queued _, State.Granted _ -> {}
      case State.Blocked _, State.Unanswered _ -> record.entry().leaveButTurn();
      case State.Due _,
          State.HeldElsewhere _,
          State.NotDue _,
          State.Refused _,
          State.Unannounced _,
          State.EndedElsewhere _,
          State.Defective _,
          State.Following _,
          State.Twin _,
          State.Over _ ->
          record.leaveEntry();
    }
  }

  /**
   * What comes next for the one record of its ID that is worked on: the one place that knows where
   * each state leads.
   */
  private State next(RecordInFlight record) throws InterruptedException {
    return switch (record.state()) {
      case State.Due due ->
          record.isKnownToHaveEnded() ? publisher.duplicate(record) : new State.Entering(due);
      case State.Entering(State from) -> enter(record, from);
      case State.Queued queued -> queue(record, queued);
      case State.Granted(var answer) ->
          attempts.make(record, answer, () -> goOnWithoutHandler(record));
      case State.HeldElsewhere held -> pause(record, held);
      case State.Blocked blocked -> pause(record, blocked);
      case State.NotDue notDue -> pause(record, notDue);
      case State.Unanswered silent -> pause(record, silent);
      case State.Refused refused ->
          record.awaitEnd(refused.pause().length()) == Woken.ITS_END
              ? publisher.duplicate(record)
              : new State.Entering(refused);
      case State.Unannounced end -> announceUnlessHeard(record, end);
      case State.EndedElsewhere _ -> endedElsewhere(record);
      case State.Defective _ -> {
        record.awaitSignal(AFTER_DEFECT);
        yield new State.Due();
      }
      case State.Following _, State.Twin _ ->
          throw new IllegalStateException("one that follows is not worked on");
      case State.Over over -> over;
    };
  }

  /** Claims the record, once it is admitted. */
  private State enter(RecordInFlight record, State from) throws InterruptedException {
    boolean mayHold = from instanceof State.Unanswered;
    Admission.Entry entry = record.entry(admission);
    Admission.Wait wait = entry.pass(mayHold);
    if (wait != null) {
      return queued(record, from, wait);
    }
    if (record.isKnownToHaveEnded()) {
      return publisher.duplicate(record); // its end was heard of while it waited
    }
    return !mayHold && entry.trial().isCalledOff() ? new State.Due() : claimer.claim(record, from);
  }

  private static State queued(RecordInFlight record, State from, Admission.Wait wait) {
    return new State.Queued(
        from,
        wait,
        wait.what() == WaitsFor.HEAD_START ? record.arrival().wall().plus(wait.atMost()) : null);
  }

  private State queue(RecordInFlight record, State.Queued queued) throws InterruptedException {
    boolean yields = queued.what() == WaitsFor.HEAD_START;
    Woken woken =
        yields ? record.await(queued.at().atMost()) : record.awaitTurn(queued.at().atMost());
    if (woken == Woken.ITS_END) {
      return yields ? new State.EndedElsewhere() : publisher.duplicate(record);
    }
    if (woken != Woken.TIME_UP) {
      record.entry().woken(queued.what());
    }
    return new State.Entering(queued.from());
  }

  private static State pause(RecordInFlight record, State.Pausing state)
      throws InterruptedException {
    return record.await(state.pause().length()) == Woken.ITS_END
        ? new State.EndedElsewhere()
        : new State.Entering(state);
  }

  /** The record has ended for good: there is nothing more to ask the store. */
  private State announceUnlessHeard(RecordInFlight record, State.Unannounced end)
      throws InterruptedException {
    return switch (record.awaitEnd(end.pause().length())) {
      case ITS_END -> new State.EndedElsewhere();
      case STOP -> end;
      case SIGNALLED, TIME_UP -> {
        publisher.ended(record, new Event(end.kind(), end.ending(), end.cause()));
        publisher.delivered(record.delivery(), Delivered.DUPLICATE);
        yield new State.Settled();
      }
    };
  }

  private State endedElsewhere(RecordInFlight record) {
    admission.endedElsewhere(record);
    return publisher.duplicate(record);
  }

  private void letFollow(RecordInFlight first, Deque<RecordInFlight> others) {
    RecordInFlight other;
    while ((other = others.poll()) != null) {
      RecordInFlight follower = other.behind(first);
      first.isFollowedBy(follower);
      if (other.isCounted() && !follower.isCounted()) {
        depart(other);
      } else if (!other.isCounted() && follower.isCounted()) {
        arrive(follower);
      }
    }
  }

  private void settleTwins(RecordInFlight settled, Deque<RecordInFlight> followers) {
    for (RecordInFlight twin : List.copyOf(followers)) {
      if (settled.isTwinOf(twin)) {
        twin.trace().settledBy(settled.trace());
        var _ = publisher.duplicate(twin);
        boolean _ = followers.remove(twin); // not before, or a defect would lose it
        drop(twin);
      }
    }
  }

  private static Deque<RecordInFlight> take(
      Deque<RecordInFlight> from, Predicate<RecordInFlight> meant) {
    Deque<RecordInFlight> taken = new ArrayDeque<>();
    from.removeIf(record -> meant.test(record) && taken.add(record));
    return taken;
  }

  /** Carries on, on a new thread, with a record whose handler does not come back. */
  private void goOnWithoutHandler(RecordInFlight abandoned) {
    abandoned.trace().abandoned();
    abandoned.entry().abandon();
    Deque<RecordInFlight> followers = new ArrayDeque<>(abandoned.leave());
    RecordInFlight record = abandoned.anew(abandoned.work());
    arrive(record);
    start(record, followers);
  }

  /** Has the first of these that is still wanted go on, and the others follow it. */
  private void goOn(Deque<RecordInFlight> followers) {
    RecordInFlight next;
    while ((next = followers.poll()) != null) {
      if (next.isWanted()) {
        if (!next.isCounted()) {
          arrive(next);
        }
        start(next.anew(next.work()), followers);
        return;
      }
      drop(next);
    }
  }

  private void start(RecordInFlight record, Deque<RecordInFlight> followers) {
    Thread _ = Thread.startVirtualThread(() -> process(record, followers));
  }

  private void drop(RecordInFlight record) {
    record.delivery().passTurnOn();
    if (record.isCounted()) {
      depart(record);
    }
  }

  private void arrive(RecordInFlight record) {
    admission.limit().arrive(record.usage(), record.delivery().bytes());
  }

  private void depart(RecordInFlight record) {
    depart(record.delivery());
  }

  private void depart(Delivery delivery) {
    admission.limit().depart(delivery.partition().usage(), delivery.bytes());
  }
}
