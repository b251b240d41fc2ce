package io.firstclaim.spring.web;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.firstclaim.spring.IdempotencyKey;
import jakarta.servlet.Filter;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Two instances of an application on real servers, which share a store. */
class IdempotencyKeyTest {
  private static final MemoryClaimStore.Claims CLAIMS = new MemoryClaimStore.Claims();
  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final Desk DESK = new Desk();
  private static final FaultyStore STORE = store("one");
  private static ConfigurableApplicationContext one;
  private static ConfigurableApplicationContext other;

  /** How often each value came to a handler, and what is to happen there. */
  static final class Desk {
    private final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
    private final Map<String, CountDownLatch> waits = new ConcurrentHashMap<>();

    int call(String value) {
      int calls = this.calls.computeIfAbsent(value, _ -> new AtomicInteger()).incrementAndGet();
      CountDownLatch wait = waits.get(value);
      if (wait != null) {
        try {
          wait.await();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
      return calls;
    }

    int calls(String value) {
      AtomicInteger calls = this.calls.get(value);
      return calls == null ? 0 : calls.get();
    }
  }

  @RestController
  static class Payments {
    @PostMapping("/payments")
    @IdempotencyKey
    ResponseEntity<String> pay(@RequestBody String payment, HttpServletResponse response) {
      int call = DESK.call(payment);
      response.addCookie(new Cookie("session", "secret"));
      response.addHeader("X-Part", "one");
      response.addHeader("X-Part", "two");
      return ResponseEntity.created(URI.create("/payments/" + payment))
          .header("Set-Cookie", "other=secret")
          .body("zahlung №" + call + " of " + payment);
    }

    @PostMapping("/accounts/{account}/payments")
    @IdempotencyKey
    String payTo(@PathVariable String account, @RequestBody(required = false) String payment) {
      return account + DESK.call(account + payment);
    }

    @PutMapping("/payments")
    @IdempotencyKey(required = false)
    String put(@RequestBody String payment) {
      return "put " + DESK.call(payment);
    }

    @PostMapping("/forms")
    @IdempotencyKey
    String form(@RequestParam String payment) {
      return payment + DESK.call(payment);
    }

    @PostMapping("/large")
    @IdempotencyKey
    ResponseEntity<String> large(@RequestBody String payment) {
      return ResponseEntity.created(URI.create("/large/" + DESK.call(payment)))
          .body("x".repeat(100_000));
    }

    @PostMapping("/failing/{how}")
    @IdempotencyKey
    @Nullable ResponseEntity<String> fail(
        @PathVariable String how, @RequestBody String payment, HttpServletResponse response)
        throws IOException {
      if (DESK.call(payment) > 2) {
        return ResponseEntity.ok("done");
      }
      return switch (how) {
        case "answer" -> ResponseEntity.status(HttpStatus.CONFLICT).header("X-Why", "x").body("no");
        case "status" -> throw new ResponseStatusException(HttpStatus.CONFLICT);
        case "error" -> {
          response.sendError(409, "no");
          yield null;
        }
        case "redirect" -> {
          response.sendRedirect("/elsewhere");
          yield null;
        }
        default -> throw new IllegalStateException("card declined");
      };
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration(
      excludeName = {
        "io.awspring.cloud.autoconfigure.core.AwsAutoConfiguration",
        "io.awspring.cloud.autoconfigure.core.CredentialsProviderAutoConfiguration"
      })
  @Import(Payments.class)
  static class Application {
    /** Says who the principal is, as an application's own filter may. */
    @Bean
    Filter users() {
      return (request, response, chain) -> {
        String user = ((HttpServletRequest) request).getHeader("X-User");
        chain.doFilter(
            new HttpServletRequestWrapper((HttpServletRequest) request) {
              @Override
              public @Nullable Principal getUserPrincipal() {
                return user == null ? null : () -> user;
              }
            },
            response);
      };
    }
  }

  private static FaultyStore store(String instance) {
    return new FaultyStore(
        new MemoryClaimStore(CLAIMS, ClaimSettings.of("shop", instance), TimeSource.system()));
  }

  private static ConfigurableApplicationContext run(FaultyStore store) {
    return new SpringApplicationBuilder(Application.class)
        .web(WebApplicationType.SERVLET)
        .properties(
            "server.port=0",
            "server.address=127.0.0.1",
            "firstclaim.web.max-request=200KB",
            "spring.main.banner-mode=off",
            "logging.level.root=WARN")
        .initializers(context -> context.getBeanFactory().registerSingleton("store", store))
        .run();
  }

  @BeforeAll
  static void start() {
    one = run(STORE);
    other = run(store("other"));
  }

  @AfterAll
  static void stop() {
    one.close();
    other.close();
  }

  private static HttpRequest.Builder to(
      ConfigurableApplicationContext instance, String path, @Nullable String key) {
    int port =
        Objects.requireNonNull(((WebServerApplicationContext) instance).getWebServer()).getPort();
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d%s".formatted(port, path)));
    return key == null ? request : request.header("Idempotency-Key", key);
  }

  private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return CLIENT.send(request.build(), BodyHandlers.ofString());
  }

  private static HttpResponse<String> post(String path, @Nullable String key, String body)
      throws Exception {
    return send(to(one, path, key).POST(BodyPublishers.ofString(body)));
  }

  private static void assertProblem(HttpResponse<String> answer, int status, String type) {
    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(answer.headers().firstValue("Content-Type"))
        .hasValueSatisfying(is -> assertThat(is).startsWith("application/problem+json"));
    assertThat(answer.body())
        .contains("\"type\":\"urn:firstclaim:idempotency-key:" + type + "\"")
        .contains("\"status\":" + status);
  }

  @Test
  void answerIsReplayed_byAnyInstance_withStatusHeadersAndBody_butNoCookies() throws Exception {
    HttpResponse<String> first = post("/payments", "\"replay\"", "p1");
    HttpResponse<String> again =
        send(to(other, "/payments", "\"replay\"").POST(BodyPublishers.ofString("p1")));

    assertThat(DESK.calls("p1")).isOne();
    assertThat(first.statusCode()).isEqualTo(201);
    assertThat(first.body()).isEqualTo("zahlung №1 of p1");
    assertThat(first.headers().allValues("Set-Cookie")).hasSize(2);
    assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
    assertThat(again.statusCode()).isEqualTo(201);
    assertThat(again.body()).isEqualTo(first.body());
    assertThat(again.headers().firstValue("Location")).hasValue("/payments/p1");
    assertThat(again.headers().allValues("X-Part")).containsExactly("one", "two");
    assertThat(again.headers().firstValue("Content-Type"))
        .isEqualTo(first.headers().firstValue("Content-Type"));
    assertThat(again.headers().allValues("Set-Cookie")).isEmpty();
    assertThat(again.headers().firstValue("Idempotent-Replayed")).hasValue("true");
  }

  @Test
  void keyWithoutQuotes_isTheSameKey() throws Exception {
    assertThat(post("/payments", "\"8e03-97\\\\8e\"", "p2").statusCode()).isEqualTo(201);
    assertThat(post("/payments", "\"8e03\"", "p2").statusCode()).isEqualTo(201);
    assertThat(post("/payments", "8e03", "p2").headers().firstValue("Idempotent-Replayed"))
        .isPresent();
    assertThat(DESK.calls("p2")).isEqualTo(2);
  }

  @Test
  void requestWithoutAKey_isRefused_whereOneIsRequired() throws Exception {
    assertProblem(post("/payments", null, "p3"), 400, "missing");
    assertThat(DESK.calls("p3")).isZero();
    for (int i = 1; i <= 2; i++) {
      assertThat(send(to(one, "/payments", null).PUT(BodyPublishers.ofString("p3"))).body())
          .isEqualTo("put " + i);
    }
    for (int i = 1; i <= 2; i++) {
      assertThat(send(to(one, "/payments", "k3").PUT(BodyPublishers.ofString("p3"))).body())
          .isEqualTo("put 3");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"\"\"", "\"a", "a\"b", "a b", "a,b", "\"a\\b\"", "\"a\"; x=1", "\"a\",\"b\""})
  void keyThatIsNone_isRefused(String key) throws Exception {
    assertProblem(post("/payments", key, "p4"), 400, "malformed");
  }

  @Test
  void keyThatIsTooLong_orSentTwice_isRefused() throws Exception {
    assertProblem(post("/payments", "k".repeat(256), "p4"), 400, "malformed");
    assertProblem(
        send(
            to(one, "/payments", "a")
                .header("Idempotency-Key", "b")
                .POST(BodyPublishers.ofString("p4"))),
        400,
        "malformed");
    assertThat(DESK.calls("p4")).isZero();
  }

  @Test
  void keyOfAnotherRequest_isRefused() throws Exception {
    assertThat(post("/accounts/a5/payments", "k5", "5").body()).isEqualTo("a51");
    assertProblem(post("/accounts/a5/payments", "k5", "6"), 422, "other-request");
    assertProblem(post("/accounts/b5/payments", "k5", "5"), 422, "other-request");
    assertProblem(post("/accounts/a5/payments?x=1", "k5", "5"), 422, "other-request");
    assertThat(post("/accounts/a5/payments", "k5", "5").body()).isEqualTo("a51");
  }

  @Test
  void keysOfTwoPrincipals_orRoutes_areApart() throws Exception {
    for (String user : List.of("alice", "bob", "alice", "bob")) {
      send(to(one, "/payments", "k6").header("X-User", user).POST(BodyPublishers.ofString("p6")));
    }
    assertThat(DESK.calls("p6")).isEqualTo(2);
    post("/payments", "k6", "p6");
    assertThat(DESK.calls("p6")).isEqualTo(3);
    send(to(one, "/payments", "k6").PUT(BodyPublishers.ofString("p6")));
    assertThat(DESK.calls("p6")).isEqualTo(4);
  }

  @Test
  void requestThatIsUnderWay_isBusy_thenReplayed() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    DESK.waits.put("p7", go);
    var first =
        CLIENT.sendAsync(
            to(one, "/payments", "k7").POST(BodyPublishers.ofString("p7")).build(),
            BodyHandlers.ofString());
    Awaitility.await().atMost(Duration.ofMinutes(10)).until(() -> DESK.calls("p7") == 1);

    HttpResponse<String> busy =
        send(to(other, "/payments", "k7").POST(BodyPublishers.ofString("p7")));

    assertProblem(busy, 409, "busy");
    assertThat(busy.headers().firstValue("Retry-After")).hasValue("1");
    go.countDown();
    assertThat(first.get().statusCode()).isEqualTo(201);
    assertThat(post("/payments", "k7", "p7").body()).isEqualTo(first.get().body());
  }

  @Test
  void fiftyAtOnce_areOneEffect_andAllHaveItsAnswer_onceTheyHaveRepeated() throws Exception {
    try (ExecutorService clients = Executors.newFixedThreadPool(50)) {
      CountDownLatch go = new CountDownLatch(50);
      List<Future<Set<Integer>>> seen =
          IntStream.range(0, 50)
              .mapToObj(
                  i ->
                      clients.submit(
                          () -> {
                            go.countDown();
                            go.await();
                            return repeated(i % 2 == 0 ? one : other, "k8", "p8");
                          }))
              .toList();
      for (Future<Set<Integer>> each : seen) {
        assertThat(each.get()).isSubsetOf(201, 409);
      }
    }
    assertThat(DESK.calls("p8")).isOne();
  }

  /** The statuses that a client saw which repeats its request until it is done. */
  private static Set<Integer> repeated(
      ConfigurableApplicationContext instance, String key, String body) {
    Set<Integer> seen = ConcurrentHashMap.newKeySet();
    Awaitility.await()
        .atMost(Duration.ofMinutes(10))
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> {
              HttpResponse<String> answer =
                  send(to(instance, "/payments", key).POST(BodyPublishers.ofString(body)));
              seen.add(answer.statusCode());
              return answer.statusCode() == 201 && answer.body().endsWith("1 of " + body);
            });
    return seen;
  }

