package io.firstclaim.micronaut.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.micronaut.Deduplicated;
import io.firstclaim.stack.server.DynamoDbServer;
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
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two instances as processes, claims in a table; one is killed while its listener is at work. */
class KilledInstanceTest {
  private static final int RECORDS = 5;
  private static final Duration LIMIT = Duration.ofMinutes(10);

  /** An application that writes a line for each record that it begins, and may then hang. */
  static class Application {
    /** The file, and whether to hang. */
    public static void main(String[] args) {
      System.setProperty("payments.file", args[0]);
      System.setProperty("payments.hang", args[1]);
      var _ = Micronaut.build(args).deduceEnvironment(false).start();
    }
  }

  @Requires(property = "listener", value = "killed")
  @KafkaListener(
      groupId = "shop",
      offsetReset = OffsetReset.EARLIEST,
      offsetStrategy = OffsetStrategy.SYNC_PER_RECORD,
      errorStrategy =
          @ErrorStrategy(value = ErrorStrategyValue.RETRY_ON_ERROR, retryCount = Integer.MAX_VALUE),
      properties = @Property(name = "max.poll.records", value = "1"))
  static class Payments {
    @Topic("payments")
    @Deduplicated(name = "payments", id = "key")
    void pay(String value) throws IOException, InterruptedException {
      Files.writeString(
          Path.of(System.getProperty("payments.file")),
          value + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
      if (Boolean.getBoolean("payments.hang")) {
        new CountDownLatch(1).await();
      }
    }
  }

  @Test
  void instanceThatIsKilledInItsListener_isFollowedByAnother_whichDoesEachRecordOnce(
      @TempDir Path directory) throws Exception {
    KafkaBroker broker = SharedServers.kafka();
    DynamoDbServer table = SharedServers.dynamoDb();
    broker.createTopic("payments", 1);
    try (var producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", broker.bootstrapServers()),
            new StringSerializer(),
            new StringSerializer())) {
      for (int i = 0; i < 2 * RECORDS; i++) { // each twice
        String value = "v" + i % RECORDS;
        var _ = producer.send(new ProducerRecord<>("payments", value, value));
      }
    }
    Path killed = directory.resolve("killed");
    Path other = directory.resolve("other");
    try (ChildJvm instance = start(broker, table, killed, true)) {
      instance.awaitReady("at its first record", () -> lines(killed).size() == 1, LIMIT);
      instance.kill();
    }
    try (ChildJvm instance = start(broker, table, other, false)) {
      instance.awaitReady("done with all", () -> lines(other).contains("v" + (RECORDS - 1)), LIMIT);
      instance.terminate();
      assertThat(instance.waitFor(LIMIT)).isTrue();
    }
    assertThat(lines(killed)).containsExactly("v0");
    assertThat(lines(other))
        .containsExactlyElementsOf(IntStream.range(0, RECORDS).mapToObj(i -> "v" + i).toList());
  }

  private static List<String> lines(Path file) {
    try {
      return Files.exists(file) ? Files.readAllLines(file, UTF_8) : List.of();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static ChildJvm start(
      KafkaBroker broker, DynamoDbServer table, Path file, boolean hangs) {
    JvmCommand command =
        JvmCommand.ofMain(
                file.getFileName().toString(),
                System.getProperty("java.class.path"),
                Application.class.getName())
            .withJvmArgs(JvmTuning.SHORT_RUN.jvmArgs())
            .withJvmArgs(
                List.of(
                    "-Dkafka.bootstrap.servers=" + broker.bootstrapServers(),
                    "-Dlistener=killed",
                    "-Dmicronaut.server.host=127.0.0.1",
                    "-Dmicronaut.server.port=-1",
                    "-Dkafka.health.enabled=false",
                    "-Dkafka.session.timeout.ms=1000",
                    "-Dkafka.heartbeat.interval.ms=300",
                    "-Dfirstclaim.claim.backend=dynamodb",
                    "-Dfirstclaim.claim.create=true",
                    "-Dfirstclaim.claim.lease=10s"))
            .withArgs(List.of(file.toString(), Boolean.toString(hangs)))
            .withEnv(
                Map.of(
                    "AWS_ENDPOINT_URL_DYNAMODB", table.endpoint().toString(),
                    "AWS_REGION", "eu-central-1",
                    "AWS_ACCESS_KEY_ID", "test",
                    "AWS_SECRET_ACCESS_KEY", "test"));
    return ChildJvm.start(command, file.resolveSibling(file.getFileName() + ".log"));
  }
}
