package io.firstclaim.micronaut.web;

import static io.firstclaim.micronaut.web.Shop.isReplayed;
import static io.firstclaim.micronaut.web.Shop.send;
import static io.firstclaim.micronaut.web.Shop.sendAsync;
import static io.firstclaim.micronaut.web.Shop.to;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.firstclaim.micronaut.IdempotencyKey;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.annotation.Nullable;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Patch;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.Produces;
import io.micronaut.http.annotation.Put;
import io.micronaut.http.cookie.Cookie;
import io.micronaut.http.exceptions.HttpStatusException;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.io.ByteArrayInputStream;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two instances of an application, and some more where a store is to fail. */
class IdempotencyKeyTest {
  private static final Shop SHOP = new Shop("payments");
  private static final FaultyStore STORE = SHOP.store("one", TimeSource.system());
  private static EmbeddedServer one;
  private static EmbeddedServer other;

  /** An annotation of the application's own. */
  @Retention(RetentionPolicy.RUNTIME)
  @IdempotencyKey(required = false)
  @interface Once {}

  /** What handlers may inherit it from. */
  interface Declared {
    @Post("/declared")
    @IdempotencyKey
    String pay(@Body String payment);
  }

  @Requires(property = "web", value = "payments")
  @Controller
  @Consumes(MediaType.ALL)
  static class Inherited implements Declared {
    private final Shop.Desk desk;

    Inherited(Shop.Desk desk) {
      this.desk = desk;
    }

    @Override
    public String pay(String payment) {
      return "paid " + desk.call(payment);
    }

    @Post("/once")
    @Once
    String once(@Body String payment) {
      return "paid " + desk.call(payment);
    }
  }

  @Requires(property = "web", value = "payments")
  @Controller
  @Consumes(MediaType.ALL)
  @Produces(MediaType.TEXT_PLAIN)
  static class Payments {
    private final Shop.Desk desk;

    Payments(Shop.Desk desk) {
      this.desk = desk;
    }

    @Post("/payments")
    @IdempotencyKey
    HttpResponse<String> pay(@Body String payment) {
      int call = desk.call(payment);
      return HttpResponse.created(
              "zahlung №" + call + " of " + payment, URI.create("/payments/" + payment))
          .cookie(Cookie.of("session", "secret"))
          .header("Set-Cookie", "other=secret")
          .header("X-Part", "one")
          .header("X-Part", "two");
    }

    @Post("/accounts/{account}/payments")
    @IdempotencyKey
    String payTo(@PathVariable String account, @Nullable @Body String payment) {
      return account + desk.call(account + payment);
    }

    @Put("/payments")
    @IdempotencyKey(required = false)
    String put(@Body String payment) {
      return "put " + desk.call(payment);
    }

    @Post("/forms")
    @IdempotencyKey
    String form(String payment) {
      return payment + desk.call(payment);
    }

    @Post("/large")
    @IdempotencyKey
    HttpResponse<String> large(@Body String payment) {
      return HttpResponse.created("x".repeat(100_000), URI.create("/large/" + desk.call(payment)));
    }

    @Post("/elsewhere")
    @ExecuteOn(TaskExecutors.IO)
    @IdempotencyKey
    String elsewhere(@Body String payment) {
      return "paid " + desk.call(payment);
    }

    @Post("/failing/{how}")
    @IdempotencyKey
    HttpResponse<String> fail(@PathVariable String how, @Body String payment) {
      if (desk.call(payment) > 2) {
        return HttpResponse.ok("done");
      }
      return switch (how) {
        case "answer" -> HttpResponse.status(HttpStatus.CONFLICT).header("X-Why", "x").body("no");
        case "status" -> throw new HttpStatusException(HttpStatus.CONFLICT, "no");
        case "redirect" -> HttpResponse.redirect(URI.create("/elsewhere"));
        default -> throw new IllegalStateException("card declined");
      };
    }

    @Patch("/payments")
    String patch(@Body String payment) {
      return "patched " + desk.call(payment);
    }
  }

  @BeforeAll
  static void start() {
    one = SHOP.open(STORE, TimeSource.system(), "firstclaim.web.max-request", "200KB");
    other = SHOP.open("other");
  }

  @AfterAll
  static void stop() {
    SHOP.close();
  }

  private static java.net.http.HttpResponse<String> post(
      String path, @Nullable String key, String body) throws Exception {
    return Shop.post(one, path, key, body);
  }

  private static void assertProblem(
      java.net.http.HttpResponse<String> answer, int status, String type) {
    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(answer.headers().firstValue("Content-Type"))
        .hasValueSatisfying(is -> assertThat(is).startsWith("application/problem+json"));
    assertThat(answer.body())
        .contains("\"type\":\"urn:firstclaim:idempotency-key:" + type + "\"")
        .contains("\"status\":" + status);
  }

