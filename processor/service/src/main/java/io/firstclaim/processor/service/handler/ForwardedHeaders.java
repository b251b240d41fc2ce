package io.firstclaim.processor.service.handler;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * The headers of a record that go into the HTTP request made of it: {@code content-type} (its name
 * in any case) as {@code Content-Type}, and each {@code ce_NAME} as {@code ce-NAME}, as in the HTTP
 * binding of CloudEvents. Of several headers with one name the last counts, as for the record's ID.
 *
 * <p>Headers without a value are skipped, and so are those whose name HTTP does not allow; an empty
 * value is sent as an empty one. A content type that HTTP does not allow as a header value counts
 * as none.
 */
final class ForwardedHeaders {
  /** The most bytes that names and values take together. */
  static final int MAX_BYTES = 8 * 1024;

  private static final String CONTENT_TYPE = "Content-Type";
  private static final String OCTETS = "application/octet-stream";
  private static final String KAFKA_PREFIX = "ce_";
  private static final String HTTP_PREFIX = "ce-";
  private static final String TOKEN_MARKS = "!#$%&'*+-.^_`|~";
  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  private ForwardedHeaders() {}

  /** Names and values, or nothing if they take more than {@value #MAX_BYTES} bytes. */
  static Optional<Map<String, String>> of(Headers headers) {
    Map<String, byte[]> raw = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (Header header : headers) {
      String name = httpName(header.key());
      if (name != null && header.value() != null) {
        raw.put(name, header.value());
      }
    }
    Map<String, String> legal = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    legal.put(CONTENT_TYPE, OCTETS);
    long size = 0;
    for (Map.Entry<String, byte[]> header : raw.entrySet()) {
      byte[] value = header.getValue();
      if (size + header.getKey().length() + value.length > MAX_BYTES) {
        return Optional.empty();
      }
      String text = header.getKey().equals(CONTENT_TYPE) ? contentType(value) : encoded(value);
      legal.put(header.getKey(), text);
      size += header.getKey().length() + text.length();
    }
    return size > MAX_BYTES ? Optional.empty() : Optional.of(legal);
  }

  /**
   * The bytes as CloudEvents writes them in HTTP: space, double quote, percent and everything that
   * is not printable ASCII are percent-encoded. Distinct bytes stay distinct.
   */
  static String encoded(byte[] value) {
    StringBuilder out = new StringBuilder(value.length + 16);
    for (byte b : value) {
      if (b > ' ' && b < 0x7f && b != '"' && b != '%') {
        out.append((char) b);
      } else {
        out.append('%').append(HEX.toHexDigits(b));
      }
    }
    return out.toString();
  }

  private static @Nullable String httpName(String name) {
    if (name.toLowerCase(Locale.ROOT).equals("content-type")) {
      return CONTENT_TYPE;
    }
    return name.startsWith(KAFKA_PREFIX)
            && name.length() > KAFKA_PREFIX.length()
            && name.chars().allMatch(ForwardedHeaders::isTokenCharacter)
        ? HTTP_PREFIX + name.substring(KAFKA_PREFIX.length())
        : null;
  }

  private static boolean isTokenCharacter(int c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || TOKEN_MARKS.indexOf(c) >= 0;
  }

  private static String contentType(byte[] value) {
    for (byte b : value) {
      if (b < ' ' || b == 0x7f) {
        return OCTETS;
      }
    }
    String type = new String(value, StandardCharsets.US_ASCII).strip();
    return type.isEmpty() ? OCTETS : type;
  }
}
