package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.handler.Cause;
import io.firstclaim.processor.engine.intake.Delivery;
import io.firstclaim.processor.engine.outcome.KnownDone;
import io.firstclaim.processor.engine.outcome.OutcomeWriter;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Publishes what becomes of a record: to the outcomes topic, to this instance and to its listener.
 * Thread-safe.
 */
public final class OutcomePublisher {
  private final OutcomeWriter writer;
  private final KnownDone known;
  private final EngineListener listener;
  private final TimeSource time;
  private final String self;

  /**
   * A publisher.
   *
   * @param known is told of every end
   * @param self the name of this instance as a holder
   */
  public OutcomePublisher(
      OutcomeWriter writer,
      KnownDone known,
      EngineListener listener,
      String self,
      TimeSource time) {
    this.writer = writer;
    this.known = known;
    this.listener = listener;
    this.self = self;
    this.time = time;
  }

  /** The delivery, or an attempt on it, has ended: for metrics and the trace. */
  void delivered(Delivery delivery, Delivered result) {
    listener.delivered(result);
    delivery.trace().delivered(result);
  }

  /** The record has ended without this delivery's doing: its offset may be committed. */
  State.Settled duplicate(RecordInFlight record) {
    record.delivery().letOffsetGo();
    delivered(record.delivery(), Delivered.DUPLICATE);
    return new State.Settled();
  }

  /** The end that a lease's holder has just made. */
  Ending by(Lease lease) {
    return new Ending(lease.holder(), lease.token(), lease.attempt(), time.now().wall());
  }

  /** The record has ended. Its offset may be committed once that is announced. */
  void ended(RecordInFlight record, Event end) {
    Work work = record.work();
    Delivery delivery = record.delivery();
    if (!known.add(work.reportId(), work.fingerprint(), end.by().token(), end.by().at())) {
      delivery.letOffsetGo(); // somebody took us for dead and announced it for us
      return;
    }
    // Its offset goes no sooner: after a crash in between, the others would wait for ever.
    var _ = publish(record, end).thenRun(delivery::letOffsetGo);
  }

  /** The record was skipped: its ID is known with another payload. */
  void skipped(RecordInFlight record) {
    String cause = "skipped: the ID is known with another payload";
    ended(record, new Event(Outcome.Kind.MISMATCH, byNobodysLease(), cause));
    delivered(record.delivery(), Delivered.MISMATCH);
  }

  /** The record waits for resources that others hold: each of them is to let it go some time. */
  void blocked(RecordInFlight record, ClaimResult.Blocked answer) {
    String cause =
        answer.inTheWay().stream()
            .map(each -> each.id().text() + (each.by() == null ? "" : " is held by " + each.by()))
            .collect(Collectors.joining(", "));
    happened(record, new Event(Outcome.Kind.BLOCKED, byNobodysLease(), Cause.of(cause)));
  }

  private Ending byNobodysLease() {
    return new Ending(self, 0, 0, time.now().wall());
  }

  /** Something happened on the way. */
  void happened(RecordInFlight record, Event event) {
    var _ = publish(record, event);
  }

  private CompletableFuture<Void> publish(RecordInFlight record, Event event) {
    Work work = record.work();
    return writer.publish(outcome(record, event), work.reportId(), work.fingerprint());
  }

  private static Outcome outcome(RecordInFlight record, Event event) {
    ConsumerRecord<?, ?> polled = record.delivery().record();
    Holder by = Holder.parse(event.by().by());
    return new Outcome(
        record.id().text(),
        event.kind(),
        by.zone(),
        by.instance(),
        event.by().token(),
        event.by().attempt(),
        polled.topic(),
        polled.partition(),
        polled.offset(),
        event.by().at(),
        event.took(),
        event.cause(),
        event.retryAt(),
        record.resources());
  }
}
