package io.firstclaim.spring.jobs;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.testkit.framework.JobsContract;
import io.firstclaim.spring.Deduplicated;
import io.firstclaim.spring.Exclusive;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

class JobsTest extends JobsContract {
  private boolean virtual;

  static class EachSecond {
    private final Desk desk;

    EachSecond(Desk desk) {
      this.desk = desk;
    }

    @Scheduled(cron = "* * * * * *")
    @Deduplicated(name = "each-second")
    void run() throws Exception {
      desk.call();
    }
  }

  static class Apart {
    private final Desk desk;

    Apart(Desk desk) {
      this.desk = desk;
    }

    @Scheduled(fixedDelay = 1)
    @Exclusive(name = "apart")
    void delay() throws Exception {
      desk.call();
    }

    @Scheduled(fixedRate = 10)
    @Exclusive(name = "apart")
    void rate() throws Exception {
      desk.call();
    }

    @Scheduled(cron = "* * * * * *")
    @Exclusive(name = "apart")
    void cron() throws Exception {
      desk.call();
    }
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
  static class Application {}

  /** Every other one runs its jobs on virtual threads. */
  @Override
  protected ConfigurableApplicationContext run(Desk desk, ClaimStore store, Jobs jobs) {
    virtual = !virtual;
    return new SpringApplicationBuilder(
            Application.class, jobs == Jobs.APART ? Apart.class : EachSecond.class)
        .web(WebApplicationType.NONE)
        .properties(
            "spring.threads.virtual.enabled=" + virtual,
            "spring.task.scheduling.pool.size=3",
            "firstclaim.retry.max-attempts=2",
            "firstclaim.retry.backoff=50ms",
            "firstclaim.retry.max-backoff=50ms",
            "spring.main.banner-mode=off",
            "logging.level.root=ERROR")
        .initializers(
            context -> {
              context.getBeanFactory().registerSingleton("desk", desk);
              context.getBeanFactory().registerSingleton("store", store);
            })
        .run();
  }
}
