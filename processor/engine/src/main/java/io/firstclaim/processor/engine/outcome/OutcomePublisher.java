package io.firstclaim.processor.engine.outcome;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes outcomes under the record's ID. Headers say whose they are: the namespace, as
 * applications may share the topic, the payload's fingerprint, as the same ID with another payload
 * is another record, and the sender, which need not read its own. Thread-safe.
 */
public final class OutcomePublisher {
  static final String NAMESPACE = "firstclaim-namespace";
  static final String FINGERPRINT = "firstclaim-fingerprint";
  static final String SENDER = "firstclaim-sender";

  private static final Logger LOG = LoggerFactory.getLogger(OutcomePublisher.class);

  private final Producer<byte[], byte[]> producer;
  private final Optional<String> topic;
  private final byte[] namespace;
  private final byte[] sender;

  /** A publisher to this topic; without a topic, outcomes go nowhere. */
  public OutcomePublisher(
      Producer<byte[], byte[]> producer, Optional<String> topic, String namespace, String sender) {
    this.producer = producer;
    this.topic = topic;
    this.namespace = namespace.getBytes(UTF_8);
    this.sender = sender.getBytes(UTF_8);
  }

  /**
   * Publishes an outcome. Outcomes only inform; what counts is in the lock store. So if one cannot
   * be published, that is logged and the record goes on.
   *
   * @return completes, never with a fault, once the outcome is acknowledged or given up
   */
  public CompletableFuture<Void> publish(Outcome outcome, RecordId id, Fingerprint fingerprint) {
    CompletableFuture<Void> published = new CompletableFuture<>();
    if (topic.isEmpty()) {
      published.complete(null);
      return published;
    }
    try {
      ProducerRecord<byte[], byte[]> message =
          new ProducerRecord<>(
              topic.get(),
              null,
              id.bytes(),
              OutcomeFormat.write(outcome),
              List.of(
                  new RecordHeader(NAMESPACE, namespace),
                  new RecordHeader(SENDER, sender),
                  new RecordHeader(FINGERPRINT, fingerprint.hash())));
      var _ =
          producer.send(
              message,
              (_, fault) -> {
                if (fault != null) {
                  LOG.warn("Outcome {} of {} was not published", outcome.kind(), id, fault);
                }
                published.complete(null);
              });
    } catch (RuntimeException e) { // Kafka's own, or that the producer is closed
      LOG.warn("Outcome {} of {} was not published", outcome.kind(), id, e);
      published.complete(null);
    }
    return published;
  }
}
