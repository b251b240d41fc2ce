package io.firstclaim.lock.testkit.fault;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * One request or response as it came over the wire: the head with its blank line, and the body in
 * its framing (chunk sizes included).
 */
final class HttpMessage {
  private final String head;
  private final byte[] framedBody;
  private final boolean chunked;

  HttpMessage(String head, byte[] framedBody, boolean chunked) {
    this.head = head;
    this.framedBody = framedBody;
    this.chunked = chunked;
  }

  String head() {
    return head;
  }

  String startLine() {
    return head.substring(0, head.indexOf('\r'));
  }

  @Nullable String header(String name) {
    return header(head, name);
  }

  /** The value of the first header of that name, or null. */
  static @Nullable String header(String head, String name) {
    int line = head.indexOf("\r\n") + 2;
    while (line < head.length()) {
      int end = head.indexOf("\r\n", line);
      if (end <= line) {
        return null;
      }
      int colon = line + name.length();
      if (colon < end
          && head.charAt(colon) == ':'
          && head.regionMatches(true, line, name, 0, name.length())) {
        return head.substring(colon + 1, end).strip();
      }
      line = end + 2;
    }
    return null;
  }

  /** The same message without a header. */
  HttpMessage without(String name) {
    StringBuilder kept = new StringBuilder(head.length());
    int line = 0;
    while (line < head.length()) {
      int end = head.indexOf("\r\n", line) + 2;
      boolean named =
          line > 0
              && head.regionMatches(true, line, name, 0, name.length())
              && head.charAt(line + name.length()) == ':';
      if (!named) {
        kept.append(head, line, end);
      }
      line = end;
    }
    return new HttpMessage(kept.toString(), framedBody, chunked);
  }

  /** The same message with one more header. */
  HttpMessage with(String name, String value) {
    String all = head.substring(0, head.length() - 2) + name + ": " + value + "\r\n\r\n";
    return new HttpMessage(all, framedBody, chunked);
  }

  /** The body without its framing. */
  byte[] body() {
    if (!chunked) {
      return framedBody;
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream(framedBody.length);
    int at = 0;
    while (true) {
      int lineEnd = at;
      while (framedBody[lineEnd] != '\r') {
        lineEnd++;
      }
      String size = new String(framedBody, at, lineEnd - at, StandardCharsets.ISO_8859_1);
      int length = HttpReader.chunkSize(size);
      if (length == 0) {
        return body.toByteArray();
      }
      body.write(framedBody, lineEnd + 2, length);
      at = lineEnd + 2 + length + 2;
    }
  }

  boolean asksToClose() {
    String connection = header("Connection");
    return "close".equalsIgnoreCase(connection)
        || (startLine().endsWith("HTTP/1.0") && connection == null);
  }

  /** The whole message, to be written in one piece: one packet where it fits. */
  byte[] bytes() {
    byte[] bytes = new byte[head.length() + framedBody.length];
    byte[] headBytes = head.getBytes(StandardCharsets.ISO_8859_1);
    System.arraycopy(headBytes, 0, bytes, 0, headBytes.length);
    System.arraycopy(framedBody, 0, bytes, headBytes.length, framedBody.length);
    return bytes;
  }
}
