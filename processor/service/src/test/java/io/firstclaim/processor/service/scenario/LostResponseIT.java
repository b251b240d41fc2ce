package io.firstclaim.processor.service.scenario;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@OneBackend(Backend.S3)
class LostResponseIT {
  /** Long, so that a record that waits for a lease to run out stands out. */
  private static final Duration LEASE = Duration.ofSeconds(60);

  /** When a lease is renewed, for the first time. */
  private static final Duration THIRD = LEASE.dividedBy(3);

  private static final Duration A_MOMENT = Duration.ofSeconds(1);
  private static final int EACH = 3;

  @RegisterExtension final Scenario scenario;

  LostResponseIT(Backend backend) {
    scenario = new Scenario(backend, 4);
  }

  /** The steps, each with how its request is told. */
  private enum Step {
    CLAIM,
    RENEW,
    COMPLETE,
    RELEASE;

    Predicate<Request> on(Backend backend) {
      return switch (this) {
        case CLAIM -> backend.claim();
        case RENEW -> backend.step("HELD");
        case COMPLETE -> backend.step("DONE");
        case RELEASE -> backend.step("FREE");
      };
    }

    boolean concerns(String id) {
      return id.startsWith(name());
    }
  }

  @Test
  void stepWhoseAnswerIsLost_leavesNoOrphan_andGrantsNothingTwice() {
    FaultProxy proxy = scenario.proxy();
    Map<String, Rule> rules = new ConcurrentHashMap<>();
    scenario
        .sink()
        .behave(
            call -> {
              if (Step.RENEW.concerns(call.id())) {
                var _ = requireNonNull(rules.get(call.id())).awaitHits(1, Scenario.PATIENCE);
                Sink.takeTime(A_MOMENT, A_MOMENT); // for the renewal, whose answer is lost
              }
              return Step.RELEASE.concerns(call.id()) && call.attempt() == 1 ? 500 : 200;
            });
    for (Zone zone : List.of(scenario.zone("a"), scenario.zone("b"))) {
      zone.lease(LEASE)
          .inLongSessions()
          .through(proxy)
          .set("FIRSTCLAIM_RETRY_BACKOFF", "100ms")
          .set("FIRSTCLAIM_CLAIM_DYNAMODB_BATCH", "1"); // each record's step has a fault of its own
    }
    scenario.start();
    for (Step step : Step.values()) {
      for (Fault fault : List.of(new Fault.LoseResponse(), new Fault.ResetAfterApply())) {
        for (String id : Feed.ids(step + "-" + fault.getClass().getSimpleName(), EACH)) {
          rules.put(
              id, proxy.add(Rule.once(step.on(scenario.backend()).and(Backend.about(id)), fault)));
        }
      }
    }

    Instant sent = Instant.now();
    scenario.feed().send(rules.keySet());
    scenario.awaitCompleted(rules.keySet());

    rules.forEach(
        (id, rule) -> {
          assertThat(rule.hits()).as("faults done to %s", id).isEqualTo(1);
          Duration handler = Step.RENEW.concerns(id) ? THIRD.plus(A_MOMENT) : Duration.ZERO;
          assertThat(Duration.between(sent, scenario.outcomes().onlyOne("COMPLETED", id).at()))
              .as("time that %s took", id)
              .isLessThan(handler.plus(LEASE));
          List<Long> tokens = scenario.sink().tokensOf(id);
          assertThat(tokens)
              .as("handler calls of %s", id)
              .hasSize(Step.RELEASE.concerns(id) ? 2 : 1)
              .isSorted()
              .doesNotHaveDuplicates()
              .last()
              .isEqualTo(tokens.size() + scenario.outcomes().unbegun(id));
        });
    assertThat(scenario.outcomes().of("TAKEN_OVER")).isEmpty();
    // A zone whose release is not acknowledged cannot tell that it took effect, once the other has
    // claimed.
    assertThat(scenario.outcomes().ids("LEASE_LOST")).allMatch(Step.RELEASE::concerns);
    assertThat(scenario.claims().all())
        .hasSameSizeAs(rules.keySet())
        .allSatisfy(claim -> assertThat(claim.state()).isEqualTo("DONE"));
  }
}
