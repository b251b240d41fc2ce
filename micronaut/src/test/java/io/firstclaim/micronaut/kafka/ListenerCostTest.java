package io.firstclaim.micronaut.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.testkit.framework.ListenerCost;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.micronaut.Deduplicated;
import io.firstclaim.stack.server.KafkaBroker;
import io.micronaut.configuration.kafka.annotation.ErrorStrategy;
import io.micronaut.configuration.kafka.annotation.ErrorStrategyValue;
import io.micronaut.configuration.kafka.annotation.KafkaListener;
import io.micronaut.configuration.kafka.annotation.OffsetReset;
import io.micronaut.configuration.kafka.annotation.OffsetStrategy;
import io.micronaut.configuration.kafka.annotation.Topic;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.annotation.Requires;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Measures what the annotation adds to a listener that keeps its records without it, too, claims in
 * memory, on a real broker. {@code -Dlistener.cost=true} has it run; the figure is in
 * docs/speed.md.
 */
@EnabledIfSystemProperty(named = "listener.cost", matches = "true")
class ListenerCostTest {
  /** Fewer than in Spring, as each is polled and committed by itself. */
  private static final int RECORDS = 3_000;

  @KafkaListener(
      groupId = "${group}",
      offsetReset = OffsetReset.EARLIEST,
      offsetStrategy = OffsetStrategy.SYNC_PER_RECORD,
      errorStrategy =
          @ErrorStrategy(value = ErrorStrategyValue.RETRY_ON_ERROR, retryCount = Integer.MAX_VALUE),
      properties = @Property(name = "max.poll.records", value = "1"))
  @Retention(RetentionPolicy.RUNTIME)
  @interface Keeping {}

  @Requires(property = "listener", value = "cost-plain")
  @Keeping
  static class Plain {
    private final ListenerCost.Clock clock;

    Plain(ListenerCost.Clock clock) {
      this.clock = clock;
    }

    @Topic("in")
    void hear(String value) {
      clock.call();
    }
  }

  @Requires(property = "listener", value = "cost-once")
  @Keeping
  static class Once {
    private final ListenerCost.Clock clock;

    Once(ListenerCost.Clock clock) {
      this.clock = clock;
    }

    @Topic("in")
    @Deduplicated(name = "once", id = "header:id")
    void hear(String value) {
      clock.call();
    }
  }

  @Test
  void annotationAddsMicroseconds() throws Exception {
    try (KafkaBroker broker = KafkaBroker.start(JvmTuning.SHORT_RUN)) {
      broker.createTopic("in", 1);
      try (var producer = broker.producer()) {
        for (int i = 0; i < RECORDS; i++) {
          ProducerRecord<String, String> record = new ProducerRecord<>("in", "value " + i);
          record.headers().add("id", ("id-" + i).getBytes(UTF_8));
          var _ = producer.send(record);
        }
      }
      new ListenerCost(RECORDS)
          .measure((clock, deduplicated, group) -> run(broker, clock, deduplicated, group));
    }
  }

  private static void run(
      KafkaBroker broker, ListenerCost.Clock clock, boolean deduplicated, String group)
      throws InterruptedException {
    try (var _ =
        ApplicationContext.builder()
            .deduceEnvironment(false)
            .properties(
                Map.of(
                    "listener",
                    deduplicated ? "cost-once" : "cost-plain",
                    "group",
                    group,
                    "kafka.bootstrap.servers",
                    broker.bootstrapServers(),
                    "kafka.health.enabled",
                    false,
                    "firstclaim.claim.backend",
                    "memory"))
            .singletons(clock)
            .start()) {
      clock.await();
    }
  }
}
