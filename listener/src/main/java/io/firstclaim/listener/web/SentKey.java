package io.firstclaim.listener.web;

import java.util.List;

/**
 * What a request has for an {@code Idempotency-Key}. The draft's value is a string of RFC 8941,
 * {@code "8e03978e"}. Many clients send it without the quotes, and it is the same key.
 */
public sealed interface SentKey {
  /** The header's name. */
  String HEADER = "Idempotency-Key";

  /** The longest key that is accepted. */
  int MAX_LENGTH = 255;

  /**
   * The request has a key.
   *
   * @param key 1 to {@value #MAX_LENGTH} printable characters of ASCII
   */
  record Present(String key) implements SentKey {}

  /** The request has no key. */
  record Absent() implements SentKey {}

  /** The request has the header, but not with a key; what was meant must not be guessed at. */
  record Malformed() implements SentKey {}

  /** Reads the values of a request's headers of that name. */
  static SentKey read(List<String> values) {
    if (values.isEmpty()) {
      return new Absent();
    }
    String key = values.size() == 1 ? parsed(values.getFirst().strip()) : "";
    return key.isEmpty() || key.length() > MAX_LENGTH ? new Malformed() : new Present(key);
  }

  /** The key in a header's value; empty if that is no key. */
  private static String parsed(String value) {
    boolean quoted = value.length() > 1 && value.startsWith("\"") && value.endsWith("\"");
    String content = quoted ? value.substring(1, value.length() - 1) : value;
    StringBuilder key = new StringBuilder(content.length());
    for (int i = 0; i < content.length(); i++) {
      char c = content.charAt(i);
      if (quoted && c == '\\') {
        i++;
        c = i < content.length() ? content.charAt(i) : 0;
        if (c != '"' && c != '\\') {
          return "";
        }
      } else if (c == '"' || c > '~' || c < ' ' || (!quoted && " ,;\\".indexOf(c) >= 0)) {
        return "";
      }
      key.append(c);
    }
    return key.toString();
  }
}
