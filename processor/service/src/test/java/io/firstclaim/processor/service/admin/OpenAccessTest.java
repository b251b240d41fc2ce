package io.firstclaim.processor.service.admin;

import static io.firstclaim.processor.service.admin.Api.OPERATOR;
import static org.assertj.core.api.Assertions.assertThat;

import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import org.junit.jupiter.api.Test;

/** Who may ask and change what, where there are no tokens. */
@MicronautTest
class OpenAccessTest {
  private final Api api;

  OpenAccessTest(Api api) {
    this.api = api;
  }

  @Test
  void thisMachineMayRead_andNobodyMayChange() {
    assertThat(api.get("/api/records/x", null).statusCode()).isEqualTo(200);
    assertThat(api.get("/prometheus", null).statusCode()).isEqualTo(200);
    assertThat(api.get("/health/liveness", null).body()).contains("details");
    Api.requireError(api.post("/api/records/x", null, "{}"), 403, "firstclaim.admin.token-file");
    Api.requireError(api.post("/api/records/x", OPERATOR, "{}"), 403, "token-file");
    assertThat(api.get("/api/summary", null).body())
        .contains("\"actsFault\":\"firstclaim.admin.token-file, which names who may, is not set\"");
  }

  @Test
  void whatComesFromElsewhere_isRefused() {
    RawClient client = new RawClient(api.port());
    String elsewhere = "GET /api/records/x HTTP/1.1\r\nHost: rebound.example\r\n\r\n";
    String passedOn =
        "GET /api/records/x HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n";
    String here = "GET /api/records/x HTTP/1.1\r\nHost: localhost:8080\r\n\r\n";

    assertThat(client.answer(elsewhere)).startsWith("HTTP/1.1 403");
    assertThat(client.answer(passedOn)).startsWith("HTTP/1.1 403");
    assertThat(client.answer(here)).startsWith("HTTP/1.1 200");
  }
}
