package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.service.scenario.Outcomes.Outcome;
import io.firstclaim.processor.service.scenario.handler.Heedless;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Handlers that spin, or heed nothing, on a machine that may have no more CPUs. What spins takes
 * them from all that is tested at the time, so that is for soaks; a build tries it in the engine.
 */
@Execution(ExecutionMode.SAME_THREAD) // two at once would spin for the same CPUs
@Order(3)
class HeedlessHandlerIT {
  @TempDir static Path folder;

  /** A handler's time, which is not over before the test is, on a machine that may be busy. */
  private static final Duration NEVER = Duration.ofHours(2);

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 1);

  @BeforeAll
  static void makeJar() throws Exception {
    HandlerJar.write(folder, Heedless.class);
  }

  private Zone zone(Duration lease, Duration timeout) {
    return scenario
        .zone("a")
        .lease(lease)
        .set("FIRSTCLAIM_HANDLER_TYPE", "Heedless")
        .set("FIRSTCLAIM_HANDLER_PATH", folder.toString())
        .set("FIRSTCLAIM_HANDLER_TIMEOUT", timeout.toSeconds() + "s")
        .set("FIRSTCLAIM_INPUT_MAX_IN_FLIGHT", "3");
  }

  @Test
  @EnabledIfSystemProperty(named = "soak", matches = "true")
  void handlerThatLeavesNoCarrierToVirtualThreads_isToldByLiveness() {
    Zone zone = zone(Duration.ofSeconds(4), NEVER);
    scenario.start(zone);

    scenario.feed().send(List.of("starves"));

    scenario.eventually(
        "liveness says why",
        () -> assertThat(zone.liveness()).contains("no virtual thread has run for"));
    assertThat(zone.isLive()).isFalse();
  }

  @Test
  @EnabledIfSystemProperty(named = "soak", matches = "true")
  void handlersThatSpin_stopNeitherOthersNorRenewals() {
    Zone zone = zone(Duration.ofSeconds(15), NEVER);
    scenario.start(zone);
    List<String> healthy = Feed.ids("healthy", 100);
    scenario.feed().send(Feed.ids("spins", 2));
    scenario.eventually(
        "the two are in their handlers",
        () -> assertThat(zone.metric("firstclaim_in_flight")).isEqualTo(2));

    scenario.feed().send(healthy);

    scenario.awaitCompleted(healthy);
    scenario.eventually(
        "both leases are renewed",
        () ->
            assertThat(
                    zone.metric("firstclaim_store_requests_total", "op=\"renew\"", "result=\"ok\""))
                .isGreaterThanOrEqualTo(4)); // each was called twice
    assertThat(scenario.outcomes().of("LEASE_LOST")).isEmpty();
    assertThat(scenario.outcomes().of("FAILED")).allMatch(Outcome::isUnbegun);
    assertThat(zone.isLive()).isTrue();
  }

  @Test
  void handlersThatHeedNothing_areAbandonedAfterTheirTime_andLivenessSaysWhenTheyHaveThePermits() {
    Zone zone = zone(Duration.ofSeconds(4), Duration.ofSeconds(1));
    scenario.start(zone);

    scenario.feed().send(Feed.ids("idles", 2));

    scenario.eventually(
        "two of three permits are lost",
        () -> assertThat(zone.metric("firstclaim_abandoned")).isGreaterThanOrEqualTo(2));
    scenario.eventually("that is no life", () -> assertThat(zone.isLive()).isFalse());
    assertThat(zone.liveness()).contains("of 3 permits to be in flight are lost");
  }
}
