package io.firstclaim.processor.service.handler;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.processor.handler.HandlerResult;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class HttpHandlerTest {
  private static final Duration LONG = Duration.ofMinutes(2);

  @Test
  void value_isPostedByteForByte() throws Exception {
    byte[] value = new byte[1 << 20];
    new Random(1).nextBytes(value);
    try (TestServer server = TestServer.answering(200);
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of(value))).isEqualTo(HandlerResult.done());
      assertThat(server.onlyRequest().method()).isEqualTo("POST");
      assertThat(server.onlyRequest().uri()).hasToString("/records");
      assertThat(server.onlyRequest().body()).isEqualTo(ByteBuffer.wrap(value));
    }
  }

  @Test
  void tracedRecord_isPostedWithItsTrace_andNoOtherIs() throws Exception {
    try (TestServer server = TestServer.answering(200);
        HttpHandler traced =
            new HttpHandler(
                server.url(),
                LONG,
                StatusMeanings.DEFAULT,
                W3CTraceContextPropagator.getInstance(),
                TimeSource.system());
        HttpHandler untraced = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      try (Scope _ = TestContext.traced().makeCurrent()) {
        assertThat(traced.handle(TestContext.of("x"))).isEqualTo(HandlerResult.done());
        assertThat(untraced.handle(TestContext.of("x"))).isEqualTo(HandlerResult.done());
      }
      assertThat(traced.handle(TestContext.of("x"))).isEqualTo(HandlerResult.done());

      assertThat(server.requests())
          .extracting(request -> request.header("traceparent"))
          .containsExactly(TestContext.TRACEPARENT, "(none)", "(none)");
    }
  }

  @Test
  void nullValue_isAnEmptyBody() throws Exception {
    try (TestServer server = TestServer.answering(200);
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of((byte[]) null))).isEqualTo(HandlerResult.done());
      assertThat(server.onlyRequest().body().remaining()).isZero();
      assertThat(server.onlyRequest().header("Content-Length")).isEqualTo("0");
    }
  }

  @Test
  void headers_areThoseOfTheContract() throws Exception {
    RecordHeaders headers = new RecordHeaders();
    headers.add("Content-type", "application/json; charset=utf-8".getBytes(UTF_8));
    headers.add("ce_type", "com.example.order".getBytes(UTF_8));
    headers.add("ce_subject", "Größe \"L\" 50%".getBytes(UTF_8));
    headers.add("authorization", "not forwarded".getBytes(UTF_8));
    try (TestServer server = TestServer.answering(200);
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      handler.handle(TestContext.of("{}".getBytes(UTF_8), headers));
      Map<String, List<String>> sent = server.onlyRequest().headers();
      assertThat(sent)
          .containsEntry("Idempotency-Key", List.of("order-1"))
          .containsEntry("Firstclaim-Token", List.of("42"))
          .containsEntry("Firstclaim-Attempt", List.of("2"))
          .containsEntry("Firstclaim-Zone", List.of("zone-a"))
          .containsEntry("Firstclaim-Topic", List.of("orders.v1"))
          .containsEntry("Firstclaim-Partition", List.of("3"))
          .containsEntry("Firstclaim-Offset", List.of("4711"))
          .containsEntry("Content-Type", List.of("application/json; charset=utf-8"))
          .containsEntry("ce-type", List.of("com.example.order"))
          .containsEntry("ce-subject", List.of("Gr%C3%B6%C3%9Fe%20%22L%22%2050%25"))
          .doesNotContainKeys("authorization", "Upgrade", "HTTP2-Settings");
    }
  }

  @Test
  void resourceTokens_areSent_withKeysThatNoByteCanBreak() throws Exception {
    Map<RecordId, Long> tokens = new TreeMap<>();
    for (String key : List.of("account-x", "a,b=c \"%\r\nX-Evil: 1", "Größe")) {
      tokens.put(RecordId.of(key).asResource(), 1_700_000_000_000L + key.length());
    }
    try (TestServer server = TestServer.answering(200);
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      handler.handle(TestContext.of("{}").touching(tokens));
      assertThat(server.onlyRequest().header("Firstclaim-Resource-Tokens"))
          .isEqualTo(
              "Gr%C3%B6%C3%9Fe=1700000000005,"
                  + " a%2Cb%3Dc%20%22%25%0D%0AX-Evil:%201=1700000000019,"
                  + " account-x=1700000000009");
      assertThat(server.onlyRequest().headers()).doesNotContainKey("X-Evil");
    }
  }

  @Test
  void recordThatTouchesNothing_hasNoResourceTokens() throws Exception {
    try (TestServer server = TestServer.answering(200);
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      handler.handle(TestContext.of("{}"));
      assertThat(server.onlyRequest().headers()).doesNotContainKey("Firstclaim-Resource-Tokens");
    }
  }

  @Test
  void oversizeResourceTokens_fail_withoutRequest() throws Exception {
    Map<RecordId, Long> tokens = new TreeMap<>();
    for (int i = 0; i < 9; i++) {
      tokens.put(RecordId.of(i + "x".repeat(1000)).asResource(), 1L);
    }
    try (TestServer server = TestServer.answering(200);
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("{}").touching(tokens)))
          .isEqualTo(
              new HandlerResult.Failed(
                  "the resources' names and tokens take more than 8192 bytes"));
      assertThat(server.requests()).isEmpty();
    }
  }

  @Test
  void recordWithoutContentType_isOctets() throws Exception {
    try (TestServer server = TestServer.answering(200);
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      handler.handle(TestContext.of("x"));
      assertThat(server.onlyRequest().header("Content-Type")).isEqualTo("application/octet-stream");
    }
  }

  @Test
  void oversizeHeaders_fail_withoutRequest() throws Exception {
    RecordHeaders headers = new RecordHeaders();
    headers.add("ce_type", new byte[9000]);
    try (TestServer server = TestServer.answering(200);
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x".getBytes(UTF_8), headers)))
          .isEqualTo(
              new HandlerResult.Failed(
                  "the content-type and ce_ headers take more than 8192 bytes"));
      assertThat(server.requests()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\0",
        "../../etc",
        "a\r\nX-Evil: 1",
        "%2e%2e",
        "\u00c0\u0080",
        "\u00ff",
        "\u00fe",
        " a ",
        "a b",
        "\t",
        "\u007f"
      })
  void hostileId_isSentAsOneHeaderValue(String latin) throws Exception {
    RecordId id = RecordId.of(latin.getBytes(ISO_8859_1));
    try (TestServer server = TestServer.answering(200);
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x").with(id))).isEqualTo(HandlerResult.done());
      assertThat(server.onlyRequest().header("Idempotency-Key")).isEqualTo(id.headerText());
      assertThat(server.onlyRequest().headers()).doesNotContainKey("X-Evil");
    }
  }

  @Test
  void longestId_ofInvalidBytes_isSent() throws Exception {
    byte[] bytes = new byte[RecordId.MAX_BYTES];
    Arrays.fill(bytes, (byte) 0xff);
    RecordId id = RecordId.of(bytes);
    try (TestServer server = TestServer.answering(200);
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x").with(id))).isEqualTo(HandlerResult.done());
      assertThat(server.onlyRequest().header("Idempotency-Key")).isEqualTo("%FF".repeat(1024));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {200, 201, 202, 204, 206, 299})
  void success_isDone(int status) throws Exception {
    assertThat(resultOf(status)).isEqualTo(HandlerResult.done());
  }

  @ParameterizedTest
  @ValueSource(ints = {408, 425, 500, 501, 505, 599})
  void passingFailure_isTriedAgain(int status) throws Exception {
    assertThat(resultOf(status))
        .isInstanceOfSatisfying(
            HandlerResult.Retry.class,
            retry -> {
              assertThat(retry.cause())
                  .matches("HTTP " + status + " from http://127\\.0\\.0\\.1:\\d+/records");
              assertThat(retry.after()).isEmpty();
            });
  }

  @ParameterizedTest
  @ValueSource(ints = {429, 502, 503, 504})
  void absence_isNoFailureOfTheRecord(int status) throws Exception {
    assertThat(resultOf(status))
        .isInstanceOfSatisfying(
            HandlerResult.Unavailable.class,
            unavailable -> {
              assertThat(unavailable.cause())
                  .matches("HTTP " + status + " from http://127\\.0\\.0\\.1:\\d+/records");
              assertThat(unavailable.after()).isZero();
            });
  }

  @ParameterizedTest
  @CsvSource({
    "300, set firstclaim.handler.http.url to the new place",
    "301, set firstclaim.handler.http.url to the new place",
    "304, set firstclaim.handler.http.url to the new place",
    "308, set firstclaim.handler.http.url to the new place",
    "401, give the credentials in firstclaim.handler.http.url",
    "403, have the service permit",
    "407, have the proxy let this host through"
  })
  void statusThatIsTheSameForAll_isNoFailureOfTheRecord_andNamesTheRemedy(int status, String remedy)
      throws Exception {
    assertThat(resultOf(status))
        .isInstanceOfSatisfying(
            HandlerResult.Unavailable.class,
            unavailable ->
                assertThat(unavailable.cause())
                    .matches("HTTP " + status + " from http://127\\.0\\.0\\.1:\\d+/records; .*")
                    .contains(remedy));
  }

  @Test
  void meaningsThatAreGiven_goFirst() throws Exception {
    StatusMeanings meanings = new StatusMeanings(Set.of(404, 500), Set.of(501, 503, 301));
    for (int status : meanings.unavailableOn()) {
      assertThat(resultOf(status, meanings)).isInstanceOf(HandlerResult.Unavailable.class);
    }
    for (int status : meanings.deadLetterOn()) {
      assertThat(resultOf(status, meanings)).isInstanceOf(HandlerResult.Failed.class);
    }
    assertThat(resultOf(502, meanings)).isInstanceOf(HandlerResult.Unavailable.class);
    assertThat(resultOf(200, meanings)).isEqualTo(HandlerResult.done());
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 409, 422, 499, 600})
  void otherStatus_isFinal(int status) throws Exception {
    assertThat(resultOf(status))
        .isInstanceOfSatisfying(
            HandlerResult.Failed.class,
            failed ->
                assertThat(failed.cause())
                    .matches("HTTP " + status + " from http://127\\.0\\.0\\.1:\\d+/records"));
  }

  private static HttpHandler handlerAt(TestServer server, TimeSource time) {
    return new HttpHandler(
        server.url(), LONG, StatusMeanings.DEFAULT, TextMapPropagator.noop(), time);
  }

  private static HandlerResult handled(HttpHandler handler, String id) throws Exception {
    return handler.handle(TestContext.of(id).with(RecordId.of(id)));
  }

  @ParameterizedTest
  @ValueSource(ints = {404, 405, 410})
  void nothingThereForTwentyRecords_isAWrongUrl_untilOneIsDone(int status) throws Exception {
    AtomicInteger answer = new AtomicInteger(status);
    ManualTime time = ManualTime.start();
    try (TestServer server = new TestServer(exchange -> TestServer.answer(exchange, answer.get()));
        HttpHandler handler = handlerAt(server, time)) {
      for (int i = 0; i < WrongUrl.RECORDS; i++) {
        assertThat(handled(handler, "order-" + i))
            .as("record %d", i)
            .isInstanceOfSatisfying(
                HandlerResult.Unavailable.class,
                unavailable ->
                    assertThat(unavailable.cause())
                        .contains("HTTP " + status, "set firstclaim.handler.http.url right")
                        .contains("firstclaim.handler.http.dead-letter-on"));
      }
      time.advance(WrongUrl.HELD_BACK.multipliedBy(100));
      assertThat(handled(handler, "order-1")).isInstanceOf(HandlerResult.Unavailable.class);
      assertThat(handled(handler, "new")).isInstanceOf(HandlerResult.Unavailable.class);

      answer.set(422);
      assertThat(handled(handler, "order-2")).isInstanceOf(HandlerResult.Failed.class);
      answer.set(status);
      assertThat(handled(handler, "order-1")).isInstanceOf(HandlerResult.Unavailable.class);

      answer.set(204);
      assertThat(handled(handler, "order-3")).isEqualTo(HandlerResult.done());
      answer.set(status);
      assertThat(handled(handler, "order-1"))
          .isInstanceOfSatisfying(
              HandlerResult.Failed.class,
              failed ->
                  assertThat(failed.cause()).isEqualTo("HTTP " + status + " from " + server.url()));
    }
  }

  @Test
  void nothingThereForFewerRecords_isTheirOwnFault_afterFiveMinutes() throws Exception {
    ManualTime time = ManualTime.start();
    try (TestServer server = TestServer.answering(404);
        HttpHandler handler = handlerAt(server, time)) {
      for (int i = 0; i < 100; i++) {
        assertThat(handled(handler, "order-1")).isInstanceOf(HandlerResult.Unavailable.class);
      }
      time.advance(WrongUrl.HELD_BACK.dividedBy(2));
      assertThat(handled(handler, "order-2")).isInstanceOf(HandlerResult.Unavailable.class);
      time.advance(WrongUrl.HELD_BACK.dividedBy(2));
      assertThat(handled(handler, "order-1")).isInstanceOf(HandlerResult.Failed.class);
      assertThat(handled(handler, "order-2")).isInstanceOf(HandlerResult.Unavailable.class);
    }
  }

  @Test
  void nothingThere_isFinalAtOnce_whereThatIsSaid() throws Exception {
    assertThat(resultOf(404, new StatusMeanings(Set.of(), Set.of(404))))
        .isInstanceOf(HandlerResult.Failed.class);
  }

  private static HandlerResult resultOf(int status) throws Exception {
    return resultOf(status, StatusMeanings.DEFAULT);
  }

  private static HandlerResult resultOf(int status, StatusMeanings meanings) throws Exception {
    try (TestServer server = TestServer.answering(status);
        HttpHandler handler =
            new HttpHandler(
                server.url(), LONG, meanings, TextMapPropagator.noop(), TimeSource.system())) {
      HandlerResult result = handler.handle(TestContext.of("x"));
      assertThat(server.requests()).hasSize(1);
      return result;
    }
  }

  @Test
  void redirect_isNotFollowed() throws Exception {
    try (TestServer other = TestServer.answering(200);
        TestServer server = TestServer.answering(307, Map.of("Location", other.url().toString()));
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x"))).isInstanceOf(HandlerResult.Unavailable.class);
      assertThat(other.requests()).isEmpty();
    }
  }

  @Test
  void retryAfter_inSeconds_isHonoured() throws Exception {
    try (TestServer server = TestServer.answering(503, Map.of("Retry-After", "7"));
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x")))
          .isEqualTo(
              HandlerResult.unavailable("HTTP 503 from " + server.url(), Duration.ofSeconds(7)));
    }
    try (TestServer server = TestServer.answering(500, Map.of("Retry-After", "7"));
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x")))
          .isEqualTo(
              new HandlerResult.Retry(
                  "HTTP 500 from " + server.url(), Optional.of(Duration.ofSeconds(7))));
    }
  }

  @Test
  void retryAfter_asDate_isHonoured() throws Exception {
    Moment now = new Moment(Instant.parse("2026-03-01T12:00:00Z"), 0);
    try (TestServer server =
            TestServer.answering(429, Map.of("Retry-After", "Sun, 01 Mar 2026 12:02:03 GMT"));
        HttpHandler handler =
            new HttpHandler(
                server.url(),
                LONG,
                StatusMeanings.DEFAULT,
                TextMapPropagator.noop(),
                () -> now,
                null)) {
      assertThat(handler.handle(TestContext.of("x")))
          .isEqualTo(
              HandlerResult.unavailable("HTTP 429 from " + server.url(), Duration.ofSeconds(123)));
    }
  }

  @Test
  void hangingServer_isTriedAgain_afterTheTimeout() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Duration timeout = Duration.ofSeconds(3); // in which a machine connects, unless it stands still
    try (TestServer server =
            new TestServer(
                exchange -> {
                  await(end);
                  TestServer.answer(exchange, 200);
                });
        HttpHandler handler = new HttpHandler(server.url(), timeout, TimeSource.system())) {
      HandlerResult connected =
          Awaitility.await()
              .atMost(Duration.ofMinutes(5))
              .until(
                  () -> handler.handle(TestContext.of("x")),
                  result -> !(result instanceof HandlerResult.Unavailable));
      assertThat(connected)
          .isEqualTo(HandlerResult.retry("no answer from " + server.url() + " within PT3S"));
      end.countDown();
    }
  }

  @Test
  void refusedConnection_isNoFailureOfTheRecord() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    try (HttpHandler handler =
        new HttpHandler(URI.create("http://127.0.0.1:" + port + "/x"), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x")))
          .isInstanceOfSatisfying(
              HandlerResult.Unavailable.class,
              unavailable ->
                  assertThat(unavailable.cause())
                      .isEqualTo(
                          "no connection to http://127.0.0.1:%d/x: java.net.ConnectException"
                              .formatted(port)));
    }
  }

  @Test
  void hostWithoutAddress_isNoFailureOfTheRecord() throws Exception {
    try (HttpHandler handler =
        new HttpHandler(URI.create("http://nowhere.invalid/x"), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x"))).isInstanceOf(HandlerResult.Unavailable.class);
    }
  }

  @Test
  void firstBytesOfAFailingAnswer_reachTheCause_escapedAndCut() throws Exception {
    String said = "order \u001b[31munknown\r\nInjected: \u202e" + "x".repeat(1000);
    try (TestServer server =
            new TestServer(
                exchange -> {
                  byte[] body = said.getBytes(UTF_8);
                  exchange.sendResponseHeaders(422, body.length);
                  exchange.getResponseBody().write(body);
                  exchange.close();
                });
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x")))
          .isInstanceOfSatisfying(
              HandlerResult.Failed.class,
              failed ->
                  assertThat(failed.cause())
                      .startsWith(
                          "HTTP 422 from %s: order [31munknown Injected: \\u{202e}xxx"
                              .formatted(server.url()))
                      .hasSizeLessThan(300));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "SSH-2.0-OpenSSH\r\n",
        "HTTP/1.1 \u001b[31mred\r\n\r\n",
        "HTTP/1.1 200 OK\r\nbroken",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"
      })
  void answerThatIsNoHttp_isTriedAgain(String answer) throws Exception {
    try (RawServer server = new RawServer(out -> RawServer.say(out, answer));
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x")))
          .isInstanceOfSatisfying(
              HandlerResult.Retry.class,
              retry ->
                  assertThat(retry.cause())
                      .startsWith("no answer from " + server.url() + ": ")
                      .doesNotContainPattern("\\p{Cntrl}"));
    }
  }

  @Test
  void interimAnswers_arePassedOver() throws Exception {
    String answer =
        """
        HTTP/1.1 103 Early Hints\r
        Link: <x>\r
        \r
        HTTP/1.1 201 Created\r
        Content-Length: 0\r
        \r
        """;
    try (RawServer server = new RawServer(out -> RawServer.say(out, answer));
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x"))).isEqualTo(HandlerResult.done());
    }
  }

  @Test
  void endlessBody_isCut_andTheStatusCounts() throws Exception {
    try (RawServer server =
            new RawServer(
                out -> {
                  RawServer.say(out, "HTTP/1.1 200 OK\r\n\r\n");
                  while (true) {
                    out.write(new byte[8192]);
                  }
                });
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x"))).isEqualTo(HandlerResult.done());
      assertThat(server.isHungUpOn(60)).isTrue();
    }
  }

  @Test
  void drippingBody_isCut_andTheStatusCounts() throws Exception {
    try (RawServer server =
            new RawServer(
                out -> {
                  RawServer.say(out, "HTTP/1.1 422 Not This\r\nContent-Length: 1000000\r\n\r\n");
                  while (true) {
                    RawServer.say(out, ".");
                    sleep();
                  }
                });
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x"))).isInstanceOf(HandlerResult.Failed.class);
      assertThat(server.isHungUpOn(60)).isTrue();
    }
  }

  @Test
  void bodyBrokenOff_leavesTheStatusStanding() throws Exception {
    try (RawServer server =
            new RawServer(
                out -> RawServer.say(out, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"));
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThat(handler.handle(TestContext.of("x"))).isEqualTo(HandlerResult.done());
    }
  }

  @Test
  void connection_isUsedAgain() throws Exception {
    try (TestServer server =
            new TestServer(
                exchange -> {
                  exchange.sendResponseHeaders(200, 10);
                  exchange.getResponseBody().write(new byte[10]);
                  exchange.close();
                });
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      for (int i = 0; i < 50; i++) {
        assertThat(handler.handle(TestContext.of("x"))).isEqualTo(HandlerResult.done());
      }
      assertThat(server.requests()).hasSize(50);
      assertThat(server.requests().stream().map(TestServer.Request::port).distinct()).hasSize(1);
    }
  }

  @Test
  void twoHundredRequests_runAtOnce() throws Exception {
    CountDownLatch allThere = new CountDownLatch(200);
    try (TestServer server =
            new TestServer(
                exchange -> {
                  allThere.countDown();
                  await(allThere);
                  TestServer.answer(exchange, 200);
                });
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system());
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<HandlerResult>> results = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        results.add(threads.submit(() -> handler.handle(TestContext.of("x"))));
      }
      for (Future<HandlerResult> result : results) {
        assertThat(result.get()).isEqualTo(HandlerResult.done());
      }
    }
  }

  @Test
  void interrupt_breaksTheRequestOff() throws Exception {
    CountDownLatch arrived = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    try (TestServer server =
            new TestServer(
                exchange -> {
                  arrived.countDown();
                  await(end);
                  exchange.close();
                });
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      CompletableFuture<Throwable> thrown = new CompletableFuture<>();
      Thread thread =
          Thread.startVirtualThread(
              () -> {
                try {
                  handler.handle(TestContext.of("x"));
                  thrown.complete(new AssertionError("not interrupted"));
                } catch (InterruptedException e) {
                  thrown.complete(e);
                }
              });
      arrived.await();
      thread.interrupt();
      assertThat(thrown.get(5, TimeUnit.MINUTES)).isInstanceOf(InterruptedException.class);
      end.countDown();
    }
  }

  @Test
  void lostLease_sendsNothing() throws Exception {
    try (TestServer server = TestServer.answering(200);
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      assertThatThrownBy(() -> handler.handle(TestContext.of("x").lost()))
          .isInstanceOf(LeaseLostException.class);
      assertThat(server.requests()).isEmpty();
    }
  }

  /** The handler looks first, then the client, for the headers and for each piece of the body. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void leaseThatIsLost_whileTheRequestIsInTheClient_sendsNoRecord(int looks) throws Exception {
    AtomicInteger left = new AtomicInteger(looks);
    try (TestServer server = TestServer.answering(200);
        HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system())) {
      TestContext losing = TestContext.of("x").heldWhile(() -> left.getAndDecrement() > 0);
      assertThatThrownBy(() -> handler.handle(losing)).isInstanceOf(LeaseLostException.class);

      assertThat(handler.handle(TestContext.of("y"))).isEqualTo(HandlerResult.done());
      assertThat(server.onlyRequest().body()).isEqualTo(ByteBuffer.wrap("y".getBytes(UTF_8)));
    }
  }

  @Test
  void closedHandler_isNoFailureOfTheRecord() throws Exception {
    try (TestServer server = TestServer.answering(200)) {
      HttpHandler handler = new HttpHandler(server.url(), LONG, TimeSource.system());
      handler.close();
      assertThat(handler.handle(TestContext.of("x"))).isInstanceOf(HandlerResult.Unavailable.class);
      assertThat(server.requests()).isEmpty();
    }
  }

  @Test
  void secretsOfTheUrl_areSent_butInNoCause() throws Exception {
    try (TestServer server = TestServer.answering(500)) {
      URI url =
          URI.create("http://me:pa%%20ss@127.0.0.1:%d/in?key=topsecret".formatted(server.port()));
      try (HttpHandler handler = new HttpHandler(url, LONG, TimeSource.system())) {
        assertThat(handler.handle(TestContext.of("x")))
            .isEqualTo(
                HandlerResult.retry(
                    "HTTP 500 from http://127.0.0.1:%d/in".formatted(server.port())));
        assertThat(server.onlyRequest().uri()).hasToString("/in?key=topsecret");
        assertThat(server.onlyRequest().header("Authorization"))
            .isEqualTo("Basic bWU6cGEgc3M="); // me:pa ss
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ftp://host/x",
        "host:8080/x",
        "/records",
        "http:///x",
        "http://my_host/x",
        "http://host:0/x",
        "http://host:70000/x",
        "mailto:a@b"
      })
  void unusableUrl_isRefused(String url) {
    assertThatThrownBy(() -> new HttpHandler(URI.create(url), LONG, TimeSource.system()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "'%s' is not an http or https URL with a host, such as http://127.0.0.1:8000/records"
                .formatted(url));
  }

  @Test
  void refusal_tellsNoSecret() {
    assertThatThrownBy(
            () ->
                new HttpHandler(
                    URI.create("http://me:secret@my_host/x?secret#secret"),
                    LONG,
                    TimeSource.system()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("'http://my_host/x' is not an ");
  }

  @Test
  void timeout_mustBePositive() {
    assertThatThrownBy(
            () -> new HttpHandler(URI.create("http://host/x"), Duration.ZERO, TimeSource.system()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("PT0S");
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      if (!latch.await(10, TimeUnit.MINUTES)) {
        throw new IOException("waited in vain");
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private static void sleep() throws IOException {
    try {
      Thread.sleep(Duration.ofMillis(50));
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }
}
