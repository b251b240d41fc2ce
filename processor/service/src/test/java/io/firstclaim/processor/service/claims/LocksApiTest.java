package io.firstclaim.processor.service.claims;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.service.claims.ClaimApi.Answer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Locks over HTTP. */
class LocksApiTest {
  private static ClaimApi api;

  private final String path = "/api/locks/" + ClaimApi.newId();

  @BeforeAll
  static void start() throws InterruptedException {
    api = ClaimApi.start(Map.of());
  }

  @AfterAll
  static void stop() {
    api.close();
  }

  private Answer acquire(String body) {
    return api.send("POST", path, body, Map.of());
  }

  private Answer acquire(String body, String key) {
    return api.send("POST", path, body, Map.of("Idempotency-Key", key));
  }

  private Answer release(String handle) {
    return api.send("DELETE", path + "/" + handle, null, Map.of());
  }

  private Answer holder() {
    return api.send("GET", path, null, Map.of()).require(200);
  }

  @Test
  void lock_isOnes_untilItIsGivenBack() {
    assertThat(holder().text("state")).isEqualTo("FREE");
    String since = api.time().now().wall().toString();
    Answer taken = acquire("{\"holder\":\"host-17\"}").require(201);

    assertThat(holder().text("state")).isEqualTo("HELD");
    assertThat(holder().text("holder")).isEqualTo("host-17");
    assertThat(holder().text("since")).isEqualTo(since);
    assertThat(acquire("{}").require(409).text("holder")).isEqualTo("host-17");

    release(taken.handle()).require(200);
    release(taken.handle()).require(200);
    assertThat(holder().text("state")).isEqualTo("FREE");
    Answer next = acquire("{}").require(201);
    assertThat(next.body().path("token").asLong())
        .isGreaterThan(taken.body().path("token").asLong());
    release(taken.handle()).require(409);
    release(next.handle()).require(200);
  }

  /** One is what an operator sees of the other. */
  @Test
  void namesOfDifferentBytes_areDifferentLocks() {
    for (String name : List.of("%250A", "%0A")) {
      api.send("POST", path + name, "{}", Map.of()).require(201);
      api.send("POST", path + name, "{}", Map.of()).require(409);
    }
  }

  @Test
  void whoWaits_leavesRoomToThoseWhoRenewAndGiveBack() {
    String handle = acquire("{}").handle();

    whileWaiting(
        256,
        () -> {
          assertThat(acquire("{}").require(503).text("error"))
              .contains("256 requests ask for locks");
          api.send("POST", path + "/" + handle + "/renew", null, Map.of()).require(200);
          release(handle).require(200);
        });
  }

  /** Does this while so many requests are being answered that may wait. */
  private static void whileWaiting(int requests, Runnable then) {
    if (requests == 0) {
      then.run();
    } else {
      boolean _ =
          api.grants()
              .answeredPatiently(
                  () -> {
                    whileWaiting(requests - 1, then);
                    return true;
                  });
    }
  }

  @Test
  void renewedLock_isKept_andOneThatIsNotIsTakenOver() {
    String handle = acquire("{\"lease\":\"10s\"}").handle();
    for (int i = 0; i < 3; i++) {
      api.time().advance(Duration.ofSeconds(8));
      api.send("POST", path + "/" + handle + "/renew", null, Map.of()).require(200);
    }
    acquire("{}").require(409);
    assertThat(holder().text("state")).isEqualTo("HELD");
    api.time().advance(Duration.ofSeconds(13));
    assertThat(holder().text("state")).isEqualTo("FREE");
    acquire("{}").require(201);
    api.send("POST", path + "/" + handle + "/renew", null, Map.of()).require(409);
  }

  @Test
  void waiter_hasItOnceItIsGivenBack() throws InterruptedException {
    String handle = acquire("{}").handle();
    CompletableFuture<Answer> waiter =
        CompletableFuture.supplyAsync(() -> acquire("{\"wait\":\"20s\"}"));
    Thread passing = new Thread(() -> letPassUntil(waiter));
    api.time().awaitSleeper("");
    release(handle).require(200);
    passing.start();

    assertThat(waiter.join().require(201).text("lease")).isEqualTo("30s");
    passing.join();
  }

  @Test
  void waiterOfWhatStaysHeld_isToldSo_inTheEnd() throws InterruptedException {
    acquire("{}").require(201);
    CompletableFuture<Answer> waiter =
        CompletableFuture.supplyAsync(() -> acquire("{\"wait\":\"2s\"}", "k"));
    api.time().awaitSleeper("");
    api.time().advance(Duration.ofSeconds(2));

    assertThat(waiter.join().require(409).header("Retry-After")).isNotNull();
  }

  private static void letPassUntil(CompletableFuture<?> end) {
    while (!end.isDone()) {
      api.time().advance(Duration.ofMillis(20));
      Thread.onSpinWait();
    }
  }

  @Test
  void requestRepeatedWithItsKey_isTheSameGrant_andAfterItsEndNone() {
    Answer first = acquire("{}", "k").require(201);
    assertThat(acquire("{}", "k").require(201).body()).isEqualTo(first.body());
    acquire("{}", "l").require(409);
    release(first.handle()).require(200);
    acquire("{}", "k").require(409);
    acquire("{}", "m").require(201);
  }

  @Test
  void requestRepeatedLate_hasItsWholeLease_fromThenOn() {
    String handle = acquire("{}", "k").handle();
    api.time().advance(Duration.ofSeconds(25));
    acquire("{}", "k").require(201);
    api.time().advance(Duration.ofSeconds(20));

    acquire("{}", "l").require(409);
    release(handle).require(200);
  }

  @Test
  void lock_isApartFromTheClaimOfThatName() {
    String handle = acquire("{}").handle();
    String name = path.substring("/api/locks/".length());

    String claim = api.claim(name, "{}").handle();
    api.step(name, handle, "complete", "{}").require(409);
    release(claim).require(409);
    api.step(name, claim, "complete", "{}").require(200);
    release(handle).require(200);
  }

  @Test
  void whatIsOutOfBounds_isRefused_withItsNameAndARemedy() {
    for (String body :
        List.of("{\"wait\":\"2h\"}", "{\"wait\":\"long\"}", "{\"wait\":5}", "{\"waits\":\"5s\"}")) {
      assertThat(acquire(body).require(400).text("error")).as(body).contains("wait");
    }
    assertThat(acquire("{\"lease\":\"1ms\"}").require(400).text("error")).contains("lease=", "3s");
  }
}
