package io.firstclaim.processor.engine.api;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
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

  /** What is read is bounded, as anybody may write to a topic. */
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
    try (JsonParser json = JSON.createParser(bytes)) {
      return json.nextToken() == JsonToken.START_OBJECT
          ? Optional.of(new Fields().read(json))
          : Optional.empty();
    } catch (IOException | IllegalArgumentException | DateTimeException e) {
      return Optional.empty();
    }
  }

  /** The fields as they come: what is missing is empty or zero, what is unknown is skipped. */
  private static final class Fields {
    private String id = "";
    private String kind = "";
    private String zone = "";
    private String instance = "";
    private long token;
    private int attempt;
    private String topic = "";
    private int partition;
    private long offset;
    private String at = "";
    private long millis;
    private @Nullable String cause;
    private @Nullable String retryAt;
    private List<String> resources = List.of();

    /** Reads an object of which the beginning was read. */
    Outcome read(JsonParser json) throws IOException {
      String name;
      while ((name = json.nextFieldName()) != null) {
        JsonToken value = json.nextToken();
        switch (name) {
          case "id" -> id = text(json);
          case "outcome" -> kind = text(json);
          case "zone" -> zone = text(json);
          case "instance" -> instance = text(json);
          case "token" -> token = json.getValueAsLong();
          case "attempt" -> attempt = json.getValueAsInt();
          case "topic" -> topic = text(json);
          case "partition" -> partition = json.getValueAsInt();
          case "offset" -> offset = json.getValueAsLong();
          case "at" -> at = text(json);
          case "millis" -> millis = json.getValueAsLong();
          case "cause" -> cause = value == JsonToken.VALUE_STRING ? json.getText() : null;
          case "retryAt" -> retryAt = value == JsonToken.VALUE_STRING ? json.getText() : null;
          case "resources" -> resources = texts(json);
          default -> {} // a field of a later version
        }
        json.skipChildren(); // passes over what is left unread of a value
      }
      return new Outcome(
          id,
          Outcome.Kind.valueOf(kind),
          zone,
          instance,
          token,
          attempt,
          topic,
          partition,
          offset,
          Instant.parse(at),
          Duration.ofMillis(millis),
          cause,
          retryAt == null ? null : Instant.parse(retryAt),
          resources);
    }

    private static String text(JsonParser json) throws IOException {
      return json.getValueAsString("");
    }

    /**
     * The resources. Outcomes of earlier versions have none, nor have those of records that touch
     * nothing.
     */
    private static List<String> texts(JsonParser json) throws IOException {
      if (json.currentToken() != JsonToken.START_ARRAY) {
        return List.of();
      }
      List<String> texts = new ArrayList<>();
      while (json.nextToken() != JsonToken.END_ARRAY) {
        if (texts.size() < MAX_RESOURCES) {
          texts.add(text(json));
        }
        json.skipChildren();
      }
      return texts;
    }
  }
}
