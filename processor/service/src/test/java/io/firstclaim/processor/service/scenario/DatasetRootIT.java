package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A root of the dataset that something else has written over, and an S3 that does not answer. */
@Order(3)
class DatasetRootIT {
  private static final boolean SOAK = Boolean.getBoolean("soak");
  private static final int RECORDS = SOAK ? 2_000 : 200;

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

    awaitBreakersOpen(zones);
    scenario
        .within(Scenario.PATIENCE, "nothing is given up")
        .during(Duration.ofSeconds(4))
        .until(() -> letters.all().isEmpty());

    lake.writeRoot(right);

    scenario.awaitCompleted(ids);
    for (Zone zone : zones) {
      assertThat(lines(zone, "The downstream is not there"))
          .singleElement()
          .satisfies(
              line ->
                  assertThat(line)
                      .contains(
                          lake.bucket(), Lake.ROOT, "is not a JSON object", "dataset repair"));
      assertThat(lines(zone, "is not known to have a policy"))
          .as("nobody has made the bucket for it")
          .singleElement()
          .satisfies(line -> assertThat(line).contains("datasets/*", "metastore/*"));
    }
    for (Damage damage : SOAK ? EnumSet.allOf(Damage.class) : EnumSet.of(Damage.EMPTY)) {
      pausesTheIntakeUntilItIsMended(zones, damage);
    }
    if (SOAK) {
      Rule outage = lake.proxy().add(Rule.always(Match.any(), new Fault.Refuse()));
      pausesTheIntake(zones, "outage", () -> lake.proxy().remove(outage));
    }
    assertThat(letters.all()).isEmpty();
    assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(lake.files());
  }

  private void pausesTheIntakeUntilItIsMended(List<Zone> zones, Damage damage) throws IOException {
    byte[] right = lake.root();
    List<String> manifests = lake.manifestsNamed();
    lake.writeRoot(damage.of(right));
    pausesTheIntake(
        zones,
        damage.name(),
        () -> {
          // Those that wait find their files, and look for them in the manifests.
          switch (damage) {
            case EMPTY -> lake.delete(manifests.getFirst());
            case TRUNCATED -> lake.write(manifests.getFirst(), new byte[] {'{'});
            case ANOTHER_JSON, LATER_VERSION -> {}
          }
          lake.writeRoot(right);
        });
  }

  private void pausesTheIntake(List<Zone> zones, String fault, Runnable mend) {
    List<String> ids = Feed.ids(fault, 50);

    scenario.feed().send(ids);

    awaitBreakersOpen(zones);
    mend.run();
    scenario.awaitCompleted(ids);
  }

  private void awaitBreakersOpen(List<Zone> zones) {
    scenario.eventually(
        "both breakers are open",
        () ->
            assertThat(zones)
                .allSatisfy(
                    zone -> assertThat(zone.metric("firstclaim_breaker_open")).isEqualTo(1)));
  }

  /** What the root may be other than itself, besides what is no JSON. */
  private enum Damage {
    EMPTY,
    TRUNCATED,
    ANOTHER_JSON,
    LATER_VERSION;

    byte[] of(byte[] right) {
      return switch (this) {
        case EMPTY -> new byte[0];
        case TRUNCATED -> Arrays.copyOf(right, right.length / 2);
        case ANOTHER_JSON -> "{\"tables\": []}".getBytes(UTF_8);
        case LATER_VERSION ->
            new String(right, UTF_8)
                .replaceFirst("\"schemaVersion\": *\\d+", "\"schemaVersion\": 9")
                .getBytes(UTF_8);
      };
    }
  }

  private static List<String> lines(Zone zone, String text) {
    return zone.logText().lines().filter(line -> line.contains(text)).toList();
  }

  private Zone zone(String name) {
    return lake.writtenBy(scenario.zone(name), lake.proxy().endpoint())
        .set("FIRSTCLAIM_RETRY_MAX_ATTEMPTS", "3")
        .set("FIRSTCLAIM_RETRY_BACKOFF", "100ms");
  }
}
