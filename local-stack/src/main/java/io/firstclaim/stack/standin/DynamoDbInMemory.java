package io.firstclaim.stack.standin;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.stack.standin.Refusal.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/** DynamoDB's JSON 1.0 without HTTP: takes a request, gives an answer. Thread-safe. */
public final class DynamoDbInMemory {
  /** What answers are, as their header says it. */
  public static final String JSON = "application/x-amz-json-1.0";

  private static final String TARGET = "DynamoDB_20120810.";
  private static final String ERROR = "com.amazonaws.dynamodb.v20120810#";
  private static final int OK = 200;
  private static final int BAD_REQUEST = 400;

  private final ObjectMapper mapper = new ObjectMapper();
  private final Operations operations;

  /** Nothing is in it, and nobody listens. */
  public DynamoDbInMemory() {
    this(null);
  }

  /**
   * Nothing is in it.
   *
   * @param listener null for nobody
   */
  public DynamoDbInMemory(@Nullable WriteListener listener) {
    operations = new Operations(mapper, listener);
  }

  /** Hears of each write that was applied, while no other can change the item. */
  @FunctionalInterface
  public interface WriteListener {
    /**
     * An item has changed.
     *
     * @param before its attributes as texts; empty if there was no such item
     * @param after the same, now
     */
    void wrote(String table, Map<String, String> before, Map<String, String> after);
  }

  /** An answer. */
  public static final class Answer {
    private final int status;
    private final byte[] body;

    private Answer(int status, byte[] body) {
      this.status = status;
      this.body = body;
    }

    /** HTTP's. */
    public int status() {
      return status;
    }

    /** Its JSON, which nobody may change. */
    public byte[] body() {
      return body;
    }

    /** What the header {@code x-amz-crc32} says of the body. */
    public long checksum() {
      CRC32 checksum = new CRC32();
      checksum.update(body);
      return checksum.getValue();
    }
  }

  /**
   * Does what a request asks for.
   *
   * @param target the header {@code X-Amz-Target}
   */
  public Answer answer(String target, byte[] request) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
      try (JsonGenerator json = mapper.createGenerator(bytes)) {
        if (!target.startsWith(TARGET)) {
          throw Refusal.of("UnknownOperationException", "Unknown target " + target);
        }
        operations.answer(target.substring(TARGET.length()), request, json);
      } catch (Refusal e) {
        return new Answer(BAD_REQUEST, refusal(e));
      } catch (JsonProcessingException e) {
        return refused("SerializationException", e.getOriginalMessage());
      }
      return new Answer(OK, bytes.toByteArray());
    } catch (IOException e) {
      throw new UncheckedIOException(e); // nothing is read or written but memory
    }
  }

  /** The answer that refuses a request, such as ThrottlingException. */
  public Answer refused(String type, String message) {
    try {
      return new Answer(BAD_REQUEST, refusal(Refusal.of(type, message)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private byte[] refusal(Refusal refusal) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (JsonGenerator json = mapper.createGenerator(bytes)) {
      json.writeStartObject();
      json.writeStringField("__type", ERROR + refusal.type());
      json.writeStringField("Message", refusal.text());
      if (refusal.item() != null) {
        json.writeFieldName("Item");
        Value.writeItem(json, refusal.item());
      }
      if (!refusal.reasons().isEmpty()) {
        json.writeArrayFieldStart("CancellationReasons");
        for (Reason reason : refusal.reasons()) {
          write(json, reason);
        }
        json.writeEndArray();
      }
      json.writeEndObject();
    }
    return bytes.toByteArray();
  }

  private static void write(JsonGenerator json, Reason reason) throws IOException {
    json.writeStartObject();
    json.writeStringField("Code", reason.code());
    if (reason.message() != null) {
      json.writeStringField("Message", reason.message());
    }
    if (reason.item() != null) {
      json.writeFieldName("Item");
      Value.writeItem(json, reason.item());
    }
    json.writeEndObject();
  }
}
