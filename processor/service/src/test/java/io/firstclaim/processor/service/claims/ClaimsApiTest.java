package io.firstclaim.processor.service.claims;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.service.admin.Problem;
import io.firstclaim.processor.service.claims.ClaimApi.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Claims over HTTP: the answers, what a handle is good for, and what is refused. */
class ClaimsApiTest {
  private static ClaimApi api;

  private final String id = ClaimApi.newId();

  @BeforeAll
  static void start() throws InterruptedException {
    api = ClaimApi.start(Map.of());
  }

  @AfterAll
  static void stop() {
    api.close();
  }

  private static void pass(Duration time) {
    api.time().advance(time);
  }

  @Test
  void firstClaim_isGranted_andTheOthersAreToldWhoHoldsIt() {
    Answer granted = api.claim(id, "{\"holder\":\"host-17\",\"lease\":\"10s\"}").require(201);
    assertThat(granted.body().path("token").asLong()).isEqualTo(1);
    assertThat(granted.body().path("attempt").asInt()).isEqualTo(1);
    assertThat(granted.text("lease")).isEqualTo("10s");

    Answer held = api.claim(id, "{}").require(409);

    assertThat(held.text("state")).isEqualTo("HELD");
    assertThat(held.text("holder")).isEqualTo("host-17");
    assertThat(held.text("error")).contains(id, "host-17");
    assertThat(held.header("Retry-After")).isEqualTo("12");
  }

  /** One is what an operator sees of the other. */
  @Test
  void idsOfDifferentBytes_areDifferentClaims() {
    for (String path : List.of("/api/claims/caf%25E9-" + id, "/api/claims/caf%E9-" + id)) {
      api.send("POST", path, "{}", Map.of()).require(201);
      api.send("POST", path, "{}", Map.of()).require(409);
    }
  }

  @Test
  void claimWithoutABody_hasTheSettingsLease_andTheCallersName() {
    api.send("POST", "/api/claims/" + id, null, Map.of()).require(201);

    assertThat(api.claim(id, "{}").require(409).text("holder")).isEqualTo("carl");
  }

  @Test
  void completion_isTold_withItsResult() {
    String handle = api.claim(id, "{}").handle();
    Answer done = api.step(id, handle, "complete", "{\"result\":\"receipt 4711\"}").require(200);
    assertThat(done.text("state")).isEqualTo("DONE");

    Answer later = api.claim(id, "{}").require(200);

    assertThat(later.text("state")).isEqualTo("DONE");
    assertThat(later.text("result")).isEqualTo("receipt 4711");
  }

  @Test
  void anotherPayload_isUnprocessable_whateverBecameOfTheFirst() {
    String handle = api.claim(id, "{\"fingerprint\":\"one\"}").handle();
    api.claim(id, "{\"fingerprint\":\"two\"}").require(422);
    api.step(id, handle, "complete", "{}").require(200);
    api.claim(id, "{\"fingerprint\":\"two\"}").require(422);
    api.claim(id, "{\"fingerprint\":\"one\"}").require(200);
  }

  @Test
  void whatIsGivenUp_isGone_withItsCause() {
    String handle = api.claim(id, "{}").handle();
    api.step(id, handle, "bury", "{\"cause\":\"no such account\"}").require(200);

    Answer gone = api.claim(id, "{}").require(410);

    assertThat(gone.text("cause")).isEqualTo("no such account");
    assertThat(gone.text("state")).isEqualTo("DEAD");
  }

  @Test
  void handle_staysGood_afterAnyNumberOfRenewals() {
    String handle = api.claim(id, "{}").handle();
    for (int i = 0; i < 3; i++) {
      pass(Duration.ofSeconds(20));
      assertThat(api.step(id, handle, "renew", "{}").require(200).body().path("token").asInt())
          .isEqualTo(1);
      api.claim(id, "{}").require(409);
    }
    api.step(id, handle, "complete", "{}").require(200);
  }

