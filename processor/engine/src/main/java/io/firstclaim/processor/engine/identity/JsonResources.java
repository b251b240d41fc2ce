package io.firstclaim.processor.engine.identity;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The resources that a JSON document names: the UTF-8 of strings, and integers as they are written.
 * The document must be as sound as for a {@link JsonId}; otherwise it names none. It is streamed
 * once, for all pointers.
 */
final class JsonResources {
  private static final String EACH = "*";

  private final Resources found;

  private JsonResources(Resources found) {
    this.found = found;
  }

  /**
   * Adds what stands at these places. What is missing, null or empty adds nothing.
   *
   * @param pointers {@code *} stands for each element of an array
   */
  static void find(byte[] document, List<JsonPointer> pointers, Resources to) {
    Resources found = new Resources();
    try (JsonParser parser = JsonId.parser(document)) {
      parser.nextToken();
      new JsonResources(found).read(parser, pointers);
      if (parser.nextToken() == null) {
        to.addAll(found);
      }
    } catch (IOException e) {
      return; // the JSON is not sound, and so names nothing
    }
  }

  /** Reads the value that the parser stands on, to its last token. */
  private void read(JsonParser parser, List<JsonPointer> pointers) throws IOException {
    JsonToken token = parser.currentToken();
    if (pointers.stream().anyMatch(JsonPointer::matches)) {
      take(token, parser);
    }
    if (token == JsonToken.START_OBJECT) {
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        List<JsonPointer> within = withinMember(parser.currentName(), pointers);
        parser.nextToken();
        step(parser, within);
      }
    } else if (token == JsonToken.START_ARRAY) {
      for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
        step(parser, withinElement(i, pointers));
      }
    }
  }

  private void step(JsonParser parser, List<JsonPointer> within) throws IOException {
    if (within.isEmpty()) {
      parser.skipChildren();
    } else {
      read(parser, within);
    }
  }

  private void take(JsonToken token, JsonParser parser) throws IOException {
    switch (token) {
      case VALUE_STRING, VALUE_NUMBER_INT -> found.add(JsonId.utf8(parser.getText()));
      case VALUE_NULL -> {}
      default -> found.refuse("the value names a resource that is neither a string nor an integer");
    }
  }

  private static List<JsonPointer> withinMember(String name, List<JsonPointer> pointers) {
    List<JsonPointer> within = new ArrayList<>();
    for (JsonPointer pointer : pointers) {
      if (!pointer.matches() && name.equals(pointer.getMatchingProperty())) {
        within.add(pointer.tail());
      }
    }
    return within;
  }

  private static List<JsonPointer> withinElement(int index, List<JsonPointer> pointers) {
    List<JsonPointer> within = new ArrayList<>();
    for (JsonPointer pointer : pointers) {
      if (!pointer.matches()
          && (index == pointer.getMatchingIndex() || EACH.equals(pointer.getMatchingProperty()))) {
        within.add(pointer.tail());
      }
    }
    return within;
  }
}
