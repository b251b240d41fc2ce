package io.firstclaim.processor.engine.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.EngineBuilder;
import io.firstclaim.processor.engine.api.ShortRetentionException;
import io.firstclaim.processor.engine.testing.LocalKafka;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
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
    LocalKafka.createTopic("week", 1, Map.of("retention.ms", week));
    LocalKafka.createTopic("for-ever", 1, Map.of("retention.ms", "-1"));
    LocalKafka.createTopic(
        "compacted", 1, Map.of("cleanup.policy", "compact", "retention.ms", week));
    LocalKafka.createTopic(
        "compacted-week", 1, Map.of("cleanup.policy", "compact,delete", "retention.ms", week));
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
  void claims_areKeptADayLongerThanTheRecords(String topic) throws InterruptedException {
    assertThat(ready(keeping(Duration.ofDays(8), topic))).isEmpty();
    requireShort(
        keeping(Duration.ofDays(8).minusHours(1), topic),
        "topic %s can deliver records for 7d and zones may lag by 1d, but claims have a retention of PT191H: give at least 8d, or a shorter replay horizon"
            .formatted(topic));
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
        "topic %s can deliver records for 3d and zones may lag by 1d, but claims have a retention of 3d: give at least 4d, or a shorter replay horizon"
            .formatted(topic));
  }

  @Test
  void replayHorizon_countsWhereItIsShorterThanTheTopicsRetention() throws InterruptedException {
    assertThat(ready(keeping(Duration.ofDays(3), "week").replayHorizon(Duration.ofDays(2))))
        .isEmpty();
    assertThat(ready(keeping(Duration.ofDays(8), "week").replayHorizon(Duration.ofDays(30))))
        .isEmpty();
  }

  @Test
  void ofSeveralTopics_eachMustBeOutlived() {
    requireShort(
        keeping(Duration.ofDays(5), "compacted", "week").replayHorizon(Duration.ofDays(6)),
        "topic compacted can deliver records for 6d and zones may lag by 1d, but claims have a retention of 5d: give at least 7d, or a shorter replay horizon");
    requireShort(
        keeping(Duration.ofDays(6), "for-ever", "week"),
        "topic for-ever keeps records for ever, and a retention of 6d lets a rewind process them again: give the replay horizon, which says how far back it is ever rewound");
  }
}
