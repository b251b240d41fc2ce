package io.firstclaim.processor.service.claims;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Optional;

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
    return json(text).map(MergePatch::new);
  }

  private static Optional<JsonNode> json(String text) {
    try {
      JsonNode read = JSON.readTree(text);
      return read == null || read.isMissingNode() ? Optional.empty() : Optional.of(read);
    } catch (JsonProcessingException e) {
      return Optional.empty();
    }
  }

  /** Whether a text is JSON. */
  static boolean isJson(String text) {
    // Without a tree: that would take ten times the memory of the text.
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
      return Optional.of(merged(JSON.createObjectNode(), patch).toString());
    }
    return json(before.get())
        .map(
            target ->
                patch.isObject() && changesNothing(target, patch)
                    ? before.get() // as it is written
                    : merged(target, patch).toString());
  }

  private static boolean changesNothing(JsonNode target, JsonNode patch) {
    if (!(patch instanceof ObjectNode changes)) {
      return patch.equals(target);
    }
    return target.isObject()
        && changes.properties().stream()
            .allMatch(
                change -> {
                  JsonNode old = target.path(change.getKey());
                  return change.getValue().isNull()
                      ? old.isMissingNode()
                      : changesNothing(old, change.getValue());
                });
  }

  private static JsonNode merged(JsonNode target, JsonNode patch) {
    if (!(patch instanceof ObjectNode changes)) {
      return patch;
    }
    ObjectNode result = target instanceof ObjectNode object ? object : JSON.createObjectNode();
    changes
        .properties()
        .forEach(
            change -> {
              if (change.getValue().isNull()) {
                result.remove(change.getKey());
              } else {
                JsonNode old = result.path(change.getKey());
                result.set(change.getKey(), merged(old, change.getValue()));
              }
            });
    return result;
  }
}
