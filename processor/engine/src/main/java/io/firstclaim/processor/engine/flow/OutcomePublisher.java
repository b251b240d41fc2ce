package io.firstclaim.processor.engine.flow;

import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.Ending;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.Holder;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.intake.Delivery;
import io.firstclaim.processor.engine.outcome.KnownDone;
import io.firstclaim.processor.engine.outcome.OutcomeWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Says what becomes of a record: to the outcomes topic, to this instance and to those that observe
 * it. Thread-safe.
 */
public final class OutcomePublisher {
  private final OutcomeWriter publisher;
  private final KnownDone known;
  private final EngineListener listener;
  private final TimeSource time;

  public OutcomePublisher(
      OutcomeWriter publisher, KnownDone known, EngineListener listener, TimeSource time) {
    this.publisher = publisher;
    this.known = known;
    this.listener = listener;
    this.time = time;
  }

  /** The delivery, or an attempt on it, has ended: for metrics and the trace. */
  void delivered(Delivery delivery, Delivered result) {
    listener.delivered(result);
    delivery.trace().delivered(result);
  }

  /** The end that a lease's holder has just made. */
  Ending by(Lease lease) {
    return new Ending(lease.holder(), lease.token(), lease.attempt(), time.now().wall());
  }

  /** The record has ended. Its offset may be committed once that is announced. */
  void ended(
      Delivery delivery,
      Work work,
      Outcome.Kind kind,
      Ending ending,
      Duration took,
      @Nullable String cause) {
    if (!known.add(work.reportId(), work.fingerprint(), ending.token(), ending.at())) {
      delivery.letOffsetGo(); // somebody took us for dead and announced it for us
      return;
    }
    CompletableFuture<Void> announced =
        publish(work, outcome(delivery, work, kind, ending, took, cause, null));
    // Not before: a crash in between would leave the others waiting for an announcement.
    var _ = announced.thenRun(delivery::letOffsetGo);
  }

  /** The record was skipped: its ID is known with another payload. */
  void skipped(Delivery delivery, Work work, String by) {
    ended(
        delivery,
        work,
        Outcome.Kind.MISMATCH,
        new Ending(by, 0, 0, time.now().wall()),
        Duration.ZERO,
        "skipped: the ID is known with another payload");
  }

  /** The record waits for resources that others hold: each of them is to let it go some time. */
  void blocked(Delivery delivery, Work work, String by, ClaimResult.Blocked answer) {
    String cause =
        answer.inTheWay().stream()
            .map(each -> each.id().text() + (each.by() == null ? "" : " is held by " + each.by()))
            .collect(Collectors.joining(", "));
    Ending ending = new Ending(by, 0, 0, time.now().wall());
    happened(delivery, work, Outcome.Kind.BLOCKED, ending, Duration.ZERO, Cause.of(cause), null);
  }

  /** Something happened on the way. */
  void happened(
      Delivery delivery,
      Work work,
      Outcome.Kind kind,
      Ending ending,
      Duration took,
      String cause,
      @Nullable Instant retryAt) {
    var _ = publish(work, outcome(delivery, work, kind, ending, took, cause, retryAt));
  }

  private CompletableFuture<Void> publish(Work work, Outcome outcome) {
    return publisher.publish(outcome, work.reportId(), work.fingerprint());
  }

  private static Outcome outcome(
      Delivery delivery,
      Work work,
      Outcome.Kind kind,
      Ending ending,
      Duration took,
      @Nullable String cause,
      @Nullable Instant retryAt) {
    ConsumerRecord<?, ?> record = delivery.record();
    Holder by = Holder.parse(ending.by());
    return new Outcome(
        work.reportId().text(),
        kind,
        by.zone(),
        by.instance(),
        ending.token(),
        ending.attempt(),
        record.topic(),
        record.partition(),
        record.offset(),
        ending.at(),
        took,
        cause,
        retryAt,
        work.resourceNames());
  }
}
