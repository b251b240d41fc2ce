package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Dead letters, redriven over HTTP. */
@Timeout(240)
class RedriveIT {
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String TOKEN = "an-operators";
  private static final int LETTERS = Integer.getInteger("redrive.letters", 100);

  @TempDir static Path folder;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);

  private Zone zone(String name) {
    return scenario
        .zone(name)
        .audited()
        .operatedWith(TOKEN, folder)
        .set("FIRSTCLAIM_APPLICATION", scenario.topic());
  }

  private static JsonNode ask(Zone zone, String method, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + zone.port() + path))
            .header("Authorization", "Bearer " + TOKEN)
            .header("Content-Type", "application/json")
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> answer = HTTP.send(request, BodyHandlers.ofString());
    assertThat(answer.statusCode()).as("%s %s: %s", method, path, answer.body()).isLessThan(300);
    return JSON.readTree(answer.body());
  }

  @Test
  void deadLetters_redrivenAndKilledInTheMiddle_areCompletedOnceMoreEach() throws Exception {
    AtomicBoolean fixed = new AtomicBoolean();
    scenario.sink().behave(call -> call.id().startsWith("order") && !fixed.get() ? 422 : 200);
    Zone a = zone("a");
    Zone b = zone("b");
    scenario.start();
    List<String> ids = Feed.ids("order", LETTERS);
    scenario.feed().send(ids);
    scenario.eventually(
        "all are dead", () -> assertThat(scenario.outcomes().ids("DEAD")).containsAll(ids));
    fixed.set(true);

    JsonNode tried =
        ask(
            a,
            "POST",
            "/api/redrive",
            "{\"topic\":\"%s\",\"cause\":\"422\",\"dryRun\":true}".formatted(scenario.topic()));
    assertThat(tried.path("count").asInt()).isEqualTo(LETTERS);
    assertThat(tried.path("samples")).hasSize(20);

    String body =
        "{\"id\":\"monday\",\"topic\":\"%s\",\"cause\":\"422\",\"rate\":20,\"reason\":\"fixed\"}"
            .formatted(scenario.topic());
    assertThat(ask(a, "POST", "/api/redrive", body).path("id").asText()).isEqualTo("monday");
    scenario.eventually(
        "some are completed",
        () ->
            assertThat(scenario.outcomes().ids("COMPLETED").stream().filter(ids::contains))
                .hasSizeGreaterThan(LETTERS / 10));
    a.kill();
    assertThat(ask(b, "POST", "/api/redrive", body).path("id").asText()).isEqualTo("monday");

    scenario.eventually(
        "the other zone has gone on to the end",
        () ->
            assertThat(ask(b, "GET", "/api/redrives/monday", "").path("state").asText())
                .isEqualTo("DONE"));
    scenario.awaitCompleted(ids);
    JsonNode done = ask(b, "GET", "/api/redrives/monday", "");
    assertThat(done.path("moved").asInt()).as("%s", done).isEqualTo(LETTERS);
    assertThat(done.path("diedAgain").asInt()).isZero();
    for (String id : ids) {
      assertThat(scenario.outcomes().of("COMPLETED", id)).as("completions of %s", id).isEqualTo(1);
      assertThat(ask(b, "GET", "/api/records/" + id, "").path("state").asText()).isEqualTo("DONE");
    }
  }

  @Test
  void oneRecord_isRedriven_andItsActIsWrittenDown() throws Exception {
    AtomicBoolean fixed = new AtomicBoolean();
    scenario.sink().behave(call -> call.id().equals("x") && !fixed.get() ? 422 : 200);
    Zone a = zone("a");
    scenario.start();
    scenario.feed().send(List.of("x"));
    scenario.eventually(
        "it is dead", () -> assertThat(scenario.outcomes().ids("DEAD")).contains("x"));
    fixed.set(true);

    JsonNode answer = ask(a, "POST", "/api/records/x/redrive", "{\"reason\":\"fixed\"}");

    assertThat(answer.path("redrive").asText()).isNotEmpty();
    scenario.awaitCompleted(List.of("x"));
    scenario.eventually(
        "its history is known",
        () ->
            assertThat(
                    ask(a, "GET", "/api/records/x", "").path("history").findValuesAsText("outcome"))
                .containsSubsequence("DEAD", "COMPLETED"));
  }
}
