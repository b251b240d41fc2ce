package io.firstclaim.processor.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.processor.engine.Engine;
import io.firstclaim.processor.engine.api.EngineSettings;
import io.firstclaim.processor.engine.testing.TestTime;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a record keeps whose handler does not come back. */
class AbandonedEntryTest {
  private final TestTime time = TestTime.standing();
  private final EngineSettings settings =
      Engine.builder()
          .zone("a")
          .topics("in")
          .recordId("key")
          .withoutOutcomes()
          .bootstrapServers("unused:9092")
          .lease(Duration.ofSeconds(30))
          .settings();
  private final Admission admission =
      new Admission(
          settings,
          new MemoryClaimStore(new MemoryClaimStore.Claims(), settings.claim().store(), time),
          _ -> null,
          time);
  private final StoreGate gate = admission.gate();

  /** A record that is granted after longer than a third of the lease. */
  private Admission.Entry slowlyBegun(String name) throws InterruptedException {
    Admission.Entry entry =
        admission.entry(
            new TestCandidate(name, "in-0", new InFlightLimit.Usage(), List.of(), _ -> {}));
    assertThat(entry.pass(false)).isNull();
    time.advance(Duration.ofSeconds(11));
    entry.request().answered(true);
    return entry;
  }

  @Test
  void recordThatIsAbandoned_keepsItsPermit_butNotTheGateShut() throws InterruptedException {
    Admission.Entry hung = slowlyBegun("hung");
    assertThat(gate.isFull()).as("its lease alone is as much as can be renewed").isTrue();

    hung.abandon();

    assertThat(gate.isFull()).isFalse();
    assertThat(admission.limit().inFlight()).isOne();

    hung.leave();
    assertThat(admission.limit().inFlight()).isZero();
    Admission.Entry next = slowlyBegun("next");
    assertThat(gate.isFull()).as("the one before it has left once").isTrue();
    next.leave();
  }
}
