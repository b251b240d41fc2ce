package io.firstclaim.processor.engine;

import static io.firstclaim.processor.engine.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.processor.engine.outcome.Outcomes;
import io.firstclaim.processor.engine.testing.TestTime;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What an instance says of itself, and hears of the others. */
class PresencesTest {
  private final TestTime time = TestTime.running();
  private final TestBroker broker = new TestBroker();
  private final Outcomes outcomes =
      new Outcomes(new TestSettings().of("a"), broker, "store", new TestListener(), time);

  @AfterEach
  void close() {
    outcomes.finish(Duration.ZERO);
    outcomes.close();
  }

  @Test
  void instanceThatCouldNotSayThatItIsThere_byAnError_saysSoNextTime() throws InterruptedException {
    broker.failOnce(new LinkageError("for a moment"));
    outcomes.listen((_, _, _) -> {});
    outcomes.announce();

    eventually(outcomes::isStoreAgreed);
  }

  @Test
  void others_areNotKnown_whileNothingIsHeard() throws InterruptedException {
    outcomes.listen((_, _, _) -> {});
    broker.presence("something that stands before", 0, "PRESENT");
    outcomes.announce();
    eventually(outcomes::isStoreAgreed);
    for (int i = 1; i <= 2; i++) { // it answers each at once by an announcement of its own
      broker.presence("rival-" + i, 1, "PRESENT");
      eventually(() -> !outcomes.isStoreAgreed());
      broker.presence("rival-" + i, 2, "GONE");
      eventually(outcomes::isStoreAgreed);
    }
    broker.presence("rival-3", 1, "PRESENT");
    eventually(() -> outcomes.others().filter(others -> others.size() == 1).isPresent());

    broker.fallSilent();

    eventually(
        () -> {
          time.advance(Duration.ofSeconds(1));
          return outcomes.others().isEmpty();
        });
    assertThat(outcomes.areHeard()).isFalse();
  }
}
