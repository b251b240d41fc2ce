package io.firstclaim.micronaut.kafka;

import static io.micronaut.configuration.kafka.annotation.ErrorStrategyValue.RESUME_AT_NEXT_RECORD;
import static io.micronaut.configuration.kafka.annotation.ErrorStrategyValue.RETRY_EXPONENTIALLY_ON_ERROR;
import static io.micronaut.configuration.kafka.annotation.ErrorStrategyValue.RETRY_ON_ERROR;
import static io.micronaut.configuration.kafka.annotation.OffsetReset.EARLIEST;
import static io.micronaut.configuration.kafka.annotation.OffsetStrategy.SYNC_PER_RECORD;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.micronaut.Deduplicated;
import io.firstclaim.micronaut.Starts;
import io.micronaut.configuration.kafka.annotation.ErrorStrategy;
import io.micronaut.configuration.kafka.annotation.KafkaListener;
import io.micronaut.configuration.kafka.annotation.Topic;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.annotation.Requires;
import io.micronaut.messaging.annotation.SendTo;
import io.micronaut.scheduling.annotation.Async;
import jakarta.inject.Singleton;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.Consumer;
import org.junit.jupiter.api.Test;

/** No broker is there: all of this is known before the first consumer is made. */
class RefusalsTest {
  private static Map<String, Object> with(String listener) {
    return Map.of(
        "listener",
        listener,
        "kafka.bootstrap.servers",
        "127.0.0.1:1",
        "kafka.health.enabled",
        false);
  }

  private static void refused(String listener, String fault, String remedy, String... settings) {
    Starts.assertRefused(with(listener), fault, remedy, settings);
  }

  /** All that a listener must have, for those that lack another thing. */
  @KafkaListener(
      groupId = "g",
      offsetReset = EARLIEST,
      offsetStrategy = SYNC_PER_RECORD,
      errorStrategy = @ErrorStrategy(value = RETRY_ON_ERROR, retryCount = Integer.MAX_VALUE),
      properties = @Property(name = "max.poll.records", value = "1"))
  @Retention(RetentionPolicy.RUNTIME)
  @interface Keeping {}

  @Requires(property = "listener", value = "good")
  @Keeping
  static class Good {
    @Topic("in")
    @Deduplicated(name = "good", id = "key")
    void hear(String value) {}
  }

