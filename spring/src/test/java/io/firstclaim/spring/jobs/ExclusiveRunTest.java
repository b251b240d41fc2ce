package io.firstclaim.spring.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.mutex.Mutex;
import io.firstclaim.lock.testkit.ManualTime;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.springframework.scheduling.SchedulingAwareRunnable;

class ExclusiveRunTest {
  private final ManualTime time = ManualTime.start();
  private final ExclusiveRun run =
      new ExclusiveRun(
          new Mutex(
              new MemoryClaimStore(ClaimSettings.of("shop", "one"), time),
              RecordId.of("nightly"),
              time));

  /** Else whoever runs it once for a fire time would take it for stopped, and drop it. */
  @Test
  void jobThatIsInterrupted_asItsMutexIsLost_hasFailed() {
    Runnable job =
        () -> {
          time.advance(Duration.ofHours(1));
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            throw new UndeclaredThrowableException(e);
          }
        };

    assertThatThrownBy(() -> run.run(job, Duration.ZERO))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("its mutex was lost")
        .hasRootCauseInstanceOf(InterruptedException.class);
  }

  @Test
  void jobThatFails_whileItHasItsMutex_throwsWhatItThrew() {
    IllegalArgumentException thrown = new IllegalArgumentException("declined");

    assertThatThrownBy(
            () ->
                run.run(
                    () -> {
                      throw thrown;
                    },
                    Duration.ZERO))
        .isSameAs(thrown);
  }

  @Test
  void job_staysOnTheSchedulerThatItNames() {
    SchedulingAwareRunnable job =
        new SchedulingAwareRunnable() {
          @Override
          public String getQualifier() {
            return "reports";
          }

          @Override
          public void run() {}
        };

    assertThat(run.orNotAtAll(job))
        .isInstanceOfSatisfying(
            SchedulingAwareRunnable.class,
            kept -> assertThat(kept.getQualifier()).isEqualTo("reports"));
  }
}
