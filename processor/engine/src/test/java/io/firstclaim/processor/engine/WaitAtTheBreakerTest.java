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

  /** Three records, the second of which was in line for something as the breaker opened. */
  private record Three(Entry first, Entry inLine, Entry late) {
    static Three inLineFor(WaitsFor what, Admission admission) throws InterruptedException {
      Three all =
          new Three(
              entry(admission, "first"), entry(admission, "in-line"), entry(admission, "late"));
      assertThat(waitOf(all.first)).isNull();
      assertThat(waitOf(all.inLine)).isEqualTo(what);
      all.first.trial().refused("gone");
      all.first.trial().refused("gone");
      assertThat(waitOf(all.late)).isEqualTo(WaitsFor.DOWNSTREAM);
      assertThat(waitOf(all.inLine)).isEqualTo(WaitsFor.DOWNSTREAM);
      return all;
    }
  }

  @Test
  void lineOfTheRate_isLeftByThoseWhoWaitForTheDownstream() throws InterruptedException {
    settings.handlerRate = Optional.of(1);
    Three all = Three.inLineFor(WaitsFor.RATE, admission());
    all.first.leave();
    time.advance(Duration.ofSeconds(10));

    assertThat(waitOf(all.late)).as("its turn to try").isNull();
  }

  @Test
  void permits_areLeftByThoseWhoWaitForTheDownstream_andWhoMayTryMayStill()
      throws InterruptedException {
    settings.maxInFlight = 1;
    Three all = Three.inLineFor(WaitsFor.PLACE, admission());
    time.advance(Duration.ofSeconds(5));
    assertThat(waitOf(all.late)).as("its turn to try").isEqualTo(WaitsFor.PLACE);
    all.first.leave();

    assertThat(waitOf(all.late)).as("who tries still").isNull();
  }
}