  @ParameterizedTest
  @ValueSource(strings = {"answer", "status", "error", "redirect", "exception"})
  void answerThatIsNoSuccess_isPassedOn_andNotStored(String how) throws Exception {
    int status = Map.of("redirect", 302, "exception", 500).getOrDefault(how, 409);
    String path = "/failing/" + how;
    String payment = "p9-" + how;
    for (int i = 1; i <= 2; i++) {
      HttpResponse<String> answer = post(path, "k9-" + how, payment);
      assertThat(answer.statusCode()).isEqualTo(status);
      assertThat(answer.headers().firstValue("Idempotent-Replayed")).isEmpty();
      assertThat(answer.headers().firstValue("X-Why").isPresent()).isEqualTo(how.equals("answer"));
      assertThat(answer.headers().firstValue("Location").isPresent())
          .isEqualTo(how.equals("redirect"));
      assertThat(DESK.calls(payment)).isEqualTo(i);
    }
    for (int i = 1; i <= 2; i++) {
      assertThat(post(path, "k9-" + how, payment).body()).isEqualTo("done");
      assertThat(DESK.calls(payment)).isEqualTo(3);
    }
  }

  @Test
  void bodyThatIsTooLarge_isRefused_beforeTheHandler() throws Exception {
    byte[] large = "x".repeat(200 * 1024 + 1).getBytes(UTF_8);
    BodyPublisher chunked = BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(large));
    assertProblem(
        send(to(one, "/accounts/a10/payments", "k10").POST(BodyPublishers.ofByteArray(large))),
        413,
        "too-large");
    assertProblem(send(to(one, "/accounts/a10/payments", "k10").POST(chunked)), 413, "too-large");
    assertProblem(
        send(
            to(one, "/accounts/a10/payments", "k10")
                .header("Content-Type", "multipart/form-data; boundary=x")
                .POST(BodyPublishers.ofString("--x--"))),
        415,
        "multipart");
    assertThat(DESK.calls.keySet()).noneMatch(value -> value.startsWith("a10"));
  }

