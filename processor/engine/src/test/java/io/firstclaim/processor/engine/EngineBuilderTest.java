package io.firstclaim.processor.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.handler.HandlerResult;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class EngineBuilderTest {
  private static EngineBuilder least() {
    return Engine.builder()
        .zone("a")
        .topics("in")
        .recordId("key")
        .bootstrapServers("localhost:9092");
  }

  @Test
  void whatTwoApplicationsMustNotShare_isNamedByTheApplication() {
    EngineSettings settings = least().application("orders").settings();

    assertThat(settings.input().group()).isEqualTo("orders-a");
    assertThat(settings.outcomesTopic()).contains("orders.outcomes");
    assertThat(settings.claim().store().namespace()).isEqualTo("orders");
    assertThat(settings.claim().store().holder()).matches("a/.+-[0-9a-f]{8}");
    assertThat(least().settings().input().group()).isEqualTo("firstclaim-a");
  }

  @Test
  void settings_areTakenOverWhole() {
    EngineSettings settings =
        least()
            .zones(List.of("a", "b"))
            .ordering(EngineSettings.Ordering.KEY)
            .maxInFlight(1)
            .maxParked(2)
            .maxBuffered(3)
            .replayHorizon(Duration.ofDays(1))
            .lease(Duration.ofMinutes(1))
            .renew(false)
            .headStart(Duration.ZERO)
            .onMismatch(EngineSettings.OnMismatch.SKIP)
            .maxAttempts(1)
            .backoff(Duration.ofSeconds(2), Duration.ofSeconds(3))
            .handlerTimeout(Duration.ofSeconds(4))
            .deadLetterTopic("dead")
            .withoutOutcomes()
            .shutdownGrace(Duration.ZERO)
            .settings();

    assertThat(Engine.builder(settings).settings()).isEqualTo(settings);
  }

  @Test
  void kafkasSettings_areNotShown_asTheyHoldSecrets() {
    assertThat(least().kafka("sasl.jaas.config", "s3cret").settings().toString())
        .doesNotContain("s3cret");
  }

  private static Arguments wrong(UnaryOperator<EngineBuilder> change, String message) {
    return arguments(change, message);
  }

  static Stream<Arguments> wrongValues() {
    return Stream.of(
        wrong(b -> b.application(" "), "application ' ': give one that is not blank"),
        wrong(b -> b.zone("A\n"), "zone 'A ': give 1 to 32 of a-z, 0-9 and -"),
        wrong(b -> b.zones(List.of("b")), "zones '[b]': this zone, a, must be among them"),
        wrong(
            b -> b.zones(List.of("a", "a")),
            "zones '[a, a]': give each zone once, of a-z, 0-9 and -"),
        wrong(b -> b.topics(), "there is no input topic: name one or more"),
        wrong(b -> b.topics("x y"), "input topic 'x y': a topic has 1 to 249 of a-z A-Z 0-9 . _ -"),
        wrong(b -> b.group(""), "group '': give one that is not blank"),
        wrong(
            b -> b.recordId(List.of()),
            "where a record's ID is found is not given: name one or more of header:NAME, key,"
                + " json:/pointer, sha256:value, offset"),
        wrong(b -> b.maxInFlight(0), "max in flight '0': give a number from 1 to 1000000"),
        wrong(b -> b.maxBuffered(0), "max buffered '0': give a number of bytes"),
        wrong(b -> b.maxParked(1_000_001), "max parked '1000001': give a number from 1 to 1000000"),
        wrong(b -> b.replayHorizon(Duration.ZERO), "replay horizon 'PT0S': give more than 0 s"),
        wrong(b -> b.headStart(Duration.ofSeconds(-1)), "head start 'PT-1S': give 0 s or more"),
        wrong(b -> b.maxAttempts(0), "max attempts '0': give a number from 1 to 1000000"),
        wrong(
            b -> b.backoff(Duration.ofSeconds(2), Duration.ofSeconds(1)),
            "max backoff 'PT1S': give no less than the backoff of PT2S"),
        wrong(b -> b.handlerTimeout(Duration.ZERO), "handler timeout 'PT0S': give more than 0 s"),
        wrong(
            b -> b.deadLetterTopic("in"),
            "dead-letter topic 'in': it is an input topic; give another"),
        wrong(
            b -> b.outcomesTopic("in.dlt"),
            "outcomes topic 'in.dlt': it is the dead-letter topic; give another"),
        wrong(
            b -> b.bootstrapServers(" "),
            "bootstrap.servers are not given: name the brokers, such as localhost:9092"),
        wrong(
            b -> b.kafka("group.id", "g"),
            "Kafka's group.id 'g': leave it out and give the input's group"));
  }

  @ParameterizedTest
  @MethodSource("wrongValues")
  void wrongValue_isRefused_withTheRemedy(UnaryOperator<EngineBuilder> change, String message) {
    assertThatThrownBy(() -> change.apply(least()).settings())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @Test
  void missingPart_isRefused_withTheRemedy() {
    assertThatThrownBy(() -> Engine.builder().build())
        .hasMessage("the zone is not given: name this deployment's, such as a");
    assertThatThrownBy(() -> least().handler(_ -> HandlerResult.done()).build())
        .hasMessage("the store is not given: say how the lock store is opened");
    assertThatThrownBy(
            () ->
                least().store(claims -> new MemoryClaimStore(claims, TimeSource.system())).build())
        .hasMessage("the handler is not given: say what is done with a record");
  }
}
