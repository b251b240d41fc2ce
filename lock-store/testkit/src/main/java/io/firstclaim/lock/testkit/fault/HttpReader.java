package io.firstclaim.lock.testkit.fault;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reads the HTTP/1.1 messages of one direction of a connection. */
final class HttpReader {
  private static final int MAX_HEAD = 1 << 16;
  private static final int MAX_BODY = 1 << 27;
  private static final byte[] NO_BODY = new byte[0];

  private final InputStream in;
  private byte[] buffer = new byte[1 << 14];
  private int start;
  private int end;

  HttpReader(InputStream in) {
    this.in = in;
  }

  /** The head of the next message with its blank line, or null if the peer has closed. */
  @Nullable String readHead() throws IOException {
    int scanned = 0;
    while (true) {
      for (int i = start + scanned; i + 3 < end; i++) {
        if (buffer[i] == '\r'
            && buffer[i + 1] == '\n'
            && buffer[i + 2] == '\r'
            && buffer[i + 3] == '\n') {
          String head = new String(buffer, start, i + 4 - start, StandardCharsets.ISO_8859_1);
          start = i + 4;
          return head;
        }
      }
      scanned = Math.max(0, end - start - 3);
      if (end - start > MAX_HEAD) {
        throw new IOException("a message head of more than " + MAX_HEAD + " bytes");
      }
      if (!fill()) {
        if (start == end) {
          return null;
        }
        throw new EOFException("closed in a message head");
      }
    }
  }

  /** The rest of a request whose head was read. */
  HttpMessage readRequest(String head) throws IOException {
    if (isChunked(head)) {
      return new HttpMessage(head, readChunks(), true);
    }
    return new HttpMessage(head, readExactly(contentLength(head, 0)), false);
  }

  /** The next response to a request of {@code method}; interim ones (1xx) are left out. */
  HttpMessage readResponse(String method) throws IOException {
    while (true) {
      String head = readHead();
      if (head == null) {
        throw new EOFException("closed before the response");
      }
      int status = Integer.parseInt(head, 9, 12, 10);
      if (status >= 200) {
        return readResponseBody(head, method, status);
      }
    }
  }

  private HttpMessage readResponseBody(String head, String method, int status) throws IOException {
    if (method.equals("HEAD") || status == 204 || status == 304) {
      return new HttpMessage(head, NO_BODY, false);
    }
    if (isChunked(head)) {
      return new HttpMessage(head, readChunks(), true);
    }
    int length = contentLength(head, -1);
    return new HttpMessage(head, length < 0 ? readToEnd() : readExactly(length), false);
  }

  private static boolean isChunked(String head) {
    String encoding = HttpMessage.header(head, "Transfer-Encoding");
    return encoding != null && encoding.toLowerCase(Locale.ROOT).contains("chunked");
  }

  private static int contentLength(String head, int otherwise) throws IOException {
    String length = HttpMessage.header(head, "Content-Length");
    if (length == null) {
      return otherwise;
    }
    try {
      return bounded(Long.parseLong(length));
    } catch (NumberFormatException e) {
      throw new IOException("Content-Length: " + length, e);
    }
  }

  /** The size in a chunk's first line, which may carry extensions. */
  static int chunkSize(String line) {
    int semicolon = line.indexOf(';');
    return Integer.parseInt((semicolon < 0 ? line : line.substring(0, semicolon)).strip(), 16);
  }

  private byte[] readChunks() throws IOException {
    ByteArrayOutputStream framed = new ByteArrayOutputStream();
    int size;
    do {
      String line = readLine(framed);
      try {
        size = bounded(chunkSize(line) + (long) framed.size()) - framed.size();
      } catch (NumberFormatException e) {
        throw new IOException("chunk size: " + line, e);
      }
      if (size > 0) {
        framed.write(readExactly(size + 2));
      }
    } while (size > 0);
    while (!readLine(framed).isEmpty()) {
      // Trailers.
    }
    return framed.toByteArray();
  }

  private String readLine(ByteArrayOutputStream copy) throws IOException {
    int scanned = 0;
    while (true) {
      for (int i = start + scanned; i + 1 < end; i++) {
        if (buffer[i] == '\r' && buffer[i + 1] == '\n') {
          String line = new String(buffer, start, i - start, StandardCharsets.ISO_8859_1);
          copy.write(buffer, start, i + 2 - start);
          start = i + 2;
          return line;
        }
      }
      scanned = Math.max(0, end - start - 1);
      if (scanned > MAX_HEAD) {
        throw new IOException("a line of more than " + MAX_HEAD + " bytes");
      }
      if (!fill()) {
        throw new EOFException("closed in a chunked body");
      }
    }
  }

  private byte[] readExactly(int length) throws IOException {
    if (length == 0) {
      return NO_BODY;
    }
    byte[] bytes = new byte[length];
    int had = Math.min(length, end - start);
    System.arraycopy(buffer, start, bytes, 0, had);
    start += had;
    if (in.readNBytes(bytes, had, length - had) < length - had) {
      throw new EOFException("closed in a body");
    }
    return bytes;
  }

  private byte[] readToEnd() throws IOException {
    ByteArrayOutputStream rest = new ByteArrayOutputStream();
    rest.write(buffer, start, end - start);
    start = end;
    in.transferTo(rest);
    return rest.toByteArray();
  }

  /** Reads more into the buffer; false at the end of the stream. */
  private boolean fill() throws IOException {
    if (start == end) {
      start = 0;
      end = 0;
    } else if (end == buffer.length) {
      byte[] target = start > buffer.length / 2 ? buffer : new byte[buffer.length * 2];
      System.arraycopy(buffer, start, target, 0, end - start);
      end -= start;
      start = 0;
      buffer = target;
    }
    int read = in.read(buffer, end, buffer.length - end);
    if (read > 0) {
      end += read;
    }
    return read >= 0;
  }

  private static int bounded(long length) throws IOException {
    if (length < 0 || length > MAX_BODY) {
      throw new IOException("a body of " + length + " bytes; the proxy takes up to " + MAX_BODY);
    }
    return (int) length;
  }
}
