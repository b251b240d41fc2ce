package io.firstclaim.spring.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.spring.Deduplicated;
import io.firstclaim.spring.Exclusive;
import io.firstclaim.spring.autoconfigure.FirstclaimAutoConfiguration;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** An application that is stopped and started, as a checkpoint and a cache of contexts do. */
class JobsRestartTest {
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  TaskSchedulingAutoConfiguration.class,
                  FirstclaimAutoConfiguration.class,
                  FirstclaimJobsAutoConfiguration.class))
          .withUserConfiguration(Scheduling.class)
          .withPropertyValues("firstclaim.claim.backend=memory");

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  static class Scheduling {}

  static class EachSecond {
    private final AtomicInteger once = new AtomicInteger();
    private final AtomicInteger apart = new AtomicInteger();

    @Scheduled(cron = "* * * * * *")
    @Deduplicated(name = "each-second")
    void once() {
      once.incrementAndGet();
    }

    @Scheduled(fixedDelay = 10)
    @Exclusive(name = "apart")
    void apart() {
      apart.incrementAndGet();
    }
  }

  private static void awaitRuns(EachSecond jobs) {
    int once = jobs.once.get();
    int apart = jobs.apart.get();
    Awaitility.await()
        .atMost(Duration.ofMinutes(10))
        .until(() -> jobs.once.get() > once && jobs.apart.get() > apart);
  }

  @Test
  void jobsOfAnApplicationThatWasStopped_runOn_onceItIsStarted() {
    application
        .withBean(EachSecond.class)
        .run(
            context -> {
              EachSecond jobs = context.getBean(EachSecond.class);
              ConfigurableApplicationContext source =
                  context.getSourceApplicationContext(ConfigurableApplicationContext.class);
              awaitRuns(jobs);

              source.stop();
              assertThat(context.getBean(Jobs.class).isRunning()).isFalse();
              source.start();
              assertThat(context.getBean(Jobs.class).isRunning()).isTrue();
              awaitRuns(jobs);

              source.pause();
              assertThat(context.getBean(Jobs.class).isRunning()).isFalse();
              source.restart();
              assertThat(context.getBean(Jobs.class).isRunning()).isTrue();
              awaitRuns(jobs);
            });
  }

  @Test
  void applicationWithoutJobs_isStoppedAndStarted() {
    application.run(
        context -> {
          ConfigurableApplicationContext source =
              context.getSourceApplicationContext(ConfigurableApplicationContext.class);
          assertThat(context.getBean(Jobs.class).isRunning()).isTrue();
          source.stop();
          assertThat(context.getBean(Jobs.class).isRunning()).isFalse();
          source.start();
          assertThat(context.getBean(Jobs.class).isRunning()).isTrue();
        });
  }
}
