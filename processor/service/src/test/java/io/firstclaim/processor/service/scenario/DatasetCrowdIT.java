package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.dataset.Verification;
import io.firstclaim.processor.dataset.Verification.Finding;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import software.amazon.awssdk.core.sync.RequestBody;

/**
 * Four instances in two zones write one dataset that 0.1.0 has begun, and merge its manifests,
 * while instances are killed.
 */
@Isolated("it keeps the machine busy")
@Timeout(1200)
class DatasetCrowdIT {
  private static final boolean SOAK = Boolean.getBoolean("soak");
  private static final int BEFORE = SOAK ? 20_000 : 1_000;
  private static final int RECORDS = SOAK ? 50_000 : 1_500;
  private static final int KILLS = SOAK ? 10 : 2;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 8);
  private final Lake lake = new Lake();

  @AfterEach
  void close() {
    lake.close();
  }

  @Test
  void everyFileIsListedOnce_whoeverIsKilled() throws Exception {
    List<String> before = begunByVersionOne();
    List<Zone> running = new ArrayList<>(List.of(zone("a"), zone("b"), zone("a"), zone("b")));
    scenario.start();
    List<String> ids = Feed.ids("event", RECORDS);

    for (int kill = 1; kill <= KILLS; kill++) {
      scenario.feed().send(ids.subList((kill - 1) * RECORDS / KILLS, kill * RECORDS / KILLS));
      int enough = ThreadLocalRandom.current().nextInt(RECORDS / KILLS);
      int done = (kill - 1) * RECORDS / KILLS + enough;
      scenario
          .within(Duration.ofMinutes(5), "some are done")
          .until(() -> scenario.outcomes().ids("COMPLETED").size() >= done);
      Zone killed = running.removeFirst();
      killed.kill();
      if (SOAK) {
        Zone next = zone(killed.name());
        scenario.start(next);
        running.addLast(next);
      }
    }

    scenario
        .within(Duration.ofMinutes(10), "the records are completed")
        .untilAsserted(() -> assertThat(scenario.outcomes().ids("COMPLETED")).containsAll(ids));
    List<String> listed = lake.listed();
    assertThat(listed)
        .doesNotHaveDuplicates()
        .containsAll(before)
        .containsExactlyInAnyOrderElementsOf(lake.files());
    assertThat(listed).hasSizeGreaterThanOrEqualTo(BEFORE + RECORDS);
    assertThat(findings()).isEmpty();
    assertThat(lake.root()).hasSizeLessThan(64 << 10);
    assertThat(lake.manifestsNamed()).as("they were merged").isLessThan(lake.manifestsThere());
  }

  private List<Finding> findings() throws InterruptedException {
    List<Finding> findings = new ArrayList<>();
    new Verification(lake.client(), lake.bucket(), "").run(findings::add);
    return findings;
  }

  /** A registry as 0.1.0 leaves it, with its files. */
  private List<String> begunByVersionOne() throws Exception {
    Map<String, List<String>> sizes = new TreeMap<>();
    List<String> paths = new ArrayList<>();
    for (int i = 0; i < BEFORE; i++) {
      String partition = "datasets/earlier/year=2026/month=07/day=%02d".formatted(i % 20 + 1);
      String name = "%064x".formatted(0x100000000L * i);
      sizes.computeIfAbsent(partition, _ -> new ArrayList<>()).add("\"%s\":1".formatted(name));
      paths.add(partition + "/" + name);
    }
    try (ExecutorService threads = Executors.newFixedThreadPool(16)) {
      List<Future<?>> writes = new ArrayList<>();
      for (String path : paths) {
        writes.add(
            threads.submit(
                () ->
                    lake.client()
                        .putObject(
                            put -> put.bucket(lake.bucket()).key(path),
                            RequestBody.fromString("x"))));
      }
      for (Future<?> write : writes) {
        write.get();
      }
    }
    List<String> partitions = new ArrayList<>();
    sizes.forEach(
        (partition, files) ->
            partitions.add(
                "\"%s\":{\"files\":%d,\"bytes\":%d,\"sizes\":{%s}}"
                    .formatted(partition, files.size(), files.size(), String.join(",", files))));
    lake.writeRoot(
        "{\"updatedAt\":\"2026-07-04T12:00:00Z\",\"files\":%d,\"bytes\":%d,\"partitions\":{%s}}"
            .formatted(BEFORE, BEFORE, String.join(",", partitions))
            .getBytes(UTF_8));
    return paths;
  }

  private Zone zone(String name) {
    return scenario
        .zone(name)
        .lease(Duration.ofSeconds(5))
        .set("FIRSTCLAIM_HANDLER_TYPE", "dataset")
        .set("FIRSTCLAIM_HANDLER_DATASET_BUCKET", lake.bucket())
        .set("FIRSTCLAIM_HANDLER_DATASET_REGISTRY_INTERVAL", "100ms")
        .set("AWS_ENDPOINT_URL_S3", lake.endpoint().toString());
  }
}
