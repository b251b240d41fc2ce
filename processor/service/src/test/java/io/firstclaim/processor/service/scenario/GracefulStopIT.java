package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Rule;
import io.firstclaim.processor.service.scenario.Outcomes.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@OneBackend(Backend.S3)
class GracefulStopIT {
  /** A stop is over by then: its grace, and some seconds to give back what is left. */
  private static final Duration STOP = Duration.ofSeconds(30);

  /** Long, so that nothing is taken over because a lease ran out. */
  private static final Duration LEASE = Duration.ofSeconds(60);

  @RegisterExtension final Scenario scenario;

  GracefulStopIT(Backend backend) {
    scenario = new Scenario(backend, 4);
  }

  @Test
  void stoppedZone_endsInTime_andTheOtherTakesWhatItReleasesAtOnce() {
    scenario.sink().behave(call -> call.zone().equals("a") ? call.awaitVerdict() : 200);
    FaultProxy proxy = scenario.proxy();
    Zone a = zone("a").through(proxy).audited(scenario.topic());
    Zone b = zone("b").set("FIRSTCLAIM_APPLICATION", scenario.topic());
    scenario.start();
    List<String> ids = Feed.ids("event", 80);
    scenario.feed().send(ids);
    scenario.eventually(
        "every record is in a handler or through",
        () -> assertThat(scenario.sink().called()).containsExactlyInAnyOrderElementsOf(ids));
    List<Call> held = scenario.sink().callsBy("a");
    assertThat(held).as("records in the hands of zone a").hasSizeGreaterThan(20);

    Rule releases =
        proxy.add(Rule.always(Match.bodyContains("FREE"), new Fault.DelayRequest(Duration.ZERO)));
    Instant told = Instant.now();
    a.terminate();
    scenario.eventually(
        "zone a says that it takes no more records, and still ends those that it has",
        () -> assertThat(a.readiness()).contains("DOWN", "it was told to stop"));
    held.subList(0, 10).forEach(call -> call.answer(200));
    assertThat(a.awaitEnd(Scenario.PATIENCE)).isTrue();
    Instant ended = Instant.now();
    assertThat(a.exitCode()).isZero();
    assertThat(Duration.between(told, ended)).isLessThan(STOP.plus(Scenario.NOISE));
    scenario.eventually(
        "zone a has left its group",
        () -> assertThat(scenario.groups().members(a.group())).isEmpty());

    scenario.awaitCompleted(ids);
    Map<String, Outcome> completed = scenario.outcomes().onlyOne("COMPLETED");
    List<Outcome> released =
        scenario.outcomes().of("FAILED").stream().filter(each -> !each.isUnbegun()).toList();
    assertThat(releases.hits()).as("releases that zone a has sent").isPositive();
    if (!hasGoneUnheard(a)) {
      assertThat(released).as("records that zone a released").isNotEmpty();
    }
    assertThat(completed.values())
        .as("records that zone a completed in its grace")
        .anyMatch(each -> each.zone().equals("a") && each.at().isAfter(told));
    assertThat(released)
        .allSatisfy(
            release -> {
              assertThat(release.zone()).isEqualTo("a");
              long unbegun = scenario.outcomes().unbegun(release.id());
              assertThat(release.token()).isBetween(1L, 1 + unbegun);
              assertThat(release.cause()).isEqualTo("stopped with the service");
              Outcome end = Objects.requireNonNull(completed.get(release.id()));
              assertThat(end.zone()).isEqualTo("b");
              assertThat(end.token()).isEqualTo(2 + unbegun);
              List<Call> calls = scenario.sink().callsOf(release.id());
              assertThat(calls).extracting(Call::zone).containsExactly("a", "b");
              assertThat(Duration.between(release.at(), calls.getLast().start()))
                  .as("it waits for no lease")
                  .isLessThan(LEASE.dividedBy(2));
            });
    scenario.awaitAtTheEnd(b);
    requireNothingOpenCommitted(a, completed, ended);
  }

  private Zone zone(String name) {
    return scenario.zone(name).lease(LEASE).patient().inLongSessions();
  }

  /**
   * Whether a stopped zone says that the store, or Kafka, had no answer for some of its releases:
   * it has three seconds for them, and two to announce them.
   */
  private static boolean hasGoneUnheard(Zone zone) {
    String log = zone.logText();
    return log.contains("not known to be released") || log.contains("was not published");
  }

  /** The stopped zone must have committed nothing that was not completed by then. */
  private void requireNothingOpenCommitted(
      Zone zone, Map<String, Outcome> completed, Instant ended) {
    Map<Integer, Long> committed = scenario.committed(zone);
    assertThat(committed).isNotEmpty();
    assertThat(scenario.feed().places())
        .filteredOn(place -> place.offset() < committed.getOrDefault(place.partition(), 0L))
        .allSatisfy(
            place ->
                assertThat(Objects.requireNonNull(completed.get(place.id())).at()).isBefore(ended));
  }
}
