package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** What the zones published on the outcomes topic. */
final class Outcomes implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** What is said of a record that a silent store granted too late, or was not heard to count. */
  private static final Set<String> UNBEGUN =
      Set.of("the grant came too late for it to begin", "it was not begun");

  /** One message: its key, its text, and the fields of it, as in the contract. */
  record Outcome(
      ByteBuffer key,
      Instant published,
      String text,
      String id,
      String outcome,
      String zone,
      String instance,
      long token,
      int attempt,
      String topic,
      int partition,
      long offset,
      Instant at,
      long millis,
      @Nullable String cause) {

    static Outcome of(ConsumerRecord<byte[], byte[]> message) {
      try {
        JsonNode json = JSON.readTree(message.value());
        return new Outcome(
            ByteBuffer.wrap(message.key()),
            Instant.ofEpochMilli(message.timestamp()),
            new String(message.value(), StandardCharsets.UTF_8),
            json.required("id").textValue(),
            json.required("outcome").textValue(),
            json.required("zone").textValue(),
            json.required("instance").textValue(),
            json.required("token").longValue(),
            json.required("attempt").intValue(),
            json.required("topic").textValue(),
            json.required("partition").intValue(),
            json.required("offset").longValue(),
            Instant.parse(json.required("at").textValue()),
            json.required("millis").longValue(),
            json.required("cause").textValue());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Whether a silent store kept the handler from being called. */
    boolean isUnbegun() {
      return outcome.equals("FAILED") && cause != null && UNBEGUN.contains(cause);
    }

    @Override
    public String toString() {
      return "%s %s by %s, token %d, attempt %d, at %s, published %s: %s"
          .formatted(outcome, id, instance, token, attempt, at, published, cause);
    }
  }

  /** Is in messages that are no outcomes, but say which store an instance uses. */
  static final String PRESENCE = "firstclaim-presence";

  private final Queue<Outcome> all = new ConcurrentLinkedQueue<>();
  private final Map<String, Queue<Outcome>> byKind = new ConcurrentHashMap<>();
  private final Map<String, Queue<Outcome>> byId = new ConcurrentHashMap<>();
  private final Set<String> warmUps = ConcurrentHashMap.newKeySet();
  private final TopicReader<Outcome> reader;

  Outcomes(String topic) {
    this.reader = new TopicReader<>(topic, message -> kept(Outcome.of(message)));
  }

  private Outcome kept(Outcome outcome) {
    if (outcome.id.startsWith(Scenario.WARM_UP)) {
      if (outcome.outcome.equals("COMPLETED")) {
        warmUps.add(outcome.id);
      }
    } else if (!outcome.id.equals(PRESENCE)) {
      all.add(outcome);
      byKind.computeIfAbsent(outcome.outcome, _ -> new ConcurrentLinkedQueue<>()).add(outcome);
      byId.computeIfAbsent(outcome.id, _ -> new ConcurrentLinkedQueue<>()).add(outcome);
    }
    return outcome;
  }

  /** All but those of the warm-up. */
  List<Outcome> all() {
    return List.copyOf(all);
  }

  /** The completed IDs of the warm-up. */
  Set<String> warmUps() {
    return Set.copyOf(warmUps);
  }

  /** Those of one kind, such as {@code COMPLETED}. */
  List<Outcome> of(String kind) {
    return List.copyOf(byKind.getOrDefault(kind, new ConcurrentLinkedQueue<>()));
  }

  /** How many there are of one kind for one ID. */
  int of(String kind, String id) {
    return (int) ofId(kind, id).count();
  }

  /** How many grants of an ID came to nothing as {@link Outcome#isUnbegun} tells. */
  long unbegun(String id) {
    return ofId("FAILED", id).filter(Outcome::isUnbegun).count();
  }

  private Stream<Outcome> ofId(String kind, String id) {
    return byId.getOrDefault(id, new ConcurrentLinkedQueue<>()).stream()
        .filter(outcome -> outcome.outcome.equals(kind));
  }

  Set<String> ids(String kind) {
    return of(kind).stream().map(Outcome::id).collect(Collectors.toSet());
  }

  /**
   * The one outcome of this kind for each ID; fails if there are two for one. An end that somebody
   * else announces once more, having heard nothing of it for a lease, has the token of the first
   * and is the same.
   */
  Map<String, Outcome> onlyOne(String kind) {
    return of(kind).stream()
        .collect(Collectors.toMap(Outcome::id, Function.identity(), Outcomes::same));
  }

  private static Outcome same(Outcome first, Outcome again) {
    assertThat(again).as("after %s", first).matches(outcome -> outcome.token == first.token);
    return first;
  }

  /** The one outcome of this kind for this ID; fails if there is none, too. */
  Outcome onlyOne(String kind, String id) {
    return ofId(kind, id)
        .reduce(Outcomes::same)
        .orElseThrow(() -> new AssertionError("no %s outcome of %s".formatted(kind, id)));
  }

  @Override
  public void close() {
    reader.close();
  }
}
