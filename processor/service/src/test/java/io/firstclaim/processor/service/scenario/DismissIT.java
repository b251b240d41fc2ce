package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Dead records that operators dismiss, over HTTP. */
class DismissIT {
  private static final Map<String, String> NEEDLESS = Map.of("reason", "needless");

  @TempDir static Path folder;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 2);

  private Zone zone(String name) {
    return scenario.zone(name).audited(scenario.topic()).operatedWith(Operator.TOKEN, folder);
  }

  private static Set<String> ids(Zone zone, String list) throws IOException {
    return new TreeSet<>(Operator.get(zone, "/api/" + list).path("items").findValuesAsText("id"));
  }

  private void awaitDead(Zone zone, String... ids) {
    scenario.eventually(
        "the dead in zone " + zone.name(),
        () -> assertThat(ids(zone, "dead")).containsExactlyInAnyOrder(ids));
  }

  @Test
  void whatIsDismissed_leavesTheListEverywhere_andIsRedrivenByItselfAlone() throws Exception {
    AtomicBoolean mended = new AtomicBoolean();
    scenario
        .sink()
        .behave(
            call ->
                mended.get()
                    ? 200
                    : switch (call.id()) {
                      case "one", "late" -> 422;
                      case "two", "three" -> 410;
                      default -> 200;
                    });
    Zone a = zone("a");
    Zone b = zone("b");
    Servers.KAFKA.createTopic(scenario.topic() + ".acts", 1, Map.of("retention.ms", "604800000"));
    scenario.start();
    scenario.eventually(
        "zone a says what its acts will come to",
        () ->
            assertThat(Files.readString(a.log()))
                .contains("%s.acts has retention.ms=604800000: ".formatted(scenario.topic()))
                .contains(
                    "--entity-name %s.acts --add-config retention.ms=-1"
                        .formatted(scenario.topic())));
    scenario.feed().send(List.of("good", "late", "one", "two", "three"));
    awaitDead(a, "one", "two", "three", "late");

    assertThat(Operator.statusOf(a, "/api/records/good/dismiss", NEEDLESS)).isEqualTo(409);
    JsonNode one = Operator.act(a, "/api/records/one/dismiss", NEEDLESS);
    assertThat(one.path("state").asText()).isEqualTo("DEAD");
    assertThat(one.path("dismissed").path("by").asText()).isEqualTo("otto");
    assertThat(one.path("dismissed").path("token")).isEqualTo(one.path("token"));
    var again = Operator.act(b, "/api/records/one/dismiss", Map.of("reason", "once more"));
    assertThat(again.path("dismissed")).as("the first counts").isEqualTo(one.path("dismissed"));

    Map<String, Object> gone = Map.of("topic", scenario.topic(), "cause", "410", "dryRun", true);
    awaitDead(b, "two", "three", "late");
    JsonNode tried = Operator.act(b, "/api/dismiss", gone);
    assertThat(tried.path("count").asInt()).isEqualTo(2);
    assertThat(tried.path("samples").findValuesAsText("state")).containsExactly("DEAD", "DEAD");
    awaitDead(b, "two", "three", "late");
    Map<String, Object> meant =
        Map.of("topic", scenario.topic(), "cause", "410", "reason", "sent by mistake");
    assertThat(Operator.act(b, "/api/dismiss", meant).path("dismissed").asInt()).isEqualTo(2);
    assertThat(Operator.act(b, "/api/dismiss", meant).path("dismissed").asInt()).isZero();
    awaitDead(a, "late");
    assertThat(Operator.get(a, "/api/summary").path("overview").path("dead").path("count").asInt())
        .isEqualTo(1);
    assertThat(ids(a, "dismissed")).containsExactly("one", "three", "two");

    a.kill();
    scenario.start(a);
    awaitDead(a, "late");

    mended.set(true);
    Map<String, Object> all = Map.of("id", "all", "topic", scenario.topic(), "reason", "fixed");
    JsonNode dry =
        Operator.act(a, "/api/redrive", Map.of("topic", scenario.topic(), "dryRun", true));
    assertThat(dry.path("count").asInt()).isEqualTo(1);
    var _ = Operator.act(a, "/api/redrive", all);
    scenario.eventually(
        "the redrive is done",
        () ->
            assertThat(Operator.get(a, "/api/redrives/all").path("state").asText())
                .isEqualTo("DONE"));
    JsonNode done = Operator.get(a, "/api/redrives/all");
    assertThat(done.path("moved").asInt()).as("%s", done).isEqualTo(1);
    assertThat(done.path("skipped").path("dismissed").asInt()).as("%s", done).isEqualTo(3);
    scenario.awaitCompleted(List.of("late"));

    JsonNode redriven =
        Operator.act(a, "/api/records/one/redrive", Map.of("reason", "it was not needless"));
    assertThat(redriven.path("dismissed").path("reason").asText()).isEqualTo("needless");
    scenario.awaitCompleted(List.of("one"));
    assertThat(a.logText()).contains("it was dismissed by otto: needless");
    assertThat(scenario.outcomes().of("COMPLETED", "two")).isZero();
  }
}
