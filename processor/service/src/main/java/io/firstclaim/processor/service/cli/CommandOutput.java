package io.firstclaim.processor.service.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;

/** What there is to store of a command's output. */
sealed interface CommandOutput {
  /** The most of it that is stored: a claim has no room for more. */
  int MAX_STORED = 64 << 10;

  /** All of it. */
  record Text(String text) implements CommandOutput {}

  /** Nothing, for that reason: it is known, but is not for a claim. */
  record Unfit(String why) implements CommandOutput {}

  /** Nothing, as it is not known what there was. */
  record Unread(String why) implements CommandOutput {}

  /** Reads it to its end, and passes it on as it comes. */
  static CommandOutput read(InputStream from, OutputStream to) {
    ByteArrayOutputStream kept = new ByteArrayOutputStream();
    boolean tooLong = false;
    try (from) {
      byte[] some = new byte[8192];
      for (int length = from.read(some); length >= 0; length = from.read(some)) {
        to.write(some, 0, length);
        to.flush();
        tooLong |= kept.size() + length > MAX_STORED;
        if (!tooLong) {
          kept.write(some, 0, length);
        }
      }
      return tooLong
          ? new Unfit("it has more than %d bytes".formatted(MAX_STORED))
          : new Text(UTF_8.newDecoder().decode(ByteBuffer.wrap(kept.toByteArray())).toString());
    } catch (CharacterCodingException _) {
      return new Unfit("it is not UTF-8");
    } catch (IOException e) {
      return new Unread(e.toString());
    }
  }
}
