package io.firstclaim.processor.service.acts;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.service.acts.ActMessage.Scope;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** What operators told zones, and said of violations, on the log of acts. */
class PausesTest {
  private final Pauses pauses = new Pauses();
  private final Acknowledgements acknowledgements = new Acknowledgements();

  private void tell(Scope scope, String zone, boolean paused, String reason) {
    pauses.hear(new ActMessage.Pause("1", scope, zone, paused, "otto", reason, "now"));
  }

  @Test
  void zone_isPaused_untilItsOwnResume_andTheApplicationsStandsBeforeIt() {
    tell(Scope.ZONE, "a", true, "a look");
    assertThat(pauses.of("a")).get().extracting(ActMessage.Pause::reason).isEqualTo("a look");
    assertThat(pauses.of("b")).isEmpty();

    tell(Scope.APPLICATION, "b", true, "a migration");
    assertThat(pauses.of("a")).get().extracting(ActMessage.Pause::reason).isEqualTo("a migration");
    assertThat(pauses.of("b")).isPresent();
    assertThat(pauses.all()).hasSize(2);

    tell(Scope.APPLICATION, "a", false, "done");
    assertThat(pauses.of("a")).get().extracting(ActMessage.Pause::reason).isEqualTo("a look");
    assertThat(pauses.of("b")).isEmpty();

    tell(Scope.ZONE, "a", false, "seen");
    assertThat(pauses.all()).isEmpty();
  }

  @Test
  void whatPausesAndAcknowledges_isReadAsItWasWritten() throws Exception {
    ActMessage pause = new ActMessage.Pause("1", Scope.ZONE, "a", true, "otto", "a look", "now");
    ActMessage seen = new ActMessage.Acknowledged("2", "order-1", "otto", "a test", "now");

    assertThat(ActFormat.read(ActFormat.write(pause))).contains(pause);
    assertThat(ActFormat.read(ActFormat.write(seen))).contains(seen);
  }

  private void acknowledge(String record, String by, String at) {
    acknowledgements.hear(new ActMessage.Acknowledged("1", record, by, "a test", at));
  }

  @Test
  void violation_isAcknowledged_byWhoeverSaidSoFirst() {
    acknowledge("order-1", "otto", "2026-11-26T12:00:00Z");
    acknowledge("order-1", "rita", "2026-11-26T13:00:00Z");

    assertThat(acknowledgements.of(RecordId.of("order-1"), Instant.parse("2026-11-26T12:00:00Z")))
        .get()
        .extracting(ActMessage.Acknowledged::by)
        .isEqualTo("otto");
    assertThat(acknowledgements.of(RecordId.of("order-2"), Instant.EPOCH)).isEmpty();
  }

  @Test
  void violationAfterItsRecordWasAcknowledged_isNotAcknowledged_beforeSomebodySaysSoAgain() {
    RecordId order = RecordId.of("order-1");
    Instant later = Instant.parse("2026-11-26T12:00:01Z");
    acknowledge("order-1", "otto", "2026-11-26T12:00:00Z");
    acknowledge("order-1", "otto", "whenever");
    assertThat(acknowledgements.of(order, later)).isEmpty();

    acknowledge("order-1", "rita", "2026-11-26T13:00:00Z");

    assertThat(acknowledgements.of(order, later)).isPresent();
  }

  @Test
  void acknowledgementsOfOneRecord_takeBoundedMemory() {
    for (int day = 10; day < 30; day++) {
      acknowledge("order-1", "day " + day, "2026-11-%dT12:00:00Z".formatted(day));
    }

    assertThat(acknowledgements.of(RecordId.of("order-1"), Instant.EPOCH))
        .get()
        .extracting(ActMessage.Acknowledged::by)
        .isEqualTo("day 20");
  }
}
