package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A root of the dataset that something else has written over. */
@Timeout(180)
class DatasetRootIT {
  private static final int RECORDS = 2_000;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);
  private final Lake lake = new Lake();

  @AfterEach
  void close() {
    lake.close();
  }

  @Test
  void damagedRoot_pausesTheIntake_andMakesNoDeadLetter() throws IOException {
    TopicReader<DeadLetter> letters = scenario.deadLetters();
    List<Zone> zones = List.of(zone("a"), zone("b"));
    scenario.start();
    byte[] right = lake.root();
    lake.writeRoot("{\"partitions\":".getBytes(UTF_8));
    List<String> ids = Feed.ids("event", RECORDS);

    scenario.feed().send(ids);

    scenario
        .within(Duration.ofSeconds(30), "both breakers are open")
        .untilAsserted(
            () ->
                assertThat(zones)
                    .allSatisfy(
                        zone -> assertThat(zone.metric("firstclaim_breaker_open")).isEqualTo(1)));
    scenario
        .within(Scenario.PATIENCE, "nothing is given up")
        .during(Duration.ofSeconds(8))
        .until(() -> letters.all().isEmpty());

    lake.writeRoot(right);

    scenario.awaitCompleted(ids);
    assertThat(letters.all()).isEmpty();
    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(lake.files());
    for (Zone zone : zones) {
      assertThat(
              zone.logText().lines().filter(line -> line.contains("The downstream is not there")))
          .singleElement()
          .satisfies(
              line ->
                  assertThat(line)
                      .contains("metastore/dataset_registry.json")
                      .contains(lake.bucket())
                      .contains("dataset repair"));
    }
  }

  private Zone zone(String name) {
    return scenario
        .zone(name)
        .set("FIRSTCLAIM_RETRY_MAX_ATTEMPTS", "3")
        .set("FIRSTCLAIM_RETRY_BACKOFF", "100ms")
        .set("FIRSTCLAIM_HANDLER_TYPE", "dataset")
        .set("FIRSTCLAIM_HANDLER_DATASET_BUCKET", lake.bucket())
        .set("AWS_ENDPOINT_URL_S3", lake.endpoint().toString());
  }
}
