package io.firstclaim.processor.engine.api;

import com.fasterxml.jackson.core.JsonPointer;
import java.util.Arrays;
import java.util.List;

/**
 * A place where a record names something that it touches, such as an account: a resource, which is
 * claimed with the record. Immutable.
 */
public sealed interface ResourceSource {

  /** The last header of this name. */
  record Header(String name) implements ResourceSource {}

  /** The record's key. */
  record Key() implements ResourceSource {}

  /**
   * Strings or integers in the record's value, which is JSON.
   *
   * @param pointer where they are; {@code *} stands for each element of an array
   */
  record JsonFields(JsonPointer pointer) implements ResourceSource {}

  /**
   * Reads a comma-separated list of {@code json:/pointer}, in which {@code *} stands for each
   * element of an array, {@code header:NAME} and {@code key}. All of them contribute.
   *
   * @return at least one source, in the order of the list
   * @throws IllegalArgumentException if an entry is none of these; the message names it and what is
   *     right
   */
  static List<ResourceSource> parseList(String list) {
    return Arrays.stream(list.split(",", -1)).map(entry -> parse(entry.strip())).toList();
  }

  private static ResourceSource parse(String entry) {
    if (entry.equals("key")) {
      return new Key();
    }
    if (entry.startsWith("json:/")) {
      return new JsonFields(JsonPointer.compile(entry.substring("json:".length())));
    }
    if (entry.startsWith("header:") && entry.length() > "header:".length()) {
      return new Header(entry.substring("header:".length()).strip());
    }
    throw new IllegalArgumentException(
        "'%s' is none of json:/pointer, header:NAME, key".formatted(entry));
  }
}
