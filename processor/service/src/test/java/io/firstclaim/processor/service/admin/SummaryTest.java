package io.firstclaim.processor.service.admin;

import static io.firstclaim.processor.service.admin.AdminServer.OPERATOR;
import static io.firstclaim.processor.service.admin.AdminServer.READER;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SummaryTest {
  @TempDir Path folder;

  private static String body(HttpResponse<String> answer) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  @Test
  void summary_saysWhatTheInstanceDoes_andWhyThePastIsNotKnown() {
    try (AdminServer server = AdminServer.open()) {
      assertThat(body(server.get("/api/summary", null)))
          .contains(
              "\"application\":\"orders\"",
              "\"topics\":[\"orders\"]",
              "\"name\":\"one\"",
              "\"state\":\"STARTING\"",
              "\"heard\":null",
              "\"overview\":null",
              "\"overviewFault\":\"the audit has not been started\"");
    }
  }

  @Test
  void summary_hasTheInstancesCounters_fromTheirStart() {
    try (AdminServer server = AdminServer.open()) {
      assertThat(body(server.get("/api/summary", null)))
          .contains("\"duplicate\":0", "\"takeovers\":0", "\"store\":{\"count\":0");
    }
  }

  @Test
  void summary_saysWhoAsks_andWhetherTheyMayChangeThings() {
    try (AdminServer server = AdminServer.with(AdminServer.tokens(folder))) {
      assertThat(body(server.get("/api/summary", READER)))
          .contains("\"caller\":{\"name\":\"rita\",\"mayChange\":false}");
      assertThat(body(server.get("/api/summary", OPERATOR)))
          .contains("\"caller\":{\"name\":\"otto\",\"mayChange\":true}");
    }
  }
}