  @Test
  void listenerThatKeepsRecords_isTaken_andItsMethodIsForItsConsumerAlone() {
    try (ApplicationContext started = Starts.start(with("good"))) {
      Good good = started.getBean(Good.class);
      assertThatThrownBy(() -> good.hear("mine"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("called by something else than its consumer");
    }
  }

  @Requires(property = "listener", value = "none")
  @Singleton
  static class NoListener {
    @Deduplicated(name = "none", id = "key")
    void hear(String value) {}
  }

  @Requires(property = "listener", value = "no-topic")
  @Keeping
  static class NoTopic {
    @Deduplicated(name = "none", id = "key")
    void hear(String value) {}
  }

  @Test
  void methodThatIsNoListener_isRefused() {
    refused("none", "so nothing deduplicates its calls", "call Deduplicator.run");
    refused("no-topic", "so nothing deduplicates its calls", "call Deduplicator.run");
  }

  @Requires(property = "listener", value = "defaults")
  @KafkaListener
  static class Defaults {
    @Topic("in")
    @Deduplicated(name = "defaults", id = "key")
    void hear(String value) {}
  }

  @Requires(property = "listener", value = "no-strategy")
  @KafkaListener(offsetReset = EARLIEST, offsetStrategy = SYNC_PER_RECORD)
  static class NoStrategy {
    @Topic("in")
    @Deduplicated(name = "no-strategy", id = "key")
    void hear(String value) {}
  }

  @Requires(property = "listener", value = "skips")
  @KafkaListener(
      offsetReset = EARLIEST,
      offsetStrategy = SYNC_PER_RECORD,
      errorStrategy = @ErrorStrategy(value = RESUME_AT_NEXT_RECORD))
  static class Skips {
    @Topic("in")
    @Deduplicated(name = "skips", id = "key")
    void hear(String value) {}
  }

  @Requires(property = "listener", value = "grows")
  @KafkaListener(
      offsetReset = EARLIEST,
      offsetStrategy = SYNC_PER_RECORD,
      errorStrategy =
          @ErrorStrategy(value = RETRY_EXPONENTIALLY_ON_ERROR, retryCount = Integer.MAX_VALUE))
  static class Grows {
    @Topic("in")
    @Deduplicated(name = "grows", id = "key")
    void hear(String value) {}
  }

  @Requires(property = "listener", value = "ends")
  @KafkaListener(
      offsetReset = EARLIEST,
      offsetStrategy = SYNC_PER_RECORD,
      errorStrategy = @ErrorStrategy(value = RETRY_ON_ERROR, retryCount = 10))
  static class Ends {
    @Topic("in")
    @Deduplicated(name = "ends", id = "key")
    void hear(String value) {}
  }

  @Requires(property = "listener", value = "chooses")
  @KafkaListener(
      offsetReset = EARLIEST,
      offsetStrategy = SYNC_PER_RECORD,
      errorStrategy =
          @ErrorStrategy(
              value = RETRY_ON_ERROR,
              retryCount = Integer.MAX_VALUE,
              exceptionTypes = IllegalStateException.class))
  static class Chooses {
    @Topic("in")
    @Deduplicated(name = "chooses", id = "key")
    void hear(String value) {}
  }

  @Requires(property = "listener", value = "tells")
  @KafkaListener(
      offsetReset = EARLIEST,
      offsetStrategy = SYNC_PER_RECORD,
      errorStrategy =
          @ErrorStrategy(
              value = RETRY_ON_ERROR,
              retryCount = Integer.MAX_VALUE,
              handleAllExceptions = true))
  static class Tells {
    @Topic("in")
    @Deduplicated(name = "tells", id = "key")
    void hear(String value) {}
  }

  @Test
  void strategiesThatSkipRecords_areRefused() {
    refused("defaults", "offsets move whatever became", "OffsetStrategy.SYNC_PER_RECORD");
    for (String listener : List.of("no-strategy", "skips", "grows", "ends", "chooses")) {
      refused(listener, "its error strategy skips", "retryCount = Integer.MAX_VALUE");
    }
    refused("tells", "exception handler", "handleAllExceptions be false");
  }

  @Requires(property = "listener", value = "redelivers")
  @KafkaListener(
      offsetReset = EARLIEST,
      offsetStrategy = SYNC_PER_RECORD,
      redelivery = true,
      errorStrategy = @ErrorStrategy(value = RETRY_ON_ERROR, retryCount = Integer.MAX_VALUE))
  static class Redelivers {
    @Topic("in")
    @Deduplicated(name = "redelivers", id = "key")
    void hear(String value) {}
  }

  @Test
  void redelivery_isRefused() {
    refused("redelivers", "redelivery moves the offset", "let it be false");
  }

  @Requires(property = "listener", value = "latest")
  @KafkaListener(
      offsetStrategy = SYNC_PER_RECORD,
      errorStrategy = @ErrorStrategy(value = RETRY_ON_ERROR, retryCount = Integer.MAX_VALUE))
  static class Latest {
    @Topic("in")
    @Deduplicated(name = "latest", id = "key")
    void hear(String value) {}
  }

  @Requires(property = "listener", value = "polls-many")
  @KafkaListener(
      offsetReset = EARLIEST,
      offsetStrategy = SYNC_PER_RECORD,
      errorStrategy = @ErrorStrategy(value = RETRY_ON_ERROR, retryCount = Integer.MAX_VALUE))
  static class PollsMany {
    @Topic("in")
    @Deduplicated(name = "polls-many", id = "key")
    void hear(String value) {}
  }

  @Test
  void consumersThatLoseRecords_areRefused() {
    refused("latest", "begins at the end", "OffsetReset.EARLIEST");
    refused("polls-many", "the rest of its poll skipped", "max.poll.records");
    refused("good", "begins at the end", "EARLIEST", "kafka.auto.offset.reset", "latest");
    refused("good", "enable.auto.commit", "leave it away", "kafka.enable.auto.commit", "true");
    refused(
        "good",
        "enable.auto.commit",
        "leave it away",
        "kafka.consumers.g.enable.auto.commit",
        "true");
    refused(
        "good",
        "max.poll.interval.ms is 20000",
        "give 41000 or more",
        "kafka.max.poll.interval.ms",
        "20000");
  }

  @Requires(property = "listener", value = "batches")
  @KafkaListener(batch = true)
  static class Batches {
    @Topic("in")
    @Deduplicated(name = "batches", id = "key")
    void hear(List<String> values) {}
  }

  @Test
  void batches_areRefused() {
    refused("batches", "batches", "single records");
  }

  @Requires(property = "listener", value = "later")
  @Keeping
  static class Later {
    @Topic("in")
    @Deduplicated(name = "later", id = "key")
    CompletableFuture<String> hear(String value) {
      return CompletableFuture.completedFuture(value);
    }
  }

  @Requires(property = "listener", value = "elsewhere")
  @Keeping
  static class Elsewhere {
    @Async
    @Topic("in")
    @Deduplicated(name = "elsewhere", id = "key")
    void hear(String value) {}
  }

  @Test
  void listenersThatReturnBeforeTheirWorkEnds_areRefused() {
    refused("later", "returns before its work ends", "return void");
    refused("elsewhere", "returns before its work ends", "return void");
  }

  @Requires(property = "listener", value = "sends")
  @Keeping
  static class Sends {
    @Topic("in")
    @SendTo("out")
    @Deduplicated(name = "sends", id = "key")
    String hear(String value) {
      return value;
    }
  }

  @Requires(property = "listener", value = "returns")
  @Keeping
  static class Returns {
    @Topic("in")
    @Deduplicated(name = "returns", id = "key")
    int hear(String value) {
      return value.length();
    }
  }

  @Test
  void listenersThatReturnSomething_areRefused() {
    refused("sends", "@SendTo", "wait until it is acknowledged");
    refused("returns", "it returns something", "return void");
  }

  @Requires(property = "listener", value = "commits")
  @Keeping
  static class Commits {
    @Topic("in")
    @Deduplicated(name = "commits", id = "key")
    void hear(String value, Consumer<String, String> consumer) {}
  }

  @Requires(property = "listener", value = "deaf")
  @Keeping
  static class Deaf {
    @Topic("in")
    @Deduplicated(name = "deaf", id = "key")
    void hear() {}
  }

  @Test
  void argumentsThatMoveOffsets_orAreNotOfTheRecord_areRefused() {
    refused("commits", "its argument 'consumer' lets it move offsets", "take it away");
    refused("deaf", "no argument that is of the record", "the record's value");
  }

  @Requires(property = "listener", value = "namesakes")
  @Keeping
  static class Namesakes {
    @Topic("in")
    @Deduplicated(name = "same", id = "key")
    void hear(String value) {}

    @Topic("other")
    @Deduplicated(name = "same", id = "key")
    void hearOther(String value) {}
  }

  @Test
  void oneNameForTwoListeners_isRefused() {
    refused("namesakes", "each would skip what the other has done", "a name of its own");
  }

  @Requires(property = "listener", value = "wrong")
  @Keeping
  static class WrongId {
    @Topic("in")
    @Deduplicated(name = "wrong", id = "jason:/id")
    void hear(String value) {}
  }

  @Test
  void wrongId_isRefused() {
    refused("wrong", "'jason:/id' is none of", "annotation");
  }
}