  @Test
  void leaseThatIsOver_isTakenOver_andTheOldHandleIsRefusedEveryStep() {
    String old = api.claim(id, "{}").handle();
    pass(Duration.ofSeconds(32));
    Answer taken = api.claim(id, "{\"holder\":\"b\"}").require(201);
    assertThat(taken.body().path("token").asInt()).isEqualTo(2);
    assertThat(taken.body().path("attempt").asInt()).isEqualTo(2);

    for (String step : List.of("renew", "complete", "release", "bury")) {
      Answer lost = api.step(id, old, step, "{}").require(409);
      assertThat(lost.text("state")).isEqualTo("LOST");
      assertThat(lost.text("holder")).isEqualTo("b");
    }
    api.step(id, taken.handle(), "complete", "{}").require(200);
    api.step(id, old, "complete", "{}").require(409);
  }

  @Test
  void whoClaimsAndWrites_leavesRoomToThoseWhoRenewAndComplete() {
    String handle = api.claim(id, "{}").handle();

    whileFull(
        () -> {
          api.step(id, handle, "renew", "{}").require(200);
          assertThat(api.claim(ClaimApi.newId(), "{}").require(503).text("error"))
              .contains("384 requests are being answered");
          api.send("PATCH", "/api/documents/" + id, "{}", Map.of()).require(503);
          api.send("GET", "/api/locks/" + id, null, Map.of()).require(503);
          api.send("POST", "/api/locks/" + id, "{}", Map.of()).require(503);
          api.step(id, handle, "complete", "{}").require(200);
        });
  }

  /** Does this while as many requests are being answered as there is room for. */
  private static void whileFull(Runnable then) {
    try {
      boolean _ =
          api.grants()
              .answered(
                  () -> {
                    whileFull(then);
                    return true;
                  });
    } catch (Problem full) {
      then.run();
    }
  }

  @Test
  void attemptOfAClientThatDies_counts_eachTime() {
    for (int attempt = 1; attempt <= 4; attempt++) {
      assertThat(api.claim(id, "{}").require(201).body().path("attempt").asInt())
          .isEqualTo(attempt);
      pass(Duration.ofSeconds(32));
    }
  }

  @Test
  void released_isDueWhenItsHolderSaid() {
    String handle = api.claim(id, "{}").handle();
    String due = api.time().now().wall().plusSeconds(60).toString();
    api.step(id, handle, "release", "{\"retryAt\":\"%s\"}".formatted(due)).require(200);

    Answer early = api.claim(id, "{}").require(409);
    assertThat(early.text("state")).isEqualTo("FREE");
    assertThat(early.header("Retry-After")).isEqualTo("60");
    pass(Duration.ofSeconds(61));
    String next = api.claim(id, "{}").handle();
    api.step(id, next, "release", "{}").require(200);
    api.claim(id, "{}").require(201);
  }

  @Test
  void stepsRepeated_areAnsweredTheSame_andAnotherStepIsNot() {
    String completed = api.claim(id, "{}").handle();
    for (int i = 0; i < 3; i++) {
      api.step(id, completed, "complete", "{\"result\":\"r\"}").require(200);
    }
    api.step(id, completed, "complete", "{\"result\":\"another\"}").require(409);
    api.step(id, completed, "release", "{}").require(409);
    api.step(id, completed, "renew", "{}").require(409);

    String other = ClaimApi.newId();
    String released = api.claim(other, "{}").handle();
    api.step(other, released, "release", "{}").require(200);
    api.step(other, released, "release", "{}").require(200);
    api.step(other, released, "complete", "{}").require(409);
  }

  @Test
  void claimRepeatedWithItsKey_isTheSameGrant_evenAfterRenewals() {
    Answer first = api.claim(id, "{}", "key-1").require(201);
    Answer again = api.claim(id, "{}", "key-1").require(201);
    assertThat(again.handle()).isEqualTo(first.handle());
    assertThat(again.body()).isEqualTo(first.body());
    api.step(id, first.handle(), "renew", "{}").require(200);
    api.step(id, first.handle(), "renew", "{}").require(200);

    assertThat(api.claim(id, "{}", "key-1").handle()).isEqualTo(first.handle());
    api.claim(id, "{}", "key-2").require(409);
    api.step(id, first.handle(), "complete", "{\"result\":\"r\"}").require(200);
    assertThat(api.claim(id, "{}", "key-1").require(200).text("result")).isEqualTo("r");
  }

