package io.firstclaim.processor.engine.outcome;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.testing.TestTime;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class PresenceBeatTest {
  private static final String NOBODY = "127.0.0.1:1";

  @Test
  void stop_doesNotWaitForABrokerThatIsAway() throws InterruptedException {
    EngineSettings settings =
        Engine.builder().zone("a").topics("in").recordId("key").bootstrapServers(NOBODY).settings();
    Origin origin = new Origin("shop", "shop", "table", "me");
    StoreAgreement agreement = new StoreAgreement(settings, origin, "table");
    Map<String, Object> patient =
        Map.of(
            ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
            NOBODY,
            ProducerConfig.MAX_BLOCK_MS_CONFIG,
            Duration.ofHours(1).toMillis());
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(patient, new ByteArraySerializer(), new ByteArraySerializer())) {
      PresenceBeat beat =
          new PresenceBeat(producer, "outcomes", origin, "me", agreement, TestTime.running());
      beat.start();

      Thread stopping = Thread.ofPlatform().daemon().start(beat::close);

      assertThat(stopping.join(Duration.ofMinutes(5))).isTrue();
    }
  }
}
