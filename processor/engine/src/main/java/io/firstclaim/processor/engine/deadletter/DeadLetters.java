package io.firstclaim.processor.engine.deadletter;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.RecordId;
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
import org.apache.kafka.common.header.Headers;
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
  private final String zone;

  /**
   * Dead letters of this zone.
   *
   * @param producer must ask for the acknowledgement of all in-sync replicas
   * @param topicOf the dead-letter topic of an input topic
   */
  public DeadLetters(
      Producer<byte[], byte[]> producer, UnaryOperator<String> topicOf, String zone) {
    this.producer = producer;
    this.topicOf = topicOf;
    this.zone = zone;
  }

  /**
   * Writes a dead letter and waits until it is acknowledged.
   *
   * @throws DeadLetterException if it was not: the record must not count as dead
   */
  public void write(ConsumerRecord<byte[], byte[]> record, RecordId id, int attempts, String cause)
      throws InterruptedException {
    ProducerRecord<byte[], byte[]> letter =
        letter(record, record.key(), record.value(), id, attempts, cause);
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
          describe(
              new ProducerRecord<>(letter.topic(), null, null, null), record, id, attempts, cause);
      stub.headers().add("firstclaim-omitted", "key,value,headers".getBytes(UTF_8));
      send(stub);
    }
  }

  private ProducerRecord<byte[], byte[]> letter(
      ConsumerRecord<byte[], byte[]> record,
      byte[] key,
      byte[] value,
      RecordId id,
      int attempts,
      String cause) {
    return describe(
        new ProducerRecord<>(topicOf.apply(record.topic()), null, key, value, record.headers()),
        record,
        id,
        attempts,
        cause);
  }

  private ProducerRecord<byte[], byte[]> describe(
      ProducerRecord<byte[], byte[]> letter,
      ConsumerRecord<byte[], byte[]> record,
      RecordId id,
      int attempts,
      String cause) {
    Headers headers = letter.headers();
    headers.add("firstclaim-id", id.text().getBytes(UTF_8));
    headers.add("firstclaim-attempts", Integer.toString(attempts).getBytes(UTF_8));
    headers.add("firstclaim-zone", zone.getBytes(UTF_8));
    headers.add("firstclaim-cause", cut(cause).getBytes(UTF_8));
    headers.add("firstclaim-topic", record.topic().getBytes(UTF_8));
    headers.add("firstclaim-partition", Integer.toString(record.partition()).getBytes(UTF_8));
    headers.add("firstclaim-offset", Long.toString(record.offset()).getBytes(UTF_8));
    return letter;
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
