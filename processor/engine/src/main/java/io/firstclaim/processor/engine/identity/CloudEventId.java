package io.firstclaim.processor.engine.identity;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The ID of a CloudEvent: its source, with {@code %} and {@code |} written as {@code %25} and
 * {@code %7C}, then {@code |}, then its {@code id} byte for byte. The first bar ends the source, so
 * distinct pairs have distinct IDs.
 *
 * <p>Without a source it is the {@code id} alone; if that contains a bar, another goes before it,
 * as if the source were empty, which keeps it apart from the pairs.
 */
final class CloudEventId {
  static final String ID_HEADER = "ce_id";
  static final String SOURCE_HEADER = "ce_source";

  private CloudEventId() {}

  static byte[] of(byte @Nullable [] source, byte[] id) {
    if ((source == null || source.length == 0) && !hasBar(id)) {
      return id;
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream(256);
    if (source != null) {
      for (byte b : source) {
        switch (b) {
          case '%' -> out.writeBytes(ascii("%25"));
          case '|' -> out.writeBytes(ascii("%7C"));
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

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
