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
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** What the zones published on the outcomes topic. */
final class Outcomes implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

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

    @Override
    public String toString() {
      return "%s %s by %s, token %d, attempt %d, at %s, published %s: %s"
          .formatted(outcome, id, instance, token, attempt, at, published, cause);
    }
  }

  private final TopicReader<Outcome> reader;

  Outcomes(String topic) {
    this.reader = new TopicReader<>(topic, Outcome::of);
  }

  /** Is in messages that are no outcomes, but say which store an instance uses. */
  private static final String PRESENCE = "firstclaim-presence";

  /** All but those of the warm-up. */
  List<Outcome> all() {
    return reader.all().stream()
        .filter(outcome -> !outcome.id.startsWith(Scenario.WARM_UP))
        .filter(outcome -> !outcome.id.equals(PRESENCE))
        .toList();
  }

  /** The completed IDs of the warm-up. */
  Set<String> warmUps() {
    return reader.all().stream()
        .filter(outcome -> outcome.outcome.equals("COMPLETED"))
        .map(Outcome::id)
        .filter(id -> id.startsWith(Scenario.WARM_UP))
        .collect(Collectors.toSet());
  }

  /** Those of one kind, such as {@code COMPLETED}. */
  List<Outcome> of(String kind) {
    return all().stream().filter(outcome -> outcome.outcome.equals(kind)).toList();
  }

  /** How many there are of one kind for one ID. */
  int of(String kind, String id) {
    return (int) of(kind).stream().filter(outcome -> outcome.id.equals(id)).count();
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
    return Objects.requireNonNull(
        onlyOne(kind).get(id), () -> "no %s outcome of %s".formatted(kind, id));
  }

  @Override
  public void close() {
    reader.close();
  }
}
