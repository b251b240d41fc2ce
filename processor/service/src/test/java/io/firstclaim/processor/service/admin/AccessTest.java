package io.firstclaim.processor.service.admin;

import static io.firstclaim.processor.service.admin.Api.OPERATOR;
import static io.firstclaim.processor.service.admin.Api.READER;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.micronaut.context.annotation.Property;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Who may ask and change what, where there are tokens. */
@MicronautTest
@Property(name = "firstclaim.admin.token-file", value = Api.TOKENS)
class AccessTest {
  private static final List<String> ASKED =
      List.of("/api/records/x", "/prometheus", "/api/nothing");

  private static final Path CHART = Path.of("../../docker/kubernetes/chart/templates");

  private final Api api;
  private final MemoryClaimStore claims;

  AccessTest(Api api, MemoryClaimStore claims) {
    this.api = api;
    this.claims = claims;
  }

  @Test
  void everythingButHealthAndThePage_needsAReader() {
    for (String path : ASKED) {
      HttpResponse<String> refused = api.get(path, null);
      Api.requireError(refused, 401, "firstclaim.admin.token-file");
      assertThat(refused.headers().firstValue("WWW-Authenticate"))
          .hasValueSatisfying(challenge -> assertThat(challenge).startsWith("Bearer"));
      Api.requireError(api.get(path, "a-guess"), 401, "Bearer");
      Api.requireError(api.get(path, ""), 401, "Bearer");
    }
    assertThat(api.get("/prometheus", READER).statusCode()).isEqualTo(200);
    assertThat(api.get("/api/records/x", READER).statusCode()).isEqualTo(200);
    assertThat(api.get("/api/records/x", OPERATOR).statusCode()).isEqualTo(200);
    Api.requireError(api.get("/api/nothing", READER), 404, "");
    assertThat(api.get("/", null).statusCode()).isEqualTo(200);
    assertThat(api.get("/index.html", null).statusCode()).isEqualTo(200);
  }

  @Test
  void descriptionOfTheApi_isServed_andOpen() {
    HttpResponse<String> description = api.get("/swagger/admin.yml", null);

    assertThat(description.statusCode()).isEqualTo(200);
    assertThat(description.body())
        .contains(
            "/api/records/{id}:",
            "/api/redrive:",
            "/api/dismiss:",
            "/api/dismissed:",
            "/api/summary:",
            "scheme: bearer");
  }

  @Test
  void changes_needAnOperator() {
    for (String method : List.of("POST", "PUT", "DELETE", "PATCH", "OPTIONS")) {
      for (String path : List.of("/api/records/x", "/", "/health/liveness")) {
        assertThat(api.send(method, path, null, Optional.of("{}")).statusCode())
            .as("%s %s", method, path)
            .isEqualTo(401);
        Api.requireError(api.send(method, path, READER, Optional.of("{}")), 403, "rita");
      }
    }
    Api.requireError(api.post("/api/records/x", OPERATOR, "{}"), 405, "");
  }

  @Test
  void health_isOpen_andSaysItsStatusAlone_toWhoeverHasNoToken() {
    assertThat(api.get("/health/liveness", null).body()).isEqualTo("{\"status\":\"UP\"}");
    assertThat(api.get("/health/liveness", READER).body()).contains("details");
  }

  /** A probe is answered 200, or 503 where it is not so. */
  @Test
  void everyPathThatTheChartAsks_isServed_toWhoeverAsksThere() throws IOException {
    Set<String> probed = pathsIn("deployments.yaml");
    assertThat(probed)
        .containsExactlyInAnyOrder("/health/liveness", "/health/readiness")
        .allSatisfy(path -> assertThat(api.get(path, null).statusCode()).isIn(200, 503));
    assertThat(pathsIn("monitoring.yaml"))
        .hasSize(1)
        .allSatisfy(path -> assertThat(api.get(path, READER).statusCode()).isEqualTo(200));
    assertThat(api.get("/health/started", null).statusCode()).isNotIn(200, 503);
  }

  private static Set<String> pathsIn(String template) throws IOException {
    return Pattern.compile("(?m)^ *path: (/\\S+)$")
        .matcher(Files.readString(CHART.resolve(template)))
        .results()
        .map(found -> found.group(1))
        .collect(Collectors.toSet());
  }

