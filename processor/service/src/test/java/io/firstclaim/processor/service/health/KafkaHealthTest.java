package io.firstclaim.processor.service.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.processor.engine.api.EngineListener;
import io.firstclaim.processor.engine.api.EngineState;
import io.firstclaim.processor.service.config.ServiceSettings;
import io.firstclaim.processor.service.instance.Service;
import io.micronaut.management.health.monitor.HealthMonitorTask;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.AdminClient;
import org.junit.jupiter.api.Test;

@MicronautTest
class KafkaHealthTest {
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final Service service;
  private final ServiceSettings settings;
  private final EmbeddedServer server;
  private final ManualTime time = ManualTime.start();
  private final AtomicInteger asked = new AtomicInteger();

  KafkaHealthTest(Service service, ServiceSettings settings, EmbeddedServer server) {
    this.service = service;
    this.settings = settings;
    this.server = server;
  }

  /** Has whoever asks the broker end with an error, as one that lacks a class or memory does. */
  private final class Failing implements EngineListener {
    @Override
    public void opened(AdminClient admin) {
      admin.close(Duration.ZERO);
      asked.incrementAndGet();
      throw new LinkageError("of a test");
    }
  }

  private EngineState.Running running() {
    return new EngineState.Running(
        0,
        0,
        0,
        0,
        0,
        time.now(),
        Optional.empty(),
        0,
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  @Test
  void health_isLookedAtByWhoAsksForIt_andNotEachMinuteForNobody() {
    assertThat(server.getApplicationContext().findBean(HealthMonitorTask.class)).isEmpty();
  }

  @Test
  void errorOfWhoAsksTheBroker_isDown_andItIsAskedAgain() {
    KafkaHealth health = new KafkaHealth(service, settings, time, new Failing());
    try {
      await().atMost(PATIENCE).until(() -> !health.isUp(running()));
      assertThat(asked).hasValue(1);

      AtomicInteger seconds = new AtomicInteger();
      await()
          .atMost(PATIENCE)
          .until(
              () -> { // not once: the answer may be dated only after the time was put forward
                time.advance(Duration.ofSeconds(1));
                seconds.incrementAndGet();
                return !health.isUp(running()) && asked.get() > 1;
              });
      assertThat(asked.get()).as("no more than once a second").isBetween(2, 1 + seconds.get());
    } finally {
      health.close();
    }
  }
}
