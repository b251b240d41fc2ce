package io.firstclaim.processor.engine.api;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Outcomes as JSON, field by field as docs/records.md lists them. Thread-safe. */
final class OutcomeFormat {
  /**
   * All threads share one pool of buffers: a virtual thread, used once, would make its own each
   * time.
   */
  private static final JsonFactory JSON =
      JsonFactory.builder().recyclerPool(JsonRecyclerPools.sharedConcurrentDequePool()).build();

  private static final ObjectMapper MAPPER = new ObjectMapper(JSON);

  /** Anybody may write to a topic. */
  private static final int MAX_RESOURCES = 100;

  private OutcomeFormat() {}

  static byte[] write(Outcome outcome) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(320);
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeStartObject();
      json.writeStringField("id", outcome.id());
      json.writeStringField("outcome", outcome.kind().name());
      json.writeStringField("zone", outcome.zone());
      json.writeStringField("instance", outcome.instance());
      json.writeNumberField("token", outcome.token());
      json.writeNumberField("attempt", outcome.attempt());
      json.writeStringField("topic", outcome.topic());
      json.writeNumberField("partition", outcome.partition());
      json.writeNumberField("offset", outcome.offset());
      json.writeStringField("at", outcome.at().toString());
      json.writeNumberField("millis", outcome.took().toMillis());
      json.writeStringField("cause", outcome.cause());
      json.writeStringField(
          "retryAt", outcome.retryAt() == null ? null : outcome.retryAt().toString());
      if (!outcome.resources().isEmpty()) {
        json.writeArrayFieldStart("resources");
        for (String resource : outcome.resources()) {
          json.writeString(resource);
        }
        json.writeEndArray();
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** The outcome in these bytes, if they hold one: anybody may write to a topic. */
  static Optional<Outcome> read(byte[] bytes) {
    try {
      JsonNode json = MAPPER.readTree(bytes);
      if (json == null || !json.isObject()) {
        return Optional.empty();
      }
      return Optional.of(
          new Outcome(
              json.path("id").asText(),
              Outcome.Kind.valueOf(json.path("outcome").asText()),
              json.path("zone").asText(),
              json.path("instance").asText(),
              json.path("token").asLong(),
              json.path("attempt").asInt(),
              json.path("topic").asText(),
              json.path("partition").asInt(),
              json.path("offset").asLong(),
              Instant.parse(json.path("at").asText()),
              Duration.ofMillis(json.path("millis").asLong()),
              textOrNull(json.path("cause")),
              instantOrNull(json.path("retryAt")),
              texts(json.path("resources"))));
    } catch (IOException | IllegalArgumentException | DateTimeException e) {
      return Optional.empty();
    }
  }

  private static @Nullable String textOrNull(JsonNode node) {
    return node.isTextual() ? node.asText() : null;
  }

  /** None in outcomes of earlier versions, nor in those of records that touch nothing. */
  private static List<String> texts(JsonNode node) {
    if (node.isEmpty()) {
      return List.of();
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode text : node) {
      if (texts.size() < MAX_RESOURCES) {
        texts.add(text.asText());
      }
    }
    return texts;
  }

  private static @Nullable Instant instantOrNull(JsonNode node) {
    return node.isTextual() ? Instant.parse(node.asText()) : null;
  }
}
