package io.firstclaim.spring.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.testkit.framework.ListenerCost;
import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.spring.AutoConfigured;
import io.firstclaim.spring.Deduplicated;
import io.firstclaim.stack.server.KafkaBroker;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.KafkaListener;

/**
 * Measures what the annotation adds to a listener, claims in memory, on a real broker. {@code
 * -Dlistener.cost=true} has it run; the figure is in docs/speed.md.
 */
@EnabledIfSystemProperty(named = "listener.cost", matches = "true")
class ListenerCostTest {
  private static final int RECORDS = 20_000;

  static class Plain {
    private final ListenerCost.Clock clock;

    Plain(ListenerCost.Clock clock) {
      this.clock = clock;
    }

    @KafkaListener(topics = "in", groupId = "${group}")
    void hear(String value) {
      clock.call();
    }
  }

  static class Once {
    private final ListenerCost.Clock clock;

    Once(ListenerCost.Clock clock) {
      this.clock = clock;
    }

    @KafkaListener(topics = "in", groupId = "${group}")
    @Deduplicated(name = "once", id = "header:id")
    void hear(String value) {
      clock.call();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @AutoConfigured
  static class Application {}

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
        new SpringApplicationBuilder(Application.class, deduplicated ? Once.class : Plain.class)
            .web(WebApplicationType.NONE)
            .properties(
                "group=" + group,
                "spring.kafka.bootstrap-servers=" + broker.bootstrapServers(),
                "spring.kafka.consumer.auto-offset-reset=earliest",
                "firstclaim.claim.backend=memory",
                "spring.main.banner-mode=off",
                "logging.level.root=ERROR")
            .initializers(context -> context.getBeanFactory().registerSingleton("clock", clock))
            .run()) {
      clock.await();
    }
  }
}
