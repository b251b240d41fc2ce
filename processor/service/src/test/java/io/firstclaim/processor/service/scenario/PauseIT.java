package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** An operator's pause of a zone, and of the whole application. */
class PauseIT {
  @TempDir static Path folder;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);

  private Zone zone(String name) {
    return scenario
        .zone(name)
        .set("FIRSTCLAIM_APPLICATION", scenario.topic())
        .operatedWith(Operator.TOKEN, folder);
  }

  private static String stateOf(Zone zone) throws Exception {
    return Operator.get(zone, "/api/summary").path("instance").path("state").asText();
  }

  @Test
  void pauseOfAZoneAndOfTheApplication_outlivesRestarts_andEndsByItsOwnScopeAlone()
      throws Exception {
    Zone a = zone("a");
    Zone b = zone("b");
    scenario.start();
    for (Zone zone : List.of(a, b)) {
      scenario.eventually(
          "acts can be written",
          () ->
              assertThat(
                      Operator.get(zone, "/api/summary")
                          .path("instance")
                          .path("actsFault")
                          .isNull())
                  .isTrue());
    }

    Operator.act(a, "/api/pause", Map.of("reason", "a look", "scope", "zone"));
    assertThat(stateOf(a)).isEqualTo("PAUSED");
    assertThat(stateOf(b)).isEqualTo("RUNNING");
    scenario.eventually(
        "zone a is paused, and ready once the store answers all claims",
        () ->
            assertThat(Operator.metrics(a))
                .contains("firstclaim_paused 1.0", "firstclaim_ready 1.0"));
    assertThat(Operator.metrics(b)).contains("firstclaim_paused 0.0");
    assertThat(Operator.statusOf(a, "/api/resume", Map.of("reason", "no more"))).isEqualTo(409);
    a.kill();
    a.launch();
    a.awaitReady();
    List<String> first = Feed.ids("first", 20);
    scenario.feed().send(first);
    scenario.awaitCompleted(first);
    assertThat(scenario.outcomes().of("COMPLETED"))
        .filteredOn(outcome -> first.contains(outcome.id()))
        .as("zone a is paused since before its start")
        .extracting(Outcomes.Outcome::zone)
        .containsOnly("b");

    Operator.act(b, "/api/pause", Map.of("reason", "a migration", "scope", "application"));
    Operator.act(a, "/api/resume", Map.of("reason", "seen", "scope", "zone"));
    scenario.eventually("a heard both", () -> assertThat(stateOf(a)).isEqualTo("PAUSED"));
    b.kill();
    b.launch();
    b.awaitReady();
    scenario.eventually(
        "b has read it again",
        () ->
            assertThat(Operator.get(b, "/api/summary").path("pauses").findValuesAsText("reason"))
                .containsExactly("a migration"));
    assertThat(stateOf(b)).isEqualTo("PAUSED");

    List<String> second = Feed.ids("second", 20);
    scenario.feed().send(second);
    Operator.act(a, "/api/resume", Map.of("reason", "done", "scope", "application"));
    scenario.awaitCompleted(second);
    scenario.eventually("b heard it", () -> assertThat(stateOf(b)).isEqualTo("RUNNING"));
  }
}