  @Test
  void everyAnswer_hasTheHeadersThatKeepABrowserInBounds() {
    for (HttpResponse<String> answer :
        List.of(
            api.get("/", null),
            api.get("/nothing", null),
            api.get("/api/records/x", null),
            api.get("/api/records/x", READER),
            api.post("/api/records/x", OPERATOR, "x".repeat(100_000)),
            api.get("/health/liveness", null))) {
      assertThat(answer.headers().firstValue("Content-Security-Policy"))
          .as("%s", answer)
          .hasValueSatisfying(
              policy ->
                  assertThat(policy)
                      .contains("default-src 'none'", "frame-ancestors 'none'")
                      .doesNotContain("unsafe", "*"));
      assertThat(answer.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
      assertThat(answer.headers().map()).doesNotContainKey("access-control-allow-origin");
    }
  }

  @Test
  void oversizedRequest_isRefused() {
    String reason = "{\"reason\":\"%s\"}".formatted("x".repeat(100_000));
    Api.requireError(api.post("/api/pause", OPERATOR, reason), 413, "");
    String longHeader =
        "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + "x".repeat(20_000) + "\r\n\r\n";
    assertThat(new RawClient(api.port()).answer(longHeader)).startsWith("HTTP/1.1 4");
  }

  @Test
  void everyRouteOfTheApi_asksForItsRole() {
    for (String path :
        List.of(
            "/api/records/x",
            "/api/dead",
            "/api/stuck",
            "/api/parked",
            "/api/held",
            "/api/summary",
            "/api/dismissed",
            "/api/redrives",
            "/api/redrives/x")) {
      assertThat(api.get(path, null).statusCode()).as(path).isEqualTo(401);
      assertThat(api.get(path, "wrong").statusCode()).as(path).isEqualTo(401);
      assertThat(api.get(path, READER).statusCode()).as(path).isNotIn(401, 403, 405, 500);
      assertThat(api.get(path, OPERATOR).statusCode()).as(path).isNotIn(401, 403, 405, 500);
    }
    for (String path :
        List.of(
            "/api/records/x/release",
            "/api/records/x/redrive",
            "/api/dismiss",
            "/api/records/x/dismiss",
            "/api/violations/x/acknowledge",
            "/api/redrive",
            "/api/redrives/x/pause",
            "/api/redrives/x/resume",
            "/api/redrives/x/cancel",
            "/api/pause",
            "/api/resume")) {
      assertThat(api.post(path, null, "{}").statusCode()).as(path).isEqualTo(401);
      assertThat(api.post(path, "wrong", "{}").statusCode()).as(path).isEqualTo(401);
      assertThat(api.post(path, READER, "{}").statusCode()).as(path).isEqualTo(403);
      Api.requireError(api.post(path, OPERATOR, "{}"), 400, "give");
      Api.requireError(api.post(path, OPERATOR, "{\"reason\":"), 400, "");
      Api.requireError(api.post(path, OPERATOR, "{\"reason\":\" \"}"), 400, "");
      Api.requireError(api.post(path, OPERATOR, "{\"reasson\":\"x\"}"), 400, "reasson");
    }
  }

  @Test
  void summary_saysWhoAsks_andWhetherTheyMayChangeThings() {
    assertThat(api.get("/api/summary", READER).body())
        .contains("\"caller\":{\"name\":\"rita\",\"mayChange\":false}");
    assertThat(api.get("/api/summary", OPERATOR).body())
        .contains("\"caller\":{\"name\":\"otto\",\"mayChange\":true}");
  }

  @Test
  void whatOperatorsHaveDone_isNotSaidBeforeItWasRead() {
    for (String path : List.of("/api/dead", "/api/dismissed", "/api/redrives", "/api/redrives/x")) {
      Api.requireError(api.get(path, READER), 503, ".acts: it has not been read yet");
    }
    for (String path : List.of("/api/dismiss", "/api/redrive")) {
      Api.requireError(
          api.post(path, OPERATOR, "{\"topic\":\"orders\",\"dryRun\":true}"),
          503,
          ".acts: it has not been read yet");
    }
  }

  @Test
  void record_isTold_beforeItIsKnownWhetherItWasDismissed() {
    HttpResponse<String> record = api.get("/api/records/x", READER);

    assertThat(record.statusCode()).isEqualTo(200);
    assertThat(record.body()).contains("\"dismissed\":null", "\"isDismissed\":null");
  }

  @Test
  void summary_hasNoRedrivesAndPauses_beforeTheyWereRead_andSaysWhy() {
    assertThat(api.get("/api/summary", READER).body())
        .contains(
            "\"redrives\":null",
            "\"pauses\":null",
            "\"actsFault\":\"topic orders.acts: it has not been read yet\"");
  }

  @Test
  void whatCannotBeWrittenDown_isNotDone() {
    var lease =
        ((ClaimResult.Granted)
                claims.claim(
                    Claim.of(RecordId.of("x"), Fingerprint.none(), TimeSource.system().now())))
            .lease();

    Api.requireError(
        api.post("/api/records/x/release", OPERATOR, "{\"reason\":\"stuck\"}"), 503, "orders.acts");
    assertThat(claims.complete(lease, null)).isInstanceOf(SettleResult.Settled.class);
  }
}