  /** Its answer was lost long ago, so little is left of the lease that was stored then. */
  @Test
  void claimRepeatedLate_hasItsWholeLease_fromThenOn() {
    String handle = api.claim(id, "{}", "key").handle();
    pass(Duration.ofSeconds(25));
    api.claim(id, "{}", "key").require(201);
    pass(Duration.ofSeconds(20));

    api.claim(id, "{}").require(409);
    api.step(id, handle, "complete", "{}").require(200);
  }

  @Test
  void laterAttemptRepeatedWithItsKey_isTheSameAttempt() {
    String first = api.claim(id, "{}", "one").handle();
    api.step(id, first, "release", "{}").require(200);
    Answer second = api.claim(id, "{}", "two").require(201);

    Answer again = api.claim(id, "{}", "two").require(201);

    assertThat(again.body()).isEqualTo(second.body());
    assertThat(again.body().path("attempt").asInt()).isEqualTo(2);
  }

  @Test
  void claimRepeatedAfterItWasGivenBack_isNotGrantedToNobody() {
    String handle = api.claim(id, "{}", "key").handle();
    api.step(id, handle, "release", "{}").require(200);

    Answer late = api.claim(id, "{}", "key").require(409);

    assertThat(late.text("error")).contains("another key");
    api.claim(id, "{}", "key-2").require(201);
  }

  @Test
  void keyOfAnotherCaller_isAnotherKey() {
    api.claim(id, "{}", "1").require(201);

    Map<String, String> key = Map.of("Idempotency-Key", "1");
    api.as(ClaimApi.ANOTHER, "POST", "/api/claims/" + id, "{}", key).require(409);
    api.claim(id, "{\"fingerprint\":\"other\"}", "1").require(422);
  }

  @Test
  void resources_areHeldWithIt_andFreeOnceItIsSettled() {
    String account = ClaimApi.newId();
    String body = "{\"resources\":[\"%s\",\"b\",\"%s\"]}".formatted(account, account);
    Answer granted = api.claim(id, body, "k").require(201);
    assertThat(granted.body().path("resourceTokens").size()).isEqualTo(2);

    Answer blocked =
        api.claim(ClaimApi.newId(), "{\"resources\":[\"%s\"]}".formatted(account)).require(409);
    assertThat(blocked.text("state")).isEqualTo("BLOCKED");
    assertThat(blocked.text("error")).contains("carl", account);
    assertThat(blocked.header("Retry-After")).isNotNull();

    api.step(id, granted.handle(), "renew", "{}").require(200);
    assertThat(api.claim(id, body, "k").require(201).body()).isEqualTo(granted.body());
    api.step(id, granted.handle(), "complete", "{}").require(200);
    api.claim(ClaimApi.newId(), body).require(201);
  }

  @Test
  void blockedClaimRepeatedWithItsKey_isBlocked_andGrantedOnceTheWayIsFree() {
    String body = "{\"resources\":[\"%s\"]}".formatted(ClaimApi.newId());
    String other = ClaimApi.newId();
    String handle = api.claim(other, body).handle();

    for (int i = 0; i < 2; i++) {
      assertThat(api.claim(id, body, "key").require(409).text("state")).isEqualTo("BLOCKED");
    }
    api.step(other, handle, "complete", "{}").require(200);
    Answer granted = api.claim(id, body, "key").require(201);

    assertThat(granted.body().path("attempt").asInt()).isEqualTo(1);
    assertThat(api.claim(id, body, "key").require(201).body()).isEqualTo(granted.body());
  }

