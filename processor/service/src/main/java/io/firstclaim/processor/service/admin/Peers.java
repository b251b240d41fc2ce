package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.audit.api.Address;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.context.ServerRequestContext;
import io.micronaut.http.ssl.ServerSslConfiguration;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The other instances of the zone, asked over the same API, with the token of whoever asks here.
 * They serve TLS if this one does: the instances of a zone are set alike. Thread-safe.
 */
@Singleton
final class Peers {
  /** Marks a request of another instance. */
  private static final String ASKED_BY_ONE = "Firstclaim-Asked-By-Instance";

  private static final Duration LIMIT = Duration.ofSeconds(3);

  /** How much is read of an answer: far more than the longest page of a list has. */
  static final int MOST_BYTES = 16 << 20;

  private static final ObjectMapper JSON =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private final String scheme;
  private final HttpClient http;

  Peers(ServerSslConfiguration own, PeerTls tls) {
    HttpClient.Builder client = HttpClient.newBuilder().connectTimeout(LIMIT);
    this.scheme = own.isEnabled() ? "https" : "http";
    this.http = own.isEnabled() ? client.sslContext(tls.context()).build() : client.build();
  }

  /** Whether the request that is being answered here is one of another instance. */
  boolean isAskedByOne() {
    return header(ASKED_BY_ONE).isPresent();
  }

  private static Optional<String> header(String name) {
    return ServerRequestContext.currentRequest().map(request -> request.getHeaders().get(name));
  }

  /** A record's outcomes, as that instance knows them; empty if it does not say now. */
  Optional<List<OutcomeView>> history(Address instance, RecordId id) {
    try {
      JsonNode history = get(instance, "/api/records/" + encoded(id)).path("history");
      return history.isArray() ? Optional.of(events(history)) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * That instance's part of a list.
   *
   * @throws Problem if it does not say now
   */
  ListPage<OutcomeView> list(Address instance, String list, int limit, @Nullable RecordId after) {
    String query = "?limit=" + limit + (after == null ? "" : "&after=" + encoded(after));
    try {
      return page(get(instance, "/api/" + list + query));
    } catch (IOException e) {
      throw Problem.notNow("instance %s does not answer: %s".formatted(instance, OneLine.of(e)));
    }
  }

  /**
   * The page in an answer.
   *
   * @throws IOException if there is none in it
   */
  static ListPage<OutcomeView> page(JsonNode answer) throws IOException {
    List<OutcomeView> items = events(answer.path("items"));
    JsonNode next = answer.path("next");
    ListPage<OutcomeView> page = new ListPage<>(items, next.isTextual() ? next.asText() : null);
    for (OutcomeView item : items) {
      requireId(item.id());
    }
    if (page.next() != null) {
      requireId(page.next());
    }
    return page;
  }

  private static void requireId(String id) throws IOException {
    try {
      RecordId _ = Ids.ofText(id);
    } catch (Problem e) {
      throw new IOException("it lists what is no record", e);
    }
  }

  /**
   * What an instance says of itself and of its partitions.
   *
   * @param overview empty if it cannot say now
   */
  record PeerSummary(InstanceView instance, Optional<Overview> overview) {}

  /**
   * That instance's summary.
   *
   * @throws IOException if it does not say now
   */
  PeerSummary summary(Address instance) throws IOException {
    JsonNode summary = get(instance, "/api/summary");
    if (!summary.path("instance").isObject()) {
      throw new IOException("it says nothing of itself");
    }
    return new PeerSummary(
        JSON.treeToValue(summary.path("instance"), InstanceView.class), overview(summary));
  }

  /**
   * What an answer says of the instance's partitions; empty if it does not say now.
   *
   * @throws IOException if it is no overview
   */
  static Optional<Overview> overview(JsonNode answer) throws IOException {
    return Optional.ofNullable(JSON.treeToValue(answer.path("overview"), Overview.class));
  }

  private static String encoded(RecordId id) {
    return URLEncoder.encode(id.text(), StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static List<OutcomeView> events(JsonNode items) throws IOException {
    List<OutcomeView> events = new ArrayList<>();
    for (JsonNode item : items) {
      if (!item.isObject()) {
        throw new IOException("it lists what is no record");
      }
      events.add(JSON.treeToValue(item, OutcomeView.class));
    }
    return events;
  }

  private JsonNode get(Address instance, String path) throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(scheme + "://" + instance + path))
            .timeout(LIMIT)
            .header(ASKED_BY_ONE, "1");
    header(HttpHeaders.AUTHORIZATION)
        .ifPresent(token -> request.header(HttpHeaders.AUTHORIZATION, token));
    try {
      HttpResponse<byte[]> answer =
          http.send(request.build(), BodyHandlers.limiting(BodyHandlers.ofByteArray(), MOST_BYTES));
      if (answer.statusCode() != 200) {
        throw new IOException("HTTP " + answer.statusCode());
      }
      return JSON.readTree(answer.body());
    } catch (ConnectException e) { // which says nothing by itself
      throw new IOException("no connection", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
