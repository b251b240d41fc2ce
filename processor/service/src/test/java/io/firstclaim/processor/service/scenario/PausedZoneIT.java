package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Rule;
import io.firstclaim.processor.service.scenario.Outcomes.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@Order(2)
@OneBackend(Backend.DYNAMODB)
class PausedZoneIT {
  /** Longer than a busy machine stands still: none is to run out before the zone is paused. */
  private static final Duration LEASE = Duration.ofSeconds(30);

  @RegisterExtension final Scenario scenario;

  PausedZoneIT(Backend backend) {
    scenario = new Scenario(backend, 4);
  }

  /**
   * Of the records of a paused zone some are in their handlers, which are told; some are answered
   * during the pause; and of one the completion itself is on its way and arrives too late.
   */
  @Test
  void zoneThatWakesAfterItsLeases_recordsNothing() throws Exception {
    scenario.sink().behave(call -> call.zone().equals("a") ? call.awaitVerdict() : 200);
    FaultProxy proxy = scenario.proxy();
    // In a common request the completion that comes too late would show as a read.
    Zone a =
        scenario
            .zone("a")
            .lease(LEASE)
            .patient()
            .through(proxy)
            .set("FIRSTCLAIM_CLAIM_DYNAMODB_BATCH", "1");
    var _ = scenario.zone("b").lease(LEASE).patient();
    scenario.start();
    List<String> ids = Feed.ids("event", 40);
    scenario.feed().send(ids);
    scenario.eventually(
        "every record is in a handler or through",
        () -> assertThat(scenario.sink().called()).containsExactlyInAnyOrderElementsOf(ids));
    List<Call> held = scenario.sink().callsBy("a");
    assertThat(held).hasSizeBetween(5, 35);
    Call completing = held.getFirst();
    List<Call> answered = held.subList(1, held.size() / 2);
    List<Call> unanswered = held.subList(held.size() / 2, held.size());

    CountDownLatch underWay = new CountDownLatch(1);
    CountDownLatch tooLate = new CountDownLatch(1);
    Rule late =
        proxy.add(
            Rule.always(
                scenario.backend().step("DONE").and(_ -> isHeldUp(underWay, tooLate)),
                new Fault.DelayRequest(Duration.ZERO)));
    completing.answer(200);
    assertThat(underWay.await(Scenario.PATIENCE.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    a.pause();
    Set<String> heldIds =
        held.stream().map(Call::id).collect(Collectors.toCollection(TreeSet::new));
    scenario.awaitCompleted(ids);
    answered.forEach(call -> call.answer(200));
    tooLate.countDown();
    proxy.remove(late);
    a.resume();

    scenario.eventually(
        "the paused zone has lost every lease",
        () -> assertThat(scenario.outcomes().ids("LEASE_LOST")).isEqualTo(heldIds));
    assertThat(unanswered).allSatisfy(call -> assertThat(call.end()).isNull());
    assertThat(scenario.outcomes().onlyOne("LEASE_LOST").values())
        .allMatch(outcome -> outcome.zone().equals("a"));
    assertThat(a.metric("firstclaim_store_requests_total", "op=\"complete\"", "\"refused\""))
        .as("completions that came too late")
        .isGreaterThanOrEqualTo(1);
    scenario.eventually(
        "each loss is counted", () -> assertThat(a.deliveries("lost")).isEqualTo(held.size()));
    scenario.awaitAtTheEnd(a);

    assertThat(scenario.outcomes().onlyOne("COMPLETED")).containsOnlyKeys(ids);
    assertThat(held)
        .allSatisfy(
            call -> {
              Outcome completed = scenario.outcomes().onlyOne("COMPLETED", call.id());
              assertThat(completed.zone()).isEqualTo("b");
              assertThat(scenario.sink().tokensOf(call.id()))
                  .containsExactly(call.token(), completed.token())
                  .isSorted();
            });
    assertThat(scenario.claims().all())
        .hasSameSizeAs(ids)
        .allSatisfy(
            claim -> {
              assertThat(claim.state()).isEqualTo("DONE");
              assertThat(claim.holder()).isEqualTo("b/b1");
              assertThat(claim.token())
                  .isEqualTo(scenario.outcomes().onlyOne("COMPLETED", claim.id()).token());
            });
    requireNothingMoreOf(a, Feed.ids("second", 300));
  }

  /** Holds a request up on its way. */
  private static boolean isHeldUp(CountDownLatch underWay, CountDownLatch until) {
    underWay.countDown();
    try {
      return until.await(Scenario.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the proxy is closed
      return false;
    }
  }

  /** What waits in the client of a process that is paused does not leave when it goes on. */
  private void requireNothingMoreOf(Zone paused, List<String> ids) throws Exception {
    scenario.sink().behave(_ -> 200);
    int before = scenario.sink().callsBy("a").size();
    scenario.feed().send(ids);
    scenario.eventually(
        "the zone is amid its work",
        () -> assertThat(scenario.sink().callsBy("a")).hasSizeGreaterThan(before + 10));
    paused.pause();
    scenario.awaitCompleted(ids);
    Instant goesOn = Instant.now();
    paused.resume();
    scenario.awaitAtTheEnd(paused);

    List<Call> stale =
        scenario.sink().callsBy("a").stream()
            .filter(call -> call.start().isAfter(goesOn))
            .filter(
                call ->
                    scenario.sink().tokensOf(call.id()).stream().anyMatch(t -> t > call.token()))
            .toList();
    assertThat(stale).as("posted on waking, with a token that others were ahead of").isEmpty();
  }
}
