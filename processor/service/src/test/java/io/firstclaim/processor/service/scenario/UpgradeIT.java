package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.stack.git.EarlierPackage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * An upgrade without a stop, zone by zone, from the version at {@code -Dupgrade.from=COMMIT}, which
 * is built from Git: so only in a soak.
 */
@OneBackend(Backend.S3)
@EnabledIfSystemProperty(named = "soak", matches = "true")
class UpgradeIT {
  private static final int RECORDS = 300;

  @RegisterExtension final Scenario scenario;

  UpgradeIT(Backend backend) {
    scenario = new Scenario(backend, 6);
  }

  @Test
  void bothVersions_areAtWorkBesideEachOther_andEachRecordIsCompletedOnce() throws Exception {
    Path before = EarlierPackage.of(System.getProperty("upgrade.from", "")).jar();
    scenario.sink().behave(Sink.takes(Duration.ofMillis(1), Duration.ofMillis(30)));
    Zone a = scenario.zone("a").packagedAs(before);
    Zone b = scenario.zone("b").packagedAs(before);
    scenario.start();
    List<String> ids = new ArrayList<>(Feed.ids("both-before", RECORDS));
    scenario.feed().send(ids);

    upgrade(a, ids, "a-upgraded");
    scenario.awaitCompleted(ids);
    List<String> beside = Feed.ids("beside-each-other", RECORDS);
    scenario.feed().send(beside);
    scenario.awaitCompleted(beside);
    assertThat(scenario.outcomes().of("COMPLETED"))
        .filteredOn(outcome -> beside.contains(outcome.id()))
        .extracting(Outcomes.Outcome::zone)
        .contains("a", "b");
    ids.addAll(beside);
    upgrade(b, ids, "b-upgraded");
    scenario.awaitCompleted(ids);
    scenario.feed().send(ids);
    scenario.awaitAtTheEnd(a, b);

    assertThat(scenario.outcomes().onlyOne("COMPLETED")).containsOnlyKeys(ids);
    ids.forEach(scenario::requireNoNeedlessCall);
    assertThat(scenario.claims().all()).allMatch(claim -> claim.state().equals("DONE"));
  }

  /** Stops a zone while records come, and starts this version in its place. */
  private void upgrade(Zone zone, List<String> ids, String more) {
    List<String> meanwhile = Feed.ids(more, RECORDS);
    scenario.feed().send(meanwhile);
    ids.addAll(meanwhile);
    zone.terminate();
    assertThat(zone.awaitEnd(Scenario.PATIENCE)).isTrue();
    zone.packagedAs(Zone.JAR).launch();
    zone.awaitReady();
  }
}
