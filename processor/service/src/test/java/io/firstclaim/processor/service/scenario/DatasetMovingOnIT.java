package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A registry that 0.1.0 has left, while records come; {@code MovingOnTest} has it small. */
@Order(3)
@EnabledIfSystemProperty(named = "soak", matches = "true")
class DatasetMovingOnIT {
  private static final int BEFORE = 20_000;
  private static final int RECORDS = 6_000;
  private static final int DAYS = 20;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);
  private final Lake lake = new Lake();

  @AfterEach
  void close() {
    lake.close();
  }

  @Test
  void registryOfVersionOne_isMovedOnUnderLoad_thoughAnInstanceThatMovesItOnIsKilled()
      throws Exception {
    TopicReader<DeadLetter> letters = scenario.deadLetters();
    List<String> before = lake.beginAsVersionOne(BEFORE);
    Rule refused =
        lake.proxy()
            .add(
                Rule.always(
                    Match.operation("PUT").and(Match.pathContains(Lake.ROOT)), new Fault.Refuse()));
    List<String> ids = Feed.ids("event", RECORDS);
    scenario.feed().send(ids.subList(0, RECORDS / 3));
    Zone dying = zone("a");
    scenario.start(dying, zone("a"), zone("b"));
    scenario.eventually(
        "one at least was about to move it on",
        () -> assertThat(lake.manifests()).hasSizeGreaterThanOrEqualTo(3 * DAYS));
    scenario.eventually(
        "records wait to be listed",
        () -> assertThat(lake.files()).hasSizeGreaterThan(BEFORE + RECORDS / 4));
    assertThat(refused.hits()).isPositive();
    assertThat(lake.root()).asString(StandardCharsets.UTF_8).doesNotContain("schemaVersion");

    scenario.feed().send(ids.subList(RECORDS / 3, 2 * RECORDS / 3));
    dying.kill();
    lake.proxy().remove(refused);
    scenario.feed().send(ids.subList(2 * RECORDS / 3, RECORDS));

    scenario.awaitCompleted(ids, Duration.ofMinutes(10));
    assertThat(letters.all()).isEmpty();
    List<String> files = lake.files();
    assertThat(new HashSet<>(files)).containsAll(before).hasSize(BEFORE + RECORDS);
    assertThat(lake.listed().stream().sorted().toList()).as("each once").isEqualTo(files);
    assertThat(lake.findings()).isEmpty();
    assertThat(lake.root()).hasSizeLessThan(64 << 10);
  }

  private Zone zone(String name) {
    return lake.writtenBy(scenario.zone(name), lake.proxy().endpoint())
        .lease(Duration.ofSeconds(5))
        .set("FIRSTCLAIM_HANDLER_DATASET_REGISTRY_INTERVAL", "100ms");
  }
}
