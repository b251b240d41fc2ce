package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.fault.FaultProxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Zones that meet a backlog at their start, over a store that takes a second for each answer. */
@Order(3)
@OneBackend(Backend.S3)
class SlowStoreIT {
  private static final Duration LATENCY = Duration.ofSeconds(1);

  /** {@code -Dslow-store.lease=4} leaves the machine a third of a second to be late. */
  private static final Duration LEASE =
      Duration.ofSeconds(Integer.getInteger("slow-store.lease", 30));

  /** {@code -Dslow-store.backlog=3000} for a long run. */
  private static final int BACKLOG = Integer.getInteger("slow-store.backlog", 300);

  private static final String SILENT_STORE = "The lock store answers no ";

  @RegisterExtension final Scenario scenario;

  SlowStoreIT(Backend backend) {
    scenario = new Scenario(backend, 4);
  }

  @Test
  void coldZonesOnABacklog_withASlowStore_handleEachRecordOnce_withManyRequestsAtOnce() {
    FaultProxy proxy = scenario.proxy();
    List<Zone> zones = List.of(scenario.zone("a"), scenario.zone("b"));
    zones.forEach(zone -> zone.lease(LEASE).through(proxy));
    scenario.start(zones.toArray(Zone[]::new)); // without a warm-up
    List<String> backlog = Feed.ids("backlog", BACKLOG);
    proxy.latency(LATENCY);
    Instant begin = Instant.now();

    scenario.feed().send(backlog);
    scenario.awaitCompleted(backlog); // with one request at a time, it takes ten minutes

    assertThat(backlog)
        .allSatisfy(id -> assertThat(scenario.sink().tokensOf(id)).as(id).hasSize(1));
    // A machine that stands still makes the store silent, too: then what was never begun may be
    // lost.
    boolean answered = zones.stream().noneMatch(zone -> zone.logText().contains(SILENT_STORE));
    assertThat(scenario.outcomes().of("LEASE_LOST"))
        .filteredOn(lost -> answered || scenario.sink().tokensOf(lost.id()).contains(lost.token()))
        .isEmpty();
    Instant end = Instant.now();
    System.err.printf(
        "%s: %d records in %s, %d requests: %s%n",
        scenario.backend(),
        BACKLOG,
        Duration.between(begin, end),
        proxy.requests(),
        proxy.requestsByOperation());
  }
}
