package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.fault.FaultProxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@Order(2)
@OneBackend(Backend.DYNAMODB)
class StoreOutageIT {
  private static final Duration OUTAGE = Duration.ofSeconds(30);

  @RegisterExtension final Scenario scenario;

  StoreOutageIT(Backend backend) {
    scenario = new Scenario(backend, 4);
  }

  /** Half of the outage the store resets every connection, half of it nothing comes through. */
  @Test
  void storeOutage_startsNoHandler_keepsTheGroups_andLosesNothing() {
    AtomicBoolean over = new AtomicBoolean();
    scenario
        .sink()
        .behave(call -> call.id().startsWith("running") && !over.get() ? call.awaitVerdict() : 200);
    FaultProxy proxy = scenario.proxy();
    List<Zone> zones = List.of(scenario.zone("a"), scenario.zone("b"));
    for (Zone zone : zones) {
      // An instance that stopped polling would be thrown out of its group in the outage.
      zone.through(proxy).patient().inLongSessions().set("KAFKA_MAX_POLL_INTERVAL_MS", "20000");
    }
    scenario.start();
    List<String> before = Feed.ids("before", 50);
    List<String> running = Feed.ids("running", 20);
    List<String> backlog = Feed.ids("backlog", 300);
    scenario.feed().send(before);
    scenario.feed().send(running);
    scenario.eventually(
        "records are completed, and others running",
        () -> {
          assertThat(scenario.outcomes().ids("COMPLETED"))
              .containsExactlyInAnyOrderElementsOf(before);
          assertThat(scenario.sink().called()).containsAll(running);
        });
    List<Map<String, Set<TopicPartition>>> members = members(zones);

    proxy.cut();
    scenario.feed().send(backlog);
    int calls = scenario.sink().calls().size();
    scenario.eventually("readiness is DOWN", () -> assertThat(zones).noneMatch(Zone::isReady));
    for (String id : running.subList(0, running.size() / 2)) {
      scenario.sink().callsOf(id).getLast().answer(200);
    }
    staysSo(OUTAGE.dividedBy(2), zones, members, calls);
    proxy.blackhole();
    staysSo(OUTAGE.dividedBy(2), zones, members, calls);
    Instant restored = Instant.now();
    over.set(true);
    proxy.restore();

    List<String> all = new ArrayList<>(before);
    all.addAll(running);
    all.addAll(backlog);
    scenario.eventually(
        "everything is completed",
        () ->
            assertThat(scenario.outcomes().ids("COMPLETED"))
                .containsExactlyInAnyOrderElementsOf(all));
    assertThat(scenario.outcomes().onlyOne("COMPLETED")).containsOnlyKeys(all);
    assertThat(backlog)
        .allSatisfy(
            id -> {
              scenario.requireNoNeedlessCall(id);
              assertThat(scenario.outcomes().onlyOne("COMPLETED", id).at())
                  .isBetween(restored, restored.plusSeconds(10).plus(Scenario.NOISE));
            });
    scenario.eventually("readiness is UP", () -> assertThat(zones).allMatch(Zone::isReady));
    scenario.awaitAtTheEnd(zones.toArray(Zone[]::new));
    assertThat(members(zones)).isEqualTo(members);
  }

  private void staysSo(
      Duration time, List<Zone> zones, List<Map<String, Set<TopicPartition>>> members, int calls) {
    scenario
        .within(time.plus(Scenario.PATIENCE), "no handler starts and the groups are kept")
        .during(time)
        .pollInterval(Duration.ofMillis(500))
        .until(
            () ->
                scenario.sink().calls().size() == calls
                    && zones.stream().noneMatch(Zone::isReady)
                    && members(zones).equals(members));
  }

  private List<Map<String, Set<TopicPartition>>> members(List<Zone> zones) {
    return zones.stream().map(zone -> scenario.groups().members(zone.group())).toList();
  }
}
