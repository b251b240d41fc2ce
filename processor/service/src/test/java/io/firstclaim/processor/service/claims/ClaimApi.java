package io.firstclaim.processor.service.claims;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.store.DrivenClaimStore;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.processor.service.instance.Served;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A server of claims alone, in memory and by a clock that the test drives, and a client of it. Its
 * application is started here: {@code @MicronautTest} has one for a whole class and starts its
 * server with it, where the service opens its store first; and some tests have a second one.
 */
final class ClaimApi implements AutoCloseable {
  static final String CLAIMER = "the-claimer's";
  static final String ANOTHER = "another-claimer's";
  static final String READER = "the-reader's";
  static final String OPERATOR = "the-operator's";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final ApplicationContext context;
  private final URI server;

  private ClaimApi(ApplicationContext context, URI server) {
    this.context = context;
    this.server = server;
  }

  /** A server that has these settings too. */
  static ClaimApi start(Map<String, Object> more) throws InterruptedException {
    Map<String, Object> settings = new HashMap<>();
    settings.put("firstclaim.claims.http", "true");
    settings.put("firstclaim.claim.backend", "memory");
    settings.put("firstclaim.admin.token-file", "src/test/resources/admin-tokens");
    settings.put("micronaut.server.port", "-1");
    settings.putAll(more);
    ApplicationContext context =
        ApplicationContext.builder().deduceEnvironment(false).properties(settings).start();
    context.getBean(Served.class).run();
    EmbeddedServer http = context.getBean(EmbeddedServer.class).start();
    return new ClaimApi(context, URI.create("http://127.0.0.1:" + http.getPort()));
  }

  /** The same server, reached by another way. */
  ClaimApi through(URI way) {
    return new ClaimApi(context, way);
  }

  URI address() {
    return server;
  }

  ManualTime time() {
    return context.getBean(ManualTime.class);
  }

  /** Has the server go by this time from now on. */
  void switchTo(TimeSource time) {
    context.getBean(ClaimsTestBeans.SwitchedTime.class).switchTo(time);
  }

  /** The server's own store. */
  DrivenClaimStore store() {
    return context.getBean(Served.class).opened().orElseThrow();
  }

  /** What it answers claims with. */
  Grants grants() {
    return context.getBean(Grants.class);
  }

  /** An answer. */
  record Answer(int status, JsonNode body, HttpResponse<String> all) {
    Answer require(int wanted) {
      assertThat(status).as("%s: %s", all.request(), all.body()).isEqualTo(wanted);
      return this;
    }

    String text(String field) {
      return body.path(field).asText();
    }

    String handle() {
      return require(201).text("handle");
    }

    @Nullable String header(String name) {
      return all.headers().firstValue(name).orElse(null);
    }
  }

  static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  Answer claim(String id, String body) {
    return send("POST", "/api/claims/" + encoded(id), body, Map.of());
  }

  Answer claim(String id, String body, String key) {
    return send("POST", "/api/claims/" + encoded(id), body, Map.of("Idempotency-Key", key));
  }

  Answer step(String id, String handle, String step, String body) {
    return send(
        "POST", "/api/claims/%s/%s/%s".formatted(encoded(id), handle, step), body, Map.of());
  }

  Answer send(String method, String path, @Nullable String body, Map<String, String> headers) {
    return as(CLAIMER, method, path, body, headers);
  }

  Answer as(
      @Nullable String token,
      String method,
      String path,
      @Nullable String body,
      Map<String, String> headers) {
    try {
      return tried(token, method, path, body, headers);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The same; throws if there is no answer. */
  Answer tried(
      @Nullable String token,
      String method,
      String path,
      @Nullable String body,
      Map<String, String> headers)
      throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(server.resolve(path))
            .timeout(Duration.ofMinutes(1))
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (body != null) {
      request.header("Content-Type", "application/json");
    }
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    headers.forEach(request::setHeader);
    try {
      HttpResponse<String> answer = HTTP.send(request.build(), BodyHandlers.ofString());
      return new Answer(answer.statusCode(), json(answer.body()), answer);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  private static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (IOException e) {
      return JSON.missingNode();
    }
  }

  static String newId() {
    return "order-" + UUID.randomUUID();
  }

  @Override
  public void close() {
    context.close();
  }
}
