package io.firstclaim.lock.testkit.fault;

import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * ETags as S3 has them of objects that are encrypted by a key of KMS, or were uploaded in parts:
 * not the MD5 of the body, and with {@code -2} at the end. Those of the server are made into such
 * ones and back.
 */
final class OpaqueETags {
  private static final Pattern OF_SERVER = Pattern.compile("\"([0-9a-f]{32}(?:-\\d+)?)\"");

  /** Without the end, it is one that the client has reckoned: it must match nothing. */
  private static final Pattern OF_CLIENT = Pattern.compile("\"([0-9a-f]{32}(?:-\\d+)??)(?:-2)?\"");

  private OpaqueETags() {}

  /** The request as the server knows its ETag. */
  static HttpMessage toServer(HttpMessage request) {
    return with(request, "If-Match", tag -> inverted(OF_CLIENT, tag, ""));
  }

  /** The answer as a client sees its ETag. */
  static HttpMessage toClient(HttpMessage response) {
    return with(response, "ETag", tag -> inverted(OF_SERVER, tag, "-2"));
  }

  private static HttpMessage with(HttpMessage message, String header, UnaryOperator<String> made) {
    @Nullable String tag = message.header(header);
    return tag == null ? message : message.without(header).with(header, made.apply(tag));
  }

  /** Each of the first 32 digits for the one that makes 15 with it; another text as it is. */
  private static String inverted(Pattern form, String tag, String end) {
    Matcher matcher = form.matcher(tag);
    if (!matcher.matches()) {
      return tag;
    }
    StringBuilder made = new StringBuilder(matcher.group(1));
    for (int i = 0; i < 32; i++) {
      made.setCharAt(i, Character.forDigit(15 - Character.digit(made.charAt(i), 16), 16));
    }
    return "\"" + made + end + "\"";
  }
}
