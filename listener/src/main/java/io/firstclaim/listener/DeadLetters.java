package io.firstclaim.listener;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.Patience;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes records that are given up to their dead-letter topic: key, value and headers untouched,
 * and the headers of the engine's dead letters. What a listener was given is deserialized, so the
 * record is read once more. Thread-safe.
 */
public final class DeadLetters implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DeadLetters.class);
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String TIMESTAMP = "firstclaim-timestamp";
  private static final int MAX_CAUSE = 1000;

  private final Map<String, Object> producing;
  private final @Nullable String topic;
  private final String application;
  private final String zone;
  private final TimeSource time;
  private @Nullable Producer<byte[], byte[]> producer;

  /**
   * Dead letters of this application and zone.
   *
   * @param producing the application's own settings of producers
   * @param topic of all; null for one for each input topic
   */
  public DeadLetters(
      Map<String, Object> producing,
      @Nullable String topic,
      String application,
      String zone,
      TimeSource time) {
    this.producing = new HashMap<>(producing);
    this.producing.put(ProducerConfig.ACKS_CONFIG, "all");
    this.producing.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    var unused = this.producing.putIfAbsent(ProducerConfig.MAX_BLOCK_MS_CONFIG, LIMIT.toMillis());
    this.producing.remove(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG);
    this.producing.remove(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG);
    this.producing.remove(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
    // An idempotent producer refuses some values of these two.
    this.producing.remove(ProducerConfig.RETRIES_CONFIG);
    this.producing.remove(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION);
    this.topic = topic;
    this.application = application;
    this.zone = zone;
    this.time = time;
  }

  /** A record that is given up. */
  record Letter(ConsumerRecord<?, ?> record, RecordId id, int attempts, String cause) {}

  /**
   * Writes a dead letter and waits until it is acknowledged.
   *
   * @param consuming the settings of the record's consumer
   * @throws DeadLetterException if it was not: the record must not count as dead
   */
  void write(Letter letter, Map<String, Object> consuming)
      throws InterruptedException, DeadLetterException {
    ConsumerRecord<?, ?> given = letter.record();
    String to = topic == null ? given.topic() + ".dlt" : topic;
    Headers story = story(letter);
    ConsumerRecord<byte[], byte[]> record = readAgain(given, consuming);
    if (record == null) {
      LOG.error(
          "The dead letter of {} is written without key and value: {} is in its topic no more",
          letter.id(),
          DeduplicatedRecords.place(given));
      send(
          new ProducerRecord<byte[], byte[]>(
              to, null, null, null, omitted(given.headers(), story)));
      return;
    }
    try {
      send(
          new ProducerRecord<byte[], byte[]>(
              to, null, record.key(), record.value(), joined(record.headers(), story)));
    } catch (DeadLetterException e) {
      if (!(e.getCause() instanceof RecordTooLargeException)) {
        throw e;
      }
      LOG.error(
          "The dead letter of {} is too large for {} and is written without key, value and headers;"
              + " the record stays at {}. Raise max.message.bytes of {}.",
          letter.id(),
          to,
          DeduplicatedRecords.place(given),
          to);
      send(
          new ProducerRecord<byte[], byte[]>(
              to, null, null, null, omitted(new RecordHeaders(), story)));
    }
  }

  private static Headers joined(Headers own, Headers story) {
    Headers all = new RecordHeaders(own);
    story.forEach(all::add);
    return all;
  }

  private static Headers omitted(Headers own, Headers story) {
    return joined(own, story).add("firstclaim-omitted", "key,value,headers".getBytes(UTF_8));
  }

  private Headers story(Letter letter) {
    ConsumerRecord<?, ?> record = letter.record();
    Headers headers = new RecordHeaders();
    headers.add("firstclaim-application", application.getBytes(UTF_8));
    headers.add("firstclaim-id", letter.id().text().getBytes(UTF_8));
    headers.add("firstclaim-attempts", Integer.toString(letter.attempts()).getBytes(UTF_8));
    headers.add("firstclaim-zone", zone.getBytes(UTF_8));
    headers.add("firstclaim-cause", cut(letter.cause()).getBytes(UTF_8));
    headers.add("firstclaim-topic", record.topic().getBytes(UTF_8));
    headers.add("firstclaim-partition", Integer.toString(record.partition()).getBytes(UTF_8));
    headers.add("firstclaim-offset", Long.toString(record.offset()).getBytes(UTF_8));
    headers.add(TIMESTAMP, Long.toString(timeOf(record)).getBytes(UTF_8));
    return headers;
  }

  /** The record's own time: Kafka's, unless it is redriven, and says what it was at first. */
  private static long timeOf(ConsumerRecord<?, ?> record) {
    Header said = record.headers().lastHeader(TIMESTAMP);
    try {
      return said == null || said.value() == null
          ? record.timestamp()
          : Long.parseLong(new String(said.value(), UTF_8));
    } catch (NumberFormatException e) { // anybody may send this header, with any text
      return record.timestamp();
    }
  }

  private static String cut(String cause) {
    return cause.length() <= MAX_CAUSE ? cause : cause.substring(0, MAX_CAUSE) + "…";
  }

  /** The record as it is in its topic; null if it is there no more. */
  private @Nullable ConsumerRecord<byte[], byte[]> readAgain(
      ConsumerRecord<?, ?> given, Map<String, Object> consuming) throws DeadLetterException {
    Map<String, Object> settings = new HashMap<>(consuming);
    settings
        .keySet()
        .removeIf(name -> name.startsWith("group.") || name.startsWith("interceptor."));
    settings.remove(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG);
    settings.remove(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG);
    settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
    settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 1);
    TopicPartition partition = new TopicPartition(given.topic(), given.partition());
    Patience patience = new Patience(time, LIMIT);
    try (Consumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.assign(List.of(partition));
      consumer.seek(partition, given.offset());
      do {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
          // A topic that is compacted may have lost it, and goes on with a later one.
          return record.offset() == given.offset() ? record : null;
        }
      } while (!patience.isOver());
    } catch (InvalidOffsetException e) {
      return null;
    } catch (RuntimeException e) {
      throw new DeadLetterException("the record cannot be read once more", e);
    }
    throw new DeadLetterException("the record was not read once more within " + LIMIT, null);
  }

  private void send(ProducerRecord<byte[], byte[]> letter)
      throws InterruptedException, DeadLetterException {
    String failed = "no dead letter in topic " + letter.topic();
    try {
      var unused = producer().send(letter).get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new DeadLetterException(failed, e.getCause() == null ? e : e.getCause());
    } catch (TimeoutException | RuntimeException e) {
      throw new DeadLetterException(failed, e);
    }
  }

  /** Made when it is needed, which is seldom. */
  private synchronized Producer<byte[], byte[]> producer() {
    if (producer == null) {
      producer =
          new KafkaProducer<>(producing, new ByteArraySerializer(), new ByteArraySerializer());
    }
    return producer;
  }

  @Override
  public synchronized void close() {
    if (producer != null) {
      producer.close(Duration.ofSeconds(5));
    }
  }
}
