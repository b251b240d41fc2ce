package io.firstclaim.processor.engine.deadletter;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.processor.engine.api.LetterHeaders;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes records that are given up to their dead-letter topic: key, value and headers untouched,
 * plus headers that say what happened. Thread-safe.
 */
public final class DeadLetters {
  private static final Logger LOG = LoggerFactory.getLogger(DeadLetters.class);
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int MAX_CAUSE = 1000;

  private final Producer<byte[], byte[]> producer;
  private final UnaryOperator<String> topicOf;
  private final String application;
  private final String zone;

  /**
   * Dead letters of this application and zone.
   *
   * @param producer must ask for the acknowledgement of all in-sync replicas
   * @param topicOf the dead-letter topic of an input topic
   */
  public DeadLetters(
      Producer<byte[], byte[]> producer,
      UnaryOperator<String> topicOf,
      String application,
      String zone) {
    this.producer = producer;
    this.topicOf = topicOf;
    this.application = application;
    this.zone = zone;
  }

  /**
   * Writes a dead letter and waits until it is acknowledged.
   *
   * @param redrive by which the record was delivered, if any: the headers that it brought are not
   *     the record's own
   * @throws DeadLetterException if it was not: the record must not count as dead
   */
  public void write(
      ConsumerRecord<byte[], byte[]> record,
      RecordId id,
      int attempts,
      String cause,
      @Nullable RedriveId redrive)
      throws InterruptedException {
    Iterable<Header> own =
        redrive == null ? record.headers() : LetterHeaders.beforeRedrive(record.headers());
    ProducerRecord<byte[], byte[]> letter =
        new ProducerRecord<>(
            topicOf.apply(record.topic()), null, record.key(), record.value(), own);
    Headers story = story(record, id, attempts, cause, redrive);
    story.forEach(letter.headers()::add);
    try {
      send(letter);
    } catch (DeadLetterException e) {
      if (!(e.getCause() instanceof RecordTooLargeException)) {
        throw e;
      }
      LOG.error(
          "Dead letter of {} is too large for topic {}: it is written without key, value and"
              + " headers; the record stays at {}-{} offset {}. Raise max.message.bytes of {}.",
          id,
          letter.topic(),
          record.topic(),
          record.partition(),
          record.offset(),
          letter.topic());
      ProducerRecord<byte[], byte[]> stub =
          new ProducerRecord<byte[], byte[]>(letter.topic(), null, null, null, story);
      stub.headers().add(LetterHeaders.OMITTED, "key,value,headers".getBytes(UTF_8));
      send(stub);
    }
  }

  /** The headers that say what happened. */
  private Headers story(
      ConsumerRecord<byte[], byte[]> record,
      RecordId id,
      int attempts,
      String cause,
      @Nullable RedriveId redrive) {
    Headers headers = new RecordHeaders();
    headers.add(LetterHeaders.APPLICATION, application.getBytes(UTF_8));
    if (redrive != null) {
      headers.add(LetterHeaders.REDRIVE, redrive.text().getBytes(UTF_8));
    }
    headers.add(LetterHeaders.ID, id.text().getBytes(UTF_8));
    headers.add(LetterHeaders.ATTEMPTS, Integer.toString(attempts).getBytes(UTF_8));
    headers.add(LetterHeaders.ZONE, zone.getBytes(UTF_8));
    headers.add(LetterHeaders.CAUSE, cut(cause).getBytes(UTF_8));
    headers.add(LetterHeaders.TOPIC, record.topic().getBytes(UTF_8));
    headers.add(LetterHeaders.PARTITION, Integer.toString(record.partition()).getBytes(UTF_8));
    headers.add(LetterHeaders.OFFSET, Long.toString(record.offset()).getBytes(UTF_8));
    headers.add(LetterHeaders.TIMESTAMP, Long.toString(record.timestamp()).getBytes(UTF_8));
    return headers;
  }

  private void send(ProducerRecord<byte[], byte[]> letter) throws InterruptedException {
    try {
      producer.send(letter).get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new DeadLetterException(letter.topic(), e.getCause() == null ? e : e.getCause());
    } catch (TimeoutException | KafkaException e) {
      throw new DeadLetterException(letter.topic(), e);
    }
  }

  private static String cut(String cause) {
    return cause.length() <= MAX_CAUSE ? cause : cause.substring(0, MAX_CAUSE) + "…";
  }
}
