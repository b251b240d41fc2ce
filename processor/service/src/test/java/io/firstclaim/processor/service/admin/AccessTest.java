package io.firstclaim.processor.service.admin;

import static io.firstclaim.processor.service.admin.AdminServer.OPERATOR;
import static io.firstclaim.processor.service.admin.AdminServer.READER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.TimeSource;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may ask and change what. */
class AccessTest {
  private static final List<String> ASKED =
      List.of("/api/records/x", "/prometheus", "/api/nothing");

  @TempDir Path folder;

  private static void requireError(HttpResponse<String> answer, int status, String part) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.body()).startsWith("{\"error\":\"").contains(part);
  }

  @Test
  void withTokens_everythingButHealthAndThePage_needsAReader() {
    try (AdminServer server = AdminServer.with(AdminServer.tokens(folder))) {
      for (String path : ASKED) {
        HttpResponse<String> refused = server.get(path, null);
        requireError(refused, 401, "firstclaim.admin.token-file");
        assertThat(refused.headers().firstValue("WWW-Authenticate"))
            .hasValueSatisfying(challenge -> assertThat(challenge).startsWith("Bearer"));
        requireError(server.get(path, "a-guess"), 401, "Bearer");
        requireError(server.get(path, ""), 401, "Bearer");
      }
      assertThat(server.get("/prometheus", READER).statusCode()).isEqualTo(200);
      assertThat(server.get("/api/records/x", READER).statusCode()).isEqualTo(200);
      assertThat(server.get("/api/records/x", OPERATOR).statusCode()).isEqualTo(200);
      requireError(server.get("/api/nothing", READER), 404, "");
      assertThat(server.get("/", null).statusCode()).isEqualTo(200);
      assertThat(server.get("/index.html", null).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void descriptionOfTheApi_isServed_andOpen() {
    try (AdminServer server = AdminServer.with(AdminServer.tokens(folder))) {
      HttpResponse<String> description = server.get("/swagger/admin.yml", null);

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
  }

  @Test
  void changes_needAnOperator() {
    try (AdminServer server = AdminServer.with(AdminServer.tokens(folder))) {
      for (String method : List.of("POST", "PUT", "DELETE", "PATCH", "OPTIONS")) {
        for (String path : List.of("/api/records/x", "/", "/health/liveness")) {
          assertThat(server.send(method, path, null, Optional.of("{}")).statusCode())
              .as("%s %s", method, path)
              .isEqualTo(401);
          requireError(server.send(method, path, READER, Optional.of("{}")), 403, "rita");
        }
      }
      requireError(server.post("/api/records/x", OPERATOR, "{}"), 405, "");
    }
  }

  @Test
  void health_isOpen_andSaysItsStatusAlone_toWhoeverHasNoToken() {
    try (AdminServer server = AdminServer.with(AdminServer.tokens(folder))) {
      assertThat(server.get("/health/liveness", null).body()).isEqualTo("{\"status\":\"UP\"}");
      assertThat(server.get("/health/liveness", READER).body()).contains("details");
    }
  }

  @Test
  void token_takenOutOfTheFile_countsNoMore_andOnePutIn_does() {
    Path tokens = AdminServer.tokens(folder);
    try (AdminServer server = AdminServer.with(tokens)) {
      assertThat(server.get("/api/records/x", READER).statusCode()).isEqualTo(200);

      AdminServer.write(tokens, AdminServer.line("nina", "reader", "a-new-one"));

      await()
          .untilAsserted(
              () -> assertThat(server.get("/api/records/x", READER).statusCode()).isEqualTo(401));
      assertThat(server.get("/api/records/x", "a-new-one").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void withoutTokens_thisMachineMayRead_andNobodyMayChange() {
    try (AdminServer server = AdminServer.open()) {
      assertThat(server.get("/api/records/x", null).statusCode()).isEqualTo(200);
      assertThat(server.get("/prometheus", null).statusCode()).isEqualTo(200);
      assertThat(server.get("/health/liveness", null).body()).contains("details");
      requireError(server.post("/api/records/x", null, "{}"), 403, "firstclaim.admin.token-file");
      requireError(server.post("/api/records/x", OPERATOR, "{}"), 403, "token-file");
    }
  }

  @Test
  void withoutTokens_whatComesFromElsewhere_isRefused() {
    try (AdminServer server = AdminServer.open()) {
      RawClient client = new RawClient(server.port());
      String elsewhere = "GET /api/records/x HTTP/1.1\r\nHost: rebound.example\r\n\r\n";
      String passedOn =
          "GET /api/records/x HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n";
      String here = "GET /api/records/x HTTP/1.1\r\nHost: localhost:8080\r\n\r\n";

      assertThat(client.answer(elsewhere)).startsWith("HTTP/1.1 403");
      assertThat(client.answer(passedOn)).startsWith("HTTP/1.1 403");
      assertThat(client.answer(here)).startsWith("HTTP/1.1 200");
    }
  }

  @Test
  void everyAnswer_hasTheHeadersThatKeepABrowserInBounds() {
    try (AdminServer server = AdminServer.with(AdminServer.tokens(folder))) {
      for (HttpResponse<String> answer :
          List.of(
              server.get("/", null),
              server.get("/nothing", null),
              server.get("/api/records/x", null),
              server.get("/api/records/x", READER),
              server.post("/api/records/x", OPERATOR, "x".repeat(100_000)),
              server.get("/health/liveness", null))) {
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
  }

  @Test
  void oversizedRequest_isRefused() {
    try (AdminServer server = AdminServer.with(AdminServer.tokens(folder))) {
      String reason = "{\"reason\":\"%s\"}".formatted("x".repeat(100_000));
      requireError(server.post("/api/pause", OPERATOR, reason), 413, "");
      String longHeader =
          "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + "x".repeat(20_000) + "\r\n\r\n";
      assertThat(new RawClient(server.port()).answer(longHeader)).startsWith("HTTP/1.1 4");
    }
  }

  @Test
  void everyRouteOfTheApi_asksForItsRole() {
    try (AdminServer server = AdminServer.with(AdminServer.tokens(folder))) {
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
        assertThat(server.get(path, null).statusCode()).as(path).isEqualTo(401);
        assertThat(server.get(path, "wrong").statusCode()).as(path).isEqualTo(401);
        assertThat(server.get(path, READER).statusCode()).as(path).isNotIn(401, 403, 405, 500);
        assertThat(server.get(path, OPERATOR).statusCode()).as(path).isNotIn(401, 403, 405, 500);
      }
      for (String path :
          List.of(
              "/api/records/x/release",
              "/api/records/x/redrive",
              "/api/dismiss",
              "/api/records/x/dismiss",
              "/api/redrive",
              "/api/redrives/x/pause",
              "/api/redrives/x/resume",
              "/api/redrives/x/cancel",
              "/api/pause",
              "/api/resume")) {
        assertThat(server.post(path, null, "{}").statusCode()).as(path).isEqualTo(401);
        assertThat(server.post(path, "wrong", "{}").statusCode()).as(path).isEqualTo(401);
        assertThat(server.post(path, READER, "{}").statusCode()).as(path).isEqualTo(403);
        requireError(server.post(path, OPERATOR, "{}"), 400, "give");
        requireError(server.post(path, OPERATOR, "{\"reason\":"), 400, "");
        requireError(server.post(path, OPERATOR, "{\"reason\":\" \"}"), 400, "");
        requireError(server.post(path, OPERATOR, "{\"reasson\":\"x\"}"), 400, "reasson");
      }
    }
  }

  @Test
  void whatCannotBeWrittenDown_isNotDone() {
    try (AdminServer server = AdminServer.with(AdminServer.tokens(folder))) {
      var lease =
          ((ClaimResult.Granted)
                  server
                      .claims()
                      .claim(
                          Claim.of(
                              RecordId.of("x"), Fingerprint.none(), TimeSource.system().now())))
              .lease();

      requireError(
          server.post("/api/records/x/release", OPERATOR, "{\"reason\":\"stuck\"}"),
          503,
          "orders.acts");
      assertThat(server.claims().complete(lease, null)).isInstanceOf(SettleResult.Settled.class);
    }
  }
}
