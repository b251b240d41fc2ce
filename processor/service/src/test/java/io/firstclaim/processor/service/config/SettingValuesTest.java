package io.firstclaim.processor.service.config;

import static io.firstclaim.processor.service.config.SettingsFixture.DURATION;
import static io.firstclaim.processor.service.config.SettingsFixture.TOPIC;
import static io.firstclaim.processor.service.config.SettingsFixture.read;
import static io.firstclaim.processor.service.config.SettingsFixture.readWithout;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineSettings.OnMismatch;
import io.firstclaim.processor.engine.api.EngineSettings.Ordering;
import io.firstclaim.processor.engine.api.EngineSettings.TooOld;
import io.firstclaim.processor.engine.api.RecordIdSource;
import io.firstclaim.processor.engine.api.ResourceSource;
import io.firstclaim.processor.engine.setting.WrongSettingsException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What each setting takes, one by one. */
class SettingValuesTest {
  private static final String BATCH =
      "give a number from 1, for each write in its own request, to 25";
  private static final String COUNT = "give a number from 1 to 1000000";
  private static final String TABLE = "a table has 3 to 255 of a-z A-Z 0-9 . _ -";

  static Stream<Arguments> goodValues() {
    return Stream.of(
        good("firstclaim.zone", "eu-west-1", s -> s.engine().zone(), "eu-west-1"),
        good("firstclaim.zones", "b, a", s -> s.engine().zones(), List.of("b", "a")),
        good("firstclaim.instance", "pod-7", s -> s.engine().claim().store().holder(), "a/pod-7"),
        good(
            "firstclaim.input.topics",
            "x, y_2 ,",
            s -> s.engine().input().topics(),
            List.of("x", "y_2")),
        good("otel.traces.exporter", "otlp", ServiceSettings::traced, true),
        good("otel.traces.exporter", "none", ServiceSettings::traced, false),
        good("firstclaim.input.group", "g", s -> s.engine().input().group(), "g"),
        good(
            "firstclaim.input.record-id",
            "header:id, json:/a/0, sha256:value, offset",
            s -> s.engine().input().recordId().stream().map(RecordIdSource::text).toList(),
            List.of("header:id", "json:/a/0", "sha256:value", "offset")),
        good("firstclaim.input.ordering", "key", s -> s.engine().input().ordering(), Ordering.KEY),
        good(
            "firstclaim.input.ordering",
            "partition",
            s -> s.engine().input().ordering(),
            Ordering.PARTITION),
        good("firstclaim.input.max-in-flight", "1", s -> s.engine().input().maxInFlight(), 1),
        good(
            "firstclaim.input.max-parked",
            "1000000",
            s -> s.engine().input().maxParked(),
            1_000_000),
        good(
            "firstclaim.input.max-buffered",
            "64MB",
            s -> s.engine().input().maxBuffered(),
            64L << 20),
        good(
            "firstclaim.input.replay-horizon",
            "36h",
            s -> s.engine().input().replayHorizon(),
            Optional.of(Duration.ofHours(36))),
        good("firstclaim.claim.backend", "memory", s -> s.backend(), new Backend.Memory()),
        good(
            "firstclaim.claim.namespace",
            "shop",
            s -> s.engine().claim().store().namespace(),
            "shop"),
        good(
            "firstclaim.claim.lease",
            "10s",
            s -> s.engine().claim().store().lease(),
            Duration.ofSeconds(10)),
        good("firstclaim.claim.renew", "false", s -> s.engine().claim().renew(), false),
        good("firstclaim.claim.renew", "TRUE", s -> s.engine().claim().renew(), true),
        good(
            "firstclaim.claim.max-skew",
            "500ms",
            s -> s.engine().claim().store().maxSkew(),
            Duration.ofMillis(500)),
        good(
            "firstclaim.claim.retention",
            "30d",
            s -> s.engine().claim().store().retention(),
            Duration.ofDays(30)),
        good(
            "firstclaim.claim.head-start",
            "0ms",
            s -> s.engine().claim().headStart(),
            Optional.of(Duration.ZERO)),
        good(
            "firstclaim.claim.head-start",
            "auto",
            s -> s.engine().claim().headStart(),
            Optional.empty()),
        good(
            "firstclaim.claim.on-mismatch",
            "skip",
            s -> s.engine().claim().onMismatch(),
            OnMismatch.SKIP),
        good(
            "firstclaim.input.too-old",
            "dead-letter",
            s -> s.engine().tooOld(),
            TooOld.DEAD_LETTER),
        good(
            "firstclaim.claim.resources",
            "header:tenant, json:/items/*/sku, key",
            s -> s.engine().claim().resources(),
            ResourceSource.parseList("header:tenant,json:/items/*/sku,key")),
        good(
            "firstclaim.claim.dynamodb.table",
            "t-1",
            s -> s.backend(),
            new Backend.DynamoDb("t-1", 25, Duration.ofDays(1), false)),
        good(
            "firstclaim.claim.dynamodb.batch",
            "8",
            s -> s.backend(),
            new Backend.DynamoDb("firstclaim", 8, Duration.ofDays(1), false)),
        good(
            "firstclaim.claim.dynamodb.sweep",
            "2h",
            s -> s.backend(),
            new Backend.DynamoDb("firstclaim", 25, Duration.ofHours(2), false)),
        good(
            "firstclaim.claim.create",
            "true",
            s -> s.backend(),
            new Backend.DynamoDb("firstclaim", 25, Duration.ofDays(1), true)),
        good("firstclaim.handler.type", "my-bean", s -> s.handler(), new Handling.Bean("my-bean")),
        good(
            "firstclaim.handler.timeout",
            "PT90S",
            s -> s.engine().handlerTimeout(),
            Duration.ofSeconds(90)),
        good("firstclaim.handler.rate", "50", s -> s.engine().handlerRate(), Optional.of(50)),
        good("firstclaim.handler.rate", "none", s -> s.engine().handlerRate(), Optional.empty()),
        good("firstclaim.retry.max-attempts", "1", s -> s.engine().retry().maxAttempts(), 1),
        good(
            "firstclaim.retry.backoff",
            "10ms",
            s -> s.engine().retry().backoff(),
            Duration.ofMillis(10)),
        good(
            "firstclaim.retry.max-backoff",
            "1h",
            s -> s.engine().retry().maxBackoff(),
            Duration.ofHours(1)),
        good(
            "firstclaim.dead-letter.topic",
            "dead",
            s -> s.engine().deadLetterTopic(),
            Optional.of("dead")),
        good("firstclaim.outcomes.topic", "o", s -> s.engine().outcomesTopic(), Optional.of("o")),
        good(
            "firstclaim.outcomes.topic", "none", s -> s.engine().outcomesTopic(), Optional.empty()),
        good(
            "firstclaim.outcomes.trust",
            "verify",
            s -> s.engine().outcomesTrust(),
            EngineSettings.Trust.VERIFY),
        good(
            "firstclaim.shutdown.grace",
            "1m",
            s -> s.engine().shutdownGrace(),
            Duration.ofMinutes(1)));
  }

