package io.firstclaim.spring.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.spring.Deduplicated;
import io.firstclaim.stack.server.DynamoDbServer;
import io.firstclaim.stack.server.KafkaBroker;
import io.firstclaim.stack.server.SharedServers;
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
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.KafkaListener;

/** Two instances as processes, claims in a table; one is killed while its listener is at work. */
class KilledInstanceTest {
  private static final int RECORDS = 5;
  private static final Duration LIMIT = Duration.ofMinutes(10);

  /** An application that writes a line for each record that it begins, and may then hang. */
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration(
      excludeName = {
        "io.awspring.cloud.autoconfigure.core.AwsAutoConfiguration",
        "io.awspring.cloud.autoconfigure.core.CredentialsProviderAutoConfiguration"
      })
  static class Application {
    /** The file, and whether to hang. */
    public static void main(String[] args) {
      System.setProperty("payments.file", args[0]);
      System.setProperty("payments.hang", args[1]);
      SpringApplication application = new SpringApplication(Application.class);
      application.setWebApplicationType(WebApplicationType.NONE);
      application.run();
    }

    @Bean
    Payments payments() {
      return new Payments();
    }
  }

  static class Payments {
    @KafkaListener(topics = "payments", groupId = "shop")
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
                    "-Dspring.kafka.bootstrap-servers=" + broker.bootstrapServers(),
                    "-Dspring.kafka.consumer.auto-offset-reset=earliest",
                    "-Dspring.kafka.consumer.properties.session.timeout.ms=1000",
                    "-Dspring.kafka.consumer.properties.heartbeat.interval.ms=300",
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
