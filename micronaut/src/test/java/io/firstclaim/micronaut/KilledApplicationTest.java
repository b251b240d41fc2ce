package io.firstclaim.micronaut;

import io.firstclaim.lock.testkit.framework.Diary;
import io.firstclaim.lock.testkit.framework.DiaryApplication;
import io.firstclaim.lock.testkit.framework.KilledApplicationContract;
import io.firstclaim.stack.server.SharedServers;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Requires;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.Produces;
import io.micronaut.http.annotation.Status;
import io.micronaut.runtime.Micronaut;
import io.micronaut.runtime.event.annotation.EventListener;
import io.micronaut.runtime.server.event.ServerStartupEvent;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Singleton;
import java.util.List;

/** Claims are in a table. */
class KilledApplicationTest extends KilledApplicationContract {
  KilledApplicationTest() {
    super(
        new DiaryApplication(
            Application.class,
            List.of(
                "-Dmicronaut.server.port=-1",
                "-Dmicronaut.server.host=127.0.0.1",
                "-Dmicronaut.security.enabled=false",
                "-Dkafka.enabled=false",
                "-Dapplication=killed"),
            SharedServers.dynamoDb().environment()));
  }

  @Factory
  @Requires(property = "application", value = "killed")
  static class Application {
    public static void main(String[] args) {
      var _ = Micronaut.build(args).deduceEnvironment(false).start();
    }

    @Bean
    @Singleton
    Diary diary() {
      return Diary.ofThisInstance();
    }
  }

  @Requires(property = "application", value = "killed")
  @Controller
  static class Payments {
    private final Diary diary;

    Payments(Diary diary) {
      this.diary = diary;
    }

    @Post("/payments")
    @IdempotencyKey
    @Status(HttpStatus.CREATED)
    @Consumes(MediaType.TEXT_PLAIN)
    @Produces(MediaType.TEXT_PLAIN)
    @ExecuteOn(TaskExecutors.BLOCKING)
    String pay(@Body String payment) throws InterruptedException {
      diary.pay(payment);
      return "paid";
    }
  }

  @Requires(property = "application", value = "killed")
  @Singleton
  static class Jobs {
    private final Diary diary;

    Jobs(Diary diary) {
      this.diary = diary;
    }

    @EventListener
    void listening(ServerStartupEvent event) {
      diary.listensAt(event.getSource().getPort());
    }

    @Scheduled(cron = "* * * * * *")
    @Deduplicated(name = "bill")
    void bill() throws InterruptedException {
      diary.bill();
    }

    @Scheduled(fixedDelay = "100ms")
    @Exclusive(name = "sweep")
    void sweep() throws InterruptedException {
      diary.sweep();
    }
  }
}