  private static Arguments good(
      String property, String value, Function<ServiceSettings, Object> read, Object expected) {
    return arguments(property, value, read, expected);
  }

  @ParameterizedTest(name = "{0}={1}")
  @MethodSource("goodValues")
  void goodValue_isTaken(
      String property, String value, Function<ServiceSettings, Object> read, Object expected) {
    assertThat(read.apply(read(property, value))).isEqualTo(expected);
  }

  static Stream<Arguments> badValues() {
    return Stream.of(
        arguments("firstclaim.zone", "Zone A", "a zone has 1 to 32 of a-z, 0-9 and -"),
        arguments("firstclaim.zone", "a".repeat(33), "a zone has 1 to 32 of a-z, 0-9 and -"),
        arguments("firstclaim.zones", "a,a", "give each zone once, of a-z, 0-9 and -, such as a,b"),
        arguments("firstclaim.zones", "a,B", "give each zone once, of a-z, 0-9 and -, such as a,b"),
        arguments("firstclaim.zones", "b,c", "this instance's firstclaim.zone=a must be in it"),
        arguments(
            "firstclaim.instance",
            "x".repeat(129),
            "give 1 to 128 printable ASCII characters, no blanks"),
        arguments(
            "firstclaim.instance", "a\tb", "give 1 to 128 printable ASCII characters, no blanks"),
        arguments("firstclaim.input.topics", "a b", TOPIC),
        arguments("firstclaim.input.topics", "..", TOPIC),
        arguments("otel.traces.exporter", "oltp", "give otlp, or none to trace nothing"),
        arguments(
            "firstclaim.input.record-id",
            "headers:x",
            "'headers:x' is none of header:NAME, key, json:/pointer, sha256:value, offset"),
        arguments("firstclaim.input.ordering", "random", "give one of unordered, key, partition"),
        arguments("firstclaim.input.max-in-flight", "0", COUNT),
        arguments("firstclaim.input.max-in-flight", "many", COUNT),
        arguments("firstclaim.input.max-parked", "1000001", COUNT),
        arguments(
            "firstclaim.input.max-buffered",
            "0MB",
            "give a size from 1MB to 999999MB, such as 64MB"),
        arguments("firstclaim.input.replay-horizon", "0s", DURATION),
        arguments("firstclaim.claim.backend", "redis", "give one of dynamodb, s3, memory"),
        arguments(
            "firstclaim.claim.namespace",
            "x".repeat(129),
            "give 1 to 128 printable ASCII characters, no blanks"),
        arguments("firstclaim.claim.lease", "thirty", DURATION),
        arguments("firstclaim.claim.lease", "-30s", DURATION),
        arguments("firstclaim.claim.renew", "yes", "give true or false"),
        arguments("firstclaim.claim.max-skew", "-1s", DURATION),
        arguments("firstclaim.claim.max-skew", "499ms", "give 500ms or more"),
        arguments(
            "firstclaim.claim.retention",
            "20s",
            "it must not be shorter than firstclaim.claim.lease=30s"),
        arguments("firstclaim.claim.retention", "1000000d", DURATION),
        arguments("firstclaim.claim.head-start", "soon", DURATION),
        arguments(
            "firstclaim.claim.resources",
            "key,offset",
            "'offset' is none of json:/pointer, header:NAME, key"),
        arguments("firstclaim.claim.on-mismatch", "ignore", "give one of dead-letter, skip"),
        arguments("firstclaim.input.too-old", "skip", "give one of process, dead-letter"),
        arguments("firstclaim.claim.dynamodb.table", "ab", TABLE),
        arguments("firstclaim.claim.dynamodb.table", "my claims", TABLE),
        arguments("firstclaim.claim.dynamodb.batch", "0", BATCH),
        arguments("firstclaim.claim.dynamodb.batch", "26", BATCH),
        arguments("firstclaim.claim.create", "maybe", "give true or false"),
        arguments("firstclaim.handler.timeout", "0s", DURATION),
        arguments("firstclaim.handler.rate", "0", COUNT),
        arguments("firstclaim.retry.max-attempts", "0", COUNT),
        arguments("firstclaim.retry.backoff", "0s", DURATION),
        arguments(
            "firstclaim.retry.max-backoff",
            "500ms",
            "it must not be shorter than firstclaim.retry.backoff=1s"),
        arguments("firstclaim.dead-letter.topic", "a b", TOPIC),
        arguments("firstclaim.outcomes.topic", "a b", TOPIC),
        arguments("firstclaim.outcomes.trust", "me", "give one of topic, verify"),
        arguments("firstclaim.shutdown.grace", "0s", DURATION));
  }

