package io.firstclaim.spring.web;

import io.firstclaim.listener.web.KeptAnswer;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;

/**
 * A handler's answer, kept in memory until it is known whether the client may have it: nothing of
 * it reaches the response before {@link #passOn}. For one thread.
 */
final class HeldBackAnswer extends HttpServletResponseWrapper {
  private static final String CONTENT_TYPE = HttpHeaders.CONTENT_TYPE;

  private final HttpServletResponse response;
  private final HttpHeaders headers = new HttpHeaders();

  /** The names whose values replace those that the response has by earlier filters. */
  private final Set<String> replaced = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);

  private final List<Cookie> cookies = new ArrayList<>();
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private final ServletOutputStream stream = new Body();
  private int status = SC_OK;
  private boolean committed;
  private boolean failed;
  private @Nullable String message;
  private @Nullable Charset charset;
  private @Nullable PrintWriter writer;

  /** An answer that may once become that response. */
  HeldBackAnswer(HttpServletResponse response) {
    super(response);
    this.response = response;
  }

  /** Whether it is to be stored. */
  boolean isSuccess() {
    return !failed && status >= 200 && status < 300;
  }

  /** The headers that the handler set, cookies among them if they were set as such. */
  HttpHeaders headers() {
    HttpHeaders all = new HttpHeaders();
    all.putAll(headers);
    String type = ownContentType();
    if (type != null) {
      all.set(CONTENT_TYPE, type);
    }
    return all;
  }

  /** What to keep of the answer, in no more bytes than this. */
  String kept(long most) throws IOException {
    List<KeptAnswer.Header> all = new ArrayList<>();
    headers()
        .forEach(
            (name, values) -> values.forEach(value -> all.add(new KeptAnswer.Header(name, value))));
    return KeptAnswer.write(status, all, body(), most);
  }

  /** The bytes of its body. */
  byte[] body() {
    flushBuffer();
    return body.toByteArray();
  }

  /** Has it become the response. */
  void passOn() throws IOException {
    replaced.stream().filter(name -> !headers.containsHeader(name)).forEach(this::remove);
    headers().forEach(this::passOn);
    cookies.forEach(response::addCookie);
    if (failed) {
      response.sendError(status, message);
      return;
    }
    response.setStatus(status);
    byte[] bytes = body();
    if (bytes.length > 0) {
      response.setContentLength(bytes.length);
      response.getOutputStream().write(bytes);
    }
  }

  private void remove(String name) {
    if (name.equalsIgnoreCase(CONTENT_TYPE)) {
      response.setContentType(null);
    } else {
      response.setHeader(name, null);
    }
  }

  private void passOn(String name, List<String> values) {
    boolean replaces = replaced.contains(name);
    for (String value : values) {
      if (replaces) {
        response.setHeader(name, value);
        replaces = false;
      } else {
        response.addHeader(name, value);
      }
    }
  }

  @Override
  public void setStatus(int code) {
    if (!committed) {
      status = code;
    }
  }

  @Override
  public int getStatus() {
    return status;
  }

  @Override
  public void sendError(int code) {
    sendError(code, null);
  }

  @Override
  public void sendError(int code, @Nullable String text) {
    resetBuffer();
    status = code;
    message = text;
    failed = true;
    committed = true;
  }

  @Override
  public void sendRedirect(String location, int code, boolean clearBuffer) {
    if (clearBuffer) {
      resetBuffer();
    }
    status = code;
    setHeader(HttpHeaders.LOCATION, location);
    committed = true;
  }

  @Override
  public void sendRedirect(String location) {
    sendRedirect(location, SC_FOUND, true);
  }

  @Override
  public void sendRedirect(String location, boolean clearBuffer) {
    sendRedirect(location, SC_FOUND, clearBuffer);
  }

  @Override
  public void sendRedirect(String location, int code) {
    sendRedirect(location, code, true);
  }

  @Override
  public boolean isCommitted() {
    return committed;
  }

  @Override
  public void addCookie(Cookie cookie) {
    cookies.add(cookie);
  }

  @Override
  public boolean containsHeader(String name) {
    return getHeader(name) != null;
  }

  @Override
  public @Nullable String getHeader(String name) {
    return getHeaders(name).stream().findFirst().orElse(null);
  }

  /** What the response has already, by earlier filters, is as good as what the handler adds. */
  @Override
  public Collection<String> getHeaders(String name) {
    if (name.equalsIgnoreCase(CONTENT_TYPE)) {
      String type = getContentType();
      return type == null ? List.of() : List.of(type);
    }
    List<String> all = new ArrayList<>(headers.getOrEmpty(name));
    if (!replaced.contains(name)) {
      all.addAll(0, response.getHeaders(name));
    }
    return all;
  }

  @Override
  public Collection<String> getHeaderNames() {
    Set<String> all = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    all.addAll(response.getHeaderNames());
    all.removeAll(replaced);
    all.addAll(headers().headerNames());
    return all;
  }

  @Override
  public void setHeader(String name, @Nullable String value) {
    if (name.equalsIgnoreCase(CONTENT_TYPE)) {
      setContentType(value);
    } else if (name.equalsIgnoreCase(HttpHeaders.CONTENT_LENGTH)) {
      return; // ignored, as the length is that of what was written
    } else {
      replaced.add(name);
      headers.remove(name);
      addHeader(name, value);
    }
  }

  @Override
  public void addHeader(String name, @Nullable String value) {
    if (name.equalsIgnoreCase(CONTENT_TYPE)) {
      setContentType(value);
    } else if (value != null && !name.equalsIgnoreCase(HttpHeaders.CONTENT_LENGTH)) {
      headers.add(name, value);
    }
  }

  @Override
  public void setIntHeader(String name, int value) {
    setHeader(name, Integer.toString(value));
  }

  @Override
  public void addIntHeader(String name, int value) {
    addHeader(name, Integer.toString(value));
  }

  @Override
  public void setDateHeader(String name, long date) {
    setHeader(name, text(name, date));
  }

  @Override
  public void addDateHeader(String name, long date) {
    addHeader(name, text(name, date));
  }

  private static @Nullable String text(String name, long date) {
    HttpHeaders one = new HttpHeaders();
    one.setDate(name, date);
    return one.getFirst(name);
  }

  @Override
  public void setContentType(@Nullable String type) {
    replaced.add(CONTENT_TYPE);
    if (type == null) {
      headers.remove(CONTENT_TYPE);
      return;
    }
    headers.set(CONTENT_TYPE, type);
    Charset named = charsetOf(type);
    if (named != null) {
      charset = named;
    }
  }

  @Override
  public @Nullable String getContentType() {
    String type = ownContentType();
    return type == null && !replaced.contains(CONTENT_TYPE) ? response.getContentType() : type;
  }

  private @Nullable String ownContentType() {
    String type = headers.getFirst(CONTENT_TYPE);
    return type == null || charset == null || charsetOf(type) != null
        ? type
        : type + ";charset=" + charset.name();
  }

  private static @Nullable Charset charsetOf(String type) {
    try {
      return MediaType.parseMediaType(type).getCharset();
    } catch (IllegalArgumentException e) {
      return null; // not a type that Spring knows, which need not be wrong
    }
  }

  @Override
  public void setCharacterEncoding(@Nullable String name) {
    charset = name == null ? null : Charset.forName(name);
  }

  @Override
  public String getCharacterEncoding() {
    return charset == null ? response.getCharacterEncoding() : charset.name();
  }

  @Override
  public void setContentLength(int length) {
    // Ignored, as the length is that of what was written.
  }

  @Override
  public void setContentLengthLong(long length) {
    // Ignored, as the length is that of what was written.
  }

  @Override
  public void setLocale(Locale locale) {
    setHeader(HttpHeaders.CONTENT_LANGUAGE, locale.toLanguageTag());
  }

  @Override
  public ServletOutputStream getOutputStream() {
    return stream;
  }

  @Override
  public PrintWriter getWriter() {
    if (writer == null) {
      if (charset == null) {
        charset = Charset.forName(getCharacterEncoding());
      }
      writer = new PrintWriter(new OutputStreamWriter(stream, charset));
    }
    return writer;
  }

  @Override
  public void setBufferSize(int size) {
    // All of it is in memory.
  }

  @Override
  public int getBufferSize() {
    return Integer.MAX_VALUE;
  }

  @Override
  public void flushBuffer() {
    if (writer != null) {
      writer.flush();
    }
  }

  @Override
  public void resetBuffer() {
    if (committed) {
      throw new IllegalStateException("the answer is complete");
    }
    flushBuffer();
    body.reset();
  }

  @Override
  public void reset() {
    resetBuffer();
    headers.clear();
    replaced.clear();
    cookies.clear();
    status = SC_OK;
    charset = null;
    writer = null;
  }

  /** Takes what is written, until the answer is an error or a redirect. */
  private final class Body extends ServletOutputStream {
    @Override
    public void write(int b) {
      if (!committed) {
        body.write(b);
      }
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      if (!committed) {
        body.write(bytes, offset, length);
      }
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void setWriteListener(WriteListener listener) {
      throw new IllegalStateException(
          "a handler with @IdempotencyKey answers before it returns: its answer is stored first");
    }
  }
}
