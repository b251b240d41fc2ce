package io.firstclaim.processor.service.claims;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.processor.service.admin.Problem;
import io.firstclaim.processor.service.claims.ClaimApi.Answer;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Shared documents over HTTP. */
class DocumentsApiTest {
  private static ClaimApi api;

  private final String path = "/api/documents/test/" + ClaimApi.newId() + ".json";

  @BeforeAll
  static void start() throws InterruptedException {
    api = ClaimApi.start(Map.of("firstclaim.claim.namespace", "orders.v2/eu"));
  }

  @AfterAll
  static void stop() {
    api.close();
  }

  private Answer patch(String body, String... header) {
    return api.send(
        "PATCH", path, body, header.length == 0 ? Map.of() : Map.of(header[0], header[1]));
  }

  private Answer get() {
    return api.send("GET", path, null, Map.of());
  }

  private static String etag(Answer answer) {
    return Objects.requireNonNull(answer.header("ETag"));
  }

  /** The examples of RFC 7396, appendix A. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"a\":\"b\"}|{\"a\":\"c\"}|{\"a\":\"c\"}",
        "{\"a\":\"b\"}|{\"b\":\"c\"}|{\"a\":\"b\",\"b\":\"c\"}",
        "{\"a\":\"b\"}|{\"a\":null}|{}",
        "{\"a\":\"b\",\"b\":\"c\"}|{\"a\":null}|{\"b\":\"c\"}",
        "{\"a\":[\"b\"]}|{\"a\":\"c\"}|{\"a\":\"c\"}",
        "{\"a\":\"c\"}|{\"a\":[\"b\"]}|{\"a\":[\"b\"]}",
        "{\"a\":{\"b\":\"c\"}}|{\"a\":{\"b\":\"d\",\"c\":null}}|{\"a\":{\"b\":\"d\"}}",
        "{\"a\":[{\"b\":\"c\"}]}|{\"a\":[1]}|{\"a\":[1]}",
        "[\"a\",\"b\"]|[\"c\",\"d\"]|[\"c\",\"d\"]",
        "{\"a\":\"b\"}|[\"c\"]|[\"c\"]",
        "{\"a\":\"foo\"}|null|null",
        "{\"a\":\"foo\"}|\"bar\"|\"bar\"",
        "{\"e\":null}|{\"a\":1}|{\"e\":null,\"a\":1}",
        "[1,2]|{\"a\":\"b\",\"c\":null}|{\"a\":\"b\"}",
        "{}|{\"a\":{\"bb\":{\"ccc\":null}}}|{\"a\":{\"bb\":{}}}",
        "{\"n\":1.10}|{\"m\":12345678901234567890.12345}|{\"n\":1.10,\"m\":12345678901234567890.12345}",
      })
  void mergePatch_isThatOfTheRfc_andNumbersKeepTheirDigits(
      String before, String patch, String after) {
    assertThat(MergePatch.parse(patch).orElseThrow().applyTo(Optional.of(before))).hasValue(after);
  }

  @Test
  void patch_makesAndChangesADocument_withItsETag() {
    get().require(404);
    Answer made = patch("{\"a\":1,\"b\":{\"c\":2}}").require(200);
    Answer changed =
        patch("{\"b\":{\"c\":null,\"d\":3}}", "Content-Type", "application/merge-patch+json")
            .require(200);

    assertThat(changed.all().body()).isEqualTo("{\"a\":1,\"b\":{\"d\":3}}");
    assertThat(etag(changed)).isNotEqualTo(etag(made));
    assertThat(get().require(200).all().body()).isEqualTo(changed.all().body());
    assertThat(etag(get())).isEqualTo(etag(changed));
  }

  @Test
  void ifMatch_isHonoured_andSoIsIfNoneMatch() {
    patch("{}", "If-Match", "*").require(412);
    String first = etag(patch("{\"a\":1}", "If-None-Match", "*").require(200));
    patch("{\"a\":2}", "If-None-Match", "*").require(412);
    String second = etag(patch("{\"a\":2}", "If-Match", first).require(200));
    assertThat(patch("{\"a\":3}", "If-Match", first).require(412).text("error"))
        .contains("If-Match", "read it");
    api.send("DELETE", path, null, Map.of("If-Match", first)).require(412);
    patch("{\"a\":4}", "If-Match", "\"x\", " + second).require(200);
    api.send("DELETE", path, null, Map.of("If-Match", "*")).require(200);
    api.send("DELETE", path, null, Map.of("If-Match", "*")).require(412);
    api.send("DELETE", path, null, Map.of()).require(404);
    get().require(404);
  }

  @Test
  void writeRepeatedWithItsKey_isMadeOnce() {
    String key = "Idempotency-Key";
    String first = etag(patch("{\"a\":1}", key, "one").require(200));
    patch("{\"a\":2}").require(200);
    patch("{\"a\":1}", key, "one").require(200);
    assertThat(get().all().body()).as("the repetition undid nothing").isEqualTo("{\"a\":2}");
    patch("{\"a\":3}", key, "one").require(200);
    assertThat(get().all().body()).as("another patch is another write").isEqualTo("{\"a\":3}");
    assertThat(first).isNotEmpty();

    api.send("DELETE", path, null, Map.of(key, "two")).require(200);
    api.send("DELETE", path, null, Map.of(key, "two")).require(200);
  }

  @Test
  void writeThatChangesNothing_repeatedWithItsKey_undoesNothing() {
    String key = "Idempotency-Key";
    patch("{\"a\":1}").require(200);
    patch("{\"a\":1}", key, "one").require(200);
    patch("{\"a\":2}").require(200);

    patch("{\"a\":1}", key, "one").require(200);

    assertThat(get().all().body()).isEqualTo("{\"a\":2}");
  }

  private Answer delete(Map<String, String> headers) {
    return api.send("DELETE", path, null, headers);
  }

  @Test
  void deletionRepeatedWithItsKey_deletesNothingThatOthersHaveMadeSince_andGetsTheFirstAnswer() {
    Map<String, String> key = Map.of("Idempotency-Key", "one");
    patch("{\"a\":1}").require(200);
    Answer first = delete(key).require(200);
    patch("{\"a\":2}").require(200);

    Answer repeated = delete(key).require(200);

    assertThat(repeated.all().body()).isEqualTo(first.all().body()).isEqualTo("{\"a\":1}");
    assertThat(etag(repeated)).isEqualTo(etag(first));
    assertThat(get().require(200).all().body()).isEqualTo("{\"a\":2}");
    delete(Map.of("Idempotency-Key", "another")).require(200);
    get().require(404);
  }

  @Test
  void deletionOfNothingRepeatedWithItsKey_deletesNothingThatOthersHaveMadeSince() {
    Map<String, String> key = Map.of("Idempotency-Key", "one");
    assertThat(delete(key).require(200).text("state")).isEqualTo("ABSENT");
    patch("{\"a\":2}").require(200);

    delete(key).require(200);

    assertThat(get().require(200).all().body()).isEqualTo("{\"a\":2}");
  }

  @Test
  void keyOfADeletionThatDidNotMeetItsCondition_isGoodForTheNextTry() {
    String etag = etag(patch("{\"a\":1}").require(200));
    delete(Map.of("Idempotency-Key", "one", "If-Match", "\"other\"")).require(412);

    delete(Map.of("Idempotency-Key", "one", "If-Match", etag)).require(200);

    get().require(404);
  }

  @Test
  void keyedDeletionOfNothing_thatDoesNotMeetItsCondition_isRefused_andItsKeyIsGood() {
    delete(Map.of("Idempotency-Key", "one", "If-Match", "\"other\"")).require(412);

    patch("{\"a\":1}").require(200);

    delete(Map.of("Idempotency-Key", "one")).require(200);
    get().require(404);
  }

  @Test
  void conditionsOfALook_areHonoured() {
    api.send("GET", path, null, Map.of("If-Match", "*")).require(412);
    api.send("GET", path, null, Map.of("If-None-Match", "*")).require(404);
    String etag = etag(patch("{\"a\":1}").require(200));

    Answer known = api.send("GET", path, null, Map.of("If-None-Match", etag)).require(304);
    api.send("GET", path, null, Map.of("If-None-Match", "\"x\", W/" + etag)).require(304);
    assertThat(etag(known)).isEqualTo(etag);
    assertThat(known.all().body()).isEmpty();
    api.send("GET", path, null, Map.of("If-None-Match", "\"other\"")).require(200);
    api.send("GET", path, null, Map.of("If-Match", etag)).require(200);
    api.send("GET", path, null, Map.of("If-Match", "\"other\"")).require(412);
  }

  /** RFC 9110, 13.1: for the one, a weak ETag is good enough; for the other, none is. */
  @Test
  void weakETag_keepsAWriteFromWhatIsThere_andPermitsNone() {
    String weak = "W/" + etag(patch("{\"a\":1}").require(200));

    patch("{\"a\":2}", "If-None-Match", weak).require(412);
    patch("{\"a\":2}", "If-Match", weak).require(412);
    delete(Map.of("If-Match", weak)).require(412);
    api.send("GET", path, null, Map.of("If-Match", weak)).require(412);

    assertThat(get().all().body()).isEqualTo("{\"a\":1}");
    patch("{\"a\":2}", "If-None-Match", "W/\"other\"").require(200);
  }

