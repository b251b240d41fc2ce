package io.firstclaim.micronaut.kafka;

import io.firstclaim.lock.testkit.framework.Diary;
import io.firstclaim.lock.testkit.framework.DiaryApplication;
import io.firstclaim.lock.testkit.framework.KilledListenerContract;
import io.firstclaim.micronaut.Deduplicated;
import io.firstclaim.stack.server.KafkaBroker;
import io.firstclaim.stack.server.SharedServers;
import io.micronaut.configuration.kafka.annotation.ErrorStrategy;
import io.micronaut.configuration.kafka.annotation.ErrorStrategyValue;
import io.micronaut.configuration.kafka.annotation.KafkaListener;
import io.micronaut.configuration.kafka.annotation.OffsetReset;
import io.micronaut.configuration.kafka.annotation.OffsetStrategy;
import io.micronaut.configuration.kafka.annotation.Topic;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.annotation.Requires;
import io.micronaut.runtime.Micronaut;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Claims are in a table. */
class KilledListenerTest extends KilledListenerContract {
  private static final String TOPIC = "killed";

  KilledListenerTest() {
    super(
        new DiaryApplication(
            Application.class,
            List.of(
                "-Dkafka.bootstrap.servers=" + SharedServers.kafka().bootstrapServers(),
                "-Dlistener=killed",
                "-Dmicronaut.server.host=127.0.0.1",
                "-Dmicronaut.server.port=-1",
                "-Dkafka.health.enabled=false",
                "-Dkafka.session.timeout.ms=6000",
                "-Dkafka.heartbeat.interval.ms=1000"),
            SharedServers.dynamoDb().environment()));
  }

  @Override
  protected void send(List<String> values) {
    KafkaBroker broker = SharedServers.kafka();
    broker.createTopic(TOPIC, 1);
    try (var producer = broker.producer()) {
      for (String value : values) {
        var _ = producer.send(new ProducerRecord<>(TOPIC, value, value));
      }
    }
  }

  static class Application {
    public static void main(String[] args) {
      var _ = Micronaut.build(args).deduceEnvironment(false).start();
    }
  }

  @Requires(property = "listener", value = "killed")
  @KafkaListener(
      groupId = TOPIC,
      offsetReset = OffsetReset.EARLIEST,
      offsetStrategy = OffsetStrategy.SYNC_PER_RECORD,
      errorStrategy =
          @ErrorStrategy(value = ErrorStrategyValue.RETRY_ON_ERROR, retryCount = Integer.MAX_VALUE),
      properties = @Property(name = "max.poll.records", value = "1"))
  static class Payments {
    @Topic(TOPIC)
    @Deduplicated(name = "payments", id = "key")
    void pay(String value) throws InterruptedException {
      Diary.ofThisInstance().pay(value);
    }
  }
}
