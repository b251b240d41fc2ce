package io.firstclaim.lock.testkit.fault;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** A client's request as the {@link FaultProxy} sees it. */
public final class Request {
  private final HttpMessage message;
  private final String method;
  private final String path;
  private final String operation;
  private @Nullable String body;

  Request(HttpMessage message) {
    this.message = message;
    String line = message.startLine();
    int first = line.indexOf(' ');
    int second = line.indexOf(' ', first + 1);
    this.method = line.substring(0, Math.max(0, first));
    this.path = second < 0 ? "" : line.substring(first + 1, second);
    String target = message.header("X-Amz-Target");
    this.operation = target == null ? method : target.substring(target.lastIndexOf('.') + 1);
  }

  /** {@code GET}, {@code PUT}, … */
  public String method() {
    return method;
  }

  /** The path and query as sent. */
  public String path() {
    return path;
  }

  /** DynamoDB's operation, such as {@code PutItem}; elsewhere the method. */
  public String operation() {
    return operation;
  }

  /** The value of a header, whatever the case of its name; null if there is none. */
  public @Nullable String header(String name) {
    return message.header(name);
  }

  /** The body as text, taken for UTF-8. */
  public synchronized String body() {
    if (body == null) {
      body = new String(message.body(), StandardCharsets.UTF_8);
    }
    return body;
  }

  HttpMessage message() {
    return message;
  }

  @Override
  public String toString() {
    return operation + " " + path;
  }
}
