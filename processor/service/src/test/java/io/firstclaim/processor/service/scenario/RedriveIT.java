package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Dead letters, redriven over HTTP; {@code -Dredrive.letters=1000} for as many. */
@Order(1)
class RedriveIT {
  private static final int LETTERS = Integer.getInteger("redrive.letters", 100);

  /** Records a second: five seconds of work, however many letters there are. */
  private static final int RATE = LETTERS / 5;

  @TempDir static Path folder;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);

  private Zone zone(String name) {
    return scenario.zone(name).audited(scenario.topic()).operatedWith(Operator.TOKEN, folder);
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
        Operator.act(
            a, "/api/redrive", Map.of("topic", scenario.topic(), "cause", "422", "dryRun", true));
    assertThat(tried.path("count").asInt()).isEqualTo(LETTERS);
    assertThat(tried.path("samples")).hasSize(20);

    Map<String, Object> body =
        Map.of(
            "id", "monday",
            "topic", scenario.topic(),
            "cause", "422",
            "rate", RATE,
            "reason", "fixed");
    assertThat(Operator.act(a, "/api/redrive", body).path("id").asText()).isEqualTo("monday");
    scenario.eventually(
        "some are completed",
        () ->
            assertThat(scenario.outcomes().ids("COMPLETED").stream().filter(ids::contains))
                .hasSizeGreaterThan(LETTERS / 3));
    a.kill();
    int before = scenario.outcomes().ids("COMPLETED").size();
    assertThat(before).as("the middle").isLessThan(LETTERS);
    assertThat(Operator.act(b, "/api/redrive", body).path("id").asText()).isEqualTo("monday");

    scenario.eventually(
        "the other zone has gone on to the end",
        () ->
            assertThat(Operator.get(b, "/api/redrives/monday").path("state").asText())
                .isEqualTo("DONE"));
    scenario.awaitCompleted(ids);
    JsonNode done = Operator.get(b, "/api/redrives/monday");
    assertThat(done.path("moved").asInt()).as("%s", done).isEqualTo(LETTERS);
    assertThat(done.path("diedAgain").asInt()).isZero();
    for (String id : ids) {
      assertThat(scenario.outcomes().of("COMPLETED", id)).as("completions of %s", id).isEqualTo(1);
      assertThat(Operator.get(b, "/api/records/" + id).path("state").asText()).isEqualTo("DONE");
    }
  }

  @Test
  void recordTooLargeForItsTopicByNow_isDeadAsItWas_andMovesOnceItFits_amongThoseThatAreNamed()
      throws Exception {
    AtomicBoolean fixed = new AtomicBoolean();
    scenario.sink().behave(call -> call.id().startsWith("big") && !fixed.get() ? 422 : 200);
    Zone a = zone("a");
    scenario.start();
    for (String id : List.of("big-1", "big-2")) {
      scenario.feed().send(id, "x".repeat(50_000));
    }
    scenario.feed().send(List.of("big-small"));
    scenario.eventually(
        "they are dead",
        () -> assertThat(scenario.outcomes().ids("DEAD")).contains("big-1", "big-2", "big-small"));
    fixed.set(true);
    scenario.groups().configureTopic(scenario.topic(), "max.message.bytes", "20000");

    assertThat(Operator.statusOf(a, "/api/records/big-1/redrive", Map.of("reason", "fixed")))
        .isEqualTo(409);
    JsonNode dead = Operator.get(a, "/api/records/big-1");
    assertThat(dead.path("state").asText()).as("%s", dead).isEqualTo("DEAD");
    assertThat(dead.path("cause").asText()).contains("422");
    assertThat(dead.path("attempts").asInt()).isEqualTo(1);

    scenario.groups().configureTopic(scenario.topic(), "max.message.bytes", "1000000");
    Map<String, Object> body =
        Map.of("ids", List.of("big-1", "big-2"), "delay", "1s", "reason", "fixed");
    String id = Operator.act(a, "/api/redrive", body).path("id").asText();
    scenario.awaitCompleted(List.of("big-1", "big-2"));
    scenario.eventually(
        "it ends",
        () ->
            assertThat(Operator.get(a, "/api/redrives/" + id).path("state").asText())
                .isEqualTo("DONE"));
    assertThat(Operator.get(a, "/api/redrives/" + id).path("moved").asInt()).isEqualTo(2);
    assertThat(Operator.get(a, "/api/records/big-small").path("state").asText())
        .as("which nobody named")
        .isEqualTo("DEAD");
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

    assertThat(Operator.command(a, "redrive", "x", "--reason", "fixed", "--dry-run")).isZero();
    JsonNode dead = Operator.get(a, "/api/records/x");
    assertThat(dead.path("state").asText()).isEqualTo("DEAD");
    long token = dead.path("token").asLong();
    assertThat(
            Operator.refusal(
                a, "/api/records/x/release", Map.of("reason", "stuck", "token", token - 1)))
        .isEqualTo(
            new Operator.Refusal(
                409,
                "record x is DEAD under token %d by now, not under %d: look at it again"
                    .formatted(token, token - 1)));
    JsonNode answer = Operator.act(a, "/api/records/x/redrive", Map.of("reason", "fixed"));

    assertThat(answer.path("redrive").asText()).isNotEmpty();
    scenario.awaitCompleted(List.of("x"));
    scenario.eventually(
        "its history is known",
        () ->
            assertThat(
                    Operator.get(a, "/api/records/x").path("history").findValuesAsText("outcome"))
                .containsSubsequence("DEAD", "COMPLETED"));
  }

  @Test
  void recordThatTheCommandFreed_andOneWhoseClaimIsForgotten_areMovedByTheirRedrives()
      throws Exception {
    AtomicBoolean fixed = new AtomicBoolean();
    scenario.sink().behave(call -> call.id().startsWith("lost") && !fixed.get() ? 422 : 200);
    Zone a = zone("a");
    scenario.start();
    List<String> ids = List.of("lost-freed", "lost-forgotten");
    scenario.feed().send(ids);
    scenario.eventually(
        "they are dead", () -> assertThat(scenario.outcomes().ids("DEAD")).containsAll(ids));
    fixed.set(true);
    Map<String, String> env = new HashMap<>(Backend.DYNAMODB.settings(scenario.topic()));
    env.put("FIRSTCLAIM_APPLICATION", scenario.topic());
    env.putAll(Backend.ACCESS);
    Run freed = Run.of(folder, env, "redrive", "lost-freed", "--reason", "fixed");
    assertThat(freed.exitCode()).as(freed.output()).isZero();
    try (DynamoDbClaims claims = new DynamoDbClaims(scenario.topic())) {
      claims.forget("lost-forgotten");
    }

    Map<String, Object> body =
        Map.of("ids", List.of("lost-freed"), "dryRun", true, "reason", "fixed");
    assertThat(Operator.statusOf(a, "/api/redrive", body)).isEqualTo(200);
    Operator.act(a, "/api/records/lost-freed/redrive", Map.of("reason", "fixed"));
    Operator.act(
        a, "/api/records/lost-forgotten/redrive", Map.of("reason", "fixed", "mayBeDone", true));

    for (String id : ids) {
      scenario.eventually(
          id + " is done",
          () ->
              assertThat(Operator.get(a, "/api/records/" + id).path("state").asText())
                  .isEqualTo("DONE"));
    }
  }
}
