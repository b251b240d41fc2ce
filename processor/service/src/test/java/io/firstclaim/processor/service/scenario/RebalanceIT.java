package io.firstclaim.processor.service.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.firstclaim.lock.testkit.Soak;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Order(2)
@ParameterizedClass
@MethodSource("protocols")
class RebalanceIT {
  private static final int ROUNDS = Soak.times(1, 3);
  private static final Duration BETWEEN_RECORDS = Duration.ofMillis(50);

  @RegisterExtension final Scenario scenario;
  private final String protocol;

  /** The classic protocol, which the other scenarios have, is tried with {@code -Psoak}. */
  static Stream<Arguments> protocols() {
    Arguments consumer = arguments(Backend.S3, "consumer");
    return Soak.isOn()
        ? Stream.of(consumer, arguments(Backend.DYNAMODB, "classic"))
        : Stream.of(consumer);
  }

  RebalanceIT(Backend backend, String protocol) {
    scenario = new Scenario(backend, 6);
    this.protocol = protocol;
  }

  @Test
  void instancesThatJoinAndLeave_commitNothingUnsettled_andDoEverythingOnce() {
    scenario.sink().behave(Sink.takes(Duration.ofMillis(50), Duration.ofSeconds(1)));
    Zone first = scenario.zone("a");
    Zone second = scenario.zone("a");
    for (Zone instance : List.of(first, second)) {
      if (protocol.equals("consumer")) {
        instance.inNewGroupProtocol();
      }
    }
    scenario.start(first);
    scenario.warmUp();

    AtomicInteger sent = new AtomicInteger();
    try (CommitWatch watch = new CommitWatch(scenario, first)) {
      try (Repeated _ = new Repeated(BETWEEN_RECORDS, () -> sendNext(sent))) {
        for (int round = 0; round < ROUNDS; round++) {
          scenario.start(second);
          awaitWork(second, sent);
          second.terminate();
          assertThat(second.awaitEnd(Scenario.PATIENCE)).isTrue();
          assertThat(second.exitCode()).isZero();
        }
      }
      scenario.feed().flush();
      scenario.eventually(
          "every record is completed",
          () -> assertThat(scenario.outcomes().ids("COMPLETED")).hasSize(sent.get()));
      scenario.awaitAtTheEnd(first);
      watch.requireNeverAhead(scenario.feed().places(), scenario.outcomes().onlyOne("COMPLETED"));
    }
    assertThat(scenario.outcomes().onlyOne("COMPLETED")).hasSize(sent.get());
    scenario.sink().called().forEach(scenario::requireNoNeedlessCall);
    assertThat(scenario.outcomes().of("COMPLETED").stream().map(Outcomes.Outcome::instance))
        .contains(first.instance(), second.instance());
  }

  /** Waits until an instance has completed some records since it was balanced in. */
  private void awaitWork(Zone instance, AtomicInteger sent) {
    int from = sent.get();
    scenario.eventually(
        instance.instance() + " works",
        () -> {
          assertThat(instance.deliveries("completed")).isGreaterThan(10);
          assertThat(sent.get()).isGreaterThan(from + 50);
        });
  }

  private void sendNext(AtomicInteger sent) {
    scenario.feed().send("event-" + sent.getAndIncrement(), "");
  }
}
