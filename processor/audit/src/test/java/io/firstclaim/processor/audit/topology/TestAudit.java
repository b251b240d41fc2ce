package io.firstclaim.processor.audit.topology;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.audit.api.AuditSettings;
import io.firstclaim.processor.audit.api.Dead;
import io.firstclaim.processor.audit.api.Minute;
import io.firstclaim.processor.audit.api.Stuck;
import io.firstclaim.processor.engine.api.Outcome;
import io.firstclaim.processor.engine.api.OutcomeMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.function.BiFunction;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;

/** The topology on Kafka's own driver, with real stores and a clock that the test drives. */
final class TestAudit implements AutoCloseable {
  static final Duration RETENTION = Duration.ofDays(8);
  static final Duration STUCK_AFTER = Duration.ofMinutes(5);
  static final String STORE = "store-1";

  private static final Fingerprint PAYLOAD = Fingerprint.of(new byte[] {1});

  final ManualTime time = ManualTime.start();
  private final TopologyTestDriver driver;
  private final TestInputTopic<byte[], byte[]> outcomes;
  private final TestOutputTopic<byte[], byte[]> violations;

  TestAudit(Path directory) {
    this(directory, 1);
  }

  /**
   * An audit of the first partition.
   *
   * @param partitions how many there are
   */
  TestAudit(Path directory, int partitions) {
    Properties config = new Properties();
    config.put(StreamsConfig.APPLICATION_ID_CONFIG, "orders-audit-a");
    config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
    config.put(StreamsConfig.STATE_DIR_CONFIG, directory.toString());
    driver =
        new TopologyTestDriver(
            OutcomesTopology.of(settings(directory), STORE, time, partitions),
            config,
            time.now().wall());
    outcomes =
        driver.createInputTopic(
            "orders.outcomes", new ByteArraySerializer(), new ByteArraySerializer());
    violations =
        driver.createOutputTopic(
            "orders.violations", new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  static AuditSettings settings(Path directory) {
    return new AuditSettings(
        "orders",
        "orders",
        "a",
        "orders.outcomes",
        "orders.violations",
        RETENTION,
        STUCK_AFTER,
        new Address("127.0.0.1", 8080),
        directory,
        true,
        Map.of());
  }

  /** Time goes by, and what is to be done now and then is done. */
  void pass(Duration duration) {
    time.advance(duration);
    driver.advanceWallClockTime(duration);
  }

  /** The wall clock is ahead for a while: what is to be done now and then is done by it. */
  void runAhead(Duration by) {
    time.setSkew(by);
    driver.advanceWallClockTime(by);
    time.setSkew(Duration.ZERO);
  }

  Outcome outcome(String id, Outcome.Kind kind, long token) {
    return outcome(id, kind, "a", token, time.now().wall(), Duration.ofMillis(10), null);
  }

  static Outcome outcome(
      String id,
      Outcome.Kind kind,
      String zone,
      long token,
      Instant at,
      Duration took,
      @Nullable String cause) {
    return new Outcome(
        id, kind, zone, zone + "1", token, 1, "in", 0, 7, at, took, cause, null, List.of());
  }

  /** An outcome is published now. */
  void publish(String id, Outcome.Kind kind, long token) {
    publish(outcome(id, kind, token));
  }

  void publish(Outcome outcome) {
    publish(outcome, PAYLOAD);
  }

  void publish(Outcome outcome, Fingerprint payload) {
    publish(outcome.id().getBytes(UTF_8), outcome.json(), headers(STORE, payload), now());
  }

  void publish(byte[] key, byte[] value, Headers headers, Instant at) {
    outcomes.pipeInput(new TestRecord<>(key, value, headers, at));
  }

  static Headers headers(String store, Fingerprint payload) {
    return new RecordHeaders()
        .add(OutcomeMessage.APPLICATION, "orders".getBytes(UTF_8))
        .add(OutcomeMessage.NAMESPACE, "orders".getBytes(UTF_8))
        .add(OutcomeMessage.STORE, store.getBytes(UTF_8))
        .add(OutcomeMessage.FINGERPRINT, payload.hash());
  }

  Instant now() {
    return time.now().wall();
  }

  /** The verdicts published since the last time, with their records: {@code id VERDICT}. */
  List<String> verdicts() {
    return violationMessages().stream()
        .map(json -> json.get("id").asText() + " " + json.get("verdict").asText())
        .toList();
  }

  List<JsonNode> violationMessages() {
    return violations.readRecordsToList().stream().map(TestAudit::json).toList();
  }

  private static JsonNode json(TestRecord<byte[], byte[]> message) {
    try {
      return new ObjectMapper().readTree(message.value());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All minutes, as a query reads them. */
  List<Minute> minutes() {
    MinuteRows rows = new MinuteRows();
    rows.add(driver.<byte[], byte[]>getWindowStore(Stores.MINUTES).all());
    return rows.list();
  }

  List<Outcome> history(String id) {
    return Stores.history(driver.getWindowStore(Stores.RECORDS), RecordId.of(id), now(), RETENTION);
  }

  List<Outcome.Kind> kinds(String id) {
    return history(id).stream().map(Outcome::kind).toList();
  }

  List<Stuck> stuck() {
    return list(Stores.OPEN, (id, value) -> Stores.stuck(id, value, now().minus(STUCK_AFTER)));
  }

  List<Dead> dead() {
    return list(Stores.DEAD, Stores::dead);
  }

  /** How many rows a store has, whether they are listed or not. */
  int rows(String store) {
    int rows = 0;
    try (KeyValueIterator<byte[], byte[]> all =
        driver.<byte[], byte[]>getKeyValueStore(store).all()) {
      for (; all.hasNext(); rows++) {
        KeyValue<byte[], byte[]> _ = all.next();
      }
    }
    return rows;
  }

  <T> List<T> list(String store, BiFunction<RecordId, byte[], Optional<T>> reader) {
    List<T> found = new ArrayList<>();
    try (KeyValueIterator<byte[], byte[]> all =
        driver.<byte[], byte[]>getKeyValueStore(store).all()) {
      while (all.hasNext()) {
        KeyValue<byte[], byte[]> entry = all.next();
        if (Stores.isKept(entry.value, now(), RETENTION)) {
          reader.apply(RecordId.of(entry.key), entry.value).ifPresent(found::add);
        }
      }
    }
    return found;
  }

  Minute minute(String zone, Instant start) {
    return Stores.minute(
        zone,
        start,
        driver
            .<byte[], byte[]>getWindowStore(Stores.MINUTES)
            .fetch(zone.getBytes(UTF_8), start.toEpochMilli()));
  }

  @Override
  public void close() {
    driver.close();
  }
}
