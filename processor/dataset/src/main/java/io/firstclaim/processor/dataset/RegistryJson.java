package io.firstclaim.processor.dataset;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.time.DateTimeException;
import java.time.Instant;

/**
 * Reads the JSON of roots and manifests, in place of which anybody may have put anything. What is
 * wrong with it is an {@link IllegalArgumentException}, whose message does not quote it.
 */
final class RegistryJson {
  static final JsonMapper MAPPER = new JsonMapper();

  private RegistryJson() {}

  /** The object that this text is. */
  static JsonNode object(String text) {
    try {
      JsonNode json = MAPPER.readTree(text);
      if (json.isObject()) {
        return json;
      }
    } catch (JsonProcessingException _) {
      // Its message would quote the text; the one for any other JSON will do.
    }
    throw new IllegalArgumentException("it is not a JSON object");
  }

  /** The number of this name, which counts something. */
  static long count(JsonNode json, String field) {
    JsonNode number = json.path(field);
    if (!number.isIntegralNumber() || !number.canConvertToLong() || number.asLong() < 0) {
      throw new IllegalArgumentException("its %s is not a count".formatted(field));
    }
    return number.asLong();
  }

  /** The time of this name. */
  static Instant time(JsonNode json, String field) {
    try {
      return Instant.parse(json.path(field).asText());
    } catch (DateTimeException _) {
      throw new IllegalArgumentException("its %s is not a time".formatted(field));
    }
  }
}
