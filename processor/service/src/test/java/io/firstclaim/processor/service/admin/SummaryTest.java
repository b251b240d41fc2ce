package io.firstclaim.processor.service.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;

@MicronautTest
class SummaryTest {
  private final Api api;

  SummaryTest(Api api) {
    this.api = api;
  }

  private String summary() {
    HttpResponse<String> answer = api.get("/api/summary", null);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  @Test
  void summary_saysWhatTheInstanceDoes_andWhyThePastIsNotKnown() {
    assertThat(summary())
        .contains(
            "\"application\":\"orders\"",
            "\"topics\":[\"orders\"]",
            "\"name\":\"one\"",
            "\"state\":\"STARTING\"",
            "\"inFlight\":0",
            "\"storeFault\":null",
            "\"shadow\":null",
            "\"heard\":null",
            "\"overview\":null",
            "\"overviewFault\":\"the audit has not been started\"");
  }

  @Test
  void withoutTokens_nobodyHasPausedOrRedrivenAnything() {
    assertThat(summary()).contains("\"redrives\":[]", "\"pauses\":[]");
  }

  @Test
  void summary_hasTheInstancesCounters_fromTheirStart() {
    assertThat(summary()).contains("\"duplicate\":0", "\"takeovers\":0", "\"store\":{\"count\":0");
  }
}
