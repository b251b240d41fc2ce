package io.firstclaim.lock.testkit.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The upstream echoes the body and notes every request that reaches it. */
class FaultProxyTest {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final String DYNAMODB = "DynamoDB_20120810.";

  private final List<String> applied = new CopyOnWriteArrayList<>();
  private final List<Long> appliedAt = new CopyOnWriteArrayList<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private HttpServer upstream;
  private FaultProxy proxy;

  @BeforeEach
  void start() throws IOException {
    upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    upstream.setExecutor(threads);
    upstream.createContext("/", this::echo);
    upstream.start();
    proxy = FaultProxy.start(URI.create("http://127.0.0.1:" + upstream.getAddress().getPort()));
  }

  @AfterEach
  void stop() {
    proxy.close();
    upstream.stop(0);
    threads.shutdownNow();
  }

  private void echo(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    appliedAt.add(System.nanoTime());
    applied.add(exchange.getRequestMethod() + " " + new String(body, StandardCharsets.UTF_8));
    boolean chunked = exchange.getRequestURI().getPath().equals("/chunked");
    boolean head = exchange.getRequestMethod().equals("HEAD");
    exchange.sendResponseHeaders(200, head || body.length == 0 ? -1 : chunked ? 0 : body.length);
    if (!head && body.length > 0) {
      exchange.getResponseBody().write(body);
    }
    exchange.close();
  }

  @Test
  void request_isPassedOn_andCountedByOperation() throws Exception {
    assertThat(send(dynamoDb("PutItem", "one")).body()).isEqualTo("one");
    assertThat(send(dynamoDb("PutItem", "two")).body()).isEqualTo("two");
    assertThat(send(request("/bucket/key").PUT(BodyPublishers.ofString("three"))).body())
        .isEqualTo("three");
    assertThat(send(request("/bucket/key").GET()).statusCode()).isEqualTo(200);
    assertThat(send(request("/bucket/key").HEAD()).statusCode()).isEqualTo(200);

    assertThat(proxy.requestsByOperation())
        .isEqualTo(Map.of("PutItem", 2L, "PUT", 1L, "GET", 1L, "HEAD", 1L));
    assertThat(proxy.requests()).isEqualTo(5);
    assertThat(proxy.requests("PutItem")).isEqualTo(2);
    proxy.reset();
    assertThat(proxy.requests()).isZero();
  }