  @Test
  void linesOfOneHeader_areOneList() throws Exception {
    String etag = etag(patch("{\"a\":1}").require(200));

    assertThat(status("GET", "If-None-Match", "\"x\"", "W/" + etag)).isEqualTo(304);
    assertThat(status("GET", "If-None-Match", "\"x\"", "\"y\"")).isEqualTo(200);
    assertThat(status("DELETE", "If-Match", "\"x\"", "\"y\"")).isEqualTo(412);
    assertThat(status("DELETE", "If-Match", "\"x\"", etag)).isEqualTo(200);
  }

  /** What is answered to a request that has this header in several lines. */
  private int status(String method, String header, String... lines) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(api.address().resolve(path))
            .method(method, BodyPublishers.noBody())
            .header("Authorization", "Bearer " + ClaimApi.CLAIMER);
    for (String line : lines) {
      request.header(header, line);
    }
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      return client.send(request.build(), BodyHandlers.discarding()).statusCode();
    }
  }

  @Test
  void manyWriters_loseNoChange() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<Integer>> writes = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        String field = "{\"field-%d\":%d}".formatted(i, i);
        writes.add(() -> patch(field).status());
      }
      List<Future<Integer>> sent = new ArrayList<>();
      writes.forEach(each -> sent.add(threads.submit(each)));
      while (sent.stream().anyMatch(each -> !each.isDone())) {
        api.time().passToTheNext(Duration.ofSeconds(5));
        Thread.onSpinWait();
      }
      for (Future<Integer> each : sent) {
        assertThat(each.get()).isEqualTo(200);
      }
    }
    assertThat(get().body().size()).isEqualTo(20);
  }

  @Test
  void whatIsOutOfBounds_isRefused_withItsNameAndARemedy() {
    for (String key : List.of("a%00b", "..%2F..%2Fetc", "a//b", "%C3%A9", "x".repeat(600), "%zz")) {
      assertThat(new String[] {"400"})
          .as(key)
          .contains(String.valueOf(status("/api/documents/" + key)));
    }
    for (String body : List.of("{", "", "{\"a\":1,\"a\":2}", "{} {}", "{'a':1}")) {
      assertThat(patch(body).status()).as(body).isEqualTo(400);
    }
    patch("{\"a\":\"%s\"}".formatted("x".repeat(70_000))).require(413);
  }

  @Test
  void keyThatIsTooLongWhereTheStoreKeepsIt_isRefused_withTheRoomThatThereIs() {
    String prefix = "team/documents/";
    String longest = "x".repeat(512 - prefix.length() - "orders/".length());

    assertThat(DocumentsController.key(longest, prefix, "orders/").value())
        .isEqualTo("orders/" + longest);
    assertThatThrownBy(() -> DocumentsController.key(longest + "x", prefix, "orders/"))
        .isInstanceOf(Problem.class)
        .hasMessageContaining("give 1 to " + longest.length());
  }

  private static int status(String path) {
    try {
      return api.send("GET", path, null, Map.of()).status();
    } catch (IllegalArgumentException e) {
      return 400; // no client sends it
    }
  }

  @Test
  void namespaces_haveNoNameInCommon() {
    assertThat(List.of("a", "a.b", "a=2Eb", "a/b", "a_b", "."))
        .extracting(DocumentsController::encoded)
        .doesNotHaveDuplicates()
        .allMatch(name -> name.matches("[A-Za-z0-9_=-]+"));
  }
}
