package io.firstclaim.processor.service.acts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.processor.engine.SideClients;
import io.firstclaim.processor.service.acts.ActMessage.Scope;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The topic of acts, on a broker. */
class ActLogTest {
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  private final ManualTime time = ManualTime.start();
  private final List<ActMessage> heard = new CopyOnWriteArrayList<>();
  private final AtomicBoolean lacksClass = new AtomicBoolean();

  private void hear(ActMessage message) {
    if (lacksClass.getAndSet(false)) {
      throw new LinkageError("of a test");
    }
    heard.add(message);
  }

  private static ActMessage pause(String id) {
    return new ActMessage.Pause(id, Scope.APPLICATION, "a", true, "otto", "a look", "now");
  }

  /** Writes this. A busy broker may say so too late; whether it has it is heard. */
  private static void write(ActLog log, ActMessage message) {
    try {
      long _ = log.write(message);
    } catch (NotWrittenException e) {
      assertThat(e).hasMessageContaining("acknowledged no message within");
    }
  }

  @Test
  void errorOfWhoHears_isAFault_andWhatWasSaidIsHeardAfterIt() throws Exception {
    SideClients clients = TestSideClients.make();
    try (ActLog log = new ActLog(clients, "act-log-test", this::hear, time)) {
      log.start();
      await().atMost(PATIENCE).until(() -> log.fault().isEmpty());
      write(log, pause("1"));
      await().atMost(PATIENCE).until(() -> heard.size() == 1);
      lacksClass.set(true);

      write(log, pause("2"));

      await().atMost(PATIENCE).until(() -> log.fault().isPresent());
      assertThat(log.fault()).get().asString().contains("of a test");
      time.awaitSleeper("firstclaim-acts");
      time.advance(Duration.ofSeconds(2));
      await().atMost(PATIENCE).until(() -> log.fault().isEmpty());
      assertThat(heard).containsExactly(pause("1"), pause("2"));
    }
  }
}
