package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Dead letters, redriven over HTTP; {@code -Dredrive.letters=1000} for as many. */
@Order(2)
class RedriveIT {
  private static final int LETTERS = Integer.getInteger("redrive.letters", 100);

  /** After every death of this test. */
  private static final String LATER = "2100-01-01T00:00:00Z";

  /** Records a second: half a minute of work, however many letters there are. */
  private static final int RATE = Math.max(1, LETTERS / 30);

  @TempDir static Path folder;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);

  private Zone zone(String name) {
    return scenario.zone(name).audited(scenario.topic()).operatedWith(Operator.TOKEN, folder);
  }

  /** A dry run of those that died before this moment. */
  private Map<String, Object> triedUntil(String moment) {
    return Map.of("topic", scenario.topic(), "cause", "422", "until", moment, "dryRun", true);
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

    JsonNode tried = Operator.tryOut(a, "/api/redrive", triedUntil(LATER));
    String until = tried.path("until").asText();
    assertThat(tried.path("count").asInt()).isEqualTo(LETTERS);
    assertThat(tried.path("samples")).hasSize(20);
    assertThat(tried.path("samples").findValuesAsText("at"))
        .allSatisfy(died -> assertThat(Instant.parse(died)).isBefore(until));
    String firstDeath = tried.path("samples").path(0).path("at").asText();
    assertThat(Operator.tryOut(a, "/api/redrive", triedUntil(firstDeath)).path("count").asInt())
        .as("those that died before the first that was seen")
        .isLessThan(LETTERS);

    Map<String, Object> body =
        Map.of(
            "id",
            "monday",
            "topic",
            scenario.topic(),
            "cause",
            "422",
            "until",
            until,
            "rate",
            RATE,
            "reason",
            "fixed");
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
    assertThat(scenario.outcomes().onlyOne("COMPLETED")).containsOnlyKeys(ids);
    for (String id : ids) {
      assertThat(scenario.outcomes().onlyOne("COMPLETED", id).token())
          .isGreaterThan(scenario.outcomes().onlyOne("DEAD", id).token());
      assertThat(Operator.get(b, "/api/records/" + id).path("state").asText()).isEqualTo("DONE");
    }
  }
}
