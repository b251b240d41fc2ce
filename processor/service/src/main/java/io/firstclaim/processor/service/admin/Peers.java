package io.firstclaim.processor.service.admin;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.audit.api.Address;
import io.firstclaim.processor.audit.api.Coverage;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.context.ServerRequestContext;
import io.micronaut.http.ssl.ServerSslConfiguration;
import jakarta.inject.Inject;
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
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The other instances of the zone, asked over the same API, with a token of this instance's own,
 * which may only read: where they are, anybody may say who can join their consumer group. They
 * serve TLS if this one does: the instances of a zone are set alike. Thread-safe.
 */
@Singleton
final class Peers {
  /** Marks a request of another instance: {@code APPLICATION/ZONE}. */
  static final String ASKED_BY_ONE = "Firstclaim-Asked-By-Instance";

  /** The partitions that the asked one is taken to have, comma-separated. */
  static final String ASKED_FOR = "Firstclaim-Asked-For-Partitions";

  private static final int MAX_SHOWN = 300;

  private static final Duration LIMIT = Duration.ofSeconds(3);

  /** How much is read of an answer: far more than the longest page of a list has. */
  static final int MOST_BYTES = 16 << 20;

  private static final ObjectMapper JSON =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private final String scheme;
  private final HttpClient http;
  private final PeerCredential credential;
  private final Duration limit;

  @Inject
  Peers(ServerSslConfiguration own, PeerTls tls, PeerCredential credential) {
    this(own, tls, credential, LIMIT);
  }

  /**
   * The same.
   *
   * @param limit how long each may take to answer
   */
  Peers(ServerSslConfiguration own, PeerTls tls, PeerCredential credential, Duration limit) {
    this.credential = credential;
    this.limit = limit;
    HttpClient.Builder client = HttpClient.newBuilder().connectTimeout(limit);
    this.scheme = own.isEnabled() ? "https" : "http";
    this.http = own.isEnabled() ? client.sslContext(tls.context()).build() : client.build();
  }

  /**
   * Whether the request that is being answered here is one of another instance.
   *
   * @throws Problem if that is of another zone, and so takes this one for somebody else
   */
  boolean isAskedByOne() {
    Optional<String> by = header(ASKED_BY_ONE);
    if (by.isPresent() && !by.get().equals(credential.zone())) {
      throw Problem.conflict(
          "this is an instance of %s, and was asked by one of %s: firstclaim.audit.address leads elsewhere"
              .formatted(credential.zone(), OneLine.of(by.get(), MAX_SHOWN)));
    }
    return by.isPresent();
  }

  /**
   * Does nothing if this instance has the partitions for which another one asks it.
   *
   * @throws Problem if it has not
   */
  void requireAskedFor(Coverage coverage) {
    Set<String> own = coverage.own().stream().map(String::valueOf).collect(Collectors.toSet());
    List<String> missing =
        header(ASKED_FOR).map(list -> List.of(list.split(","))).orElse(List.of()).stream()
            .filter(Predicate.not(own::contains))
            .toList();
    if (!missing.isEmpty()) {
      throw Problem.notNow(
          "this instance does not have partitions %s now"
              .formatted(OneLine.of(missing.toString(), MAX_SHOWN)));
    }
  }

  private static Optional<String> header(String name) {
    return ServerRequestContext.currentRequest().map(request -> request.getHeaders().get(name));
  }

  /** A record's outcomes, as that instance knows them; empty if it does not say now. */
  Optional<List<OutcomeView>> history(Address instance, RecordId id) {
    try {
      JsonNode history = get(instance, "", "/api/records/" + encoded(id)).path("history");
      return history.isArray() ? Optional.of(events(history)) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * That instance's part of a list.
   *
   * @param list its name, and what is asked for beside the page
   * @throws Problem if it does not say now
   */
  ListPage<OutcomeView> list(Coverage.Part part, String list, int limit, @Nullable RecordId after) {
    String query =
        (list.contains("?") ? "&limit=" : "?limit=")
            + limit
            + (after == null ? "" : "&after=" + encoded(after));
    try {
      return page(get(part, "/api/" + list + query));
    } catch (IOException e) {
      throw Problem.notNow(
          "the audit: partitions %s are with instance %s, which does not answer: %s"
              .formatted(part.partitions(), part.address(), OneLine.of(e)));
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
    JsonNode lookedAt = answer.path("lookedAt");
    ListPage<OutcomeView> page =
        new ListPage<>(
            items,
            next.isTextual() ? next.asText() : null,
            lookedAt.isInt() ? lookedAt.asInt() : null);
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

  /** What came of asking an instance for its summary. */
  sealed interface PeerAnswer {
    /** It answered. */
    record Said(Address instance, PeerSummary summary) implements PeerAnswer {}

    /** It did not; the reason is for people. */
    record Silent(Address instance, String why) implements PeerAnswer {}
  }

  /**
   * Their summaries, in this order; they are asked at once, so that those that hang cost the time
   * of one.
   */
  List<PeerAnswer> summaries(Collection<Coverage.Part> parts) {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      return parts.stream()
          .map(part -> CompletableFuture.supplyAsync(() -> ask(part), threads))
          .toList()
          .stream()
          .map(CompletableFuture::join)
          .toList();
    }
  }

  private PeerAnswer ask(Coverage.Part part) {
    try {
      return new PeerAnswer.Said(part.address(), summary(part));
    } catch (IOException | IllegalArgumentException e) {
      return new PeerAnswer.Silent(part.address(), OneLine.of(e));
    }
  }

  private PeerSummary summary(Coverage.Part part) throws IOException {
    JsonNode summary = get(part, "/api/summary");
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

  private JsonNode get(Coverage.Part part, String path) throws IOException {
    String partitions =
        part.partitions().stream().map(String::valueOf).collect(Collectors.joining(","));
    return get(part.address(), partitions, path);
  }

  private JsonNode get(Address instance, String partitions, String path) throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(scheme + "://" + instance + path))
            .timeout(limit)
            .header(ASKED_BY_ONE, credential.zone());
    if (!partitions.isEmpty()) {
      request.header(ASKED_FOR, partitions);
    }
    credential
        .token()
        .ifPresent(token -> request.header(HttpHeaders.AUTHORIZATION, "Bearer " + token));
    try {
      HttpResponse<byte[]> answer =
          http.send(request.build(), BodyHandlers.limiting(BodyHandlers.ofByteArray(), MOST_BYTES));
      if (answer.statusCode() != 200) {
        throw new IOException(
            "HTTP %d %s".formatted(answer.statusCode(), fault(answer.body())).strip());
      }
      return JSON.readTree(answer.body());
    } catch (ConnectException e) { // its own message says nothing
      throw new IOException("no connection", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /** Why it did not answer, if it says so. */
  private static String fault(byte[] body) {
    try {
      return OneLine.of(JSON.readTree(body).path("error").asText(), MAX_SHOWN);
    } catch (IOException e) {
      return "";
    }
  }
}
