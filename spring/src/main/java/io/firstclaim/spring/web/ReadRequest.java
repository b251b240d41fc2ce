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
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A request whose body is read already, and which is answered before its handler returns. For one
 * thread.
 */
final class ReadRequest extends HttpServletRequestWrapper {
  private final byte @Nullable [] body;
  private @Nullable ServletInputStream stream;
  private @Nullable BufferedReader reader;

  /**
   * A request with this body.
   *
   * @param body null for a form, whose parameters the container has read from it
   */
  ReadRequest(HttpServletRequest request, byte @Nullable [] body) {
    super(request);
    this.body = body;
  }

  @Override
  public ServletInputStream getInputStream() throws IOException {
    if (body == null) {
      return super.getInputStream();
    }
    if (stream == null) {
      stream = new Body(body);
    }
    return stream;
  }

  @Override
  public BufferedReader getReader() throws IOException {
    if (body == null) {
      return super.getReader();
    }
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
