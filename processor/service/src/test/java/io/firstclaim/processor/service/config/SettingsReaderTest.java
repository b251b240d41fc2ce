package io.firstclaim.processor.service.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineSettings.OnMismatch;
import io.firstclaim.processor.engine.api.EngineSettings.Ordering;
import io.firstclaim.processor.engine.api.RecordIdSource;
import io.firstclaim.processor.engine.api.ResourceSource;
import io.firstclaim.processor.service.handler.StatusMeanings;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.MapPropertySource;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.env.PropertySource.PropertyConvention;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsReaderTest {
  private static final Map<String, Object> LEAST =
      Map.of(
          "firstclaim.zone", "a",
          "firstclaim.input.topics", "orders",
          "firstclaim.input.record-id", "header:ce_id,key",
          "firstclaim.handler.type", "log",
          "kafka.bootstrap.servers", "localhost:9092");

  /** A handler of the user's, beside those of the service. */
  private static final KnownHandlers OWN =
      new KnownHandlers() {
        @Override
        public List<String> names() {
          return List.of("mine");
        }

        @Override
        public boolean has(String name) {
          return names().contains(name);
        }
      };

  private static ServiceSettings read(PropertySource... sources) {
    return read(environment -> SettingsReader.read(environment, OWN, List.of()), sources);
  }

  private static <T> T read(Function<Environment, T> reader, PropertySource... sources) {
    try (Environment environment =
        ApplicationContext.builder()
            .deduceEnvironment(false)
            .environmentPropertySource(false)
            .banner(false)
            .propertySources(sources)
            .build()
            .getEnvironment()) {
      environment.start();
      return reader.apply(environment);
    }
  }

  private static ServiceSettings read(Map<String, Object> more) {
    Map<String, Object> all = new HashMap<>(LEAST);
    all.putAll(more);
    return read(MapPropertySource.of("test", all));
  }

  private static ServiceSettings read(String property, String value) {
    return read(Map.of(property, value));
  }

  private static ServiceSettings readWithout(String property) {
    Map<String, Object> all = new HashMap<>(LEAST);
    all.remove(property);
    return read(MapPropertySource.of("test", all));
  }

  @Test
  void withTheRequiredOnly_theRestIsTheDefaults() {
    ServiceSettings settings = read(Map.of());

    assertThat(settings.engine().zone()).isEqualTo("a");
    assertThat(settings.engine().zones()).isEmpty();
    assertThat(settings.engine().input())
        .isEqualTo(
            new EngineSettings.Input(
                List.of("orders"),
                "firstclaim-a",
                List.of(new RecordIdSource.Header("ce_id"), new RecordIdSource.Key()),
                Ordering.UNORDERED,
                1000,
                10_000,
                EngineSettings.Input.suitableMaxBuffered(),
                Optional.empty()));
    ClaimSettings store = settings.engine().claim().store();
    assertThat(store.holder()).matches("a/.+-[0-9a-f]{8}");
    assertThat(store)
        .isEqualTo(
            new ClaimSettings(
                "firstclaim",
                store.holder(),
                Duration.ofSeconds(30),
                Duration.ofSeconds(1),
                Duration.ofDays(8)));
    assertThat(settings.engine().claim().renew()).isTrue();
    assertThat(settings.engine().claim().headStart()).isEmpty();
    assertThat(settings.engine().claim().onMismatch()).isEqualTo(OnMismatch.DEAD_LETTER);
    assertThat(settings.engine().handlerTimeout()).isEqualTo(Duration.ofMinutes(5));
    assertThat(settings.backend()).isEqualTo(new Backend.DynamoDb("firstclaim", 25, false));
    assertThat(settings.handler()).isEqualTo(new Handling.Log());
    assertThat(settings.unused()).isEmpty();
    assertThat(settings.engine().retry())
        .isEqualTo(new EngineSettings.Retrying(5, Duration.ofSeconds(1), Duration.ofMinutes(1)));
    assertThat(settings.engine().deadLetterTopic()).isEmpty();
    assertThat(settings.engine().outcomesTopic()).contains("firstclaim.outcomes");
    assertThat(settings.engine().shutdownGrace()).isEqualTo(Duration.ofSeconds(20));
    assertThat(settings.engine().kafka()).isEqualTo(Map.of("bootstrap.servers", "localhost:9092"));
  }

  @Test
  void twoInstances_haveTwoNames() {
    assertThat(read(Map.of()).engine().claim().store().holder())
        .isNotEqualTo(read(Map.of()).engine().claim().store().holder());
  }

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
            "firstclaim.claim.resources",
            "header:tenant, json:/items/*/sku, key",
            s -> s.engine().claim().resources(),
            ResourceSource.parseList("header:tenant,json:/items/*/sku,key")),
        good(
            "firstclaim.claim.dynamodb.table",
            "t-1",
            s -> s.backend(),
            new Backend.DynamoDb("t-1", 25, false)),
        good(
            "firstclaim.claim.dynamodb.batch",
            "8",
            s -> s.backend(),
            new Backend.DynamoDb("firstclaim", 8, false)),
        good(
            "firstclaim.claim.create",
            "true",
            s -> s.backend(),
            new Backend.DynamoDb("firstclaim", 25, true)),
        good("firstclaim.handler.type", "mine", s -> s.handler(), new Handling.Bean("mine")),
        good(
            "firstclaim.handler.timeout",
            "PT90S",
            s -> s.engine().handlerTimeout(),
            Duration.ofSeconds(90)),
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

  private static final String DURATION = "give a duration such as 500ms, 30s, 5m, 12h or 8d";
  private static final String STATUSES =
      "give statuses from 300 to 599, comma-separated, such as 404,500";
  private static final String BATCH =
      "give a number from 1, for each write in its own request, to 25";
  private static final String COUNT = "give a number from 1 to 1000000";
  private static final String TABLE = "a table has 3 to 255 of a-z A-Z 0-9 . _ -";
  private static final String TOPIC = "a topic has 1 to 249 of a-z A-Z 0-9 . _ -";

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
        arguments("firstclaim.input.topics", "a b", "a topic has 1 to 249 of a-z A-Z 0-9 . _ -"),
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
        arguments("firstclaim.claim.dynamodb.table", "ab", TABLE),
        arguments("firstclaim.claim.dynamodb.table", "my claims", TABLE),
        arguments("firstclaim.claim.dynamodb.batch", "0", BATCH),
        arguments("firstclaim.claim.dynamodb.batch", "26", BATCH),
        arguments("firstclaim.claim.create", "maybe", "give true or false"),
        arguments("firstclaim.handler.timeout", "0s", DURATION),
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

  private static ServiceSettings readS3(Map<String, Object> more) {
    Map<String, Object> all =
        new HashMap<>(
            Map.of("firstclaim.claim.backend", "s3", "firstclaim.claim.s3.bucket", "my-claims"));
    all.putAll(more);
    return read(all);
  }

  @Test
  void store_isReadWithoutZoneTopicsAndKafka_andCheckedTheSame() {
    assertThat(read(SettingsReader::readStore, MapPropertySource.of("test", Map.of())).backend())
        .isEqualTo(new Backend.DynamoDb("firstclaim", 25, false));
    assertThatThrownBy(
            () ->
                read(
                    SettingsReader::readStore,
                    MapPropertySource.of("test", Map.of("firstclaim.claim.lease", "soon"))))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessageStartingWith("firstclaim.claim.lease=soon: ");
  }

  @Test
  void s3_needsItsBucket_andHasADefaultPrefix() {
    assertThatThrownBy(() -> read("firstclaim.claim.backend", "s3"))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage(
            "firstclaim.claim.s3.bucket is not set: name the bucket that claims are kept in");
    assertThat(readS3(Map.of()).backend())
        .isEqualTo(new Backend.S3("my-claims", "claims/", Duration.ofDays(1), false));
    Map<String, Object> given =
        Map.of("firstclaim.claim.s3.prefix", "a/b.c/", "firstclaim.claim.s3.sweep", "0s");
    assertThat(readS3(given).backend())
        .isEqualTo(new Backend.S3("my-claims", "a/b.c/", Duration.ZERO, false));
  }

  @ParameterizedTest
  @ValueSource(strings = {"claims", "/", "/claims/", "a//b/", "a b/x/", "a b/", "a?x/"})
  void s3PrefixThatIsNoFolder_stopsTheStart(String prefix) {
    assertThatThrownBy(() -> readS3(Map.of("firstclaim.claim.s3.prefix", prefix)))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessageStartingWith("firstclaim.claim.s3.prefix=")
        .hasMessageEndingWith(
            "give up to 200 of a-z A-Z 0-9 . _ - in parts that end in /, such as claims/");
  }

  @ParameterizedTest
  @ValueSource(strings = {"b", "a/b", "a b", "arn:aws:s3:::claims"})
  void s3BucketThatIsNoName_stopsTheStart(String bucket) {
    assertThatThrownBy(() -> readS3(Map.of("firstclaim.claim.s3.bucket", bucket)))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage(
            "firstclaim.claim.s3.bucket=%s: a bucket has 3 to 63 of a-z A-Z 0-9 . _ -"
                .formatted(bucket));
  }

  private static ServiceSettings readDataset(Map<String, Object> more) {
    Map<String, Object> all =
        new HashMap<>(
            Map.of(
                "firstclaim.handler.type", "dataset",
                "firstclaim.handler.dataset.bucket", "my-lake"));
    all.putAll(more);
    return readS3(all);
  }

  @Test
  void dataset_isInTheBucketOfTheClaims_ifItHasNoneOfItsOwn() {
    int eight = 8 << 20;
    Duration second = Duration.ofSeconds(1);
    assertThat(readS3(Map.of("firstclaim.handler.type", "dataset")).handler())
        .isEqualTo(new Handling.Dataset(new DatasetSettings("my-claims", "", eight, second)));
    assertThat(readDataset(Map.of()).handler())
        .isEqualTo(new Handling.Dataset(new DatasetSettings("my-lake", "", eight, second)));
    assertThatThrownBy(() -> read("firstclaim.handler.type", "dataset"))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage(
            "firstclaim.handler.dataset.bucket is not set: name the bucket that the dataset is kept"
                + " in");
  }

  @Test
  void datasetsOwnSettings_areTaken() {
    assertThat(
            readDataset(
                    Map.of(
                        "firstclaim.handler.dataset.prefix", "a/lake/",
                        "firstclaim.handler.dataset.multipart-threshold", "5MB",
                        "firstclaim.handler.dataset.registry-interval", "200ms"))
                .handler())
        .isEqualTo(
            new Handling.Dataset(
                new DatasetSettings("my-lake", "a/lake/", 5 << 20, Duration.ofMillis(200))));
  }

  @ParameterizedTest
  @CsvSource({
    "bucket,a/b,a bucket has 3 to 63 of a-z A-Z 0-9 . _ -",
    "prefix,lake,'give up to 200 of a-z A-Z 0-9 . _ - in parts that end in /, such as lake/'",
    "prefix,../,'give up to 200 of a-z A-Z 0-9 . _ - in parts that end in /, such as lake/'",
    "multipart-threshold,4MB,'give a size from 5MB to 1024MB, such as 8MB'",
    "multipart-threshold,1025MB,'give a size from 5MB to 1024MB, such as 8MB'",
    "multipart-threshold,8388608,'give a size from 5MB to 1024MB, such as 8MB'",
    "registry-interval,0s,'give a duration such as 500ms, 30s, 5m, 12h or 8d'",
    "registry-interval,10001ms,'each record waits as long; give 10s at most, such as 1s'"
  })
  void wrongDatasetSetting_stopsTheStart(String name, String value, String remedy) {
    String property = "firstclaim.handler.dataset." + name;
    assertThatThrownBy(() -> readDataset(Map.of(property, value)))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage("%s=%s: %s".formatted(property, value, remedy));
  }

  @ParameterizedTest
  @CsvSource({"claims/,claims/", "'',datasets/", "'',metastore/x/", "a/,a/"})
  void datasetAmongTheClaims_stopsTheStart(String prefix, String claims) {
    Map<String, Object> sameBucket =
        Map.of(
            "firstclaim.handler.dataset.bucket", "my-claims",
            "firstclaim.handler.dataset.prefix", prefix,
            "firstclaim.claim.s3.prefix", claims);
    assertThatThrownBy(() -> readDataset(sameBucket))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessageStartingWith("firstclaim.handler.dataset.prefix=" + prefix)
        .hasMessageEndingWith(
            " must be apart from firstclaim.claim.s3.prefix=%s, where objects expire"
                .formatted(claims));
  }

  @Test
  void leaseThatIsTooShortForTheSkew_stopsTheStart_withWhatIsNeeded() {
    assertThatThrownBy(() -> read("firstclaim.claim.lease", "1s"))
        .isInstanceOf(WrongSettingsException.class)
        .message()
        .startsWith("firstclaim.claim.lease=1s: ")
        .contains("clock difference of 1s", "need at least")
        .doesNotContain("\n");
  }

  @Test
  void topicThatLeavesNoRoomForItsDeadLetters_stopsTheStart() {
    assertThatThrownBy(() -> read("firstclaim.input.topics", "x".repeat(246)))
        .isInstanceOf(WrongSettingsException.class)
        .message()
        .startsWith("firstclaim.input.topics=xxx")
        .endsWith(": a topic has 1 to 245 of a-z A-Z 0-9 . _ -");
  }

  @ParameterizedTest
  @CsvSource({
    "dead-letter.topic,orders,one of firstclaim.input.topics",
    "outcomes.topic,orders,one of firstclaim.input.topics",
    "outcomes.topic,orders.dlt,firstclaim.dead-letter.topic",
    "handler.topic.name,orders,one of firstclaim.input.topics",
    "handler.topic.name,orders.dlt,firstclaim.dead-letter.topic",
    "handler.topic.name,firstclaim.outcomes,firstclaim.outcomes.topic"
  })
  void topicWithTwoUses_stopsTheStart_withBothProperties(
      String name, String topic, String otherUse) {
    Map<String, Object> given = new HashMap<>(Map.of("firstclaim." + name, topic));
    if (name.startsWith("handler.")) {
      given.put("firstclaim.handler.type", "topic");
    }
    assertThatThrownBy(() -> read(given))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage(
            "firstclaim.%s=%s: it is %s; give another topic".formatted(name, topic, otherUse));
  }

  @Test
  void inputThatIsTheDeadLetterTopicOfAnother_stopsTheStart() {
    assertThatThrownBy(() -> read("firstclaim.input.topics", "orders,orders.dlt"))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage(
            "firstclaim.dead-letter.topic=orders.dlt: it is one of firstclaim.input.topics; give"
                + " another topic");
  }

  @Test
  void inputsWithOneDeadLetterTopic_areTaken() {
    Map<String, Object> given =
        Map.of("firstclaim.input.topics", "x,y", "firstclaim.dead-letter.topic", "dead");

    assertThat(read(given).engine().deadLetterTopic()).contains("dead");
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
                + " one of your handlers: mine"),
        arguments("kafka.bootstrap.servers", "give the brokers, such as localhost:9092"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("missing")
  void missingValue_stopsTheStart(String property, String remedy) {
    String message = "%s is not set: %s".formatted(property, remedy);
    assertThatThrownBy(() -> readWithout(property)).hasMessage(message);
    assertThatThrownBy(() -> read(property, " ")).hasMessage(message);
  }

  @Test
  void handlerWithoutItsTarget_stopsTheStart() {
    assertThatThrownBy(() -> read("firstclaim.handler.type", "http"))
        .hasMessage(
            "firstclaim.handler.http.url is not set: the http handler needs the URL to post to");
    assertThatThrownBy(() -> read("firstclaim.handler.type", "topic"))
        .hasMessage(
            "firstclaim.handler.topic.name is not set: the topic handler needs the topic to publish"
                + " to");
  }

  @Test
  void longOrOddValue_isStillOneShortLine() {
    assertThatThrownBy(() -> read("firstclaim.zone", "x\r\ny".repeat(1000)))
        .message()
        .doesNotContain("\r", "\n")
        .hasSizeLessThan(300);
  }

  @Test
  void passwordInTheUrl_isNotShown() {
    assertThatThrownBy(() -> readHttp("firstclaim.handler.http.url", "http://me:s3cret@a b"))
        .message()
        .startsWith("firstclaim.handler.http.url=")
        .doesNotContain("s3cret");
  }

  @Test
  void topicThatIsLong_isTaken_ifDeadLettersHaveATopicOfTheirOwn() {
    String topic = "x".repeat(249);
    ServiceSettings settings =
        read(Map.of("firstclaim.input.topics", topic, "firstclaim.dead-letter.topic", "dead"));

    assertThat(settings.engine().input().topics()).containsExactly(topic);
  }

  @Test
  void kafkaSettings_arePassedOn_asTheyAre() {
    ServiceSettings settings =
        read(
            Map.of(
                "kafka.max.poll.records", 100,
                "kafka.security.protocol", "SASL_SSL",
                "kafka.ssl.truststore.location", "/etc/trust"));

    assertThat(settings.engine().kafka())
        .isEqualTo(
            Map.of(
                "bootstrap.servers", "localhost:9092",
                "max.poll.records", 100,
                "security.protocol", "SASL_SSL",
                "ssl.truststore.location", "/etc/trust"));
  }

  private static PropertySource variables(Map<String, Object> variables) {
    return new MapPropertySource("variables", variables) {
      @Override
      public PropertyConvention getConvention() {
        return PropertyConvention.ENVIRONMENT_VARIABLE;
      }
    };
  }

  @Test
  void environmentVariables_workInTheirUsualForm() {
    ServiceSettings settings =
        read(
            variables(
                Map.of(
                    "FIRSTCLAIM_ZONE", "b",
                    "FIRSTCLAIM_INPUT_TOPICS", "orders,returns",
                    "FIRSTCLAIM_INPUT_RECORD_ID", "key",
                    "FIRSTCLAIM_HANDLER_TYPE", "log",
                    "FIRSTCLAIM_INPUT_MAX_IN_FLIGHT", "7",
                    "FIRSTCLAIM_CLAIM_MAX_SKEW", "750ms",
                    "FIRSTCLAIM_CLAIM_DYNAMODB_TABLE", "claims",
                    "FIRSTCLAIM_DEAD_LETTER_TOPIC", "dead",
                    "KAFKA_BOOTSTRAP_SERVERS", "one:9092,two:9092",
                    "KAFKA_MAX_POLL_RECORDS", "50")));

    assertThat(settings.engine().zone()).isEqualTo("b");
    assertThat(settings.engine().input().topics()).containsExactly("orders", "returns");
    assertThat(settings.engine().input().maxInFlight()).isEqualTo(7);
    assertThat(settings.engine().claim().store().maxSkew()).isEqualTo(Duration.ofMillis(750));
    assertThat(settings.backend()).isEqualTo(new Backend.DynamoDb("claims", 25, false));
    assertThat(settings.engine().deadLetterTopic()).contains("dead");
    assertThat(settings.engine().kafka())
        .isEqualTo(Map.of("bootstrap.servers", "one:9092,two:9092", "max.poll.records", "50"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"firstclaim.zone", "firstclaim.claim.lease", "firstclaim.retry.max-attempts"})
  void secretsOfTheKafkaClients_areInNoMessage(String wrong) {
    Map<String, Object> properties =
        Map.of(
            wrong,
            "?",
            "kafka.sasl.jaas.config",
            "org.apache.kafka.common.security.plain.PlainLoginModule required password=\"s3cret\";",
            "kafka.ssl.key.password",
            "s3cret");
    assertThatThrownBy(() -> read(properties)).message().doesNotContain("s3cret");
  }

  @Test
  void settingsInForce_areTheDefaultsToo_withoutSecrets() {
    ServiceSettings settings =
        read(
            Map.of(
                "kafka.sasl.jaas.config",
                "password=\"s3cret\";",
                "kafka.ssl.key.password",
                "s3cret",
                "firstclaim.handler.type",
                "http",
                "firstclaim.handler.http.url",
                "http://me:s3cret@localhost"));

    assertThat(settings.engine().kafka()).containsEntry("sasl.jaas.config", "password=\"s3cret\";");
    assertThat(settings.inForce())
        .containsEntry("firstclaim.input.topics", "orders")
        .containsEntry("firstclaim.input.group", "firstclaim-a")
        .containsEntry("firstclaim.claim.lease", "30s")
        .containsEntry("kafka.sasl.jaas.config", "(hidden)")
        .containsEntry("kafka.ssl.key.password", "(hidden)")
        .containsEntry("firstclaim.handler.http.url", "(hidden: it may have a password)")
        .doesNotContainKey("firstclaim.claim.s3.prefix");
    assertThat(settings).asString().doesNotContain("s3cret").contains("orders");
  }

  private static ServiceSettings readHttp(String property, String value) {
    Map<String, Object> all =
        new HashMap<>(
            Map.of(
                "firstclaim.handler.type", "http",
                "firstclaim.handler.http.url", "http://127.0.0.1:8000/x"));
    all.put(property, value);
    return read(all);
  }

  @Test
  void httpHandler_hasItsUrlAndItsTimeout() {
    URI url = URI.create("http://127.0.0.1:8000/x");
    assertThat(readHttp("firstclaim.handler.http.timeout", "5s").handler())
        .isEqualTo(new Handling.Http(url, Duration.ofSeconds(5), StatusMeanings.DEFAULT));
    assertThat(readHttp("firstclaim.zone", "a").handler())
        .isEqualTo(new Handling.Http(url, Duration.ofSeconds(30), StatusMeanings.DEFAULT));
    assertThat(readHttp("firstclaim.handler.http.unavailable-on", "404, 500").handler())
        .isEqualTo(
            new Handling.Http(
                url, Duration.ofSeconds(30), new StatusMeanings(Set.of(404, 500), Set.of())));
    assertThat(readHttp("firstclaim.handler.http.dead-letter-on", "500").handler())
        .isEqualTo(
            new Handling.Http(
                url, Duration.ofSeconds(30), new StatusMeanings(Set.of(), Set.of(500))));
  }

  @Test
  void statusThatMeansTwoThings_stopsTheStart() {
    assertThatThrownBy(
            () ->
                read(
                    Map.of(
                        "firstclaim.handler.type", "http",
                        "firstclaim.handler.http.url", "http://127.0.0.1:8000/x",
                        "firstclaim.handler.http.unavailable-on", "404,500",
                        "firstclaim.handler.http.dead-letter-on", "500")))
        .hasMessage(
            "firstclaim.handler.http.dead-letter-on=500: name no status that is in"
                + " firstclaim.handler.http.unavailable-on too");
  }

  static Stream<Arguments> wrongHttpSettings() {
    return Stream.of(
        arguments(
            "url",
            "http://a b",
            "give an http or https URL, such as http://127.0.0.1:8000/records"),
        arguments(
            "url",
            "ftp://a/x",
            "'ftp://a/x' is not an http or https URL with a host, such as"
                + " http://127.0.0.1:8000/records"),
        arguments("timeout", "30", DURATION),
        arguments("unavailable-on", "404,200", STATUSES),
        arguments("unavailable-on", "4xx", STATUSES),
        arguments("dead-letter-on", "600", STATUSES));
  }

  @ParameterizedTest
  @MethodSource("wrongHttpSettings")
  void wrongHttpSetting_stopsTheStart(String name, String value, String remedy) {
    String property = "firstclaim.handler.http." + name;
    assertThatThrownBy(() -> readHttp(property, value))
        .isInstanceOf(WrongSettingsException.class)
        .hasMessage("%s=%s: %s".formatted(property, value, remedy));
  }

  @Test
  void topicHandler_hasItsTopic() {
    assertThat(readTopic("out").handler()).isEqualTo(new Handling.Topic("out"));
    assertThatThrownBy(() -> readTopic("a/b"))
        .hasMessage("firstclaim.handler.topic.name=a/b: " + TOPIC);
  }

  private static ServiceSettings readTopic(String name) {
    return read(Map.of("firstclaim.handler.type", "topic", "firstclaim.handler.topic.name", name));
  }

  @Test
  void application_namesGroupOutcomesAndNamespace() {
    ServiceSettings settings = read("firstclaim.application", "shop");

    assertThat(settings.engine().input().group()).isEqualTo("shop-a");
    assertThat(settings.engine().outcomesTopic()).contains("shop.outcomes");
    assertThat(settings.engine().claim().store().namespace()).isEqualTo("shop");
  }

  @Test
  void allFaults_areToldAtOnce_aLineEach() {
    Map<String, Object> given =
        Map.of(
            "firstclaim.zone", "Zone A",
            "firstclaim.claim.leese", "10s",
            "firstclaim.claim.lease", "thirty",
            "firstclaim.claim.backend", "s3",
            "firstclaim.handler.type", "htttp",
            "firstclaim.retry.max-backoff", "500ms",
            "kafka.group.id", "mine");
    assertThatThrownBy(() -> read(given))
        .isInstanceOfSatisfying(
            WrongSettingsException.class,
            wrong ->
                assertThat(wrong.lines())
                    .containsExactlyInAnyOrder(
                        "firstclaim.claim.leese=10s: there is no such setting; the nearest is"
                            + " firstclaim.claim.lease",
                        "firstclaim.zone=Zone A: a zone has 1 to 32 of a-z, 0-9 and -",
                        "firstclaim.claim.lease=thirty: " + DURATION,
                        "firstclaim.claim.s3.bucket is not set: name the bucket that claims are"
                            + " kept in",
                        "firstclaim.handler.type=htttp: there is no such handler; give log (marks"
                            + " all records done), http, topic, dataset or one of your handlers:"
                            + " mine",
                        "firstclaim.retry.max-backoff=500ms: it must not be shorter than"
                            + " firstclaim.retry.backoff=1s",
                        "kafka.group.id=mine: leave it out; the consumer group is"
                            + " <application>-<zone>, or what firstclaim.input.group names"));
  }

  @ParameterizedTest
  @CsvSource({
    "FIRSTCLAIM_CLAIM_LEESE,there is no such setting; the nearest is FIRSTCLAIM_CLAIM_LEASE",
    "FIRSTCLAIM_INPUT_TOPIC,there is no such setting; the nearest is FIRSTCLAIM_INPUT_TOPICS",
    "FIRSTCLAIM_LOG_LEVELS,there is no such setting; the nearest is FIRSTCLAIM_LOG_LEVEL"
  })
  void misspeltVariable_stopsTheStart_withTheNearest(String variable, String remedy) {
    assertThatThrownBy(
            () ->
                read(
                    MapPropertySource.of("test", new HashMap<>(LEAST)),
                    variables(Map.of(variable, "x"))))
        .hasMessage("%s=x: %s".formatted(variable, remedy));
  }

  @ParameterizedTest
  @CsvSource({
    "firstclaim.handler.typ,there is no such setting; the nearest is firstclaim.handler.type",
    "firstclaim.claim.leaseTime,there is no such setting; the nearest is firstclaim.claim.lease",
    "firstclaim.log.level,give it as the environment variable FIRSTCLAIM_LOG_LEVEL"
  })
  void misspeltProperty_stopsTheStart_withTheNearest(String property, String remedy) {
    assertThatThrownBy(() -> read(property, "x"))
        .hasMessage("%s=x: %s".formatted(property.replace("leaseTime", "lease-time"), remedy));
  }

  @Test
  void audit_runsUnlessItIsSwitchedOff_orThereAreNoOutcomes() {
    assertThat(read("firstclaim.claim.lease", "60s").audit().off()).isEmpty();
    assertThat(read("firstclaim.audit.enabled", "false").audit().off())
        .contains("firstclaim.audit.enabled=false");
    assertThat(read("firstclaim.outcomes.topic", "none").audit().off()).isPresent();
  }

  @Test
  void audit_takesTenLeasesForStuck_andFiveMinutesAtLeast() {
    assertThat(read("firstclaim.claim.lease", "60s").audit().settings().stuckAfter())
        .isEqualTo(Duration.ofMinutes(10));
    assertThat(read("firstclaim.claim.lease", "10s").audit().settings().stuckAfter())
        .isEqualTo(Duration.ofMinutes(5));
    assertThat(read("firstclaim.audit.stuck-after", "7s").audit().settings().stuckAfter())
        .isEqualTo(Duration.ofSeconds(7));
  }

  @Test
  void audit_isAskedWhereTheServiceListens_unlessAnAddressIsGiven() {
    assertThat(read("micronaut.server.port", "8090").audit().settings().address())
        .hasToString("127.0.0.1:8090");
    assertThat(read("micronaut.server.ssl.enabled", "true").audit().settings().address())
        .as("with TLS")
        .hasToString("127.0.0.1:8443");
    assertThat(read("firstclaim.audit.address", "a-1:8081").audit().settings().address())
        .hasToString("a-1:8081");
    assertThatThrownBy(() -> read("firstclaim.audit.address", "a-1"))
        .hasMessage("firstclaim.audit.address=a-1: give host:port, such as processor-1:8080");
  }

  @Test
  void audit_hasAFolderWithinThatOfTemporaryFiles_whateverTheInstanceIsCalled() {
    Path temporary = Path.of(System.getProperty("java.io.tmpdir"), "firstclaim");
    for (String instance : List.of("host-1", "../../x", "a/b", "..")) {
      assertThat(read("firstclaim.instance", instance).audit().settings().directory())
          .hasParentRaw(temporary)
          .isNormalized();
    }
    assertThat(read("firstclaim.instance", "host-1").audit().settings().keepsState()).isTrue();
    assertThat(read("firstclaim.audit.directory", "/audit").audit().settings().keepsState())
        .isTrue();
    assertThat(read("firstclaim.claim.lease", "60s").audit().settings().keepsState())
        .as("of an instance that is named at random")
        .isFalse();
  }

  @Test
  void variablesOfAServiceInKubernetes_arePassedOver() {
    Map<String, Object> ofAService = new HashMap<>();
    ofAService.put("FIRSTCLAIM_PORT", "tcp://10.0.0.1:8080");
    ofAService.put("FIRSTCLAIM_SERVICE_HOST", "10.0.0.1");
    ofAService.put("FIRSTCLAIM_SERVICE_PORT", "8080");
    ofAService.put("FIRSTCLAIM_SERVICE_PORT_HTTP", "8080");
    ofAService.put("FIRSTCLAIM_PORT_8080_TCP", "tcp://10.0.0.1:8080");
    ofAService.put("FIRSTCLAIM_PORT_8080_TCP_ADDR", "10.0.0.1");
    ofAService.put("FIRSTCLAIM_PORT_8080_TCP_PORT", "8080");
    ofAService.put("FIRSTCLAIM_PORT_8080_TCP_PROTO", "tcp");
    ofAService.put("FIRSTCLAIM_ZONE_A_SERVICE_HOST", "10.0.0.2");
    ofAService.put("FIRSTCLAIM_ZONE_A_PORT", "tcp://10.0.0.2:8080");

    assertThat(read(MapPropertySource.of("test", new HashMap<>(LEAST)), variables(ofAService)))
        .isNotNull();
  }

  @Test
  void settingsOfWhatWasNotChosen_areNamed_andNeverRefused() {
    Map<String, Object> given =
        Map.of(
            "firstclaim.claim.s3.bucket", "?",
            "firstclaim.handler.http.timeout", "soon",
            "firstclaim.handler.path", "/not/there");
    assertThat(read(given).unused())
        .containsExactlyInAnyOrder(
            "firstclaim.claim.s3.bucket",
            "firstclaim.handler.http.timeout",
            "firstclaim.handler.path");
  }

  @Test
  void folderOfHandlersThatIsNotThere_orHasNoJar_stopsTheStart(@TempDir Path empty) {
    assertThatThrownBy(() -> readOwnHandler("/not/there"))
        .hasMessage(
            "firstclaim.handler.path=/not/there: there is no such folder; name the folder of your"
                + " handler's jar");
    assertThatThrownBy(() -> readOwnHandler(empty.toString()))
        .hasMessage(
            "firstclaim.handler.path=%s: no jar is in this folder; put your handler's jar there"
                .formatted(empty));
  }

  private static ServiceSettings readOwnHandler(String path) {
    return read(Map.of("firstclaim.handler.type", "mine", "firstclaim.handler.path", path));
  }
}