  @Test
  void answerIsReplayed_byAnyInstance_withStatusHeadersAndBody_butNoCookies() throws Exception {
    var first = post("/payments", "\"replay\"", "p1");
    var again = Shop.post(other, "/payments", "\"replay\"", "p1");

    assertThat(SHOP.desk().calls("p1")).isOne();
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
    assertThat(SHOP.desk().calls("p2")).isEqualTo(2);
  }

  @Test
  void requestWithoutAKey_isRefused_whereOneIsRequired() throws Exception {
    assertProblem(post("/payments", null, "p3"), 400, "missing");
    assertThat(SHOP.desk().calls("p3")).isZero();
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
  @ValueSource(strings = {"\"\"", "\"a", "a b", "a,b", "\"a\"; x=1"})
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
    assertThat(SHOP.desk().calls("p4")).isZero();
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
      assertThat(send(to(one, "/accounts/a6/payments", "k6").POST(BodyPublishers.noBody())).body())
          .isEqualTo("a61");
    }
  }

  @Test
  void keysOfTwoRoutes_areApart() throws Exception {
    post("/payments", "k6", "p6");
    send(to(one, "/payments", "k6").PUT(BodyPublishers.ofString("p6")));
    assertThat(SHOP.desk().calls("p6")).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/payments", "/elsewhere"})
  void requestThatIsUnderWay_isBusy_thenReplayed(String path) throws Exception {
    String payment = "p7" + path;
    CountDownLatch go = SHOP.desk().hold(payment);
    var first = sendAsync(to(one, path, "k7").POST(BodyPublishers.ofString(payment)));
    Awaitility.await().atMost(Duration.ofMinutes(10)).until(() -> SHOP.desk().calls(payment) == 1);

    var busy = Shop.post(other, path, "k7", payment);

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
                            return repeated(i % 2 == 0 ? one : other, "k8", "p8");
                          }))
              .toList();
      for (Future<Set<Integer>> each : seen) {
        assertThat(each.get()).isSubsetOf(201, 409);
      }
    }
    assertThat(SHOP.desk().calls("p8")).isOne();
  }

  /** The statuses that a client saw which repeats its request until it is done. */
  private static Set<Integer> repeated(EmbeddedServer instance, String key, String body) {
    Set<Integer> seen = ConcurrentHashMap.newKeySet();
    Awaitility.await()
        .atMost(Duration.ofMinutes(10))
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> {
              var answer = Shop.post(instance, "/payments", key, body);
              seen.add(answer.statusCode());
              return answer.statusCode() == 201 && answer.body().endsWith("1 of " + body);
            });
    return seen;
  }

  @ParameterizedTest
  @ValueSource(strings = {"answer", "status", "redirect", "exception"})
  void answerThatIsNoSuccess_isPassedOn_andNotStored(String how) throws Exception {
    int status = Map.of("redirect", 301, "exception", 500).getOrDefault(how, 409);
    String path = "/failing/" + how;
    String payment = "p9-" + how;
    for (int i = 1; i <= 2; i++) {
      var answer = post(path, "k9-" + how, payment);
      assertThat(answer.statusCode()).isEqualTo(status);
      assertThat(isReplayed(answer)).isFalse();
      assertThat(answer.headers().firstValue("X-Why").isPresent()).isEqualTo(how.equals("answer"));
      assertThat(answer.headers().firstValue("Location").isPresent())
          .isEqualTo(how.equals("redirect"));
      assertThat(SHOP.desk().calls(payment)).isEqualTo(i);
    }
    for (int i = 1; i <= 2; i++) {
      assertThat(post(path, "k9-" + how, payment).body()).isEqualTo("done");
      assertThat(SHOP.desk().calls(payment)).isEqualTo(3);
    }
  }

  @Test
  void bodyThatIsTooLarge_isRefused_beforeTheHandler() throws Exception {
    byte[] large = "x".repeat(200 * 1024 + 1).getBytes(UTF_8);
    BodyPublisher chunked = BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(large));
    String path = "/accounts/a10/payments";
    assertProblem(
        send(to(one, path, "k10").POST(BodyPublishers.ofByteArray(large))), 413, "too-large");
    assertProblem(send(to(one, path, "k10").POST(chunked)), 413, "too-large");
    assertProblem(
        send(
            to(one, path, "k10")
                .setHeader("Content-Type", "multipart/form-data; boundary=x")
                .POST(BodyPublishers.ofString("--x--"))),
        415,
        "multipart");
    assertThat(STORE.claims()).noneMatch(claim -> claim.id().text().endsWith("k10"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/once", "/elsewhere"})
  void bodyThatIsJustNotTooLarge_reachesItsHandler_whole(String path) throws Exception {
    byte[] body = (path + "x".repeat(200 * 1024 - path.length())).getBytes(UTF_8);
    BodyPublisher chunked = BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body));
    for (int i = 1; i <= 2; i++) {
      assertThat(send(to(one, path, "k10b").POST(chunked)).body()).isEqualTo("paid 1");
    }
    assertThat(SHOP.desk().calls(new String(body, UTF_8))).isOne();
  }

  @Test
  void answerThatIsTooLarge_isDone_andReplayedWithoutItsBody() throws Exception {
    var first = post("/large", "k11", "p11");
    var again = post("/large", "k11", "p11");

    assertThat(SHOP.desk().calls("p11")).isOne();
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
    assertThat(SHOP.desk().calls("p12")).isOne();
  }

  private static java.net.http.HttpResponse<String> form(String body) throws Exception {
    return send(
        to(one, "/forms", "k12")
            .setHeader("Content-Type", "application/x-www-form-urlencoded")
            .POST(BodyPublishers.ofString(body)));
  }

  @Test
  void requestThatTheStoreRefuses_isAnsweredWith503_andItsRepetitionIsDone() throws Exception {
    FaultyStore away = SHOP.store("away", TimeSource.system());
    EmbeddedServer instance = SHOP.open(away, TimeSource.system());
    away.setDenies(true);
    assertProblem(Shop.post(instance, "/payments", "k13", "p13"), 503, "unknown");
    assertThat(SHOP.desk().calls("p13")).isZero();
    away.setDenies(false);
    assertThat(repeated(instance, "k13", "p13")).contains(201);
    assertThat(SHOP.desk().calls("p13")).isOne();
  }

  @Test
  void requestWhoseEndIsNotRecorded_isAnsweredWith503_andIsBusyUntilItsLeaseIsOver()
      throws Exception {
    ManualTime time = ManualTime.start();
    FaultyStore store = SHOP.store("forgetful", time);
    EmbeddedServer instance = SHOP.open(store, time);
    store.next(FaultyStore.Op.COMPLETE, FaultyStore.Fault.DENIED);

    assertProblem(Shop.post(instance, "/payments", "k22", "p22"), 503, "unknown");
    assertProblem(Shop.post(instance, "/payments", "k22", "p22"), 409, "busy");
    assertThat(SHOP.desk().calls("p22")).isOne();
    time.advance(Duration.ofMinutes(5));
    assertThat(Shop.post(instance, "/payments", "k22", "p22").statusCode()).isEqualTo(201);
    assertThat(isReplayed(Shop.post(instance, "/payments", "k22", "p22"))).isTrue();
    assertThat(SHOP.desk().calls("p22")).isEqualTo(2);
  }

  @Test
  void whileTheStoreIsSilent_noHandlerIsCalled() throws Exception {
    ManualTime time = ManualTime.start();
    FaultyStore silent = SHOP.store("silent", time);
    EmbeddedServer instance = SHOP.open(silent, time);
    silent.setDown(true);

    var answer = sendAsync(to(instance, "/payments", "k15").POST(BodyPublishers.ofString("p15")));
    Awaitility.await()
        .atMost(Duration.ofMinutes(10))
        .pollInterval(Duration.ofMillis(20))
        .until(
            () -> {
              time.advance(Duration.ofSeconds(1));
              return answer.isDone();
            });

    assertProblem(answer.get(), 503, "unknown");
    assertThat(answer.get().headers().firstValue("Retry-After")).hasValue("1");
    assertThat(silent.calls(FaultyStore.Op.CLAIM)).isGreaterThan(1);
    assertThat(SHOP.desk().calls("p15")).isZero();
    silent.setDown(false);
    assertThat(repeated(instance, "k15", "p15")).contains(201);
    assertThat(SHOP.desk().calls("p15")).isOne();
  }

  @Test
  void whileTheStoreHasNotAnswered_noHandlerIsCalled_andOthersAreServed() throws Exception {
    FaultyStore slow = SHOP.store("slow", TimeSource.system());
    EmbeddedServer instance = SHOP.open(slow, TimeSource.system());
    FaultyStore.Hold hold = slow.hold(FaultyStore.Op.CLAIM);
    var waiting =
        IntStream.range(0, 64)
            .mapToObj(
                i ->
                    sendAsync(
                        to(instance, "/payments", "k16-" + i)
                            .POST(BodyPublishers.ofString("p16-" + i))))
            .toList();
    Awaitility.await().atMost(Duration.ofMinutes(10)).until(() -> hold.arrived() == 64);

    assertThat(
            send(to(instance, "/payments", null).method("PATCH", BodyPublishers.ofString("q")))
                .body())
        .as("what the event loops, which do not wait, serve meanwhile")
        .isEqualTo("patched 1");
    assertThat(IntStream.range(0, 64)).allMatch(i -> SHOP.desk().calls("p16-" + i) == 0);
    hold.release();
    for (var each : waiting) {
      assertThat(each.get().statusCode()).isEqualTo(201);
    }
    assertThat(IntStream.range(0, 64)).allMatch(i -> SHOP.desk().calls("p16-" + i) == 1);
  }

  @ParameterizedTest
  @CsvSource({"/payments,false", "/payments,true", "/elsewhere,false"})
  void handlerThatTakesTooLong_isInterrupted_andItsRepetitionIsDone(String path, boolean chunked)
      throws Exception {
    EmbeddedServer hasty = SHOP.open("hasty", "firstclaim.handler.timeout", "200ms");
    String payment = "p18" + path + chunked;
    int interrupted = SHOP.desk().interrupted();
    CountDownLatch go = SHOP.desk().hold(payment);

    byte[] body = payment.getBytes(UTF_8);
    BodyPublisher sent =
        chunked
            ? BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body))
            : BodyPublishers.ofByteArray(body);
    assertProblem(send(to(hasty, path, "k18" + chunked).POST(sent)), 503, "unknown");
    assertThat(SHOP.desk().interrupted()).isEqualTo(interrupted + 1);
    go.countDown();
    assertThat(Shop.post(hasty, path, "k18" + chunked, payment).body()).contains("2");
    assertThat(isReplayed(Shop.post(hasty, path, "k18" + chunked, payment))).isTrue();
    assertThat(SHOP.desk().calls(payment)).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/payments", "/elsewhere"})
  void handlerAtWork_isInterruptedAtTheStop_andAnotherInstanceBeginsAnew(String path)
      throws Exception {
    Shop.Desk desk = SHOP.desk();
    String payment = "p19" + path;
    int interrupted = desk.interrupted();
    CountDownLatch go = desk.hold(payment);
    EmbeddedServer stopping = SHOP.open("stopping" + path.length());
    var first = sendAsync(to(stopping, path, "k19").POST(BodyPublishers.ofString(payment)));
    Awaitility.await().atMost(Duration.ofMinutes(10)).until(() -> desk.calls(payment) == 1);

    stopping.getApplicationContext().close();

    assertThat(desk.interrupted()).isEqualTo(interrupted + 1);
    assertThat(first.handle((answer, e) -> e != null || answer.statusCode() >= 500).get()).isTrue();
    go.countDown();
    assertThat(Shop.post(other, path, "k19", payment).body()).contains("2");
  }

  @Test
  void handlersWithoutTheAnnotation_andUnknownPaths_areLeftAlone() throws Exception {
    assertThat(post("/nowhere", "k14", "p14").statusCode()).isEqualTo(404);
    assertThat(send(to(one, "/large", "k14").PUT(BodyPublishers.ofString("p14"))).statusCode())
        .isEqualTo(405);
    for (int i = 1; i <= 2; i++) {
      assertThat(
              send(to(one, "/payments", "k14").method("PATCH", BodyPublishers.ofString("p14")))
                  .body())
          .isEqualTo("patched " + i);
    }
    assertThat(STORE.claims()).noneMatch(claim -> claim.id().text().endsWith("k14"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/declared", "/once"})
  void annotation_mayBeInherited_orOnAnAnnotation(String path) throws Exception {
    String payment = "p21" + path;
    assertThat(post(path, "k21", payment).body()).isEqualTo("paid 1");
    assertThat(isReplayed(post(path, "k21", payment))).isTrue();
    assertThat(post(path, null, payment).statusCode()).isEqualTo(path.equals("/once") ? 200 : 400);
    Inherited handlers = one.getApplicationContext().getBean(Inherited.class);
    assertThatThrownBy(() -> handlers.pay(payment)).hasMessageContaining("Deduplicator.run");
    assertThatThrownBy(() -> handlers.once(payment)).hasMessageContaining("Deduplicator.run");
  }

  @Test
  void handlerThatIsCalledByOtherCode_isToldThatNothingIsClaimed() {
    Payments payments = one.getApplicationContext().getBean(Payments.class);
    assertThatThrownBy(() -> payments.pay("p20"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Deduplicator.run");
    assertThat(SHOP.desk().calls("p20")).isZero();
  }
}
