package io.firstclaim.processor.engine.api;

import com.fasterxml.jackson.core.JsonPointer;
import java.util.ArrayList;
import java.util.List;

/** A place where a record's ID may be. Immutable. */
public sealed interface RecordIdSource {

  /** The last header of this name. */
  record Header(String name) implements RecordIdSource {}

  /** The record's key. */
  record Key() implements RecordIdSource {}

  /** A string or an integer in the record's value, which is JSON. */
  record JsonField(JsonPointer pointer) implements RecordIdSource {}

  /** The SHA-256 of the record's value. */
  record ValueHash() implements RecordIdSource {}

  /** Where the record is: topic, its ID, partition and offset. Every record has them. */
  record Offset() implements RecordIdSource {}

  /** The source as it is written in the settings. */
  default String text() {
    return switch (this) {
      case Header(String name) -> "header:" + name;
      case Key() -> "key";
      case JsonField(JsonPointer pointer) -> "json:" + pointer;
      case ValueHash() -> "sha256:value";
      case Offset() -> "offset";
    };
  }

  /**
   * Reads a comma-separated list of {@code header:NAME}, {@code key}, {@code json:/pointer}, {@code
   * sha256:value} and {@code offset}, which every record has and which therefore comes last.
   *
   * @return at least one source, in the order of the list
   * @throws IllegalArgumentException if an entry is none of these or stands after {@code offset};
   *     the message names the entry and what is right
   */
  static List<RecordIdSource> parseList(String list) {
    List<RecordIdSource> sources = new ArrayList<>();
    for (String entry : list.split(",", -1)) {
      if (sources.contains(new Offset())) {
        throw new IllegalArgumentException(
            "'%s' is never reached after 'offset', which every record has: put offset last"
                .formatted(entry.strip()));
      }
      sources.add(parse(entry.strip()));
    }
    return List.copyOf(sources);
  }

  private static RecordIdSource parse(String entry) {
    if (entry.equals("key")) {
      return new Key();
    }
    if (entry.equals("offset")) {
      return new Offset();
    }
    if (entry.equals("sha256:value")) {
      return new ValueHash();
    }
    if (entry.startsWith("json:/")) {
      return new JsonField(JsonPointer.compile(entry.substring("json:".length())));
    }
    if (entry.startsWith("header:") && entry.length() > "header:".length()) {
      return new Header(entry.substring("header:".length()).strip());
    }
    throw new IllegalArgumentException(
        "'%s' is none of header:NAME, key, json:/pointer, sha256:value, offset".formatted(entry));
  }
}
