package io.firstclaim.processor.service.acts;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.service.acts.ActMessage.Scope;
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

  @Test
  void violation_isAcknowledged_byWhoeverSaidSoFirst() {
    acknowledgements.hear(new ActMessage.Acknowledged("1", "order-1", "otto", "a test", "now"));
    acknowledgements.hear(new ActMessage.Acknowledged("2", "order-1", "rita", "me too", "now"));

    assertThat(acknowledgements.of(RecordId.of("order-1")))
        .get()
        .extracting(ActMessage.Acknowledged::by)
        .isEqualTo("otto");
    assertThat(acknowledgements.of(RecordId.of("order-2"))).isEmpty();
  }
}
