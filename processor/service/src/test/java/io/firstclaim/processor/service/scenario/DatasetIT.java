package io.firstclaim.processor.service.scenario;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import io.firstclaim.processor.dataset.DatasetFile;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.sync.RequestBody;

@OneBackend(Backend.DYNAMODB)
@Order(3)
class DatasetIT {
  private static final String STRAY =
      "datasets/stray/year=2026/month=07/day=04/%064x".formatted(0xbeef);

  @TempDir static Path folder;

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

  @Test
  void redrivenRecord_isListedOnTheDayOfItsOwnTime_asItsFirstDeliveryWouldHaveBeen()
      throws Exception {
    long time = Instant.now().minus(Duration.ofDays(3)).toEpochMilli();
    String path = DatasetFile.of(scenario.topic(), time, RecordId.of("x"), 0).path();
    lake.write(path, "what is in its way".getBytes(UTF_8));
    Zone a = zone("a", lake.endpoint()).operatedWith(Operator.TOKEN, folder);
    scenario.start();
    scenario
        .feed()
        .send(
            new ProducerRecord<>(
                scenario.topic(), 0, time, "x".getBytes(UTF_8), "its value".getBytes(UTF_8)));
    scenario.eventually(
        "it is dead", () -> assertThat(scenario.outcomes().ids("DEAD")).contains("x"));
    lake.delete(path);

    Operator.redrive(a, "x", Map.of("reason", "nothing is in its way any more"));

    scenario.awaitCompleted(List.of("x"));
    scenario.eventually("it is listed", () -> assertThat(lake.listed()).contains(path));
    assertThat(files())
        .filteredOn(each -> each.endsWith(path.substring(path.length() - 64)))
        .containsExactly(path);
  }

  private List<String> files() {
    return lake.files();
  }

  private Zone zone(String name, URI s3) {
    return lake.writtenBy(scenario.zone(name), s3)
        .patient()
        .set("FIRSTCLAIM_CLAIM_S3_BUCKET", lake.bucket());
  }
}
