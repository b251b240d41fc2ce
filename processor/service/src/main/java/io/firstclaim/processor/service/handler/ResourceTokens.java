package io.firstclaim.processor.service.handler;

import io.firstclaim.lock.RecordId;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The fencing tokens of what a record touches, as an HTTP header: {@code KEY=TOKEN, …}, in the
 * order of the keys. In a key, everything is percent-encoded that is not printable ASCII, and
 * space, double quote, percent, comma and equals sign; so distinct keys stay distinct.
 */
final class ResourceTokens {
  static final String NAME = "Firstclaim-Resource-Tokens";

  /** The longest value that is sent. */
  static final int MAX_LENGTH = 8 * 1024;

  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  private ResourceTokens() {}

  /** The header's value; nothing if it is longer than {@value #MAX_LENGTH}. */
  static Optional<String> header(Map<RecordId, Long> tokens) {
    String value =
        tokens.entrySet().stream()
            .map(token -> encoded(token.getKey().bytes()) + "=" + token.getValue())
            .collect(Collectors.joining(", "));
    return value.length() > MAX_LENGTH ? Optional.empty() : Optional.of(value);
  }

  private static String encoded(byte[] key) {
    StringBuilder out = new StringBuilder(key.length + 16);
    for (byte b : key) {
      if (b > ' ' && b < 0x7f && "\"%,=".indexOf(b) < 0) {
        out.append((char) b);
      } else {
        out.append('%').append(HEX.toHexDigits(b));
      }
    }
    return out.toString();
  }
}
