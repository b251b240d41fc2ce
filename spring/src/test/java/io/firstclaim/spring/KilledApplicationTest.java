package io.firstclaim.spring;

import io.firstclaim.lock.testkit.framework.Diary;
import io.firstclaim.lock.testkit.framework.DiaryApplication;
import io.firstclaim.lock.testkit.framework.KilledApplicationContract;
import io.firstclaim.stack.server.SharedServers;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Claims are in a table. */
class KilledApplicationTest extends KilledApplicationContract {
  KilledApplicationTest() {
    super(
        new DiaryApplication(
            Application.class,
            List.of(
                "-Dserver.port=0", "-Dserver.address=127.0.0.1", "-Dspring.main.banner-mode=off"),
            SharedServers.dynamoDb().environment()));
  }

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  @EnableAutoConfiguration(
      excludeName = {
        "io.awspring.cloud.autoconfigure.core.AwsAutoConfiguration",
        "io.awspring.cloud.autoconfigure.core.CredentialsProviderAutoConfiguration",
        "org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration",
        "io.firstclaim.spring.kafka.FirstclaimKafkaAutoConfiguration"
      })
  @Import({Payments.class, Jobs.class})
  static class Application {
    public static void main(String[] args) {
      var _ = SpringApplication.run(Application.class, args);
    }

    @Bean
    Diary diary() {
      return Diary.ofThisInstance();
    }

    @Bean
    ApplicationListener<WebServerInitializedEvent> listening(Diary diary) {
      return event -> diary.listensAt(event.getWebServer().getPort());
    }
  }

  @RestController
  static class Payments {
    private final Diary diary;

    Payments(Diary diary) {
      this.diary = diary;
    }

    @PostMapping("/payments")
    @IdempotencyKey
    @ResponseStatus(HttpStatus.CREATED)
    String pay(@RequestBody String payment) throws InterruptedException {
      diary.pay(payment);
      return "paid";
    }
  }

  static class Jobs {
    private final Diary diary;

    Jobs(Diary diary) {
      this.diary = diary;
    }

    @Scheduled(cron = "* * * * * *")
    @Deduplicated(name = "bill")
    void bill() throws InterruptedException {
      diary.bill();
    }

    @Scheduled(fixedDelay = 100)
    @Exclusive(name = "sweep")
    void sweep() throws InterruptedException {
      diary.sweep();
    }
  }
}
