package io.firstclaim.micronaut.jobs;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.testkit.framework.JobsContract;
import io.firstclaim.micronaut.Deduplicated;
import io.firstclaim.micronaut.Exclusive;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Requires;
import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Singleton;
import java.util.Map;

class JobsTest extends JobsContract {
  @Requires(property = "jobs", value = "EACH_SECOND")
  @Singleton
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

  @Requires(property = "jobs", value = "APART")
  @Singleton
  static class Apart {
    private final Desk desk;

    Apart(Desk desk) {
      this.desk = desk;
    }

    @Scheduled(fixedDelay = "1ms")
    @Exclusive(name = "apart")
    void delay() throws Exception {
      desk.call();
    }

    @Scheduled(fixedRate = "10ms")
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

  @Override
  protected ApplicationContext run(Desk desk, ClaimStore store, Jobs jobs) {
    return ApplicationContext.builder()
        .deduceEnvironment(false)
        .properties(
            Map.of(
                "jobs",
                jobs.name(),
                "kafka.enabled",
                false,
                "firstclaim.retry.max-attempts",
                2,
                "firstclaim.retry.backoff",
                "50ms",
                "firstclaim.retry.max-backoff",
                "50ms"))
        .singletons(desk, store)
        .start();
  }
}
