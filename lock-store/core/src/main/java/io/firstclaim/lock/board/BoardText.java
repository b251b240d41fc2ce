package io.firstclaim.lock.board;

import io.firstclaim.lock.OneLine;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** The rule for every text that a caller puts on a board. */
final class BoardText {
  static final int MAX_BYTES = 256;

  private BoardText() {}

  static void require(String what, String text) {
    try {
      ByteBuffer utf8 = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      if (utf8.remaining() == 0 || utf8.remaining() > MAX_BYTES) {
        throw new IllegalArgumentException(
            "%s has 1 to %d bytes in UTF-8, this one %,d: %s"
                .formatted(what, MAX_BYTES, utf8.remaining(), OneLine.of(text, 40)));
      }
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(
          "%s is text that UTF-8 can write, this one has half a surrogate pair: %s"
              .formatted(what, OneLine.of(text, 40)),
          e);
    }
  }
}
