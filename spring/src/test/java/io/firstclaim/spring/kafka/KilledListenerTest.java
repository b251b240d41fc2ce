package io.firstclaim.spring.kafka;

import io.firstclaim.lock.testkit.framework.Diary;
import io.firstclaim.lock.testkit.framework.DiaryApplication;
import io.firstclaim.lock.testkit.framework.KilledListenerContract;
import io.firstclaim.spring.AutoConfigured;
import io.firstclaim.spring.Deduplicated;
import io.firstclaim.stack.server.KafkaBroker;
import io.firstclaim.stack.server.SharedServers;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.KafkaListener;

/** Claims are in a table. */
class KilledListenerTest extends KilledListenerContract {
  private static final String TOPIC = "killed";

  KilledListenerTest() {
    super(
        new DiaryApplication(
            Application.class,
            List.of(
                "-Dspring.kafka.bootstrap-servers=" + SharedServers.kafka().bootstrapServers(),
                "-Dspring.kafka.consumer.auto-offset-reset=earliest",
                "-Dspring.kafka.consumer.properties.session.timeout.ms=6000",
                "-Dspring.kafka.consumer.properties.heartbeat.interval.ms=1000"),
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

  @Configuration(proxyBeanMethods = false)
  @AutoConfigured
  static class Application {
    public static void main(String[] args) {
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
    @KafkaListener(topics = TOPIC, groupId = TOPIC)
    @Deduplicated(name = "payments", id = "key")
    void pay(String value) throws InterruptedException {
      Diary.ofThisInstance().pay(value);
    }
  }
}
