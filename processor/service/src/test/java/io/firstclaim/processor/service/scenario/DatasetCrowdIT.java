package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Instances in two zones write one dataset and merge its manifests, while instances are killed: two
 * of them, four with {@code -Psoak}.
 */
@Order(3)
class DatasetCrowdIT {
  private static final boolean SOAK = Boolean.getBoolean("soak");
  private static final int RECORDS = Integer.getInteger("lake.records", SOAK ? 50_000 : 300);
  private static final int KILLS = SOAK ? 10 : 1;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 8);
  private final Lake lake = new Lake();

  @AfterEach
  void close() {
    lake.close();
  }

  @Test
  void everyFileIsListedOnce_whoeverIsKilled() throws Exception {
    List<Zone> running = new ArrayList<>(List.of(zone("a"), zone("b")));
    if (SOAK) {
      running.addAll(List.of(zone("a"), zone("b")));
    }
    scenario.start();
    List<String> ids = Feed.ids("event", RECORDS);

    for (int kill = 1; kill <= KILLS; kill++) {
      scenario.feed().send(ids.subList((kill - 1) * RECORDS / KILLS, kill * RECORDS / KILLS));
      int enough = ThreadLocalRandom.current().nextInt(RECORDS / KILLS);
      int done = (kill - 1) * RECORDS / KILLS + enough;
      scenario
          .within(Scenario.PATIENCE, "some are done")
          .until(() -> scenario.outcomes().ids("COMPLETED").size() >= done);
      Zone killed = running.removeFirst();
      killed.kill();
      if (SOAK) {
        Zone next = zone(killed.name());
        scenario.start(next);
        running.addLast(next);
      }
    }

    scenario.awaitCompleted(ids, Duration.ofMinutes(10));
    List<String> next = new ArrayList<>();
    // Who was killed may have been merging; another goes on after a write, once that turn is over.
    scenario.eventually(
        "manifests are merged",
        () -> {
          next.add("next-" + next.size());
          scenario.feed().send(List.of(next.getLast()));
          assertThat(lake.manifestsNamed()).hasSizeLessThan(lake.manifests().size());
        });
    scenario.awaitCompleted(next);
    List<String> files = lake.files();
    assertThat(files).hasSizeGreaterThanOrEqualTo(RECORDS + next.size());
    assertThat(lake.listed().stream().sorted().toList()).as("each once").isEqualTo(files);
    assertThat(lake.findings()).isEmpty();
    assertThat(lake.root()).hasSizeLessThan(64 << 10);
  }

  private Zone zone(String name) {
    return lake.writtenBy(scenario.zone(name))
        .lease(Duration.ofSeconds(10))
        .set("FIRSTCLAIM_HANDLER_DATASET_REGISTRY_INTERVAL", "100ms");
  }
}