  @ParameterizedTest(name = "{0}={1}")
  @MethodSource("badValues")
  void badValue_stopsTheStart_withPropertyValueAndRemedyInOneLine(
      String property, String value, String remedy) {
    String shown = value.replace('\t', ' ');
    assertThatThrownBy(() -> read(property, value))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage("%s=%s: %s".formatted(property, shown, remedy));
  }

  static Stream<Arguments> missing() {
    return Stream.of(
        arguments("firstclaim.zone", "name this deployment's zone, such as a"),
        arguments("firstclaim.input.topics", "name the input topics, comma-separated"),
        arguments(
            "firstclaim.input.record-id",
            "say where a record's ID is: header:NAME, key, json:/pointer, sha256:value or offset."
                + " There is no safe guess: two records with one ID count as one, and a key is"
                + " often an entity's, not an event's"),
        arguments(
            "firstclaim.handler.type",
            "say what is done with a record: log (marks all records done), http, topic, dataset or"
                + " one of your handlers: my-bean"),
        arguments("kafka.bootstrap.servers", "give the brokers, such as localhost:9092"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("missing")
  void missingValue_stopsTheStart(String property, String remedy) {
    String message = "%s is not set: %s".formatted(property, remedy);
    assertThatThrownBy(() -> readWithout(property)).hasMessage(message);
    assertThatThrownBy(() -> read(property, " ")).hasMessage(message);
  }
}
