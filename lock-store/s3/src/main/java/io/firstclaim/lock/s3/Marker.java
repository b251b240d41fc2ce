package io.firstclaim.lock.s3;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimState.Dead;
import io.firstclaim.lock.ClaimState.Done;
import io.firstclaim.lock.ClaimState.Free;
import io.firstclaim.lock.ClaimState.Held;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RecordId.Space;
import io.firstclaim.lock.RedriveId;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A claim as the body of an object: JSON, with the raw ID as base64.
 *
 * <p>What others wait for, the end of a lease and the time of the next attempt, is written as a
 * duration and counts from when the store took the object: the writer's clock plays no part. The
 * time when a record ended is for people, and by the writer's clock.
 *
 * @param namespace of the claim
 * @param id the record
 * @param claim what is stored for it
 * @param retention how long its writer wants it kept after its end; zero if the marker does not say
 */
record Marker(String namespace, RecordId id, ClaimRecord claim, Duration retention) {
  /** The longest a marker may be; a longer object is not read, and a longer result not written. */
  static final int MAX_BYTES = 1 << 20;

  /** Most markers are shorter. */
  private static final int USUAL_BYTES = 512;

  /** The most that a time with a resolution of one second may have been cut by. */
  static final Duration CUT = Duration.ofSeconds(1).minusNanos(1);

  /** Stands for {@link ClaimStore#AT_ONCE}. */
  private static final long AT_ONCE_MILLIS = -1;

  private static final String RETENTION = "retentionMillis";

  /** The space of the ID; absent if that is a record's. */
  private static final String SPACE = "space";

  /** What stood in place of the space once, for a resource: {@code true}. */
  private static final String RESOURCE = "resource";

  private static final String ON_BEHALF_OF = "onBehalfOf";

  /** The redrive; absent in a claim that was never redriven. */
  private static final String REDRIVE = "redrive";

  private static final JsonFactory JSON = new JsonFactory();
  private static final Base64.Encoder BASE64 = Base64.getEncoder();

  /**
   * The body.
   *
   * @param now on the clock by which the claim's times are given
   * @throws IllegalArgumentException if it would be longer than {@value #MAX_BYTES} bytes
   */
  byte[] encode(Instant now) {
    var out = new ByteArrayOutputStream(USUAL_BYTES);
    try (JsonGenerator json = JSON.createGenerator(out)) {
      write(json, now);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // cannot happen: the stream is in memory
    }
    if (out.size() > MAX_BYTES) {
      throw new IllegalArgumentException(
          "a claim with its result is at most %d bytes on S3, this one %d"
              .formatted(MAX_BYTES, out.size()));
    }
    return out.toByteArray();
  }

  private void write(JsonGenerator json, Instant now) throws IOException {
    json.writeStartObject();
    json.writeStringField("namespace", namespace);
    json.writeStringField("id", BASE64.encodeToString(id.bytes()));
    if (id.space() != Space.RECORD) {
      json.writeStringField(SPACE, id.space().name());
    }
    json.writeNumberField("token", claim.token());
    json.writeNumberField("attempts", claim.attempts());
    json.writeStringField("nonce", claim.nonce().toString());
    json.writeNumberField(RETENTION, retention.toMillis());
    json.writeStringField("payload", BASE64.encodeToString(claim.fingerprint().hash()));
    if (claim.redrive() != null) {
      json.writeStringField(REDRIVE, claim.redrive().text());
    }
    switch (claim.state()) {
      case Held held -> {
        json.writeStringField("state", "HELD");
        json.writeStringField("holder", text(held.holder()));
        json.writeNumberField("leaseMillis", held.length().toMillis());
        if (held.onBehalfOf() != null) {
          json.writeStringField(ON_BEHALF_OF, text(held.onBehalfOf()));
        }
      }
      case Free free -> {
        json.writeStringField("state", "FREE");
        json.writeNumberField("retryMillis", retryMillis(free, now));
        json.writeStringField("cause", free.cause());
      }
      case Done done -> {
        ended(json, "DONE", done.by(), done.at());
        if (done.result() != null) {
          json.writeStringField("result", done.result());
        }
      }
      case Dead dead -> {
        ended(json, "DEAD", dead.by(), dead.at());
        json.writeStringField("cause", dead.cause());
      }
    }
    json.writeEndObject();
  }

  private static long retryMillis(Free free, Instant now) {
    return free.retryAt().equals(ClaimStore.AT_ONCE)
        ? AT_ONCE_MILLIS
        : Duration.between(now, free.retryAt()).toMillis();
  }

  private static void ended(JsonGenerator json, String state, String by, Instant at)
      throws IOException {
    json.writeStringField("state", state);
    json.writeStringField("holder", text(by));
    json.writeNumberField("endedAt", at.toEpochMilli());
  }

