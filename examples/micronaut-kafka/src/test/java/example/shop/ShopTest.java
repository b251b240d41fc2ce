package example.shop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.stack.server.DynamoDbServer;
import io.firstclaim.stack.server.KafkaBroker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The shop in two zones on a real broker and DynamoDB Local; one zone is killed half-way. */
class ShopTest {
  /** How many payments come at a time. */
  private static final int BATCH = 100;

  private static final TopicPartition RECEIPTS = new TopicPartition("receipts", 0);

  @Test
  void eachPaymentIsPaidOnce_thoughOneZoneIsKilledHalfWay(@TempDir Path directory)
      throws Exception {
    try (KafkaBroker broker = KafkaBroker.start(JvmTuning.SHORT_RUN);
        DynamoDbServer table = DynamoDbServer.start(JvmTuning.SHORT_RUN)) {
      broker.createTopic("payments", 2);
      broker.createTopic("receipts", 1);
      int payments = 0;
      try (ChildJvm a = start("a", broker, table, directory);
          ChildJvm b = start("b", broker, table, directory)) {
        // Whichever zone starts first would else have paid all before the other has begun.
        while (of("a", receipts(broker)).size() < BATCH / 10) {
          assertThat(a.isAlive()).as(a.logTail()).isTrue();
          int sent = publishTwice(broker, payments);
          payments = sent;
          eventually(() -> receipts(broker).size() >= sent || !b.isAlive());
        }
        payments = publishTwice(broker, payments);
        a.kill();
        // Zone a may have paid all that came before.
        payments = publishTwice(broker, payments);
        long deliveries = 2L * payments;
        eventually(() -> committed(broker, "shop-b") == deliveries || !b.isAlive());
        assertThat(b.isAlive()).as(b.logTail()).isTrue();
        b.terminate();
        assertThat(b.waitFor(Duration.ofMinutes(10))).isTrue();
      }
      List<Receipt> all = receipts(broker);
      List<String> a = of("a", all);
      List<String> b = of("b", all);
      assertThat(all.subList(all.size() - 10, all.size()))
          .as("paid after the kill")
          .extracting(Receipt::zone)
          .containsOnly("b");
      assertThat(a).doesNotHaveDuplicates();
      assertThat(b).doesNotHaveDuplicates();
      Set<String> paid = new HashSet<>(a);
      paid.addAll(b);
      assertThat(paid).hasSize(payments);
      // Zone a may have died between a receipt and the note that its payment is done.
      assertThat(a.size() + b.size()).isBetween(payments, payments + 1);
    }
  }

  /** Publishes the next payments after so many; returns how many there are then. */
  private static int publishTwice(KafkaBroker broker, int after) {
    try (var producer = broker.producer()) {
      for (int i = 0; i < 2 * BATCH; i++) {
        ProducerRecord<String, String> payment = new ProducerRecord<>("payments", null, "9.90");
        payment.headers().add("payment-id", ("p-" + (after + i % BATCH)).getBytes(UTF_8));
        var _ = producer.send(payment);
      }
    }
    return after + BATCH;
  }

  private static ChildJvm start(
      String zone, KafkaBroker broker, DynamoDbServer table, Path directory) {
    return ChildJvm.start(
        JvmCommand.ofMain(
                "zone " + zone, System.getProperty("java.class.path"), Shop.class.getName())
            .withJvmArgs(JvmTuning.SHORT_RUN.jvmArgs())
            .withEnv(
                Map.of(
                    "FIRSTCLAIM_ZONE",
                    zone,
                    "KAFKA_BOOTSTRAP_SERVERS",
                    broker.bootstrapServers(),
                    "AWS_ENDPOINT_URL_DYNAMODB",
                    table.endpoint().toString(),
                    "AWS_REGION",
                    "eu-central-1",
                    "AWS_ACCESS_KEY_ID",
                    "test",
                    "AWS_SECRET_ACCESS_KEY",
                    "test")),
        directory.resolve(zone + ".log"));
  }

  private static long committed(KafkaBroker broker, String group) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      return admin
          .listConsumerGroupOffsets(group)
          .partitionsToOffsetAndMetadata()
          .get()
          .values()
          .stream()
          .mapToLong(offset -> offset == null ? 0 : offset.offset())
          .sum();
    }
  }

  /** What a zone has sent for a payment. */
  private record Receipt(String zone, String payment) {}

  private static List<String> of(String zone, List<Receipt> receipts) {
    return receipts.stream()
        .filter(receipt -> receipt.zone().equals(zone))
        .map(Receipt::payment)
        .toList();
  }

  /** In the order in which they were sent. */
  private static List<Receipt> receipts(KafkaBroker broker) {
    try (var consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", broker.bootstrapServers()),
            new StringDeserializer(),
            new StringDeserializer())) {
      consumer.assign(List.of(RECEIPTS));
      consumer.seekToBeginning(List.of(RECEIPTS));
      long end = Objects.requireNonNull(consumer.endOffsets(List.of(RECEIPTS)).get(RECEIPTS));
      List<Receipt> found = new ArrayList<>();
      while (consumer.position(RECEIPTS) < end) {
        consumer
            .poll(Duration.ofSeconds(1))
            .forEach(
                receipt ->
                    found.add(
                        new Receipt(
                            new String(receipt.headers().lastHeader("zone").value(), UTF_8),
                            receipt.key())));
      }
      return found;
    }
  }

  private static void eventually(Callable<Boolean> holds) {
    Awaitility.await()
        .pollInterval(Duration.ofMillis(100))
        .atMost(Duration.ofMinutes(10))
        .until(holds);
  }
}
