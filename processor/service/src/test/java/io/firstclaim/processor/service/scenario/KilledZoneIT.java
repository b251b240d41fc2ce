package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.service.scenario.Outcomes.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@Order(3)
@OneBackend(Backend.S3)
class KilledZoneIT {
  /** Longer than a busy machine stands still: none is to run out before the zone is killed. */
  private static final Duration LEASE = Duration.ofSeconds(30);

  @RegisterExtension final Scenario scenario;

  KilledZoneIT(Backend backend) {
    scenario = new Scenario(backend, 4);
  }

  @Test
  void leasesOfAKilledZone_areTakenOverInTime_withHigherTokens() {
    scenario.sink().behave(call -> call.zone().equals("a") ? call.awaitVerdict() : 200);
    Zone a = scenario.zone("a").lease(LEASE).patient().inLongSessions().audited(scenario.topic());
    Zone b = scenario.zone("b").lease(LEASE).patient().inLongSessions().audited(scenario.topic());
    scenario.start();
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

    scenario.awaitCompleted(ids);
    assertThat(scenario.outcomes().onlyOne("COMPLETED")).containsOnlyKeys(ids);
    Map<String, Outcome> takeovers = scenario.outcomes().onlyOne("TAKEN_OVER");
    // Who hears of his claim only when he asks again is not told that it was a takeover.
    assertThat(held).containsAll(takeovers.keySet());
    assertThat(takeovers).isNotEmpty();
    Instant limit = killed.plus(LEASE).plus(Scenario.SKEW).plusSeconds(2).plus(Scenario.NOISE);
    for (String id : held) {
      Outcome completed = scenario.outcomes().onlyOne("COMPLETED", id);
      assertThat(completed.zone()).isEqualTo("b");
      assertThat(completed.at()).isBefore(limit);
      List<Call> calls = scenario.sink().callsOf(id);
      assertThat(calls).extracting(Call::zone).containsExactly("a", "b");
      assertThat(calls.getLast().token())
          .isGreaterThan(calls.getFirst().token())
          .isEqualTo(completed.token());
    }
    // A lease is renewed when a third of it is gone: much was left, however late that was.
    assertThat(takeovers.values())
        .allSatisfy(each -> assertThat(each.at()).isAfter(killed.plus(LEASE.dividedBy(4))));
    assertThat(b.metric("firstclaim_takeovers_total")).isGreaterThanOrEqualTo(takeovers.size());
    scenario.awaitAtTheEnd(b);
    requireNothingCommittedPast(held, scenario.committed(a));
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
