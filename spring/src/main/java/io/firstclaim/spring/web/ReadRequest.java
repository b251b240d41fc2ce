package io.firstclaim.spring.web;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request whose body is read already, and which is answered before its handler returns. For one
 * thread.
 */
final class ReadRequest extends HttpServletRequestWrapper {
  private static final String LENGTH = "Content-Length";

  private final byte[] body;
  private @Nullable ServletInputStream stream;
  private @Nullable BufferedReader reader;

  /** A request with this body, whose length need not be that of the body that was sent. */
  ReadRequest(HttpServletRequest request, byte[] body) {
    super(request);
    this.body = body;
  }

  @Override
  public ServletInputStream getInputStream() {
    if (stream == null) {
      stream = new Body(body);
    }
    return stream;
  }

  @Override
  public BufferedReader getReader() {
    if (reader == null) {
      String charset = getCharacterEncoding();
      reader =
          new BufferedReader(
              new InputStreamReader(
                  getInputStream(),
                  charset == null ? StandardCharsets.ISO_8859_1 : Charset.forName(charset)));
    }
    return reader;
  }

  private boolean isItsLength(String header) {
    return header.equalsIgnoreCase(LENGTH) && super.getHeader(LENGTH) != null;
  }

  @Override
  public @Nullable String getHeader(String name) {
    return isItsLength(name) ? Integer.toString(body.length) : super.getHeader(name);
  }

  @Override
  public Enumeration<String> getHeaders(String name) {
    return isItsLength(name)
        ? Collections.enumeration(List.of(Integer.toString(body.length)))
        : super.getHeaders(name);
  }

  @Override
  public int getIntHeader(String name) {
    return isItsLength(name) ? body.length : super.getIntHeader(name);
  }

  @Override
  public int getContentLength() {
    return super.getContentLength() < 0 ? -1 : body.length;
  }

  @Override
  public long getContentLengthLong() {
    return getContentLength();
  }

  @Override
  public boolean isAsyncSupported() {
    return false;
  }

  @Override
  public AsyncContext startAsync() {
    throw refused();
  }

  @Override
  public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
    throw refused();
  }

  private static IllegalStateException refused() {
    return new IllegalStateException(
        "a handler with @IdempotencyKey answers before it returns: its answer is stored first");
  }

  private static final class Body extends ServletInputStream {
    private final ByteArrayInputStream in;

    Body(byte[] bytes) {
      in = new ByteArrayInputStream(bytes);
    }

    @Override
    public int read() {
      return in.read();
    }

    @Override
    public int read(byte[] target, int offset, int length) {
      return in.read(target, offset, length);
    }

    @Override
    public int available() {
      return in.available();
    }

    @Override
    public boolean isFinished() {
      return in.available() == 0;
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void setReadListener(ReadListener listener) {
      throw refused();
    }
  }
}
