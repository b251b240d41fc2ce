package io.firstclaim.listener;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreException;
import io.firstclaim.lock.deduplicator.Deduplicator;
import io.firstclaim.lock.deduplicator.RunResult;
import io.firstclaim.lock.keeper.HeldLease;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The records of one listener: claims each one's ID, calls the listener under the lease, and
 * returns only if the record's offset may move. Thread-safe.
 */
public final class DeduplicatedRecords {
  private static final Logger LOG = LoggerFactory.getLogger(DeduplicatedRecords.class);

  /** How soon to ask a store again that did not answer, or what became of a record. */
  private static final Duration SOON = Duration.ofSeconds(1);

  private final RecordIds ids;
  private final Deduplication deduplication;
  private final Map<String, Object> consuming;

  /**
   * The records of one listener.
   *
   * @param consuming the settings of its consumers, by which a dead record is read once more
   */
  public DeduplicatedRecords(
      RecordIds ids, Deduplication deduplication, Map<String, Object> consuming) {
    this.ids = ids;
    this.deduplication = deduplication;
    this.consuming = consuming;
  }

  /** Calls the listener with the record. */
  @FunctionalInterface
  public interface Listener {
    /**
     * Returns when the work is done.
     *
     * @throws Throwable what the listener threw: the attempt failed
     */
    void hear() throws Throwable;
  }

  /**
   * Has a record done once. Blocks while the listener runs, and then until the store has recorded
   * that, at most until the lease is over.
   *
   * @return whether the listener did it now; else it was done before, or is given up and its dead
   *     letter acknowledged. Either way its offset may move.
   * @throws RecordKeptException if its offset must stay where it is, and the record be delivered
   *     again
   */
  public boolean process(ConsumerRecord<?, ?> record, Listener listener) {
    try {
      return switch (ids.find(record)) {
        case Identified.Found(RecordId id) -> once(id, record, listener);
        case Identified.Missing(RecordId standIn, String cause) -> {
          giveUp(standIn, record, cause);
          yield false;
        }
      };
    } catch (InterruptedException e) {
      // The work threw it, or the deduplicator closes. The thread's interrupt flag stays down: this
      // thread asks its consumer next, which the flag would end.
      throw new RecordKeptException("interrupted", Duration.ZERO, e);
    } catch (StoreException | IllegalStateException | UnfitTypeException e) {
      LOG.warn("{} is kept: {}", place(record), OneLine.of(e.toString()));
      throw new RecordKeptException(String.valueOf(e.getMessage()), SOON, e);
    }
  }

  private boolean once(RecordId id, ConsumerRecord<?, ?> record, Listener listener)
      throws InterruptedException {
    byte[] value = record.value() == null ? null : RecordBytes.of(record.value());
    Fingerprint payload = value == null ? Fingerprint.none() : Fingerprint.of(value);
    return switch (deduplication.deduplicator().run(id, payload, work(id, record, listener))) {
      case RunResult.Ran unused -> true;
      case RunResult.DoneBefore unused -> false;
      case RunResult.GivenUp unused -> false;
      case RunResult.OtherPayload unused -> {
        giveUp(
            ids.ofMismatch(id, payload), record, "the ID " + id + " is known with another payload");
        yield false;
      }
      case RunResult.AttemptFailed(var retryAt, var attempts, var cause) -> {
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
    };
  }

  private Duration until(Instant retryAt) {
    return Duration.between(deduplication.time().now().wall(), retryAt);
  }

  private Deduplicator.Work work(RecordId id, ConsumerRecord<?, ?> record, Listener listener) {
    return new Deduplicator.Work() {
      @Override
      public @Nullable String run(HeldLease lease) throws Exception {
        try {
          listener.hear();
          return null;
        } catch (Exception | Error e) {
          throw e;
        } catch (Throwable e) {
          throw new IllegalStateException(e);
        }
      }

      @Override
      public void beforeGivenUp(HeldLease lease, int attempts, String cause)
          throws InterruptedException, DeadLetterException {
        deduplication
            .letters()
            .write(new DeadLetters.Letter(record, id, attempts, cause), consuming);
        LOG.warn("Gave {} up after attempt {}: {}", id, attempts, OneLine.of(cause));
      }
    };
  }

  /** Has a record given up that must not be tried, by one of all who come with it. */
  private void giveUp(RecordId standIn, ConsumerRecord<?, ?> record, String cause)
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
            deduplication
                .letters()
                .write(new DeadLetters.Letter(record, standIn, 0, cause), consuming);
          }
        };
    RunResult result = deduplication.giveUp().run(standIn, Fingerprint.none(), hopeless);
    if (!(result instanceof RunResult.GivenUp)) {
      throw new RecordKeptException("it is not given up yet: " + result, SOON, null);
    }
    LOG.warn("Gave {} up: {}", place(record), cause);
  }

  /** Where a record is, for a log. */
  public static String place(ConsumerRecord<?, ?> record) {
    return "%s-%d offset %d".formatted(record.topic(), record.partition(), record.offset());
  }
}
