package io.firstclaim.processor.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.api.EngineCatalog;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineSettings.Mode;
import io.firstclaim.processor.engine.setting.WrongSettingsException;
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
  private static final String DURATION = "give a duration such as 500ms, 30s, 5m, 12h or 8d";

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
  void inShadowMode_whatIsShared_isNamedApart_alsoWhereItIsGiven() {
    EngineSettings settings = least().application("orders").mode(Mode.SHADOW).settings();

    assertThat(settings.application()).isEqualTo("orders-shadow");
    assertThat(settings.input().group()).isEqualTo("orders-a-shadow");
    assertThat(settings.outcomesTopic()).contains("orders.outcomes-shadow");
    assertThat(settings.claim().store().namespace()).isEqualTo("orders-shadow");
    assertThat(settings.outcomesTrust()).isEqualTo(EngineSettings.Trust.VERIFY);
    assertThat(Engine.builder(settings).settings().input().group()).isEqualTo("orders-a-shadow");
    EngineSettings given =
        least().group("mine").namespace("ours").outcomesTopic("heard").mode(Mode.SHADOW).settings();
    assertThat(given.input().group()).isEqualTo("mine-shadow");
    assertThat(given.claim().store().namespace()).isEqualTo("ours-shadow");
    assertThat(given.outcomesTopic()).contains("heard-shadow");
    assertThat(least().withoutOutcomes().mode(Mode.SHADOW).settings().outcomesTopic()).isEmpty();
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
            .shutdownGrace(Duration.ofSeconds(5))
            .settings();

    assertThat(Engine.builder(settings).settings()).usingRecursiveComparison().isEqualTo(settings);
    assertThat(Engine.builder(settings).zone("b").settings().zone()).isEqualTo("b");
  }

  @Test
  void kafkasSettings_areNotShown_asTheyHoldSecrets() {
    assertThat(least().kafka("sasl.jaas.config", "s3cret").settings().toString())
        .doesNotContain("s3cret");
  }

  @Test
  void wrongValue_canBeMadeGood_andTheDefaultsAreThoseOfTheCatalog() {
    EngineBuilder builder = least().maxAttempts(0);
    assertThatThrownBy(builder::settings).isInstanceOf(WrongSettingsException.class);

    EngineSettings settings = builder.maxAttempts(2).settings();

    assertThat(settings.retry().maxAttempts()).isEqualTo(2);
    assertThat(least().set(EngineCatalog.MAX_PARKED, 5).settings().input().maxParked())
        .isEqualTo(5);
    assertThat(EngineCatalog.all())
        .allSatisfy(setting -> assertThat(settings.asGiven().find(setting)).isPresent());
  }

  private static Arguments wrong(UnaryOperator<EngineBuilder> change, String message) {
    return arguments(change, message);
  }

  static Stream<Arguments> wrongValues() {
    return Stream.of(
        wrong(
            b -> b.application(" "),
            "firstclaim.application is not set: an application has 1 to 100 of a-z A-Z 0-9 . _ -"),
        wrong(b -> b.zone("A\n"), "firstclaim.zone=A : a zone has 1 to 32 of a-z, 0-9 and -"),
        wrong(
            b -> b.zones(List.of("b")),
            "firstclaim.zones=b: this instance's firstclaim.zone=a must be in it"),
        wrong(
            b -> b.zones(List.of("a", "a")),
            "firstclaim.zones=a,a: give each zone once, of a-z, 0-9 and -, such as a,b"),
        wrong(
            b -> b.topics(),
            "firstclaim.input.topics is not set: name the input topics, comma-separated"),
        wrong(
            b -> b.topics("x y"),
            "firstclaim.input.topics=x y: a topic has 1 to 249 of a-z A-Z 0-9 . _ -"),
        wrong(b -> b.group(""), "firstclaim.input.group is not set: give a name that is not blank"),
        wrong(
            b -> b.recordId(List.of()),
            "firstclaim.input.record-id is not set: say where a record's ID is: header:NAME, key,"
                + " json:/pointer, sha256:value or offset. There is no safe guess: two records with"
                + " one ID count as one, and a key is often an entity's, not an event's"),
        wrong(
            b -> b.maxInFlight(0),
            "firstclaim.input.max-in-flight=0: give a number from 1 to 1000000"),
        wrong(
            b -> b.maxBuffered(0),
            "firstclaim.input.max-buffered=0MB: give a size from 1MB to 999999MB, such as 64MB"),
        wrong(
            b -> b.maxParked(1_000_001),
            "firstclaim.input.max-parked=1000001: give a number from 1 to 1000000"),
        wrong(
            b -> b.replayHorizon(Duration.ZERO), "firstclaim.input.replay-horizon=0s: " + DURATION),
        wrong(
            b -> b.lease(Duration.ofSeconds(1)),
            "firstclaim.claim.lease=1s: lease 1s is too short: renewing at a third of it, waiting a"
                + " third of it for the store and a clock difference of 1s need at least 3s"),
        wrong(
            b -> b.maxSkew(Duration.ofMillis(499)),
            "firstclaim.claim.max-skew=499ms: give 500ms or more"),
        wrong(
            b -> b.retention(Duration.ofSeconds(20)),
            "firstclaim.claim.retention=20s: it must not be shorter than"
                + " firstclaim.claim.lease=30s"),
        wrong(
            b -> b.headStart(Duration.ofSeconds(-1)),
            "firstclaim.claim.head-start=-1s: " + DURATION),
        wrong(
            b -> b.maxAttempts(0),
            "firstclaim.retry.max-attempts=0: give a number from 1 to 1000000"),
        wrong(
            b -> b.backoff(Duration.ofSeconds(2), Duration.ofSeconds(1)),
            "firstclaim.retry.max-backoff=1s: it must not be shorter than"
                + " firstclaim.retry.backoff=2s"),
        wrong(b -> b.handlerTimeout(Duration.ZERO), "firstclaim.handler.timeout=0s: " + DURATION),
        wrong(
            b -> b.deadLetterTopic("in"),
            "firstclaim.dead-letter.topic=in: it is one of firstclaim.input.topics; give another"
                + " topic"),
        wrong(
            b -> b.outcomesTopic("in.dlt"),
            "firstclaim.outcomes.topic=in.dlt: it is firstclaim.dead-letter.topic; give another"
                + " topic"),
        wrong(
            b -> b.bootstrapServers(" "),
            "kafka.bootstrap.servers is not set: give the brokers, such as localhost:9092"),
        wrong(
            b -> b.kafka("group.id", "g"),
            "kafka.group.id=g: leave it out; the consumer group is <application>-<zone>, or what"
                + " firstclaim.input.group names"),
        wrong(
            b -> b.kafka("auto.offset.reset", "latest"),
            "kafka.auto.offset.reset=latest: leave it out; with anything but earliest, a new"
                + " consumer group would skip all records that are there"),
        wrong(
            b -> b.kafka("isolation.level", "read_uncommitted"),
            "kafka.isolation.level=read_uncommitted: leave it out; with anything but"
                + " read_committed, records of aborted transactions would be handled"),
        wrong(
            b -> b.kafka("enable.auto.commit", true),
            "kafka.enable.auto.commit=true: leave it out; with anything but false, offsets would"
                + " be committed before their records are done"),
        wrong(
            b -> b.kafka("acks", "1"),
            "kafka.acks=1: leave it out; with anything but all, a dead letter could be lost with"
                + " one broker"));
  }

  @Test
  void whatTheEngineSetsOfKafkaItself_maySayTheSame() {
    assertThat(
            least()
                .kafka("auto.offset.reset", "earliest")
                .kafka("isolation.level", "READ_COMMITTED")
                .kafka("acks", "-1")
                .settings()
                .kafka())
        .containsEntry("acks", "-1");
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
        .message()
        .startsWith("firstclaim.zone is not set: name this deployment's zone, such as a")
        .hasLineCount(4);
    assertThatThrownBy(() -> least().handler(_ -> HandlerResult.done()).build())
        .hasMessage("the store is not given: say how the lock store is opened");
    assertThatThrownBy(
            () ->
                least().store(claims -> new MemoryClaimStore(claims, TimeSource.system())).build())
        .hasMessage("the handler is not given: say what is done with a record");
  }
}
