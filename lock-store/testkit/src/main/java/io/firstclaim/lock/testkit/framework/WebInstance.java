package io.firstclaim.lock.testkit.framework;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** An instance of a web application, on this machine, as its clients see it. Thread-safe. */
public record WebInstance(int port) {
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  /** A request of text, with this key unless it is null. */
  public HttpRequest.Builder to(String path, @Nullable String key) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d%s".formatted(port, path)))
            .header("Content-Type", "text/plain");
    return key == null ? request : request.header("Idempotency-Key", key);
  }

  /** Its answer to a {@code POST}. */
  public HttpResponse<String> post(String path, @Nullable String key, String body)
      throws Exception {
    return send(to(path, key).POST(BodyPublishers.ofString(body)));
  }

  /** The answer. */
  public static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return CLIENT.send(request.build(), BodyHandlers.ofString());
  }

  /** The answer, once it is there. */
  public static CompletableFuture<HttpResponse<String>> sendAsync(HttpRequest.Builder request) {
    return CLIENT.sendAsync(request.build(), BodyHandlers.ofString());
  }

  /** Whether an answer is one that was given before. */
  public static boolean isReplayed(HttpResponse<?> answer) {
    return answer.headers().firstValue("Idempotent-Replayed").isPresent();
  }
}