  @Test
  void answerThatIsTooLarge_isDone_andReplayedWithoutItsBody() throws Exception {
    HttpResponse<String> first = post("/large", "k11", "p11");
    HttpResponse<String> again = post("/large", "k11", "p11");

    assertThat(DESK.calls("p11")).isOne();
    assertThat(first.body()).hasSize(100_000);
    assertThat(first.headers().firstValue("Idempotent-Body-Omitted")).isEmpty();
    assertThat(again.statusCode()).isEqualTo(201);
    assertThat(again.headers().firstValue("Location")).hasValue("/large/1");
    assertThat(again.headers().firstValue("Idempotent-Body-Omitted")).hasValue("true");
    assertThat(again.headers().firstValue("Content-Type")).isEmpty();
    assertThat(again.body()).isEmpty();
  }

  @Test
  void form_isToldApartByItsParameters() throws Exception {
    assertThat(form("payment=p12&a=1").body()).isEqualTo("p121");
    assertThat(form("a=1&payment=p12").body()).isEqualTo("p121");
    assertProblem(form("payment=p12&a=2"), 422, "other-request");
    assertThat(DESK.calls("p12")).isOne();
  }

  private static HttpResponse<String> form(String body) throws Exception {
    return send(
        to(one, "/forms", "k12")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(BodyPublishers.ofString(body)));
  }

  @Test
  void requestThatCannotBeRecordedAsDone_isAnsweredWith503_andItsRepetitionIsDone()
      throws Exception {
    FaultyStore away = store("away");
    try (ConfigurableApplicationContext instance = run(away)) {
      away.setDenies(true);
      assertProblem(
          send(to(instance, "/payments", "k13").POST(BodyPublishers.ofString("p13"))),
          503,
          "unknown");
      assertThat(DESK.calls("p13")).isZero();
      away.setDenies(false);
      assertThat(repeated(instance, "k13", "p13")).contains(201);
      assertThat(DESK.calls("p13")).isOne();
    }
  }

  @Test
  void handlersWithoutTheAnnotation_andUnknownPaths_areLeftAlone() throws Exception {
    assertThat(post("/nowhere", "k14", "p14").statusCode()).isEqualTo(404);
    assertThat(
            send(to(one, "/payments", "k14").method("PATCH", BodyPublishers.ofString("p14")))
                .statusCode())
        .isEqualTo(405);
    assertThat(STORE.claims().stream().map(claim -> claim.id().text()).collect(Collectors.toSet()))
        .noneMatch(id -> id.endsWith("k14"));
  }
}
