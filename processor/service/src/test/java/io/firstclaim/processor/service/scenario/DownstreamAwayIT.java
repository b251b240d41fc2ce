package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.LeaseLostException;
import io.firstclaim.processor.service.scenario.Outcomes.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

class DownstreamAwayIT {
  private static final int RECORDS = 300;

  @RegisterExtension final Scenario scenario = new Scenario(Backend.DYNAMODB, 4);

  /** Far longer than the backoffs of all attempts together. */
  @Test
  void downstreamThatIsAway_pausesTheIntake_andEachRecordIsHandledOnce() throws IOException {
    outage(Duration.ofSeconds(10));
  }

  @Test
  @EnabledIfSystemProperty(named = "soak", matches = "true")
  void downstreamThatIsAwayForThreeMinutes_makesNoDeadLetter() throws IOException {
    outage(Duration.ofMinutes(3));
  }

  private void outage(Duration length) throws IOException {
    TopicReader<DeadLetter> letters = scenario.deadLetters();
    List<Zone> zones = List.of(hasty(scenario.zone("a")), hasty(scenario.zone("b")));
    scenario.start();
    List<String> ids = Feed.ids("event", RECORDS);

    scenario.sink().goAway();
    scenario.feed().send(ids);
    scenario.eventually(
        "both breakers are open",
        () ->
            assertThat(zones)
                .allSatisfy(
                    zone -> assertThat(zone.metric("firstclaim_breaker_open")).isEqualTo(1)));
    double before = granted(zones);
    scenario
        .within(length.plus(Scenario.PATIENCE), "nothing is given up")
        .during(length)
        .pollInterval(Duration.ofMillis(500))
        .until(() -> letters.all().isEmpty());
    assertThat(granted(zones) - before)
        .as("claims granted: those under way, and one now and then; not round and round")
        .isLessThan((double) (RECORDS + length.toSeconds()));

    scenario.sink().comeBack();

    scenario.awaitCompleted(ids);
    // Whichever zone came first may have done all the rest; the other learns it by one of the next.
    AtomicInteger next = new AtomicInteger();
    scenario.eventually(
        "the breakers are closed",
        () -> {
          scenario.feed().send(Feed.ids("next-" + next.incrementAndGet(), 4));
          assertThat(zones)
              .allSatisfy(zone -> assertThat(zone.metric("firstclaim_breaker_open")).isZero());
        });
    scenario.awaitAtTheEnd(zones.toArray(Zone[]::new));
    assertThat(letters.all()).isEmpty();
    assertThat(ids).allSatisfy(this::requireOneCall);
    for (Zone zone : zones) {
      assertThat(
              zone.logText().lines().filter(line -> line.contains("The downstream is not there")))
          .singleElement()
          .satisfies(line -> assertThat(line).contains("WARN").contains(scenario.sink().url()));
      assertThat(zone.logText()).containsOnlyOnce("The downstream is there again");
    }
  }

  /** One call, and another for each lease that ran out, as happens on a busy machine. */
  private void requireOneCall(String id) {
    List<Outcome> outcomes =
        scenario.outcomes().all().stream().filter(outcome -> outcome.id().equals(id)).toList();
    int ranOut = (int) outcomes.stream().filter(DownstreamAwayIT::isOfALeaseThatRanOut).count();
    assertThat(scenario.sink().callsOf(id))
        .as("after %s", outcomes)
        .hasSizeBetween(1, 1 + ranOut)
        .allSatisfy(call -> assertThat(call.attempt()).isBetween(1, 1 + ranOut));
  }

  /** Another took it over, or its handler was interrupted, or it had not begun to send. */
  private static boolean isOfALeaseThatRanOut(Outcome outcome) {
    String cause = String.valueOf(outcome.cause());
    return outcome.outcome().equals("TAKEN_OVER")
        || cause.startsWith("the lease was lost")
        || cause.contains(LeaseLostException.class.getName());
  }

  private static double granted(List<Zone> zones) {
    return zones.stream()
        .mapToDouble(zone -> zone.metric("firstclaim_claims_total", "result=\"granted\""))
        .sum();
  }

  /** With a lease that a claim outlasts which the store answers late: it is asked again for it. */
  private static Zone hasty(Zone zone) {
    return zone.lease(Duration.ofMinutes(2))
        .inLongSessions()
        .set("FIRSTCLAIM_RETRY_MAX_ATTEMPTS", "3")
        .set("FIRSTCLAIM_RETRY_BACKOFF", "100ms");
  }
}
