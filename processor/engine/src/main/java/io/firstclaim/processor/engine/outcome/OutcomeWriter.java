package io.firstclaim.processor.engine.outcome;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.OutcomeMessage;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes outcomes under the record's ID. Headers say where they come from, and the payload's
 * fingerprint, as the same ID with another payload is another record. Thread-safe.
 */
public final class OutcomeWriter {
  private static final Logger LOG = LoggerFactory.getLogger(OutcomeWriter.class);

  private final Producer<byte[], byte[]> producer;
  private final Optional<String> topic;
  private final Origin origin;
  private volatile boolean finishing;

  /** A publisher to this topic; without a topic, outcomes go nowhere. */
  public OutcomeWriter(Producer<byte[], byte[]> producer, Optional<String> topic, Origin origin) {
    this.producer = producer;
    this.topic = topic;
    this.origin = origin;
  }

  /**
   * Publishes an outcome. Outcomes only inform; what counts is in the lock store. So if one cannot
   * be published, that is logged and the record goes on.
   *
   * @return completes, never with a fault, once the outcome is acknowledged or given up; never, if
   *     it is given up as this finishes
   */
  public CompletableFuture<Void> publish(Outcome outcome, RecordId id, Fingerprint fingerprint) {
    CompletableFuture<Void> published = new CompletableFuture<>();
    if (topic.isEmpty()) {
      published.complete(null);
      return published;
    }
    try {
      ProducerRecord<byte[], byte[]> message =
          new ProducerRecord<>(topic.get(), null, id.bytes(), outcome.json(), origin.headers());
      message.headers().add(OutcomeMessage.FINGERPRINT, fingerprint.hash());
      var _ =
          producer.send(
              message,
              (_, fault) -> {
                if (fault == null) {
                  published.complete(null);
                } else {
                  givenUp(published, outcome, id, fault);
                }
              });
    } catch (RuntimeException e) { // Kafka failed, or the producer is closed
      givenUp(published, outcome, id, e);
    }
    return published;
  }

  private void givenUp(
      CompletableFuture<Void> published, Outcome outcome, RecordId id, Exception fault) {
    LOG.warn("Outcome {} of {} was not published", outcome.kind(), id, fault);
    if (!finishing) {
      published.complete(null);
    } // otherwise the record is delivered again, and somebody else publishes its end
  }

  /** Sends what is left to be sent, and gives up what is not acknowledged within this. */
  void finish(Duration limit) {
    finishing = true;
    producer.close(limit);
  }
}
