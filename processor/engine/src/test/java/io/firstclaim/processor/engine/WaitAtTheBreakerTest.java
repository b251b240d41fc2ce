package io.firstclaim.processor.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.admission.Admission;
import io.firstclaim.processor.engine.admission.Admission.Entry;
import io.firstclaim.processor.engine.admission.Admission.Wait;
import io.firstclaim.processor.engine.admission.InFlightLimit;
import io.firstclaim.processor.engine.admission.TestCandidate;
import io.firstclaim.processor.engine.api.WaitsFor;
import io.firstclaim.processor.engine.testing.TestTime;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Records in line for what comes after the breaker, as it opens. */
class WaitAtTheBreakerTest {
  private final TestTime time = TestTime.standing();
  private final TestSettings settings = new TestSettings();

  private Admission admission() {
    return new Admission(
        settings.of("a"),
        new MemoryClaimStore(new MemoryClaimStore.Claims(), settings.of("a").claim().store(), time),
        _ -> null,
        time);
  }

  private static Entry entry(Admission admission, String name) {
    return admission.entry(
        new TestCandidate(name, "p0", new InFlightLimit.Usage(), List.of(), _ -> {}));
  }

  private static @Nullable WaitsFor waitOf(Entry entry) throws InterruptedException {
    Wait wait = entry.pass(false);
    return wait == null ? null : wait.what();
  }

  private static void refuse(Entry entry) {
    entry.trial().refused("gone");
    entry.trial().refused("gone");
  }

  @Test
  void lineOfTheRate_isLeftByThoseWhoWaitForTheDownstream() throws InterruptedException {
    settings.handlerRate = Optional.of(1);
    Admission admission = admission();
    Entry first = entry(admission, "first");
    Entry inLine = entry(admission, "in-line");
    Entry late = entry(admission, "late");
    assertThat(waitOf(first)).isNull();
    assertThat(waitOf(inLine)).isEqualTo(WaitsFor.RATE);

    refuse(first);
    assertThat(waitOf(late)).isEqualTo(WaitsFor.DOWNSTREAM);
    assertThat(waitOf(inLine)).isEqualTo(WaitsFor.DOWNSTREAM);
    first.leave();
    time.advance(Duration.ofSeconds(10));

    assertThat(waitOf(late)).as("its turn to try").isNull();
  }

  @Test
  void permits_areLeftByThoseWhoWaitForTheDownstream_andWhoMayTryMayStill()
      throws InterruptedException {
    settings.maxInFlight = 1;
    Admission admission = admission();
    Entry first = entry(admission, "first");
    Entry inLine = entry(admission, "in-line");
    Entry late = entry(admission, "late");
    assertThat(waitOf(first)).isNull();
    assertThat(waitOf(inLine)).isEqualTo(WaitsFor.PLACE);

    refuse(first);
    assertThat(waitOf(late)).isEqualTo(WaitsFor.DOWNSTREAM);
    assertThat(waitOf(inLine)).isEqualTo(WaitsFor.DOWNSTREAM);
    time.advance(Duration.ofSeconds(5));
    assertThat(waitOf(late)).as("its turn to try").isEqualTo(WaitsFor.PLACE);
    first.leave();

    assertThat(waitOf(late)).as("who tries still").isNull();
  }
}
