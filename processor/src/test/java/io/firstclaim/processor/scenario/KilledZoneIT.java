package io.firstclaim.processor.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.scenario.Outcomes.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(180)
class KilledZoneIT {
  private static final Duration LEASE = Duration.ofSeconds(5);

  @RegisterExtension final Scenario scenario = new Scenario(4);

  @Test
  void leasesOfAKilledZone_areTakenOverInTime_withHigherTokens() {
    scenario.sink().behave(call -> call.zone().equals("a") ? call.awaitVerdict() : 200);
    Zone a = scenario.zone("a").lease(LEASE);
    Zone b = scenario.zone("b").lease(LEASE);
    scenario.start(a, b);
    List<String> ids = Feed.ids("event", 40);
    scenario.feed().send(ids);
    scenario.eventually(
        "every record is in a handler or through",
        () -> assertThat(scenario.sink().called()).containsExactlyInAnyOrderElementsOf(ids));
    Set<String> held =
        scenario.sink().callsBy("a").stream().map(Call::id).collect(Collectors.toSet());
    assertThat(held).as("records in the hands of zone a").hasSizeBetween(5, 35);
    scenario.eventually(
        "every lease is renewed",
        () ->
            assertThat(a.metric("firstclaim_store_requests_total", "op=\"renew\"", "result=\"ok\""))
                .isGreaterThanOrEqualTo(held.size()));
    assertThat(scenario.outcomes().ids("COMPLETED")).doesNotContainAnyElementsOf(held);

    Instant killed = Instant.now();
    a.kill();

    scenario.eventually(
        "every record is completed",
        () ->
            assertThat(scenario.outcomes().ids("COMPLETED"))
                .containsExactlyInAnyOrderElementsOf(ids));
    Map<String, Outcome> completed = scenario.outcomes().onlyOne("COMPLETED");
    Map<String, Outcome> takenOver = scenario.outcomes().onlyOne("TAKEN_OVER");
    assertThat(takenOver).containsOnlyKeys(held);
    Instant limit =
        killed.plus(LEASE).plus(Scenario.SKEW).plusSeconds(2).plus(Scenario.NOISE);
    for (String id : held) {
      assertThat(completed.get(id))
          .satisfies(
              outcome -> {
                assertThat(outcome.zone()).isEqualTo("b");
                assertThat(outcome.token()).isEqualTo(2);
                assertThat(outcome.at()).isBefore(limit);
              });
      // A lease is renewed when a third of it is gone, so more than half was left.
      assertThat(takenOver.get(id).at()).isAfter(killed.plus(LEASE.dividedBy(2)));
      assertThat(scenario.sink().callsOf(id)).extracting(Call::token).containsExactly(1L, 2L);
    }
    assertThat(b.metric("firstclaim_takeovers_total")).isEqualTo(held.size());
    scenario.awaitAtTheEnd(b);
    requireNothingCommittedPast(held, scenario.groups().committed(a.group()));
  }

  /** The killed zone must not have committed what it had not settled. */
  private void requireNothingCommittedPast(Set<String> held, Map<Integer, Long> committed) {
    for (Feed.Place place : scenario.feed().places()) {
      if (held.contains(place.id())) {
        assertThat(committed.getOrDefault(place.partition(), 0L))
            .as("committed by the killed zone, which held %s", place)
            .isLessThanOrEqualTo(place.offset());
      }
    }
  }
}