  @Test
  void opaqueETag_isNoMd5_andGoesBackToTheServerAsItsOwn() throws Exception {
    List<String> matched = new CopyOnWriteArrayList<>();
    String md5 = "\"d41d8cd98f00b204e9800998ecf8427e\"";
    upstream.createContext(
        "/tagged",
        exchange -> {
          matched.add(String.valueOf(exchange.getRequestHeaders().getFirst("If-Match")));
          exchange.getResponseHeaders().set("ETag", md5);
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    assertThat(send(request("/tagged").GET()).headers().firstValue("ETag")).hasValue(md5);

    proxy.makeETagsOpaque();

    String seen = send(request("/tagged").GET()).headers().firstValue("ETag").orElseThrow();
    assertThat(seen).isEqualTo("\"2be27326 70ff4dfb167ff6671307bd81-2\"".replace(" ", ""));
    for (String tag : List.of(seen, md5, "\"0\"", "*")) {
      send(request("/tagged").GET().header("If-Match", tag));
    }
    assertThat(matched).containsExactly("null", "null", md5, seen.replace("-2", ""), "\"0\"", "*");
  }

  @Test
  void requestsThatTakeTurns_neverMeetAtTheServer() throws Exception {
    AtomicInteger there = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch met = new CountDownLatch(1);
    upstream.createContext(
        "/turns",
        exchange -> {
          int now = there.incrementAndGet();
          most.accumulateAndGet(now, Math::max);
          if (now > 1) {
            met.countDown();
          }
          try {
            boolean _ = met.await(100, TimeUnit.MILLISECONDS);
          } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
          }
          there.decrementAndGet();
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    proxy.takeTurns();

    Future<HttpResponse<String>> other = threads.submit(() -> send(request("/turns").GET()));
    send(request("/turns").GET());

    assertThat(other.get().statusCode()).isEqualTo(200);
    assertThat(most).hasValue(1);
  }

  @Test
  void chunkedAndLargeBodies_passUnchanged() throws Exception {
    String large = "0123456789abcdef".repeat(100_000);
    var chunked = BodyPublishers.fromPublisher(BodyPublishers.ofString(large));

    assertThat(send(request("/chunked").PUT(chunked)).body()).isEqualTo(large);
    assertThat(send(request("/plain").PUT(BodyPublishers.ofString(large))).body()).isEqualTo(large);
  }

  @Test
  void chunkedBody_isMatchedWithoutItsFraming() throws Exception {
    Rule rule = proxy.add(Rule.once(Match.bodyContains("abcdef"), Fault.Answer.status(503)));
    String raw =
        """
        PUT / HTTP/1.1
        Host: x
        Transfer-Encoding: chunked

        3
        abc
        3;x=y
        def
        0

        """
            .replace("\n", "\r\n");

    assertThat(raw(raw)).startsWith("HTTP/1.1 503 ");
    assertThat(rule.hits()).isEqualTo(1);
  }

  @Test
  void waitingBody_isAskedFor() throws Exception {
    HttpResponse<String> response =
        send(request("/key").expectContinue(true).PUT(BodyPublishers.ofString("body")));

    assertThat(response.body()).isEqualTo("body");
  }

  @Test
  void delayedRequest_isApplied_thoughTheClientGaveUp() throws Exception {
    Duration delay = Duration.ofMillis(400);
    proxy.add(Rule.once(Match.operation("PutItem"), new Fault.DelayRequest(delay)));

    long start = System.nanoTime();
    CompletableFuture<HttpResponse<String>> response =
        client.sendAsync(dynamoDb("PutItem", "late").build(), BodyHandlers.ofString());
    await().atMost(PATIENCE).until(() -> proxy.requests() == 1);
    response.cancel(true);

    awaitApplied(1);
    assertThat(Duration.ofNanos(appliedAt.getLast() - start)).isGreaterThanOrEqualTo(delay);
  }

  @Test
  void delayedResponse_comesLate_butIsAppliedAtOnce() throws Exception {
    proxy.add(Rule.once(Match.any(), new Fault.DelayResponse(Duration.ofMillis(400))));

    assertThat(send(dynamoDb("PutItem", "x")).body()).isEqualTo("x");

    assertThat(elapsed(appliedAt.getLast())).isGreaterThanOrEqualTo(Duration.ofMillis(400));
  }

  @Test
  void heldLastByte_comesLate_afterTheRest() throws Exception {
    proxy.add(Rule.once(Match.any(), new Fault.HoldLastByte(Duration.ofMillis(400))));
    long start = System.nanoTime();

    HttpResponse<InputStream> response =
        client.send(dynamoDb("PutItem", "body").build(), BodyHandlers.ofInputStream());

    assertThat(response.body().readNBytes(3)).asString().isEqualTo("bod");
    assertThat(response.body().readAllBytes()).asString().isEqualTo("y");
    assertThat(elapsed(start)).isGreaterThan(Duration.ofMillis(400));
  }

  @Test
  void lostResponse_isAppliedAndNeverAnswered() {
    Rule rule = proxy.add(Rule.once(Match.bodyContains("lost"), new Fault.LoseResponse()));

    CompletableFuture<HttpResponse<String>> response =
        client.sendAsync(dynamoDb("PutItem", "lost").build(), BodyHandlers.ofString());
    awaitApplied(1);
    await().atMost(PATIENCE).during(Duration.ofMillis(300)).until(() -> !response.isDone());
    assertThat(applied).containsExactly("POST lost");
    assertThat(rule.hits()).isEqualTo(1);
  }

  @Test
  void resetAfterApply_isApplied_andBreaksTheConnection() {
    // Twice: the JDK's client tries a broken connection again where the method allows it.
    proxy.add(Rule.times(2, Match.operation("PutItem"), new Fault.ResetAfterApply()));

    assertThatThrownBy(() -> send(dynamoDb("PutItem", "x"))).isInstanceOf(IOException.class);
    assertThat(applied).containsExactly("POST x");
  }

  @Test
  void duplicate_isAppliedTwice_andAnsweredOnce() throws Exception {
    proxy.add(Rule.once(Match.any(), new Fault.Duplicate()));

    assertThat(send(dynamoDb("PutItem", "x")).body()).isEqualTo("x");
    assertThat(send(dynamoDb("PutItem", "y")).body()).isEqualTo("y");
    assertThat(applied).containsExactly("POST x", "POST x", "POST y");
  }

  @Test
  void delayedDuplicate_isAppliedAgainLater() throws Exception {
    Duration later = Duration.ofMillis(200);
    proxy.add(Rule.once(Match.any(), new Fault.DelayedDuplicate(later)));

    assertThat(send(dynamoDb("PutItem", "x")).body()).isEqualTo("x");
    awaitApplied(2);
    assertThat(Duration.ofNanos(appliedAt.get(1) - appliedAt.get(0))).isGreaterThanOrEqualTo(later);
    assertThat(applied).containsExactly("POST x", "POST x");
  }

  @Test
  void answer_isGivenWithoutForwarding_soManyTimes() throws Exception {
    proxy.add(Rule.times(2, Match.operation("PutItem"), Fault.Answer.dynamoDbThrottling()));

    for (int i = 0; i < 2; i++) {
      HttpResponse<String> response = send(dynamoDb("PutItem", "x"));
      assertThat(response.statusCode()).isEqualTo(400);
      assertThat(response.body()).contains("ProvisionedThroughputExceededException");
    }
    assertThat(applied).isEmpty();
    assertThat(send(dynamoDb("PutItem", "x")).statusCode()).isEqualTo(200);
  }

  @Test
  void refusedRequest_isNotApplied() {
    proxy.add(Rule.always(Match.pathContains("/key"), new Fault.Refuse()));

    assertThatThrownBy(() -> send(request("/key").GET())).isInstanceOf(IOException.class);
    assertThat(applied).isEmpty();
  }

  @Test
  void removedRule_appliesNoMore() throws Exception {
    Rule rule = proxy.add(Rule.always(Match.any(), Fault.Answer.status(500)));
    assertThat(send(request("/").GET()).statusCode()).isEqualTo(500);
    proxy.remove(rule);
    assertThat(send(request("/").GET()).statusCode()).isEqualTo(200);
  }

  @Test
  void proxy_isFaulty_asLongAsAFaultMayMeetARequest() throws Exception {
    assertThat(proxy.isFaulty()).isFalse();
    proxy.add(Rule.once(Match.operation("PutItem"), Fault.Answer.dynamoDbThrottling()));
    assertThat(send(request("/").GET()).statusCode()).isEqualTo(200);
    assertThat(proxy.isFaulty()).as("a rule that has met no request").isTrue();
    assertThat(send(dynamoDb("PutItem", "x")).statusCode()).isEqualTo(400);
    assertThat(proxy.isFaulty()).as("a rule that is used up").isFalse();
    proxy.blackhole();
    assertThat(proxy.isFaulty()).as("no network").isTrue();
    proxy.restore();
    assertThat(proxy.isFaulty()).as("restored").isFalse();
  }

  @Test
  void cut_breaksConnections_untilRestored() throws Exception {
    assertThat(send(request("/").GET()).statusCode()).isEqualTo(200);
    proxy.cut();
    assertThatThrownBy(() -> send(request("/").GET())).isInstanceOf(IOException.class);
    proxy.restore();
    assertThat(send(request("/").GET()).statusCode()).isEqualTo(200);
  }

  @Test
  void blackhole_takesRequests_andAnswersNothing_untilRestored() throws Exception {
    assertThat(send(request("/").GET()).statusCode()).isEqualTo(200);
    proxy.blackhole();
    assertThatThrownBy(() -> send(request("/").GET().timeout(Duration.ofMillis(200))))
        .isInstanceOf(HttpTimeoutException.class);
    assertThat(applied).hasSize(1);
    proxy.restore();
    assertThat(send(request("/").GET()).statusCode()).isEqualTo(200);
  }

  @Test
  void responseUnderWay_isSwallowed_byABlackhole() throws Exception {
    upstream.createContext(
        "/swallowed",
        exchange -> {
          proxy.blackhole();
          echo(exchange);
        });
    CompletableFuture<HttpResponse<String>> response =
        client.sendAsync(request("/swallowed").GET().build(), BodyHandlers.ofString());
    awaitApplied(1);

    await().atMost(PATIENCE).during(Duration.ofMillis(400)).until(() -> !response.isDone());
  }

  @Test
  void latency_delaysEach_butNotOneAfterTheOther() throws Exception {
    proxy.latency(Duration.ofSeconds(1));
    long start = System.nanoTime();
    List<CompletableFuture<HttpResponse<String>>> responses = new CopyOnWriteArrayList<>();
    for (int i = 0; i < 50; i++) {
      responses.add(client.sendAsync(dynamoDb("PutItem", "x").build(), BodyHandlers.ofString()));
    }
    for (var response : responses) {
      assertThat(response.get().statusCode()).isEqualTo(200);
    }

    assertThat(elapsed(start)).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(50));
  }

  @Test
  void deadUpstream_breaksTheConnection() {
    upstream.stop(0);
    assertThatThrownBy(() -> send(request("/").GET())).isInstanceOf(IOException.class);
  }

  @Test
  void hits_canBeWaitedFor() throws Exception {
    Rule rule = proxy.add(Rule.always(Match.any(), Fault.Answer.status(500)));
    assertThat(rule.awaitHits(1, Duration.ofMillis(50))).isFalse();
    var _ = client.sendAsync(request("/").GET().build(), BodyHandlers.discarding());
    assertThat(rule.awaitHits(1, PATIENCE)).isTrue();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(proxy.endpoint().resolve(path));
  }

  private HttpRequest.Builder dynamoDb(String operation, String body) {
    return request("/")
        .header("X-Amz-Target", DYNAMODB + operation)
        .POST(BodyPublishers.ofString(body));
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private String raw(String request) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), proxy.endpoint().getPort())) {
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      byte[] answer = new byte[1024];
      int length = socket.getInputStream().read(answer);
      return new String(answer, 0, length, StandardCharsets.ISO_8859_1);
    }
  }

  private void awaitApplied(int count) {
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(applied).hasSize(count));
  }

  private static Duration elapsed(long start) {
    return Duration.ofNanos(System.nanoTime() - start);
  }
}
