package io.firstclaim.processor.engine.kafka;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.EngineBuilder;
import io.firstclaim.processor.engine.api.ShortRetentionException;
import io.firstclaim.processor.engine.api.TopicRefusedException;
import io.firstclaim.processor.engine.testing.LocalKafka;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** For how long claims must be kept, by what a broker says of the input topics. */
class TopicRetentionTest {
  private static final Admin ADMIN =
      Admin.create(Map.of("bootstrap.servers", LocalKafka.bootstrapServers()));

  @BeforeAll
  static void createTopics() {
    String week = Long.toString(Duration.ofDays(7).toMillis());
    String day = Long.toString(Duration.ofDays(1).toMillis());
    LocalKafka.createTopic("week", 1, Map.of("retention.ms", week, "segment.ms", day));
    LocalKafka.createTopic("defaults", 1, Map.of());
    LocalKafka.createTopic("for-ever", 1, Map.of("retention.ms", "-1"));
    LocalKafka.createTopic(
        "compacted", 1, Map.of("cleanup.policy", "compact", "retention.ms", week));
    LocalKafka.createTopic(
        "compacted-week",
        1,
        Map.of("cleanup.policy", "compact,delete", "retention.ms", week, "segment.ms", day));
  }

  @AfterAll
  static void close() {
    ADMIN.close();
  }

  private static EngineBuilder keeping(Duration claims, String... topics) {
    return Engine.builder()
        .zone("a")
        .topics(topics)
        .recordId("key")
        .withoutOutcomes()
        .bootstrapServers(LocalKafka.bootstrapServers())
        .retention(claims);
  }

  private static Optional<String> ready(EngineBuilder engine) throws InterruptedException {
    return new Topics(engine.settings()).ready(ADMIN);
  }

  private static void requireShort(EngineBuilder engine, String why) {
    assertThatThrownBy(() -> ready(engine))
        .isInstanceOf(ShortRetentionException.class)
        .hasMessage(why);
  }

  @ParameterizedTest
  @ValueSource(strings = {"week", "compacted-week"})
  void claims_areKeptADayLongerThanTheRecords_whoseSegmentIsDeletedAsAWhole(String topic)
      throws InterruptedException {
    assertThat(ready(keeping(Duration.ofDays(9), topic))).isEmpty();
    requireShort(keeping(Duration.ofDays(9).minusHours(1), topic), tooShort(topic, "8d", "PT215H"));
  }

  private static String tooShort(String topic, String delivered, String kept) {
    return "topic %s can deliver records for %s (its retention.ms and segment.ms together, or the replay horizon) and zones may lag by 1d, but claims have a retention of %s: give at least %s, a shorter replay horizon, or the topic a shorter segment.ms"
        .formatted(topic, delivered, kept, Integer.parseInt(delivered.replace("d", "")) + 1 + "d");
  }

  @Test
  void defaultRetention_fitsKafkasDefaults() throws InterruptedException {
    assertThat(ready(keeping(ClaimSettings.DEFAULT_RETENTION, "defaults"))).isEmpty();
    requireShort(keeping(Duration.ofDays(14), "defaults"), tooShort("defaults", "14d", "14d"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"for-ever", "compacted"})
  void topicThatKeepsRecordsForEver_needsAReplayHorizon(String topic) throws InterruptedException {
    requireShort(
        keeping(Duration.ofDays(1000), topic),
        "topic %s keeps records for ever, and a retention of 1000d lets a rewind process them again: give the replay horizon, which says how far back it is ever rewound"
            .formatted(topic));
    assertThat(ready(keeping(Duration.ofDays(4), topic).replayHorizon(Duration.ofDays(3))))
        .isEmpty();
    requireShort(
        keeping(Duration.ofDays(3), topic).replayHorizon(Duration.ofDays(3)),
        tooShort(topic, "3d", "3d"));
  }

  @Test
  void replayHorizon_countsWhereItIsShorterThanTheTopicsRetention() throws InterruptedException {
    assertThat(ready(keeping(Duration.ofDays(3), "week").replayHorizon(Duration.ofDays(2))))
        .isEmpty();
    assertThat(ready(keeping(Duration.ofDays(9), "week").replayHorizon(Duration.ofDays(30))))
        .isEmpty();
  }

  @Test
  void ofSeveralTopics_eachMustBeOutlived() {
    requireShort(
        keeping(Duration.ofDays(5), "compacted", "week").replayHorizon(Duration.ofDays(6)),
        tooShort("compacted", "6d", "5d"));
    requireShort(
        keeping(Duration.ofDays(6), "for-ever", "week"),
        "topic for-ever keeps records for ever, and a retention of 6d lets a rewind process them again: give the replay horizon, which says how far back it is ever rewound");
  }

  @Test
  void compactedTopicOfDeadLetters_isRefused_withTheCommandThatMendsIt() {
    LocalKafka.createTopic("orders", 1, Map.of("segment.ms", "1000"));
    LocalKafka.createTopic("orders.dlt", 1, Map.of("cleanup.policy", "compact,delete"));

    assertThatThrownBy(() -> ready(keeping(Duration.ofDays(15), "orders")))
        .isInstanceOf(TopicRefusedException.class)
        .hasMessage(
            "topic orders.dlt has cleanup.policy=compact,delete, by which all records of a key but the last are deleted and those without a key are refused; mend it with: kafka-configs.sh --bootstrap-server %s --alter --entity-type topics --entity-name orders.dlt --add-config cleanup.policy=delete"
                .formatted(LocalKafka.bootstrapServers()));
  }

  /** The broker hears of a topic after whoever had it created. */
  private static ConfigEntry configured(String topic, String setting) throws Exception {
    ConfigResource asked = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    AtomicReference<Config> config = new AtomicReference<>();
    eventually(
        () -> {
          try {
            config.set(
                ADMIN.describeConfigs(List.of(asked)).all().get().values().iterator().next());
            return true;
          } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(UnknownTopicOrPartitionException.class);
            return false;
          }
        });
    return config.get().get(setting);
  }

  @Test
  void createdTopics_areNotCompacted() throws Exception {
    LocalKafka.createTopic("payments", 1, Map.of("segment.ms", "1000"));

    assertThat(ready(keeping(Duration.ofDays(15), "payments").outcomesTopic("payments.outcomes")))
        .isEmpty();

    for (String created : List.of("payments.dlt", "payments.outcomes")) {
      ConfigEntry policy = configured(created, "cleanup.policy");
      assertThat(policy.value()).isEqualTo("delete");
      assertThat(policy.source())
          .as("whatever the cluster's default is")
          .isEqualTo(ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG);
    }
  }

  @Test
  void deadLettersOfTheLargestRecords_mayBeAsLargeAsKafkaTakesAny() throws Exception {
    String most = Integer.toString(Integer.MAX_VALUE);
    LocalKafka.createTopic("films", 1, Map.of("segment.ms", "1000", "max.message.bytes", most));

    assertThat(ready(keeping(Duration.ofDays(15), "films"))).isEmpty();

    assertThat(configured("films.dlt", "max.message.bytes").value()).isEqualTo(most);
  }
}
