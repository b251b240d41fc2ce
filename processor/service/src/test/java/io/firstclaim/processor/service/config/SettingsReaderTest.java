package io.firstclaim.processor.service.config;

import static io.firstclaim.processor.service.config.SettingsFixture.DURATION;
import static io.firstclaim.processor.service.config.SettingsFixture.LEAST;
import static io.firstclaim.processor.service.config.SettingsFixture.read;
import static io.firstclaim.processor.service.config.SettingsFixture.variables;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.engine.api.EngineCatalog;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.api.EngineSettings.OnMismatch;
import io.firstclaim.processor.engine.api.EngineSettings.Ordering;
import io.firstclaim.processor.engine.api.RecordIdSource;
import io.firstclaim.processor.engine.setting.Setting;
import io.firstclaim.processor.engine.setting.WrongSettingsException;
import io.micronaut.context.env.MapPropertySource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How settings are given and read, and what is said of wrong ones. */
class SettingsReaderTest {
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
                Runtime.getRuntime().maxMemory() / 6,
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
                Duration.ofDays(15)));
    assertThat(settings.engine().claim().renew()).isTrue();
    assertThat(settings.engine().claim().headStart()).isEmpty();
    assertThat(settings.engine().claim().onMismatch()).isEqualTo(OnMismatch.DEAD_LETTER);
    assertThat(settings.engine().handlerTimeout()).isEqualTo(Duration.ofMinutes(5));
    assertThat(settings.backend())
        .isEqualTo(new Backend.DynamoDb("firstclaim", 25, Duration.ofDays(1), false));
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

  @Test
  void longOrOddValue_isStillOneShortLine() {
    assertThatThrownBy(() -> read("firstclaim.zone", "x\r\ny".repeat(1000)))
        .message()
        .doesNotContain("\r", "\n")
        .hasSizeLessThan(300);
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
    assertThat(settings.backend())
        .isEqualTo(new Backend.DynamoDb("claims", 25, Duration.ofDays(1), false));
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
                "http://localhost/orders?code=s3cret"));

    assertThat(settings.engine().kafka()).containsEntry("sasl.jaas.config", "password=\"s3cret\";");
    assertThat(settings.inForce())
        .containsEntry("firstclaim.input.topics", "orders")
        .containsEntry("firstclaim.input.group", "firstclaim-a")
        .containsEntry("firstclaim.claim.lease", "30s")
        .containsEntry("kafka.sasl.jaas.config", "(hidden)")
        .containsEntry("kafka.ssl.key.password", "(hidden)")
        .containsEntry("firstclaim.handler.http.url", "http://localhost/orders?(hidden)")
        .doesNotContainKey("firstclaim.claim.s3.prefix");
    assertThat(settings).asString().doesNotContain("s3cret").contains("orders");
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
                            + " my-bean",
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

  @ParameterizedTest
  @ValueSource(strings = {"FIRSTCLAIM_LOCK", "FIRSTCLAIM_TOKEN", "FIRSTCLAIM_ADMIN_TOKEN"})
  void variablesOfCommands_arePassedOver(String variable) {
    assertThat(
            read(
                MapPropertySource.of("test", new HashMap<>(LEAST)),
                variables(Map.of(variable, "x"))))
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

  /** A service for each handler on each backend, with what these need. */
  private static Stream<Map<String, Object>> services() {
    return Stream.of("log", "http", "topic", "dataset", "my-bean")
        .flatMap(
            handler ->
                Stream.of("dynamodb", "s3", "memory")
                    .map(
                        backend ->
                            Map.of(
                                "firstclaim.handler.type", handler,
                                "firstclaim.handler.http.url", "http://127.0.0.1:8000/x",
                                "firstclaim.handler.topic.name", "out",
                                "firstclaim.handler.dataset.bucket", "my-lake",
                                "firstclaim.claim.backend", backend,
                                "firstclaim.claim.s3.bucket", "my-claims")));
  }

  static Stream<Setting<?>> declared() {
    return ServiceCatalog.all().stream();
  }

  @ParameterizedTest
  @MethodSource("declared")
  void everySettingThatIsDeclared_isReadByAServiceThatHasAUseForIt(Setting<?> setting) {
    String nonsense = " \t\u0000,?://";

    assertThat(services())
        .anySatisfy(
            service -> {
              Map<String, Object> given = new HashMap<>(service);
              given.put(setting.name(), nonsense);
              if (!setting.equals(EngineCatalog.GROUP)) { // it may have any name
                assertThatThrownBy(() -> read(given))
                    .isInstanceOf(WrongSettingsException.class)
                    .message()
                    .contains(setting.name() + "=");
              } else {
                assertThat(read(given).unused()).doesNotContain(setting.name());
              }
            });
  }
}
