package io.firstclaim.processor.service.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.micronaut.runtime.server.EmbeddedServer;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Asks the service of a test over HTTP, as its readers and operators do. */
@Singleton
final class Api {
  /** A file with a reader, rita, and an operator, otto. */
  static final String TOKENS = "src/test/resources/admin-tokens";

  static final String READER = "the-reader's";
  static final String OPERATOR = "the-operator's";

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final EmbeddedServer server;

  Api(EmbeddedServer server) {
    this.server = server;
  }

  /** A copy of the file of tokens, which a test may change; the property that names it. */
  static Map<String, String> tokensOfItsOwn(Path copy) {
    try {
      Files.createDirectories(copy.getParent());
      Path _ = Files.copy(Path.of(TOKENS), copy, StandardCopyOption.REPLACE_EXISTING);
      return Map.of("firstclaim.admin.token-file", copy.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  int port() {
    return server.getPort();
  }

  /** Asks with this token, or with none. */
  HttpResponse<String> get(String path, @Nullable String token) {
    return send("GET", path, token, Optional.empty());
  }

  /** Sends this JSON with this token, or with none. */
  HttpResponse<String> post(String path, @Nullable String token, String body) {
    return send("POST", path, token, Optional.of(body));
  }

  /** Does nothing if the answer has this status, and says what is wrong with these words in it. */
  static void requireError(HttpResponse<String> answer, int status, String part) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.body()).startsWith("{\"error\":\"").contains(part);
  }

  HttpResponse<String> send(
      String method, String path, @Nullable String token, Optional<String> body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
            .header("Content-Type", "application/json")
            .method(method, body.map(BodyPublishers::ofString).orElse(BodyPublishers.noBody()));
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    try {
      return HTTP.send(request.build(), BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
