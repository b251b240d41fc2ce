package io.firstclaim.spring.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.process.JvmTuning;
import io.firstclaim.spring.Deduplicated;
import io.firstclaim.stack.server.KafkaBroker;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.KafkaListener;

/**
 * Measures what the annotation adds to a listener that does nothing, claims in memory: rounds with
 * and without it in turn, each of records that wait on a real broker, from the first to the last
 * call. {@code -Dlistener.cost=true} has it run; the figure is in docs/speed.md.
 */
@EnabledIfSystemProperty(named = "listener.cost", matches = "true")
class ListenerCostTest {
  private static final int RECORDS = 20_000;
  private static final int ROUNDS = 9;
  private static final int WARM_UP = 3;

  /** Counts the calls, and takes the time of the first and the last. */
  static class Clock {
    private final CountDownLatch all = new CountDownLatch(1);
    private long calls;
    private long first;
    private long last;

    /** By the container's one thread. */
    void call() {
      long now = System.nanoTime();
      if (calls++ == 0) {
        first = now;
      }
      if (calls == RECORDS) {
        last = now;
        all.countDown();
      }
    }

    double microsARecord() throws InterruptedException {
      assertThat(all.await(10, TimeUnit.MINUTES)).isTrue();
      return (last - first) / 1e3 / (RECORDS - 1);
    }
  }

  static class Plain extends Clock {
    @KafkaListener(topics = "in", groupId = "${group}")
    void hear(String value) {
      call();
    }
  }

  static class Once extends Clock {
    @KafkaListener(topics = "in", groupId = "${group}")
    @Deduplicated(name = "once", id = "header:id")
    void hear(String value) {
      call();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration(
      excludeName = {
        "io.awspring.cloud.autoconfigure.core.AwsAutoConfiguration",
        "io.awspring.cloud.autoconfigure.core.CredentialsProviderAutoConfiguration"
      })
  static class Application {}

  @Test
  void annotationAddsMicroseconds() throws Exception {
    try (KafkaBroker broker = KafkaBroker.start(JvmTuning.SHORT_RUN)) {
      broker.createTopic("in", 1);
      try (var producer =
          new KafkaProducer<>(
              Map.of("bootstrap.servers", broker.bootstrapServers()),
              new StringSerializer(),
              new StringSerializer())) {
        for (int i = 0; i < RECORDS; i++) {
          ProducerRecord<String, String> record = new ProducerRecord<>("in", "value " + i);
          record.headers().add("id", ("id-" + i).getBytes(UTF_8));
          var _ = producer.send(record);
        }
      }
      List<Double> plain = new ArrayList<>();
      List<Double> once = new ArrayList<>();
      List<Double> added = new ArrayList<>();
      for (int round = 0; round < WARM_UP + ROUNDS; round++) {
        double without = measured(broker, Plain.class, "plain-" + round);
        double with = measured(broker, Once.class, "once-" + round);
        if (round >= WARM_UP) {
          plain.add(without);
          once.add(with);
          added.add(with - without);
        }
      }
      System.out.printf(
          "A listener takes %.1f µs a record, with @Deduplicated %.1f µs: %.1f µs more"
              + " (medians of %d rounds of %d records; %.1f to %.1f)%n",
          median(plain),
          median(once),
          median(added),
          ROUNDS,
          RECORDS,
          Collections.min(added),
          Collections.max(added));
      assertThat(median(added)).isLessThan(1000);
    }
  }

  private static double median(List<Double> figures) {
    return figures.stream().sorted().toList().get(figures.size() / 2);
  }

  private static double measured(KafkaBroker broker, Class<? extends Clock> listener, String group)
      throws InterruptedException {
    try (var application =
        new SpringApplicationBuilder(Application.class, listener)
            .web(WebApplicationType.NONE)
            .properties(
                "group=" + group,
                "spring.kafka.bootstrap-servers=" + broker.bootstrapServers(),
                "spring.kafka.consumer.auto-offset-reset=earliest",
                "firstclaim.claim.backend=memory",
                "spring.main.banner-mode=off",
                "logging.level.root=ERROR")
            .run()) {
      return application.getBean(listener).microsARecord();
    }
  }
}
