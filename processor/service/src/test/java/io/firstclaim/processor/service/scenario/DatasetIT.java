package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import software.amazon.awssdk.core.sync.RequestBody;

@OneBackend(Backend.DYNAMODB)
class DatasetIT {
  private static final String STRAY =
      "datasets/stray/year=2026/month=07/day=04/%064x".formatted(0xbeef);

  @RegisterExtension final Scenario scenario;
  private final Lake lake = new Lake();

  DatasetIT(Backend backend) {
    scenario = new Scenario(backend, 4);
  }

  @AfterEach
  void close() {
    lake.close();
  }

  @Test
  void filesOfAZoneKilledBeforeItListedThem_areListed() {
    lake.client()
        .putObject(put -> put.bucket(lake.bucket()).key(STRAY), RequestBody.fromString("left"));
    Zone a = zone("a", lake.proxy().endpoint());
    Zone b = zone("b", lake.endpoint());
    scenario.start();
    Rule refused =
        lake.proxy()
            .add(
                Rule.always(
                    Match.operation("PUT").and(Match.pathContains("dataset_registry.json")),
                    new Fault.Refuse()));
    int before = files().size();
    List<String> ids = Feed.ids("event", 40);
    scenario.feed().send(ids);
    scenario.eventually(
        "every record has its file", () -> assertThat(files()).hasSize(before + ids.size()));
    scenario.eventually(
        "zone a cannot list its own", () -> assertThat(refused.hits()).isPositive());
    assertThat(scenario.outcomes().ids("COMPLETED")).hasSizeLessThan(ids.size());

    a.kill();

    scenario.awaitCompleted(ids);
    scenario.awaitAtTheEnd(b);
    assertThat(scenario.outcomes().onlyOne("COMPLETED")).containsOnlyKeys(ids);
    assertThat(scenario.outcomes().ids("TAKEN_OVER")).isNotEmpty();
    assertThat(files()).as("files, each written once").hasSize(before + ids.size()).contains(STRAY);
    scenario.eventually(
        "the registry lists what is there",
        () -> assertThat(lake.listed()).containsExactlyInAnyOrderElementsOf(files()));
  }

  private List<String> files() {
    return lake.files();
  }

  private Zone zone(String name, URI s3) {
    return lake.writtenBy(scenario.zone(name), s3)
        .lease(Duration.ofSeconds(5))
        .patient()
        .set("FIRSTCLAIM_CLAIM_S3_BUCKET", lake.bucket());
  }
}
