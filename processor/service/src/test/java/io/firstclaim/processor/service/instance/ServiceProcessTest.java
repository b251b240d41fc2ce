package io.firstclaim.processor.service.instance;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class ServiceProcessTest {
  @Test
  void whatTakesTooLongToClose_isNotWaitedFor() throws InterruptedException {
    CountDownLatch mayEnd = new CountDownLatch(1);

    assertThat(ServiceProcess.isOverWithin(Duration.ofMillis(1), mayEnd::await)).isFalse();

    mayEnd.countDown();
  }

  @Test
  void whatIsClosedInTime_isWaitedFor() throws InterruptedException {
    AtomicBoolean closed = new AtomicBoolean();

    assertThat(ServiceProcess.isOverWithin(Duration.ofMinutes(5), () -> closed.set(true))).isTrue();

    assertThat(closed).isTrue();
  }
}
