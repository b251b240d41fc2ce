package io.firstclaim.processor.engine.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.stack.server.FreePort;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Test;

class TopicsTest {
  private static final String CREATE =
      "kafka-topics.sh --bootstrap-server k1:9092,k2:9092 --create ";

  private final Topics topics = new Topics(settings());

  private static EngineSettings settings() {
    return Engine.builder()
        .zone("a")
        .topics("in")
        .recordId("key")
        .withoutOutcomes()
        .bootstrapServers("k1:9092,k2:9092")
        .settings();
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
