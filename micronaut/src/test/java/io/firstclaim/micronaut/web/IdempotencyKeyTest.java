package io.firstclaim.micronaut.web;

import static io.firstclaim.lock.testkit.framework.WebInstance.isReplayed;
import static io.firstclaim.lock.testkit.framework.WebInstance.send;
import static io.firstclaim.lock.testkit.framework.WebInstance.sendAsync;
import static io.firstclaim.micronaut.web.Shop.to;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.firstclaim.lock.testkit.framework.IdempotencyKeyContract;
import io.firstclaim.lock.testkit.framework.WebDesk;
import io.firstclaim.lock.testkit.framework.WebInstance;
import io.firstclaim.micronaut.IdempotencyKey;
import io.micronaut.context.ApplicationContext;
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
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract, and what is Micronaut's own. */
class IdempotencyKeyTest extends IdempotencyKeyContract {
  private final Shop shop = new Shop("payments", desk());
  private @Nullable ApplicationContext last;

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
    private final WebDesk desk;

    Inherited(WebDesk desk) {
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
    private final WebDesk desk;

    Payments(WebDesk desk) {
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

  @Override
  protected int open(FaultyStore store) {
    EmbeddedServer server =
        shop.open(store, TimeSource.system(), "firstclaim.web.max-request", "200KB");
    last = server.getApplicationContext();
    return server.getPort();
  }

  private <T> T bean(Class<T> type) {
    return Objects.requireNonNull(last).getBean(type);
  }

  @AfterAll
  void stop() {
    shop.close();
  }

  @Test
  void requestThatIsUnderWay_onAnExecutorOfItsOwn_isBusy_thenReplayed() throws Exception {
    underWay("/elsewhere", "p7-elsewhere");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/once", "/elsewhere"})
  void bodyThatIsJustNotTooLarge_reachesItsHandler_whole(String path) throws Exception {
    byte[] body = (path + "x".repeat(200 * 1024 - path.length())).getBytes(UTF_8);
    BodyPublisher chunked = BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body));
    for (int i = 1; i <= 2; i++) {
      assertThat(send(one().to(path, "k10b").POST(chunked)).body()).isEqualTo("paid 1");
    }
    assertThat(desk().calls(new String(body, UTF_8))).isOne();
  }

  @Test
  void requestWhoseEndIsNotRecorded_isAnsweredWith503_andIsBusyUntilItsLeaseIsOver()
      throws Exception {
    ManualTime time = ManualTime.start();
    FaultyStore store = shop.store("forgetful", time);
    EmbeddedServer instance = shop.open(store, time);
    store.next(FaultyStore.Op.COMPLETE, FaultyStore.Fault.DENIED);

    assertProblem(Shop.post(instance, "/payments", "k22", "p22"), 503, "unknown");
    assertProblem(Shop.post(instance, "/payments", "k22", "p22"), 409, "busy");
    assertThat(desk().calls("p22")).isOne();
    time.advance(Duration.ofMinutes(5));
    assertThat(Shop.post(instance, "/payments", "k22", "p22").statusCode()).isEqualTo(201);
    assertThat(isReplayed(Shop.post(instance, "/payments", "k22", "p22"))).isTrue();
    assertThat(desk().calls("p22")).isEqualTo(2);
  }

  @Test
  void whileTheStoreIsSilent_noHandlerIsCalled() throws Exception {
    ManualTime time = ManualTime.start();
    FaultyStore silent = shop.store("silent", time);
    EmbeddedServer instance = shop.open(silent, time);
    silent.setDown(true);

    var answer = sendAsync(to(instance, "/payments", "k15").POST(BodyPublishers.ofString("p15")));
    Awaitility.await()
        .atMost(Duration.ofMinutes(10))
        .pollInterval(Duration.ofMillis(20))
        .until(
            () -> {
              time.passToTheNext(Duration.ofSeconds(10));
              return answer.isDone();
            });

    assertProblem(answer.get(), 503, "unknown");
    assertThat(answer.get().headers().firstValue("Retry-After")).hasValue("1");
    assertThat(silent.calls(FaultyStore.Op.CLAIM)).isGreaterThan(1);
    assertThat(desk().calls("p15")).isZero();
    silent.setDown(false);
    assertThat(repeated(new WebInstance(instance.getPort()), "k15", "p15")).contains(201);
    assertThat(desk().calls("p15")).isOne();
  }

  @Test
  void whileTheStoreHasNotAnswered_noHandlerIsCalled_andOthersAreServed() throws Exception {
    FaultyStore slow = shop.store("slow", TimeSource.system());
    EmbeddedServer instance = shop.open(slow, TimeSource.system());
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
    assertThat(IntStream.range(0, 64)).allMatch(i -> desk().calls("p16-" + i) == 0);
    hold.release();
    for (var each : waiting) {
      assertThat(each.get().statusCode()).isEqualTo(201);
    }
    assertThat(IntStream.range(0, 64)).allMatch(i -> desk().calls("p16-" + i) == 1);
  }

  @ParameterizedTest
  @CsvSource({"/payments,false", "/payments,true", "/elsewhere,false"})
  void handlerThatTakesTooLong_isInterrupted_andItsRepetitionIsDone(String path, boolean chunked)
      throws Exception {
    EmbeddedServer hasty =
        shop.open(store("hasty"), TimeSource.system(), "firstclaim.handler.timeout", "200ms");
    String payment = "p18" + path + chunked;
    int interrupted = desk().interrupted();
    CountDownLatch go = desk().hold(payment);

    byte[] body = payment.getBytes(UTF_8);
    BodyPublisher sent =
        chunked
            ? BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body))
            : BodyPublishers.ofByteArray(body);
    assertProblem(send(to(hasty, path, "k18" + chunked).POST(sent)), 503, "unknown");
    assertThat(desk().interrupted()).isEqualTo(interrupted + 1);
    go.countDown();
    // By an instance that leaves it as much time as a busy machine takes.
    assertThat(one().post(path, "k18" + chunked, payment).body()).contains("2");
    assertThat(isReplayed(one().post(path, "k18" + chunked, payment))).isTrue();
    assertThat(desk().calls(payment)).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/payments", "/elsewhere"})
  void handlerAtWork_isInterruptedAtTheStop_andAnotherInstanceBeginsAnew(String path)
      throws Exception {
    WebDesk desk = desk();
    String payment = "p19" + path;
    int interrupted = desk.interrupted();
    CountDownLatch go = desk.hold(payment);
    EmbeddedServer stopping = shop.open("stopping" + path.length());
    var first = sendAsync(to(stopping, path, "k19").POST(BodyPublishers.ofString(payment)));
    Awaitility.await().atMost(Duration.ofMinutes(10)).until(() -> desk.calls(payment) == 1);

    stopping.getApplicationContext().close();

    Awaitility.await()
        .atMost(Duration.ofMinutes(10))
        .until(() -> desk.interrupted() == interrupted + 1);
    assertThat(first.handle((answer, e) -> e != null || answer.statusCode() >= 500).get()).isTrue();
    go.countDown();
    assertThat(Shop.post(shop.open("other" + path.length()), path, "k19", payment).body())
        .contains("2");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/declared", "/once"})
  void annotation_mayBeInherited_orOnAnAnnotation(String path) throws Exception {
    String payment = "p21" + path;
    assertThat(one().post(path, "k21", payment).body()).isEqualTo("paid 1");
    assertThat(isReplayed(one().post(path, "k21", payment))).isTrue();
    assertThat(one().post(path, null, payment).statusCode())
        .isEqualTo(path.equals("/once") ? 200 : 400);
    Inherited handlers = bean(Inherited.class);
    assertThatThrownBy(() -> handlers.pay(payment)).hasMessageContaining("Deduplicator.run");
    assertThatThrownBy(() -> handlers.once(payment)).hasMessageContaining("Deduplicator.run");
  }

  @Test
  void handlerThatIsCalledByOtherCode_isToldThatNothingIsClaimed() {
    Payments payments = bean(Payments.class);
    assertThatThrownBy(() -> payments.pay("p20"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Deduplicator.run");
    assertThat(desk().calls("p20")).isZero();
  }
}
