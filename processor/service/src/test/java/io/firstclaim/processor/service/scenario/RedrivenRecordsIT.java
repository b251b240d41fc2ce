package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Dead letters, each redriven by itself, by the zone that all tests share. */
class RedrivenRecordsIT {
  @TempDir static Path folder;

  @RegisterExtension static final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);

  private static Zone zone;

  /** What the sink of all tests refuses now: they run side by side. */
  private static final Set<String> REFUSED = ConcurrentHashMap.newKeySet();

  @BeforeAll
  static void start() {
    scenario.sink().behave(call -> REFUSED.contains(call.id()) ? 422 : 200);
    zone =
        scenario
            .zone("a")
            .audited(scenario.topic())
            .operatedWith(Operator.TOKEN, folder)
            .inLongSessions();
    scenario.start();
  }

  @Test
  void recordTooLargeForItsTopicByNow_isDeadAsItWas_andMovesOnceItFits_amongThoseThatAreNamed()
      throws Exception {
    List<String> ids = List.of("big-1", "big-2", "big-small");
    REFUSED.addAll(ids);
    for (String id : List.of("big-1", "big-2")) {
      scenario.feed().send(id, "x".repeat(50_000));
    }
    scenario.feed().send(List.of("big-small"));
    scenario.eventually(
        "they are dead", () -> assertThat(scenario.outcomes().ids("DEAD")).containsAll(ids));
    ids.forEach(REFUSED::remove);
    scenario.groups().configureTopic(scenario.topic(), "max.message.bytes", "20000");
    scenario.eventually(
        "the broker goes by it", () -> assertThat(scenario.feed().takesLarge()).isZero());

    Operator.requireUnpublishable(zone, "big-1");
    JsonNode dead = Operator.get(zone, "/api/records/big-1");
    assertThat(dead.path("state").asText()).as("%s", dead).isEqualTo("DEAD");
    assertThat(dead.path("cause").asText()).contains("422");
    assertThat(dead.path("attempts").asInt()).isEqualTo(1);

    scenario.groups().configureTopic(scenario.topic(), "max.message.bytes", "1000000");
    scenario.eventually(
        "the broker goes by it", () -> assertThat(scenario.feed().takesLarge()).isEqualTo(4));
    Map<String, Object> body =
        Map.of("id", "big", "ids", List.of("big-1", "big-2"), "delay", "1s", "reason", "fixed");
    String id = Operator.act(zone, "/api/redrive", body).path("id").asText();
    scenario.awaitCompleted(List.of("big-1", "big-2"));
    scenario.eventually(
        "it ends",
        () ->
            assertThat(Operator.get(zone, "/api/redrives/" + id).path("state").asText())
                .isEqualTo("DONE"));
    assertThat(Operator.get(zone, "/api/redrives/" + id).path("moved").asInt()).isEqualTo(2);
    assertThat(Operator.get(zone, "/api/records/big-small").path("state").asText())
        .as("which nobody named")
        .isEqualTo("DEAD");
  }

  @Test
  void oneRecord_isRedriven_andItsActIsWrittenDown() throws Exception {
    REFUSED.add("x");
    scenario.feed().send(List.of("x"));
    scenario.eventually(
        "it is dead", () -> assertThat(scenario.outcomes().ids("DEAD")).contains("x"));
    REFUSED.remove("x");

    scenario.eventually(
        "a dry run is answered",
        () ->
            assertThat(Operator.command(zone, "redrive", "x", "--reason", "fixed", "--dry-run"))
                .isZero());
    JsonNode dead = Operator.get(zone, "/api/records/x");
    assertThat(dead.path("state").asText()).isEqualTo("DEAD");
    long token = dead.path("token").asLong();
    assertThat(
            Operator.refusal(
                zone, "/api/records/x/release", Map.of("reason", "stuck", "token", token - 1)))
        .isEqualTo(
            new Operator.Refusal(
                409,
                "record x is DEAD under token %d by now, not under %d: look at it again"
                    .formatted(token, token - 1)));
    JsonNode answer = Operator.redrive(zone, "x", Map.of("reason", "fixed"));

    assertThat(answer.path("redrive").asText()).isNotEmpty();
    scenario.awaitCompleted(List.of("x"));
    scenario.eventually(
        "its history is known",
        () ->
            assertThat(
                    Operator.get(zone, "/api/records/x")
                        .path("history")
                        .findValuesAsText("outcome"))
                .containsSubsequence("DEAD", "COMPLETED"));
  }

  @Test
  void recordThatTheCommandFreed_andOneWhoseClaimIsForgotten_areMovedByTheirRedrives()
      throws Exception {
    List<String> ids = List.of("lost-freed", "lost-forgotten");
    REFUSED.addAll(ids);
    scenario.feed().send(ids);
    scenario.eventually(
        "they are dead", () -> assertThat(scenario.outcomes().ids("DEAD")).containsAll(ids));
    ids.forEach(REFUSED::remove);
    Map<String, String> env = new HashMap<>(Backend.DYNAMODB.settings(scenario.topic()));
    env.put("FIRSTCLAIM_APPLICATION", scenario.topic());
    env.putAll(Backend.ACCESS);
    Run _ = Run.freeing(folder, env, "redrive", "lost-freed", "--reason", "fixed");
    try (DynamoDbClaims claims = new DynamoDbClaims(scenario.topic())) {
      claims.forget("lost-forgotten");
    }

    Map<String, Object> body =
        Map.of("ids", List.of("lost-freed"), "dryRun", true, "reason", "fixed");
    assertThat(Operator.statusOf(zone, "/api/redrive", body)).isEqualTo(200);
    Operator.redrive(zone, "lost-freed", Map.of("reason", "fixed"));
    Operator.redrive(zone, "lost-forgotten", Map.of("reason", "fixed", "mayBeDone", true));

    for (String id : ids) {
      scenario.eventually(
          id + " is done",
          () ->
              assertThat(Operator.get(zone, "/api/records/" + id).path("state").asText())
                  .isEqualTo("DONE"));
    }
  }
}
