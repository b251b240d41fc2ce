package io.firstclaim.lock.testkit.framework;

import static io.firstclaim.lock.testkit.framework.WebInstance.isReplayed;
import static io.firstclaim.lock.testkit.framework.WebInstance.send;
import static io.firstclaim.lock.testkit.framework.WebInstance.sendAsync;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import java.io.ByteArrayInputStream;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the draft of {@code Idempotency-Key} asks of an application, two instances of which share a
 * store. Its handlers take and give text, and count their calls at the desk:
 *
 * <ul>
 *   <li>{@code POST /payments} answers 201 with two cookies, the header {@code X-Part} twice,
 *       {@code Location: /payments/VALUE} and {@code zahlung №CALL of VALUE};
 *   <li>{@code PUT /payments}, whose key may be missing, answers {@code put CALL}; {@code PATCH
 *       /payments}, which takes none, {@code patched CALL};
 *   <li>{@code POST /accounts/ACCOUNT/payments} counts the account and the value, if there is one,
 *       and answers with the account and the call; {@code POST /forms} does so with the parameter
 *       {@code payment};
 *   <li>{@code POST /large} answers 201 with 100,000 bytes and {@code Location: /large/CALL};
 *   <li>{@code POST /failing/HOW} answers {@code done} from the third call on, and before: 409 with
 *       {@code X-Why} ({@code answer}), the same as an exception of the framework's ({@code
 *       status}), a redirection ({@code redirect}), or it throws ({@code exception}).
 * </ul>
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class IdempotencyKeyContract {
  private final MemoryClaimStore.Claims claims = new MemoryClaimStore.Claims();
  private final WebDesk desk = new WebDesk();
  private final FaultyStore store = store("one");
  private @Nullable WebInstance one;
  private @Nullable WebInstance other;

  /** A store over the claims of all instances. */
  protected final FaultyStore store(String instance) {
    return new FaultyStore(
        new MemoryClaimStore(claims, ClaimSettings.of("shop", instance), TimeSource.system()));
  }

  /** Where all handlers count their calls. */
  protected final WebDesk desk() {
    return desk;
  }

  /** The first instance. */
  protected final WebInstance one() {
    return Objects.requireNonNull(one);
  }

  private WebInstance other() {
    return Objects.requireNonNull(other);
  }

  /**
   * Starts an instance that takes requests of 200 KB and runs until the end of the class.
   *
   * @return its port
   */
  protected abstract int open(FaultyStore store);

  @BeforeAll
  void openTwo() {
    one = new WebInstance(open(store));
    other = new WebInstance(open(store("other")));
  }

  private HttpResponse<String> post(String path, @Nullable String key, String body)
      throws Exception {
    return one().post(path, key, body);
  }

  /** The answer is a problem of this type. */
  protected static void assertProblem(HttpResponse<String> answer, int status, String type) {
    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(answer.headers().firstValue("Content-Type"))
        .hasValueSatisfying(is -> assertThat(is).startsWith("application/problem+json"));
    assertThat(answer.body())
        .contains("\"type\":\"urn:firstclaim:idempotency-key:" + type + "\"")
        .contains("\"status\":" + status);
  }

  private static void eventually(Callable<Boolean> holds) {
    Awaitility.await()
        .atMost(Duration.ofMinutes(10))
        .pollInterval(Duration.ofMillis(50))
        .until(holds);
  }

  @Test
  void answerIsReplayed_byAnyInstance_withStatusHeadersAndBody_butNoCookies() throws Exception {
    HttpResponse<String> first = post("/payments", "\"replay\"", "p1");
    HttpResponse<String> again = other().post("/payments", "\"replay\"", "p1");

    assertThat(desk.calls("p1")).isOne();
    assertThat(first.statusCode()).isEqualTo(201);
    assertThat(first.body()).isEqualTo("zahlung №1 of p1");
    assertThat(first.headers().allValues("Set-Cookie")).hasSize(2);
    assertThat(isReplayed(first)).isFalse();
    assertThat(again.statusCode()).isEqualTo(201);
    assertThat(again.body()).isEqualTo(first.body());
    assertThat(again.headers().firstValue("Location")).hasValue("/payments/p1");
    assertThat(again.headers().allValues("X-Part")).containsExactly("one", "two");
    assertThat(again.headers().firstValue("Content-Type"))
        .isPresent()
        .isEqualTo(first.headers().firstValue("Content-Type"));
    assertThat(again.headers().allValues("Set-Cookie")).isEmpty();
    assertThat(again.headers().firstValue("Idempotent-Replayed")).hasValue("true");
  }

  @Test
  void keyWithoutQuotes_isTheSameKey() throws Exception {
    assertThat(post("/payments", "\"8e03-97\\\\8e\"", "p2").statusCode()).isEqualTo(201);
    assertThat(post("/payments", "\"8e03\"", "p2").statusCode()).isEqualTo(201);
    assertThat(isReplayed(post("/payments", "8e03", "p2"))).isTrue();
    assertThat(desk.calls("p2")).isEqualTo(2);
  }

  @Test
  void requestWithoutAKey_isRefused_whereOneIsRequired() throws Exception {
    assertProblem(post("/payments", null, "p3"), 400, "missing");
    assertThat(desk.calls("p3")).isZero();
    for (int i = 1; i <= 2; i++) {
      assertThat(send(one().to("/payments", null).PUT(BodyPublishers.ofString("p3"))).body())
          .isEqualTo("put " + i);
    }
    for (int i = 1; i <= 2; i++) {
      assertThat(send(one().to("/payments", "k3").PUT(BodyPublishers.ofString("p3"))).body())
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
            one()
                .to("/payments", "a")
                .header("Idempotency-Key", "b")
                .POST(BodyPublishers.ofString("p4"))),
        400,
        "malformed");
    assertThat(desk.calls("p4")).isZero();
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
  void requestWithoutABody_isDoneOnce() throws Exception {
    for (int i = 1; i <= 2; i++) {
      assertThat(send(one().to("/accounts/a6/payments", "k6").POST(BodyPublishers.noBody())).body())
          .isEqualTo("a61");
    }
  }

  @Test
  void keysOfTwoRoutes_areApart() throws Exception {
    post("/payments", "k6", "p6");
    send(one().to("/payments", "k6").PUT(BodyPublishers.ofString("p6")));
    assertThat(desk.calls("p6")).isEqualTo(2);
  }

  @Test
  void requestThatIsUnderWay_isBusy_thenReplayed() throws Exception {
    underWay("/payments", "p7");
  }

  /** A request for this path is held in its handler, repeated, let go and repeated. */
  protected final void underWay(String path, String payment) throws Exception {
    CountDownLatch go = desk.hold(payment);
    var first = sendAsync(one().to(path, "k7").POST(BodyPublishers.ofString(payment)));
    eventually(() -> desk.calls(payment) == 1);

    HttpResponse<String> busy = other().post(path, "k7", payment);

    assertProblem(busy, 409, "busy");
    assertThat(busy.headers().firstValue("Retry-After")).hasValue("1");
    go.countDown();
    assertThat(first.get().statusCode()).isIn(200, 201);
    assertThat(post(path, "k7", payment).body()).isEqualTo(first.get().body());
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
                            return repeated(i % 2 == 0 ? one() : other(), "k8", "p8");
                          }))
              .toList();
      for (Future<Set<Integer>> each : seen) {
        assertThat(each.get()).isSubsetOf(201, 409);
      }
    }
    assertThat(desk.calls("p8")).isOne();
  }

  /** The statuses that a client saw which repeats its request until it is done. */
  protected static Set<Integer> repeated(WebInstance instance, String key, String body) {
    Set<Integer> seen = ConcurrentHashMap.newKeySet();
    eventually(
        () -> {
          HttpResponse<String> answer = instance.post("/payments", key, body);
          seen.add(answer.statusCode());
          return answer.statusCode() == 201 && answer.body().endsWith("1 of " + body);
        });
    return seen;
  }

  @ParameterizedTest
  @ValueSource(strings = {"answer", "status", "redirect", "exception"})
  void answerThatIsNoSuccess_isPassedOn_andNotStored(String how) throws Exception {
    List<Integer> statuses =
        switch (how) {
          case "redirect" -> List.of(301, 302);
          case "exception" -> List.of(500);
          default -> List.of(409);
        };
    String path = "/failing/" + how;
    String payment = "p9-" + how;
    for (int i = 1; i <= 2; i++) {
      var answer = post(path, "k9-" + how, payment);
      assertThat(answer.statusCode()).isIn(statuses);
      assertThat(isReplayed(answer)).isFalse();
      assertThat(answer.headers().firstValue("X-Why").isPresent()).isEqualTo(how.equals("answer"));
      assertThat(answer.headers().firstValue("Location").isPresent())
          .isEqualTo(how.equals("redirect"));
      assertThat(desk.calls(payment)).isEqualTo(i);
    }
    for (int i = 1; i <= 2; i++) {
      assertThat(post(path, "k9-" + how, payment).body()).isEqualTo("done");
      assertThat(desk.calls(payment)).isEqualTo(3);
    }
  }

  @Test
  void bodyThatIsTooLarge_isRefused_beforeTheHandler() throws Exception {
    byte[] large = "x".repeat(200 * 1024 + 1).getBytes(UTF_8);
    BodyPublisher chunked = BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(large));
    String path = "/accounts/a10/payments";
    assertProblem(
        send(one().to(path, "k10").POST(BodyPublishers.ofByteArray(large))), 413, "too-large");
    assertProblem(send(one().to(path, "k10").POST(chunked)), 413, "too-large");
    assertProblem(
        send(
            one()
                .to(path, "k10")
                .setHeader("Content-Type", "multipart/form-data; boundary=x")
                .POST(BodyPublishers.ofString("--x--"))),
        415,
        "multipart");
    assertThat(store.claims()).noneMatch(claim -> claim.id().text().endsWith("k10"));
  }

  @Test
  void answerThatIsTooLarge_isDone_andReplayedWithoutItsBody() throws Exception {
    HttpResponse<String> first = post("/large", "k11", "p11");
    HttpResponse<String> again = post("/large", "k11", "p11");

    assertThat(desk.calls("p11")).isOne();
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
    assertThat(desk.calls("p12")).isOne();
  }

  private HttpResponse<String> form(String body) throws Exception {
    return send(
        one()
            .to("/forms", "k12")
            .setHeader("Content-Type", "application/x-www-form-urlencoded")
            .POST(BodyPublishers.ofString(body)));
  }

  @Test
  void requestThatTheStoreRefuses_isAnsweredWith503_andItsRepetitionIsDone() throws Exception {
    FaultyStore away = store("away");
    WebInstance instance = new WebInstance(open(away));
    away.setDenies(true);
    assertProblem(instance.post("/payments", "k13", "p13"), 503, "unknown");
    assertThat(desk.calls("p13")).isZero();
    away.setDenies(false);
    assertThat(repeated(instance, "k13", "p13")).contains(201);
    assertThat(desk.calls("p13")).isOne();
  }

  @Test
  void handlersWithoutTheAnnotation_andUnknownPaths_areLeftAlone() throws Exception {
    assertThat(post("/nowhere", "k14", "p14").statusCode()).isEqualTo(404);
    assertThat(send(one().to("/large", "k14").PUT(BodyPublishers.ofString("p14"))).statusCode())
        .isEqualTo(405);
    for (int i = 1; i <= 2; i++) {
      assertThat(
              send(one().to("/payments", "k14").method("PATCH", BodyPublishers.ofString("p14")))
                  .body())
          .isEqualTo("patched " + i);
    }
    assertThat(store.claims()).noneMatch(claim -> claim.id().text().endsWith("k14"));
  }
}
