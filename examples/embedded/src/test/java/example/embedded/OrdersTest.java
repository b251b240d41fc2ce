package example.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.KafkaBroker;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OrdersTest {
  @TempDir Path directory;

  @Test
  void orderThatComesThreeTimes_isShippedOnce() throws Exception {
    try (KafkaBroker broker = KafkaBroker.start(JvmTuning.SHORT_RUN)) {
      broker.createTopic("orders", 1);
      publish(broker, "order-1", "order-1", "order-1", "order-2");
      JvmCommand orders =
          JvmCommand.ofMain(
                  "orders", System.getProperty("java.class.path"), "example.embedded.Orders")
              .withJvmArgs(JvmTuning.SHORT_RUN.jvmArgs())
              .withArgs(List.of(broker.bootstrapServers()));
      try (ChildJvm child = ChildJvm.start(orders, directory.resolve("orders.log"))) {
        child.awaitReady(
            "shipped", () -> child.logTail().contains("shipped order-2"), Duration.ofMinutes(10));
        child.terminate();
        assertThat(child.waitFor(Duration.ofMinutes(10))).isTrue();
        assertThat(child.logTail()).containsOnlyOnce("shipped order-1");
      }
    }
  }

  private static void publish(KafkaBroker broker, String... keys) throws Exception {
    try (var producer =
        new KafkaProducer<>(
            Map.<String, Object>of("bootstrap.servers", broker.bootstrapServers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      for (String key : keys) {
        Object _ =
            producer
                .send(
                    new ProducerRecord<>(
                        "orders", key.getBytes(StandardCharsets.UTF_8), new byte[] {1}))
                .get();
      }
    }
  }
}
