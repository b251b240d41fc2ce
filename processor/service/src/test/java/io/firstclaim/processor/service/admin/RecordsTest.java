package io.firstclaim.processor.service.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@MicronautTest
class RecordsTest {
  private final Api api;
  private final MemoryClaimStore claims;

  RecordsTest(Api api, MemoryClaimStore claims) {
    this.api = api;
    this.claims = claims;
  }

  private Lease hold(RecordId id) {
    return ((ClaimResult.Granted)
            claims.claim(Claim.of(id, Fingerprint.none(), TimeSource.system().now())))
        .lease();
  }

  private String body(String path) {
    HttpResponse<String> answer = api.get(path, null);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  @Test
  void unknownRecord_isAbsent_andItsHistoryNullWhereNobodyKnowsIt() {
    assertThat(body("/api/records/nobody%20knows"))
        .contains(
            "\"id\":\"nobody knows\"",
            "\"state\":\"ABSENT\"",
            "\"holder\":null",
            "\"history\":null");
  }

  @Test
  void withoutTokens_nobodyHasDismissedAnything() {
    claims.bury(hold(RecordId.of("looked at")), "no such account");

    assertThat(body("/api/records/looked%20at"))
        .contains("\"state\":\"DEAD\"", "\"dismissed\":null", "\"isDismissed\":false");
    assertThat(api.get("/api/dead", null).body()).contains("the audit");
  }

  @Test
  void instanceOfAnotherZone_isToldThatItAskedTheWrongOne() throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d/api/summary".formatted(api.port())))
            .header(Peers.ASKED_BY_ONE, "orders/b")
            .build();

    try (HttpClient http = HttpClient.newHttpClient()) {
      assertThat(http.send(request, HttpResponse.BodyHandlers.ofString()).body())
          .contains("this is an instance of orders/a, and was asked by one of orders/b");
    }
  }

  @Test
  void everyState_isTold() {
    hold(RecordId.of("held"));
    claims.complete(hold(RecordId.of("done")), "receipt");
    claims.bury(hold(RecordId.of("dead")), "no such account");
    claims.release(hold(RecordId.of("free")), Instant.EPOCH, "timeout");

    assertThat(body("/api/records/held"))
        .contains("\"state\":\"HELD\"", "\"holder\":\"a/one\"", "\"attempts\":1", "\"until\":\"20");
    assertThat(body("/api/records/done"))
        .contains("\"state\":\"DONE\"", "\"holder\":\"a/one\"", "\"result\":\"receipt\"");
    assertThat(body("/api/records/dead"))
        .contains("\"state\":\"DEAD\"", "\"cause\":\"no such account\"");
    assertThat(body("/api/records/free"))
        .contains("\"state\":\"FREE\"", "\"holder\":null", "\"cause\":\"timeout\"");
  }

  @ParameterizedTest
  @CsvSource({
    "a%00b, a%00b",
    "%FF%FE, %FF%FE",
    "..%2F..%2Fetc%2Fpasswd, ../../etc/passwd",
    "x%0D%0ASet-Cookie:y, x%0D%0ASet-Cookie:y",
    "%3Cscript%3E, <script>",
    "%252e, %2e",
    "100%25, 100%",
    "a%2500b, a%00b",
    "%22, \\\"",
    "a;b=c, a;b=c",
    "+, +",
  })
  void hostileId_isTakenByteForByte_andShownEscaped(String encoded, String shown) {
    assertThat(body("/api/records/" + encoded)).contains("\"id\":\"" + shown + "\"");
  }

  @Test
  void printOfAnId_meansThatId() {
    RecordId hostile = RecordId.of(new byte[] {'a', 0, 'b'});
    RecordId looksLikeIt = RecordId.of(hostile.text());
    hold(hostile);

    assertThat(body("/api/records/a%00b")).contains("HELD");
    assertThat(body("/api/records/a%2500b")).contains("HELD");
    assertThat(Ids.ofText(looksLikeIt.text())).isEqualTo(looksLikeIt).isNotEqualTo(hostile);
    assertThat(body("/api/records/a%252500b")).contains("ABSENT");
  }

  @Test
  void idsThatNobodyCanHave_areRefused_withARemedy() {
    String tooLong = "x".repeat(RecordId.MAX_BYTES + 1);

    assertThat(api.get("/api/records/" + tooLong, null).body())
        .isEqualTo("{\"error\":\"a record ID has 1 to 1024 bytes, this one 1025\"}");
    assertThat(api.get("/api/records/" + tooLong, null).statusCode()).isEqualTo(400);
    assertThat(
            new RawClient(api.port())
                .answer("GET /api/records/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        .startsWith("HTTP/1.1 400");
    String longest = "%01".repeat(RecordId.MAX_BYTES);
    assertThat(body("/api/records/" + longest)).contains("ABSENT");
    assertThat(Ids.ofText(longest).bytes())
        .isEqualTo("\u0001".repeat(RecordId.MAX_BYTES).getBytes(StandardCharsets.UTF_8));
  }
}
