package io.firstclaim.processor.engine.topic;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.processor.engine.config.Settings;
import io.firstclaim.processor.engine.identity.RecordIdSource;
import io.firstclaim.stack.server.FreePort;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Test;

class TopicsTest {
  private static final String CREATE =
      "kafka-topics.sh --bootstrap-server k1:9092,k2:9092 --create ";

  private final Topics topics = new Topics(settings());

  private static Settings settings() {
    return new Settings(
        "a",
        List.of(),
        new Settings.Input(
            List.of("in"),
            "group",
            List.of(new RecordIdSource.Key()),
            Settings.Ordering.UNORDERED,
            100,
            1000,
            Optional.empty()),
        new Settings.Claiming(
            Settings.Backend.MEMORY,
            ClaimSettings.of("test", "a"),
            true,
            Duration.ZERO,
            Settings.OnMismatch.SKIP,
            "table",
            false,
            Optional.empty()),
        new Settings.Handling(
            "log",
            Duration.ofMinutes(5),
            Optional.empty(),
            Duration.ofSeconds(30),
            Optional.empty(),
            Optional.empty()),
        new Settings.Retrying(3, Duration.ofSeconds(1), Duration.ofMinutes(1)),
        Optional.empty(),
        Optional.empty(),
        Duration.ofSeconds(5),
        Map.of("bootstrap.servers", "k1:9092,k2:9092"));
  }

  @Test
  void missingInput_isWaitedFor_withTheCommandThatCreatesIt() {
    assertThat(topics.input(new TreeSet<>(List.of("events", "orders"))))
        .isEqualTo("input topic events, orders; create it with: " + CREATE + "--topic events");
  }

  @Test
  void command_hasPartitionsAndConfiguration() {
    var topic =
        new NewTopic("in.dlt", 6, (short) -1)
            .configs(Map.of("retention.ms", "-1", "max.message.bytes", "1114124"));

    assertThat(topics.command(topic))
        .isEqualTo(
            CREATE
                + "--topic in.dlt --partitions 6 --config max.message.bytes=1114124"
                + " --config retention.ms=-1");
  }

  @Test
  void kafkaThatDoesNotAnswer_isWaitedFor_withTheCause() throws InterruptedException {
    Map<String, Object> config =
        Map.of(
            "bootstrap.servers", "127.0.0.1:" + FreePort.next(),
            "request.timeout.ms", 100,
            "default.api.timeout.ms", 100);
    try (Admin admin = Admin.create(config)) {
      assertThat(topics.ready(admin).orElseThrow())
          .startsWith("Kafka: org.apache.kafka.common.errors.TimeoutException: ");
    }
  }
}
