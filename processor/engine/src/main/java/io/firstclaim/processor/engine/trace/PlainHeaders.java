package io.firstclaim.processor.engine.trace;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.Arrays;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Reads of a record's headers those that may carry a trace: printable ASCII, of bounded length. All
 * others count as missing, as anybody may have written them. Of several with one name the last
 * counts, as for the record's ID. Thread-safe.
 */
final class PlainHeaders implements TextMapGetter<Headers> {
  /** The length that W3C's baggage may have, which is the longest of the common headers. */
  private static final int MAX_LENGTH = 8192;

  @Override
  public Iterable<String> keys(Headers headers) {
    return Arrays.stream(headers.toArray()).map(Header::key).toList();
  }

  @Override
  public @Nullable String get(@Nullable Headers headers, String name) {
    Header header = headers == null ? null : headers.lastHeader(name);
    byte[] value = header == null ? null : header.value();
    return value == null || !isPlain(value) ? null : new String(value, US_ASCII);
  }

  private static boolean isPlain(byte[] value) {
    if (value.length > MAX_LENGTH) {
      return false;
    }
    for (byte b : value) {
      if (b < ' ' || b == 0x7f) {
        return false;
      }
    }
    return true;
  }
}