  /**
   * The marker in a body.
   *
   * @param written when the store took it, which may be up to {@link #CUT} too early; the claim's
   *     times are by the same clock as this one, and err on the late side
   * @throws IllegalStateException if it is not a marker; the message names what is wrong with it,
   *     in one line
   */
  static Marker decode(byte[] body, Instant written) {
    try {
      Map<String, Object> json = fields(body);
      return new Marker(
          textOf(json, "namespace"),
          idOf(json),
          new ClaimRecord(
                  numberOf(json, "token"),
                  Math.toIntExact(numberOf(json, "attempts")),
                  Nonce.parse(textOf(json, "nonce")),
                  Fingerprint.ofHash(bytesOf(json, "payload")),
                  switch (textOf(json, "state")) {
                    case "HELD" -> held(json, written);
                    case "FREE" ->
                        new Free(
                            retryAt(numberOf(json, "retryMillis"), written), textOf(json, "cause"));
                    case "DONE" ->
                        new Done(
                            textOf(json, "holder"), endedAt(json), optionalTextOf(json, "result"));
                    case "DEAD" ->
                        new Dead(textOf(json, "holder"), endedAt(json), textOf(json, "cause"));
                    default ->
                        throw new IllegalStateException("state is none of HELD, FREE, DONE, DEAD");
                  },
                  redriveOf(json))
              .requireRoom(),
          json.containsKey(RETENTION)
              ? Duration.ofMillis(numberOf(json, RETENTION))
              : Duration.ZERO);
    } catch (IllegalStateException e) {
      throw e;
    } catch (IOException | IllegalArgumentException | ArithmeticException | DateTimeException e) {
      throw new IllegalStateException(OneLine.of(e), e);
    }
  }

  /** The texts and whole numbers of an object; its other fields are there with useless values. */
  private static Map<String, Object> fields(byte[] body) throws IOException {
    Map<String, Object> fields = new HashMap<>();
    try (JsonParser json = JSON.createParser(body)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new IllegalStateException("it is not a JSON object");
      }
      while (json.nextToken() != JsonToken.END_OBJECT) {
        String name = json.currentName();
        JsonToken kind = json.nextToken();
        fields.put(
            name,
            switch (kind) {
              case VALUE_STRING -> json.getText();
              case VALUE_NUMBER_INT -> json.getLongValue();
              default -> kind;
            });
        json.skipChildren();
      }
    }
    return fields;
  }

  private static RecordId idOf(Map<String, Object> json) {
    RecordId id = RecordId.of(bytesOf(json, "id"));
    if (json.get(RESOURCE) == JsonToken.VALUE_TRUE) {
      return id.asResource();
    }
    String space = optionalTextOf(json, SPACE);
    return space == null ? id : id.in(Space.valueOf(space));
  }

  private static Held held(Map<String, Object> json, Instant written) {
    Duration length = Duration.ofMillis(numberOf(json, "leaseMillis"));
    return new Held(
        textOf(json, "holder"),
        length,
        written.plus(CUT).plus(length),
        optionalTextOf(json, ON_BEHALF_OF));
  }

  /** What was due when it was written stays so; what was to wait waits its whole time. */
  private static Instant retryAt(long millis, Instant written) {
    return millis == AT_ONCE_MILLIS
        ? ClaimStore.AT_ONCE
        : millis == 0 ? written : written.plus(CUT).plusMillis(millis);
  }

  private static Instant endedAt(Map<String, Object> json) {
    return Instant.ofEpochMilli(numberOf(json, "endedAt"));
  }

  /** Half a surrogate pair, which UTF-8 cannot write, becomes '?'. */
  private static String text(String any) {
    return new String(any.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  private static Object field(Map<String, Object> json, String name) {
    Object value = json.get(name);
    if (value == null) {
      throw new IllegalStateException(name + " is missing");
    }
    return value;
  }

  private static String textOf(Map<String, Object> json, String name) {
    if (field(json, name) instanceof String text) {
      return text;
    }
    throw new IllegalStateException(name + " is not a string");
  }

  private static @Nullable RedriveId redriveOf(Map<String, Object> json) {
    String redrive = optionalTextOf(json, REDRIVE);
    return redrive == null ? null : new RedriveId(redrive);
  }

  private static @Nullable String optionalTextOf(Map<String, Object> json, String name) {
    return json.containsKey(name) ? textOf(json, name) : null;
  }

  private static byte[] bytesOf(Map<String, Object> json, String name) {
    return Base64.getDecoder().decode(textOf(json, name));
  }

  private static long numberOf(Map<String, Object> json, String name) {
    if (field(json, name) instanceof Long number) {
      return number;
    }
    throw new IllegalStateException(name + " is not a whole number");
  }
}
