package io.firstclaim.listener;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.fasterxml.jackson.core.JsonPointer;
import io.firstclaim.lock.Fingerprint;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** A place where a record's ID may be, in the grammar of the engine's settings. Immutable. */
sealed interface IdSource {
  /** The ID of a CloudEvent, which is unique only for its source. */
  String CLOUD_EVENT_ID = "ce_id";

  /** The source of a CloudEvent. */
  String CLOUD_EVENT_SOURCE = "ce_source";

  /** The last header of this name. */
  record OfHeader(String name) implements IdSource {}

  /** The record's key. */
  record OfKey() implements IdSource {}

  /** A string or an integer in the record's value, which is JSON. */
  record OfJson(JsonPointer pointer) implements IdSource {}

  /** The SHA-256 of the record's value. */
  record OfHash() implements IdSource {}

  /**
   * Reads a comma-separated list.
   *
   * @throws IllegalArgumentException if an entry is none; the message names it and what is right
   */
  static List<IdSource> parseList(String list) {
    List<IdSource> sources = new ArrayList<>();
    for (String entry : list.split(",", -1)) {
      sources.add(parse(entry.strip()));
    }
    return List.copyOf(sources);
  }

  private static IdSource parse(String entry) {
    if (entry.equals("key")) {
      return new OfKey();
    }
    if (entry.equals("sha256:value")) {
      return new OfHash();
    }
    if (entry.startsWith("json:/")) {
      return new OfJson(JsonPointer.compile(entry.substring("json:".length())));
    }
    if (entry.startsWith("header:") && entry.length() > "header:".length()) {
      return new OfHeader(entry.substring("header:".length()).strip());
    }
    throw new IllegalArgumentException(
        "'%s' is none of header:NAME, key, json:/pointer, sha256:value".formatted(entry));
  }

  /**
   * The ID that this source has of a record; null if it has none.
   *
   * @throws UnfitTypeException if what it is read from is neither text nor bytes
   */
  default byte @Nullable [] find(ConsumerRecord<?, ?> record) {
    return switch (this) {
      case OfHeader(String name) -> ofHeader(name, record.headers());
      case OfKey unused -> RecordBytes.ofKey(record);
      case OfJson(JsonPointer pointer) -> {
        byte[] value = RecordBytes.ofValue(record);
        yield value == null ? null : JsonId.find(value, pointer);
      }
      case OfHash unused -> {
        byte[] value = RecordBytes.ofValue(record);
        yield value == null ? null : ("sha256:" + Fingerprint.of(value)).getBytes(US_ASCII);
      }
    };
  }

  private static byte @Nullable [] ofHeader(String name, Headers headers) {
    byte[] id = last(name, headers);
    return id == null || id.length == 0 || !name.equals(CLOUD_EVENT_ID)
        ? id
        : ofCloudEvent(last(CLOUD_EVENT_SOURCE, headers), id);
  }

  private static byte @Nullable [] last(String name, Headers headers) {
    @Nullable Header header = headers.lastHeader(name);
    return header == null ? null : header.value();
  }

  /**
   * The source, with {@code %} and {@code |} escaped, then {@code |}, then the ID; the ID alone
   * where there is no source, with a bar before it if it has one itself.
   */
  private static byte[] ofCloudEvent(byte @Nullable [] source, byte[] id) {
    if ((source == null || source.length == 0) && !hasBar(id)) {
      return id;
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream(256);
    if (source != null) {
      for (byte b : source) {
        switch (b) {
          case '%' -> out.writeBytes("%25".getBytes(US_ASCII));
          case '|' -> out.writeBytes("%7C".getBytes(US_ASCII));
          default -> out.write(b);
        }
      }
    }
    out.write('|');
    out.writeBytes(id);
    return out.toByteArray();
  }

  private static boolean hasBar(byte[] id) {
    for (byte b : id) {
      if (b == '|') {
        return true;
      }
    }
    return false;
  }
}
