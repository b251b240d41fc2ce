package io.firstclaim.listener;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Finds an ID in JSON, as the engine does. */
final class JsonId {
  /** No length is bounded: the document is in memory anyway, and no number is computed. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(1000)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          // Names come from outside: no table of them may outlive the document.
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .build();

  private JsonId() {}

  /** The string or integer at this place, or null if there is none or the document is no JSON. */
  static byte @Nullable [] find(byte[] document, JsonPointer pointer) {
    // Jackson's own decoder lets overlong forms and lone surrogates pass: distinct bytes, one ID.
    try (JsonParser parser =
        JSON.createParser(
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(document)).toString())) {
      parser.nextToken();
      String id = find(parser, pointer);
      boolean alone = parser.nextToken() == null;
      return id != null && alone ? utf8(id) : null;
    } catch (IOException e) {
      return null;
    }
  }

  /** Reads the value that the parser stands on, to its last token. */
  private static @Nullable String find(JsonParser parser, JsonPointer pointer) throws IOException {
    JsonToken token = parser.currentToken();
    if (pointer.matches()) {
      parser.skipChildren();
      return token == JsonToken.VALUE_STRING || token == JsonToken.VALUE_NUMBER_INT
          ? parser.getText()
          : null;
    }
    String id = null;
    if (token == JsonToken.START_OBJECT) {
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean onTheWay = parser.currentName().equals(pointer.getMatchingProperty());
        parser.nextToken();
        id = step(parser, pointer, onTheWay, id);
      }
    } else if (token == JsonToken.START_ARRAY) {
      for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
        id = step(parser, pointer, i == pointer.getMatchingIndex(), id);
      }
    }
    return id;
  }

  private static @Nullable String step(
      JsonParser parser, JsonPointer pointer, boolean onTheWay, @Nullable String before)
      throws IOException {
    if (onTheWay) {
      return find(parser, pointer.tail());
    }
    parser.skipChildren();
    return before;
  }

  /** Throws what is no text: half a surrogate pair may be written as an escape. */
  private static byte[] utf8(String id) throws IOException {
    ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(id));
    byte[] copy = new byte[bytes.remaining()];
    bytes.get(copy);
    return copy;
  }
}
