package io.firstclaim.spring.kafka;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RunResult;
import io.firstclaim.lock.keeper.HeldLease;
import java.time.Duration;
import java.util.Map;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.support.Acknowledgment;

/**
 * Around a container's listener: claims each record's ID, calls the listener under the lease, and
 * returns only if the record's offset may move. Otherwise it throws, and the {@link
 * KeepingErrorHandler} keeps the record. Thread-safe.
 */
final class DeduplicatingAdvice implements MethodInterceptor {
  private static final Logger LOG = LoggerFactory.getLogger(DeduplicatingAdvice.class);

  /** How soon to ask a store again that did not answer, or what became of a record. */
  private static final Duration SOON = Duration.ofSeconds(1);

  private final RecordIds ids;
  private final Deduplication deduplication;
  private final Map<String, Object> consuming;

  /**
   * An advice on one container.
   *
   * @param consuming the settings of its consumers
   */
  DeduplicatingAdvice(RecordIds ids, Deduplication deduplication, Map<String, Object> consuming) {
    this.ids = ids;
    this.deduplication = deduplication;
    this.consuming = consuming;
  }

  /**
   * What all listeners of an application share.
   *
   * @param deduplicator tries a listener as often as the settings say
   * @param giveUp gives up at its first attempt
   */
  record Deduplication(
      Deduplicator deduplicator, Deduplicator giveUp, DeadLetters letters, TimeSource time) {}

  @Override
  public @Nullable Object invoke(MethodInvocation call) throws Throwable {
    if (!(call.getArguments().length > 0
        && call.getMethod().getName().equals("onMessage")
        && call.getArguments()[0] instanceof ConsumerRecord<?, ?> record)) {
      return call.proceed();
    }
    HeldBackAcknowledgment acknowledgment = heldBack(call.getArguments());
    try {
      switch (ids.find(record)) {
        case Identified.Found(RecordId id) -> once(id, new Delivery(record, call), acknowledgment);
        case Identified.Missing(RecordId standIn, String cause) ->
            giveUp(standIn, record, cause, acknowledgment);
      }
    } catch (InterruptedException e) {
      // The work's own, or as the deduplicator closes. The flag stays down, for it would end the
      // container, whose consumer is asked next.
      throw new RecordKeptException("interrupted", Duration.ZERO, e);
    } catch (StoreException | IllegalStateException | UnfitTypeException e) {
      LOG.warn("{} is kept: {}", KeepingErrorHandler.place(record), e.toString());
      throw new RecordKeptException(String.valueOf(e.getMessage()), SOON, e);
    }
    return null;
  }

  /** Where the listener is given an acknowledgement, it is given ours. */
  private static HeldBackAcknowledgment heldBack(@Nullable Object[] arguments) {
    for (int i = 1; i < arguments.length; i++) {
      if (arguments[i] instanceof Acknowledgment given) {
        HeldBackAcknowledgment ours = new HeldBackAcknowledgment(given);
        arguments[i] = ours;
        return ours;
      }
    }
    return new HeldBackAcknowledgment(null);
  }

  private void once(RecordId id, Delivery delivery, HeldBackAcknowledgment acknowledgment)
      throws InterruptedException {
    ConsumerRecord<?, ?> record = delivery.record;
    byte[] value = record.value() == null ? null : RecordBytes.of(record.value());
    Fingerprint payload = value == null ? Fingerprint.none() : Fingerprint.of(value);
    switch (deduplication.deduplicator.run(id, payload, delivery.of(id))) {
      case RunResult.Ran unused -> acknowledgment.done();
      case RunResult.DoneBefore unused -> acknowledgment.doneWithoutListener();
      case RunResult.GivenUp unused -> acknowledgment.doneWithoutListener();
      case RunResult.OtherPayload unused ->
          giveUp(
              ids.ofMismatch(id, payload),
              record,
              "the ID " + id + " is known with another payload",
              acknowledgment);
      case RunResult.Failed(var retryAt, var attempts, var cause) -> {
        LOG.warn("Attempt {} on {} failed", attempts, id, cause);
        throw new RecordKeptException("it failed", until(retryAt), cause);
      }
      case RunResult.Busy(String by, Duration remaining) ->
          throw new RecordKeptException(by + " is at it", remaining, null);
      case RunResult.NotDue(var retryAt, var unused) ->
          throw new RecordKeptException("it is not due yet", until(retryAt), null);
      case RunResult.LeaseLost(var by, var thrown) ->
          throw new RecordKeptException("the lease was lost to " + by, SOON, thrown);
      case RunResult.Unknown(String why, var thrown) ->
          throw new RecordKeptException("it is not known to be done: " + why, SOON, thrown);
    }
  }

  private Duration until(java.time.Instant retryAt) {
    return Duration.between(deduplication.time.now().wall(), retryAt);
  }

  /** Has a record given up that must not be tried, by one of all who come with it. */
  private void giveUp(
      RecordId standIn,
      ConsumerRecord<?, ?> record,
      String cause,
      HeldBackAcknowledgment acknowledgment)
      throws InterruptedException {
    Deduplicator.Work hopeless =
        new Deduplicator.Work() {
          @Override
          public String run(HeldLease lease) {
            throw new IllegalArgumentException(cause);
          }

          @Override
          public void beforeGivenUp(HeldLease lease, int attempts, String unused)
              throws InterruptedException, DeadLetterException {
            deduplication.letters.write(
                new DeadLetters.Letter(record, standIn, 0, cause), consuming);
          }
        };
    RunResult result = deduplication.giveUp.run(standIn, Fingerprint.none(), hopeless);
    if (!(result instanceof RunResult.GivenUp)) {
      throw new RecordKeptException("it is not given up yet: " + result, SOON, null);
    }
    LOG.warn("Gave {} up: {}", KeepingErrorHandler.place(record), cause);
    acknowledgment.doneWithoutListener();
  }

  /** A record on its way to the listener. */
  private final class Delivery {
    private final ConsumerRecord<?, ?> record;
    private final MethodInvocation call;

    Delivery(ConsumerRecord<?, ?> record, MethodInvocation call) {
      this.record = record;
      this.call = call;
    }

    Deduplicator.Work of(RecordId id) {
      return new Deduplicator.Work() {
        @Override
        public @Nullable String run(HeldLease lease) throws Exception {
          try {
            var unused = call.proceed();
            return null;
          } catch (ListenerExecutionFailedException e) {
            // Spring's own says nothing of what the listener threw, and letters tell only that.
            throw e.getCause() instanceof Exception own ? own : e;
          } catch (Exception | Error e) {
            throw e;
          } catch (Throwable e) {
            throw new IllegalStateException(e);
          }
        }

        @Override
        public void beforeGivenUp(HeldLease lease, int attempts, String cause)
            throws InterruptedException, DeadLetterException {
          deduplication.letters.write(
              new DeadLetters.Letter(record, id, attempts, cause), consuming);
          LOG.warn("Gave {} up after attempt {}: {}", id, attempts, cause);
        }
      };
    }
  }
}
