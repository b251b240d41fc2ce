package io.firstclaim.processor.service.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** Asks a running instance. For one thread. */
final class AdminClient {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final URI url;
  private final Optional<String> token;
  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

  /** A client of the instance at this URL, which may have a path prefix. */
  AdminClient(URI url, Optional<String> token) {
    this.url = URI.create(url.toString().replaceFirst("/*$", "/"));
    this.token = token;
  }

  /**
   * An answer.
   *
   * @param status of HTTP
   */
  record Answer(int status, JsonNode body) {
    boolean isGood() {
      return status < 300;
    }
  }

  static String encoded(String id) {
    return URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20");
  }

  Answer get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(to(path)).GET());
  }

  Answer post(String path, Map<String, Object> body) throws IOException, InterruptedException {
    return send(
        HttpRequest.newBuilder(to(path))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body))));
  }

  private URI to(String path) {
    return url.resolve(path.substring(1));
  }

  private Answer send(HttpRequest.Builder request) throws IOException, InterruptedException {
    token.ifPresent(shown -> request.header("Authorization", "Bearer " + shown));
    HttpResponse<byte[]> answer =
        http.send(request.timeout(LIMIT).build(), BodyHandlers.ofByteArray());
    try {
      return new Answer(answer.statusCode(), JSON.readTree(answer.body()));
    } catch (JsonProcessingException e) {
      throw new IOException("what answers at %s is no admin API".formatted(url), e);
    }
  }
}
