package io.firstclaim.processor.service.claims;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.StringWriter;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A JSON merge patch (RFC 7396): what it has is set, what it has as null is removed, the rest
 * stays. Pure; numbers keep all their digits.
 */
final class MergePatch {
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private final JsonNode patch;

  private MergePatch(JsonNode patch) {
    this.patch = patch;
  }

  /** The patch that is written so; empty if that is no JSON. */
  static Optional<MergePatch> parse(String text) {
    try {
      JsonNode read = JSON.readTree(text);
      return read == null || read.isMissingNode()
          ? Optional.empty()
          : Optional.of(new MergePatch(read));
    } catch (JsonProcessingException e) {
      return Optional.empty();
    }
  }

  /** Whether a text is JSON. */
  static boolean isJson(String text) {
    try (JsonParser json = JSON.createParser(text)) {
      if (json.nextToken() == null) {
        return false;
      }
      json.skipChildren();
      return json.nextToken() == null;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * The document after this patch.
   *
   * @param before empty if there is none yet
   * @return empty if what is there is no JSON
   */
  Optional<String> applyTo(Optional<String> before) {
    if (before.isEmpty()) {
      return Optional.of(withoutNulls(patch).toString());
    }
    String text = before.get();
    if (!(patch instanceof ObjectNode changes)) {
      return isJson(text) ? Optional.of(patch.toString()) : Optional.empty();
    }
    return written(text, (old, out) -> merge(old, changes, out))
        .map(
            merged ->
                written(text, MergePatch::copy).filter(merged::equals).isPresent()
                    ? text // nothing has changed, so it stays as it is written
                    : merged);
  }

  /** Writes the value at which a parser stands. */
  private interface Writing {
    void write(JsonParser old, JsonGenerator out) throws IOException;
  }

  /**
   * What is written of a text, token by token: a tree would take many times the memory of the text.
   *
   * @return empty if the text is no JSON
   */
  private static Optional<String> written(String text, Writing writing) {
    StringWriter result = new StringWriter(text.length());
    try (JsonParser old = JSON.createParser(text);
        JsonGenerator out = JSON.createGenerator(result)) {
      if (old.nextToken() == null) {
        return Optional.empty();
      }
      writing.write(old, out);
      if (old.nextToken() != null) {
        return Optional.empty();
      }
      out.flush();
      return Optional.of(result.toString());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static void copy(JsonParser old, JsonGenerator out) throws IOException {
    int depth = 0;
    while (true) {
      out.copyCurrentEventExact(old);
      JsonToken token = old.currentToken();
      depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
      if (depth == 0) {
        return;
      }
      var _ = old.nextToken();
    }
  }

  private static void merge(JsonParser old, ObjectNode changes, JsonGenerator out)
      throws IOException {
    if (old.currentToken() != JsonToken.START_OBJECT) {
      old.skipChildren();
      out.writePOJO(withoutNulls(changes));
      return;
    }
    out.writeStartObject();
    Set<String> met = new HashSet<>();
    while (old.nextToken() == JsonToken.FIELD_NAME) {
      String name = old.currentName();
      var _ = old.nextToken();
      JsonNode change = changes.path(name);
      if (!change.isMissingNode()) {
        var _ = met.add(name);
      }
      if (change.isNull()) {
        old.skipChildren();
        continue;
      }
      out.writeFieldName(name);
      if (change instanceof ObjectNode inner) {
        merge(old, inner, out);
      } else if (change.isMissingNode()) {
        copy(old, out);
      } else {
        old.skipChildren();
        out.writePOJO(change);
      }
    }
    for (Map.Entry<String, JsonNode> change : changes.properties()) {
      if (!met.contains(change.getKey()) && !change.getValue().isNull()) {
        out.writePOJOField(change.getKey(), withoutNulls(change.getValue()));
      }
    }
    out.writeEndObject();
  }

  /** A patch of what is not there. */
  private static JsonNode withoutNulls(JsonNode patch) {
    if (!(patch instanceof ObjectNode changes)) {
      return patch;
    }
    ObjectNode result = JSON.createObjectNode();
    changes
        .properties()
        .forEach(
            change -> {
              if (!change.getValue().isNull()) {
                result.set(change.getKey(), withoutNulls(change.getValue()));
              }
            });
    return result;
  }
}
