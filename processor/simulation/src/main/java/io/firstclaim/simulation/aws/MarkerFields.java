package io.firstclaim.simulation.aws;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/** A marker on S3, with the names that DynamoDB's attributes have. */
final class MarkerFields {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Map<String, String> NAMES =
      Map.of(
          "id", "recordId",
          "space", "idSpace",
          "token", "fencingToken",
          "attempts", "attempts",
          "nonce", "nonce",
          "redrive", "redriveId",
          "state", "claimState",
          "holder", "holder");

  private MarkerFields() {}

  /**
   * The fields of a marker; empty for no marker.
   *
   * @param written when the store took it
   */
  static Map<String, String> of(String key, byte[] body, Instant written) {
    if (body.length == 0 || body[0] != '{') {
      return Map.of();
    }
    JsonNode marker;
    try {
      marker = JSON.readTree(body);
    } catch (IOException e) {
      return Map.of();
    }
    if (!marker.has("nonce")) {
      return Map.of();
    }
    Map<String, String> fields = new HashMap<>();
    fields.put("pk", key);
    NAMES.forEach(
        (name, attribute) -> {
          if (marker.has(name)) {
            fields.put(attribute, marker.get(name).asText());
          }
        });
    if (marker.has("leaseMillis")) {
      fields.put(
          "leaseEnd", Long.toString(written.toEpochMilli() + marker.get("leaseMillis").asLong()));
    }
    if (marker.has("retryMillis")) {
      fields.put(
          "retryAt", Long.toString(written.toEpochMilli() + marker.get("retryMillis").asLong()));
    }
    return fields;
  }
}
