package io.firstclaim.spring.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.spring.Exclusive;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.support.SimpleTriggerContext;

/** When Spring's scheduler is to run a job. */
class TriggersTest {
  private final Triggers triggers = new Triggers();
  private final ApplicationContextRunner application =
      JobRefusalsTest.scheduling().withBean(Triggers.class, () -> triggers);

  /** A scheduler that shows what it was given. */
  private static final class Triggers extends ThreadPoolTaskScheduler {
    private static final long serialVersionUID = 1;

    private final transient List<Trigger> all = new CopyOnWriteArrayList<>();

    @Override
    public @Nullable ScheduledFuture<?> schedule(Runnable task, Trigger trigger) {
      all.add(trigger);
      return super.schedule(task, trigger);
    }

    /** The first times from the beginning of 2026 on. */
    List<@Nullable Instant> firstTimes() {
      Clock clock = Clock.fixed(Instant.parse("2026-01-01T00:00:00Z"), ZoneOffset.UTC);
      return all.stream().map(each -> each.nextExecution(new SimpleTriggerContext(clock))).toList();
    }
  }

  static class OnKiritimati {
    @Scheduled(cron = "0 0 3 * * *", zone = "Pacific/Kiritimati")
    @Exclusive(name = "apart")
    void run() {}
  }

  @Test
  void exclusiveJob_runsByItsOwnTimeZone() {
    application
        .withBean(OnKiritimati.class)
        .run(
            context ->
                assertThat(triggers.firstTimes())
                    .containsExactly(Instant.parse("2026-01-01T13:00:00Z")));
  }
}