  @Test
  void fiftyConcurrentClaims_areOneGrant() throws Exception {
    List<Integer> statuses = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<Integer>> claims = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        String key = "client-" + i;
        claims.add(() -> api.claim(id, "{}", key).status());
      }
      for (Future<Integer> each : threads.invokeAll(claims)) {
        statuses.add(each.get());
      }
    }
    assertThat(statuses).hasSize(50).containsOnlyOnce(201);
    assertThat(statuses).filteredOn(status -> status != 201).containsOnly(409);
  }

  @Test
  void tamperedHandle_isRefused_whateverWasTampered() {
    String handle = api.claim(id, "{}").handle();
    byte[] bytes = Base64.getUrlDecoder().decode(handle);
    for (int i = 0; i < bytes.length; i++) {
      byte[] tampered = bytes.clone();
      tampered[i] ^= 1;
      String text = Base64.getUrlEncoder().withoutPadding().encodeToString(tampered);
      for (String step : List.of("renew", "complete", "release", "bury")) {
        assertThat(api.step(id, text, step, "{}").status()).as("byte %s", i).isIn(400, 409);
      }
    }
    for (String wrong : List.of("x", "AA", "%20", "%00", handle + handle, handle.substring(4))) {
      assertThat(api.step(id, wrong, "complete", "{}").require(400).text("error"))
          .contains("handle", "201");
    }
    String forged =
        new Handle(1, new io.firstclaim.lock.Nonce(1, 2), List.of())
            .text(); // a token can be guessed
    api.step(id, forged, "complete", "{}").require(409);
    api.step(ClaimApi.newId(), handle, "complete", "{}").require(409);
    api.step(id, handle, "complete", "{}").require(200);
  }

  @Test
  void hostileIds_areDistinct_andKeptByteForByte() {
    List<String> ids =
        List.of(
            "%00",
            "%00%00",
            "..%2F..%2Fetc%2Fpasswd",
            "a%0D%0Ab",
            "%FF",
            "%FE",
            "%C0%AF",
            "%2F",
            "%E2%80%AE",
            "%20",
            "%3Cscript%3E",
            "a%3Bb",
            "%01".repeat(RecordId.MAX_BYTES));
    for (String each : ids) {
      Answer granted =
          api.send("POST", "/api/claims/" + each, "{}", Map.of("Idempotency-Key", "k"));
      String handle = granted.handle();
      api.send("POST", "/api/claims/%s/%s/renew".formatted(each, handle), "{}", Map.of())
          .require(200);
      api.send(
              "POST",
              "/api/claims/%s/%s/complete".formatted(each, handle),
              "{\"result\":\"%s\"}".formatted(ids.indexOf(each)),
              Map.of())
          .require(200);
    }
    for (String each : ids) {
      assertThat(
              api.send("POST", "/api/claims/" + each, "{}", Map.of()).require(200).text("result"))
          .isEqualTo(String.valueOf(ids.indexOf(each)));
    }
  }

  @Test
  void whatIsOutOfBounds_isRefused_withItsNameAndARemedy() {
    refused("{\"lease\":\"1s\"}", "lease", "1s", "3s");
    refused("{\"lease\":\"2h\"}", "lease", "2h", "1h");
    refused("{\"lease\":\"soon\"}", "lease", "soon", "30s");
    refused("{\"lease\":30}", "lease", "text");
    refused("{\"leese\":\"30s\"}", "leese", "lease");
    refused("{\"holder\":\"\"}", "holder", "256");
    refused("{\"holder\":\"" + "x".repeat(257) + "\"}", "holder", "256");
    refused("{\"fingerprint\":\"" + "x".repeat(257) + "\"}", "fingerprint", "256");
    refused("{\"resources\":[\"" + "x".repeat(1025) + "\"]}", "resources", "1024");
    refused("{\"resources\":[\"\"]}", "give names");
    refused("{\"resources\":[\"\\ud800\"]}", "resources");
    refused("{\"resources\":" + numbers(21, 1) + "}", "resources", "20");
    refused("{\"resources\":" + numbers(20, 1000) + "}", "resources", "2048");
    refused("[]", "");
    refused("{", "");
    api.claim("x".repeat(RecordId.MAX_BYTES + 1), "{}").require(400);
    api.claim(id, "{\"holder\":\"" + "x".repeat(100_000) + "\"}").require(413);
    for (String key : List.of("x".repeat(256), "a\tb")) {
      assertThat(api.claim(id, "{}", key).require(400).text("error")).contains("Idempotency-Key");
    }
    String handle = api.claim(id, "{}").handle();
    for (String at : List.of("tomorrow", "9999-01-01T00:00:00Z")) {
      Answer wrong = api.step(id, handle, "release", "{\"retryAt\":\"%s\"}".formatted(at));
      assertThat(wrong.require(400).text("error")).contains("retryAt", at, "give a time");
    }
    api.step(id, handle, "bury", "{\"cause\":\"" + "x".repeat(1001) + "\"}").require(400);
    api.step(id, handle, "complete", "{\"result\":7}").require(400);
    api.step(id, handle, "finish", "{}").require(404);
    api.step(id, handle, "complete", "{}").require(200);
  }

  private static String numbers(int count, int digits) {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(("\"%0" + digits + "d\"").formatted(i));
    }
    return all.toString();
  }

  private void refused(String body, String... parts) {
    assertThat(api.claim(id, body).require(400).text("error")).as(body).contains(parts);
  }

  @Test
  void claimsAndTheirLike_areAClaimers_andNothingElseIs() {
    String handle = api.claim(id, "{}").handle();
    for (String path :
        List.of(
            "/api/claims/x",
            "/api/claims/%s/%s/complete".formatted(id, handle),
            "/api/locks/x",
            "/api/locks/x/" + handle + "/renew")) {
      assertThat(api.as(null, "POST", path, "{}", Map.of()).status()).isEqualTo(401);
      assertThat(api.as("a-guess", "POST", path, "{}", Map.of()).status()).isEqualTo(401);
      for (String other : List.of(ClaimApi.READER, ClaimApi.OPERATOR)) {
        Answer refused = api.as(other, "POST", path, "{}", Map.of()).require(403);
        assertThat(refused.text("error")).contains("a claimer");
      }
    }
    for (String path : List.of("/api/locks/x", "/api/documents/x")) {
      api.as(ClaimApi.READER, "GET", path, null, Map.of()).require(403);
      api.as(null, "GET", path, null, Map.of()).require(401);
    }
    api.send("GET", "/prometheus", null, Map.of()).require(403);
    api.send("POST", "/api/pause", "{\"reason\":\"x\"}", Map.of()).require(403);
    api.as(ClaimApi.OPERATOR, "GET", "/api/records/x", null, Map.of()).require(404);
    String reason = "{\"reason\":\"x\"}";
    for (String path :
        List.of(
            "/api/pause",
            "/api/dismiss",
            "/api/records/x/redrive",
            "/api/violations/x/acknowledge",
            "/api/redrive")) {
      api.as(ClaimApi.OPERATOR, "POST", path, reason, Map.of()).require(404);
    }
  }

  @Test
  void healthIsTheStores_andTheDescriptionTellsOfClaims() {
    assertThat(api.as(null, "GET", "/health/readiness", null, Map.of()).require(200).text("status"))
        .isEqualTo("UP");
    assertThat(api.as(null, "GET", "/health/liveness", null, Map.of()).require(200).text("status"))
        .isEqualTo("UP");
    assertThat(metrics()).contains("firstclaim_ready 1.0");
    assertThat(api.as(null, "GET", "/swagger/admin.yml", null, Map.of()).require(200).all().body())
        .contains(
            "/api/claims/{id}:",
            "/api/claims/{id}/{handle}/complete:",
            "/api/locks/{name}:",
            "/api/documents/{key}:");
  }

  private static String metrics() {
    return api.as(ClaimApi.READER, "GET", "/prometheus", null, Map.of()).require(200).all().body();
  }

  @Test
  void withoutTokens_thisMachineMayLook_andNobodyMayClaim() throws InterruptedException {
    try (ClaimApi open = ClaimApi.start(Map.of("firstclaim.admin.token-file", ""))) {
      open.as(null, "GET", "/api/locks/x", null, Map.of()).require(200);
      assertThat(open.as(null, "POST", "/api/claims/x", "{}", Map.of()).require(403).text("error"))
          .contains("firstclaim.admin.token-file");
      open.as(ClaimApi.CLAIMER, "POST", "/api/locks/x", "{}", Map.of()).require(403);
    }
  }

  @Test
  void retryAtOfLongAgo_isAtOnce() {
    String id = ClaimApi.newId();
    for (String at : List.of("1969-12-31T23:59:59Z", "-1000000000-01-01T00:00:00Z")) {
      String handle = api.claim(id, "{}").handle();
      api.step(id, handle, "release", "{\"retryAt\":\"%s\"}".formatted(at)).require(200);
    }

    api.claim(id, "{}").require(201);
  }
}
