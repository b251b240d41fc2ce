package io.firstclaim.processor.service.admin;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.RecordId;
import io.micronaut.http.HttpRequest;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Record IDs in requests. Operators give an ID as they see it {@linkplain RecordId#text printed},
 * or byte for byte where it is printed otherwise; in a path, either is percent-encoded. Of an ID
 * that looks like the print of another they see a print of its own. Who claims has seen no print:
 * of him an ID is {@linkplain #exactly taken} byte for byte.
 */
public final class Ids {
  private static final String BEFORE = "/api/records/";
  private static final String BEFORE_OF_VIOLATIONS = "/api/violations/";

  private Ids() {}

  /** The ID in the path {@code /api/records/{id}}, whatever follows. */
  static RecordId ofPath(HttpRequest<?> request) {
    return inPath(request.getPath());
  }

  /** The ID in the path {@code /api/violations/{id}}, whatever follows. */
  static RecordId ofViolationsPath(HttpRequest<?> request) {
    return ofBytes(after(BEFORE_OF_VIOLATIONS, request.getPath()));
  }

  static RecordId inPath(String path) {
    return ofBytes(after(BEFORE, path));
  }

  /**
   * The ID whose bytes follow in a path that begins so, up to the next slash.
   *
   * @throws Problem if nobody can have it
   */
  public static RecordId exactly(String before, String path) {
    byte[] given = after(before, path);
    return id(given).orElseThrow(() -> wrongLength(given));
  }

  private static byte[] after(String before, String path) {
    String rest = path.substring(path.indexOf(before) + before.length());
    int end = rest.indexOf('/');
    return decode((end < 0 ? rest : rest.substring(0, end)).getBytes(UTF_8), true);
  }

  /** The ID of this text. */
  static RecordId ofText(String text) {
    return ofBytes(text.getBytes(UTF_8));
  }

  private static RecordId ofBytes(byte[] given) {
    Optional<RecordId> asIs = id(given);
    if (asIs.isPresent() && isPrint(given, asIs.get())) {
      return asIs.get();
    }
    return id(decode(given, false))
        .filter(meant -> isPrint(given, meant))
        .or(() -> asIs)
        .orElseThrow(() -> wrongLength(given));
  }

  private static Problem wrongLength(byte[] given) {
    return Problem.wrong(
        "a record ID has 1 to %d bytes, this one %d".formatted(RecordId.MAX_BYTES, given.length));
  }

  private static Optional<RecordId> id(byte[] bytes) {
    return bytes.length == 0 || bytes.length > RecordId.MAX_BYTES
        ? Optional.empty()
        : Optional.of(RecordId.of(bytes));
  }

  private static boolean isPrint(byte[] given, RecordId id) {
    return Arrays.equals(id.text().getBytes(UTF_8), given);
  }

  private static byte[] decode(byte[] encoded, boolean strictly) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(encoded.length);
    for (int i = 0; i < encoded.length; i++) {
      if (encoded[i] != '%') {
        bytes.write(encoded[i]);
      } else if (i + 2 < encoded.length
          && HexFormat.isHexDigit(encoded[i + 1])
          && HexFormat.isHexDigit(encoded[i + 2])) {
        bytes.write(
            HexFormat.fromHexDigit(encoded[++i]) << 4 | HexFormat.fromHexDigit(encoded[++i]));
      } else if (strictly) {
        throw Problem.wrong("the record ID is not percent-encoded: two hex digits follow each %");
      } else {
        bytes.write(encoded[i]);
      }
    }
    return bytes.toByteArray();
  }
}
