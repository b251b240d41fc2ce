package io.firstclaim.spring.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.spring.Deduplicated;
import io.firstclaim.spring.Exclusive;
import io.firstclaim.spring.autoconfigure.FirstclaimAutoConfiguration;
import io.firstclaim.spring.autoconfigure.StartRefusedException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** No job is due while these applications run. */
class JobRefusalsTest {
  private static final String YEARLY = "0 0 0 1 1 *";

  private final ApplicationContextRunner application = scheduling();

  /** An application that schedules jobs, and has none. */
  static ApplicationContextRunner scheduling() {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                FirstclaimAutoConfiguration.class, FirstclaimJobsAutoConfiguration.class))
        .withUserConfiguration(Scheduling.class)
        .withPropertyValues("firstclaim.claim.backend=memory");
  }

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  static class Scheduling {}

  private void refused(Class<?> job, String fault, String remedy) {
    refused(application.withBean(job), fault, remedy);
  }

  private static void refused(ApplicationContextRunner application, String fault, String remedy) {
    application.run(
        context -> {
          assertThat(context).hasFailed();
          StartRefusedException refusal = null;
          for (Throwable each = context.getStartupFailure(); each != null; each = each.getCause()) {
            refusal = each instanceof StartRefusedException found ? found : refusal;
          }
          assertThat(refusal).isNotNull().hasMessageContaining(fault);
          assertThat(Objects.requireNonNull(refusal).remedy()).contains(remedy);
        });
  }

  static final class Final {
    @Scheduled(cron = YEARLY)
    @Deduplicated(name = "once")
    void once() {}

    @Scheduled(cron = YEARLY)
    @Exclusive(name = "cron")
    void cron() {}

    @Scheduled(fixedRate = 10_000_000, initialDelay = 10_000_000)
    @Exclusive(name = "rate")
    void rate() {}

    @Scheduled(fixedDelayString = "PT3H", initialDelay = 10_000_000)
    @Exclusive(name = "delay")
    void delay() {}

    @Scheduled(cron = "${off:-}")
    @Deduplicated(name = "off")
    void off() {}
  }

  @Test
  void jobsOfAFinalBean_areKept_asItIsTheirTaskThatIs() {
    application.withBean(Final.class).run(context -> assertThat(context).hasNotFailed());
  }

  static class Rate {
    @Scheduled(fixedRate = 10_000_000)
    @Deduplicated(name = "rate")
    void rate() {}
  }

  static class Delay {
    @Scheduled(fixedDelayString = "PT3H")
    @Deduplicated(name = "delay")
    void delay() {}
  }

  @Test
  void fixedRateAndDelay_haveNoFireTimeInCommon_andAreRefused() {
    refused(Rate.class, "fire times of a fixed rate or delay", "@Exclusive");
    refused(Delay.class, "fire times of a fixed rate or delay", "a cron expression");
  }

  static class WithId {
    @Scheduled(cron = YEARLY)
    @Deduplicated(name = "with-id", id = "key")
    void job() {}
  }

  static class WrongName {
    @Scheduled(cron = YEARLY)
    @Deduplicated(name = "a b")
    void job() {}
  }

  static class NoName {
    @Scheduled(cron = YEARLY)
    @Exclusive(name = "")
    void job() {}
  }

  @Test
  void annotationsThatFitNoJob_areRefused() {
    refused(WithId.class, "the ID of a job is its fire time", "leave the id away");
    refused(WrongName.class, "the name 'a b'", "another");
    refused(NoName.class, "1 to 1024 bytes", "another name");
  }

  static class One {
    @Scheduled(cron = YEARLY)
    @Deduplicated(name = "same")
    void one() {}
  }

  static class Other {
    @Scheduled(cron = YEARLY)
    @Deduplicated(name = "same")
    void other() {}
  }

  @Test
  void oneNameForTwoJobs_isRefused() {
    refused(
        application.withBean(One.class).withBean(Other.class),
        "each would skip what the other has done",
        "a name of its own");
    refused(
        application.withBean("a", One.class).withBean("b", One.class),
        "each would skip what the other has done",
        "a method that one bean has");
  }

  static class Later {
    @Scheduled(cron = YEARLY)
    @Exclusive(name = "later")
    CompletableFuture<String> job() {
      return CompletableFuture.completedFuture("done");
    }
  }

  @Test
  void jobThatReturnsBeforeItsWorkEnds_isRefused() {
    refused(Later.class, "returns before its work ends", "return void");
  }

  static class NoJob {
    @Exclusive(name = "none")
    void job() {}
  }

  static class Nothing {
    @Deduplicated(name = "none", id = "key")
    void job() {}
  }

  static class OneTime {
    @Scheduled(initialDelay = 10_000_000)
    @Exclusive(name = "one-time")
    void job() {}
  }

  @Test
  void methodThatIsNoJob_orRunsOnlyOnce_isRefused() {
    refused(NoJob.class, "has no @Scheduled", "mutexes.of(name)");
    refused(Nothing.class, "no @KafkaListener and no @Scheduled", "call Deduplicator.run");
    refused(OneTime.class, "once after the start of each instance", "wait for it");
  }

  interface Nightly {
    void job();
  }

  static class Proxied implements Nightly {
    @Override
    @Scheduled(cron = YEARLY)
    @Deduplicated(name = "proxied")
    public void job() {}
  }

  @Configuration(proxyBeanMethods = false)
  static class ByInterface {
    @Bean
    Nightly proxied() {
      return (Nightly) new ProxyFactory(new Proxied()).getProxy();
    }
  }

  @Test
  void jobOfAJdkProxy_isRefused() {
    refused(
        application.withUserConfiguration(ByInterface.class),
        "not among the tasks",
        "no JDK proxy");
  }

  @Test
  void jobThatIsMadeAfterTheStart_isRefused() {
    application
        .withBean("late", One.class, One::new, bean -> bean.setLazyInit(true))
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThatThrownBy(() -> context.getBean("late"))
                  .hasRootCauseInstanceOf(StartRefusedException.class)
                  .hasMessageContaining("after the application's jobs were scheduled");
            });
  }
}
