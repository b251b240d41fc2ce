package io.firstclaim.lock.s3;

import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.protocol.ClaimRecord;
import io.firstclaim.lock.protocol.ClaimState.Dead;
import io.firstclaim.lock.protocol.ClaimState.Done;
import io.firstclaim.lock.protocol.ClaimState.Free;
import io.firstclaim.lock.protocol.ClaimState.Held;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.protocols.jsoncore.JsonNode;
import software.amazon.awssdk.protocols.jsoncore.JsonWriter;

/**
 * A claim as the body of an object: JSON, with the raw ID as base64.
 *
 * <p>What others wait for, the end of a lease and the time of the next attempt, is written as a
 * duration and counts from when the store took the object: the writer's clock is not asked. When a
 * record ended is written for people, by the writer's clock.
 *
 * @param namespace of the claim
 * @param id the record
 * @param claim what is kept of it
 */
record Marker(String namespace, RecordId id, ClaimRecord claim) {
  /** No marker is longer; a longer object is not read, and a longer result not written. */
  static final int MAX_BYTES = 1 << 20;

  /** What a time with a resolution of one second may have been cut by. */
  static final Duration CUT = Duration.ofSeconds(1).minusNanos(1);

  private static final Base64.Encoder BASE64 = Base64.getEncoder();

  /**
   * The body.
   *
   * @param now on the clock by which the claim's times are given
   * @throws IllegalArgumentException if it would be longer than {@value #MAX_BYTES} bytes
   */
  byte[] encode(Instant now) {
    JsonWriter json = JsonWriter.create();
    json.writeStartObject();
    json.writeFieldName("namespace").writeValue(namespace);
    json.writeFieldName("id").writeValue(BASE64.encodeToString(id.bytes()));
    json.writeFieldName("token").writeValue(claim.token());
    json.writeFieldName("attempts").writeValue(claim.attempts());
    json.writeFieldName("nonce").writeValue(claim.nonce().toString());
    json.writeFieldName("payload").writeValue(BASE64.encodeToString(claim.fingerprint().hash()));
    switch (claim.state()) {
      case Held held -> {
        json.writeFieldName("state").writeValue("HELD");
        json.writeFieldName("holder").writeValue(text(held.holder()));
        json.writeFieldName("leaseMillis").writeValue(held.length().toMillis());
      }
      case Free free -> {
        json.writeFieldName("state").writeValue("FREE");
        json.writeFieldName("retryMillis")
            .writeValue(Duration.between(now, free.retryAt()).toMillis());
        json.writeFieldName("cause").writeValue(free.cause());
      }
      case Done done -> {
        ended(json, "DONE", done.by(), done.at());
        if (done.result() != null) {
          json.writeFieldName("result").writeValue(done.result());
        }
      }
      case Dead dead -> {
        ended(json, "DEAD", dead.by(), dead.at());
        json.writeFieldName("cause").writeValue(dead.cause());
      }
    }
    json.writeEndObject();
    byte[] body = json.getBytes();
    if (body.length > MAX_BYTES) {
      throw new IllegalArgumentException(
          "a claim with its result has at most %d bytes on S3, this one %d"
              .formatted(MAX_BYTES, body.length));
    }
    return body;
  }

  private static void ended(JsonWriter json, String state, String by, Instant at) {
    json.writeFieldName("state").writeValue(state);
    json.writeFieldName("holder").writeValue(text(by));
    json.writeFieldName("endedAt").writeValue(at.toEpochMilli());
  }

  /**
   * The marker in a body.
   *
   * @param written when the store took it, which may be up to {@link #CUT} too early; the claim's
   *     times are on the clock that this is given by, and rather late than early
   * @throws IllegalStateException if it is no marker; the message names what is wrong with it
   */
  static Marker decode(byte[] body, Instant written) {
    try {
      Map<String, JsonNode> json = JsonNode.parser().parse(body).asObject();
      return new Marker(
          textOf(json, "namespace"),
          RecordId.of(bytesOf(json, "id")),
          new ClaimRecord(
              numberOf(json, "token"),
              Math.toIntExact(numberOf(json, "attempts")),
              Nonce.parse(textOf(json, "nonce")),
              Fingerprint.ofHash(bytesOf(json, "payload")),
              switch (textOf(json, "state")) {
                case "HELD" -> held(json, written);
                case "FREE" ->
                    new Free(after(numberOf(json, "retryMillis"), written), textOf(json, "cause"));
                case "DONE" ->
                    new Done(textOf(json, "holder"), endedAt(json), optionalTextOf(json, "result"));
                case "DEAD" ->
                    new Dead(textOf(json, "holder"), endedAt(json), textOf(json, "cause"));
                default ->
                    throw new IllegalStateException("state is none of HELD, FREE, DONE, DEAD");
              }));
    } catch (IllegalStateException e) {
      throw e;
    } catch (RuntimeException e) {
      // The parser has exceptions of its own, and the values' constructors theirs.
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  private static Held held(Map<String, JsonNode> json, Instant written) {
    Duration length = Duration.ofMillis(numberOf(json, "leaseMillis"));
    return new Held(textOf(json, "holder"), length, written.plus(CUT).plus(length));
  }

  /** What was due at once stays so; what was to wait waits its whole time. */
  private static Instant after(long millis, Instant written) {
    return millis == 0 ? written : written.plus(CUT).plusMillis(millis);
  }

  private static Instant endedAt(Map<String, JsonNode> json) {
    return Instant.ofEpochMilli(numberOf(json, "endedAt"));
  }

  /** Half a surrogate pair, which no UTF-8 can write, becomes '?'. */
  private static String text(String any) {
    return new String(any.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  private static JsonNode field(Map<String, JsonNode> json, String name) {
    JsonNode value = json.get(name);
    if (value == null) {
      throw new IllegalStateException(name + " is missing");
    }
    return value;
  }

  private static String textOf(Map<String, JsonNode> json, String name) {
    JsonNode value = field(json, name);
    if (!value.isString()) {
      throw new IllegalStateException(name + " is no string");
    }
    return value.asString();
  }

  private static @Nullable String optionalTextOf(Map<String, JsonNode> json, String name) {
    return json.containsKey(name) ? textOf(json, name) : null;
  }

  private static byte[] bytesOf(Map<String, JsonNode> json, String name) {
    return Base64.getDecoder().decode(textOf(json, name));
  }

  private static long numberOf(Map<String, JsonNode> json, String name) {
    JsonNode value = field(json, name);
    if (!value.isNumber()) {
      throw new IllegalStateException(name + " is no number");
    }
    return Long.parseLong(value.asNumber());
  }
}
