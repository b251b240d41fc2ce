package io.firstclaim.processor.service.scenario;

import com.sun.net.httpserver.Headers;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One call of a handler, as the {@link Sink} saw it. */
final class Call {
  private final Instant start = Instant.now();
  private final Headers headers;
  private final byte[] body;
  private final CompletableFuture<Integer> verdict = new CompletableFuture<>();
  private volatile @Nullable Instant end;

  Call(Headers headers, byte[] body) {
    this.headers = headers;
    this.body = body;
  }

  /** The header {@code Idempotency-Key}. */
  String id() {
    return header("Idempotency-Key");
  }

  long token() {
    return Long.parseLong(header("Firstclaim-Token"));
  }

  int attempt() {
    return Integer.parseInt(header("Firstclaim-Attempt"));
  }

  String zone() {
    return header("Firstclaim-Zone");
  }

  int partition() {
    return Integer.parseInt(header("Firstclaim-Partition"));
  }

  long offset() {
    return Long.parseLong(header("Firstclaim-Offset"));
  }

  byte[] body() {
    return body;
  }

  Headers headers() {
    return headers;
  }

  /** When the call came. */
  Instant start() {
    return start;
  }

  /** When the call was answered; null while it is not. */
  @Nullable Instant end() {
    return end;
  }

  void ended() {
    end = Instant.now();
  }

  /** Blocks until {@link #answer} is called and returns that status. */
  int awaitVerdict() {
    return verdict.join();
  }

  /** Has a blocked call answered with this status. */
  void answer(int status) {
    verdict.complete(status);
  }

  private String header(String name) {
    String value = headers.getFirst(name);
    if (value == null) {
      throw new IllegalStateException("the call has no header " + name);
    }
    return value;
  }

  @Override
  public String toString() {
    return "%s by %s, token %d, attempt %d, at %s"
        .formatted(id(), zone(), token(), attempt(), start);
  }
}
