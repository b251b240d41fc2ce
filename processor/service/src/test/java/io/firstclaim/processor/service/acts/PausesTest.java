package io.firstclaim.processor.service.acts;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.service.acts.ActMessage.Scope;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What operators told zones, and said of violations, on the log of acts. */
class PausesTest {
  private final Pauses pauses = new Pauses();
  private final Acknowledgements acknowledgements = new Acknowledgements(Duration.ofSeconds(1));

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
    ActMessage seen =
        new ActMessage.Acknowledged("2", "order-1", "otto", "a test", "2026-11-26T12:00:00Z");

    assertThat(ActFormat.read(ActFormat.write(pause))).contains(pause);
    assertThat(ActFormat.read(ActFormat.write(seen))).contains(seen);
  }

  private void acknowledge(String record, String by, String at) {
    acknowledgements.hear(new ActMessage.Acknowledged("1", record, by, "a test", at));
  }

  private Optional<String> whoSaw(String record, String happened) {
    return acknowledgements
        .of(RecordId.of(record), Instant.parse(happened))
        .map(ActMessage.Acknowledged::by);
  }

  @Test
  void violation_isAcknowledged_byWhoeverSaidSoLast_evenBySomebodyWhoseClockIsBehind() {
    acknowledge("order-1", "otto", "2026-11-26T12:00:00Z");
    assertThat(whoSaw("order-1", "2026-11-26T11:00:00Z")).contains("otto");
    assertThat(whoSaw("order-1", "2026-11-26T12:00:01Z")).contains("otto");
    assertThat(whoSaw("order-2", "2026-11-26T11:00:00Z")).isEmpty();

    acknowledge("order-1", "rita", "2026-11-26T13:00:00Z");

    assertThat(whoSaw("order-1", "2026-11-26T11:00:00Z")).contains("rita");
  }

  @Test
  void violationAfterItsRecordWasAcknowledged_isNotAcknowledged_beforeSomebodySaysSoAgain() {
    acknowledge("order-1", "otto", "2026-11-26T12:00:00Z");
    assertThat(whoSaw("order-1", "2026-11-26T12:00:01.001Z")).isEmpty();

    acknowledge("order-1", "rita", "2026-11-26T13:00:00Z");

    assertThat(whoSaw("order-1", "2026-11-26T12:00:01.001Z")).contains("rita");
  }
}
