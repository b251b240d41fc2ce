package io.firstclaim.processor.engine.flow;

import io.firstclaim.processor.engine.admission.InFlightLimit;
import io.firstclaim.processor.engine.intake.Delivery;
import java.util.Objects;

/**
 * A delivery, and what is to be done with it.
 *
 * @param counted whether it has arrived at {@link InFlightLimit}, and is to depart from there; one
 *     that follows its twin has nothing but an offset and is not counted
 */
public record Errand(Delivery delivery, Work work, boolean counted) {

  /**
   * Whether both, which have one ID, have the same payload: then they are one record. One that was
   * redriven is no twin of one that was not, as what ends the one may be the old end of the other.
   */
  public boolean isTwinOf(Errand other) {
    return work.fingerprint().equals(other.work.fingerprint())
        && Objects.equals(work.redrive(), other.work.redrive());
  }

  /** This one while its twin is worked on: if it must go on by itself, the twin's record serves. */
  public Errand behind(Errand twin) {
    return new Errand(delivery.withRecordOf(twin.delivery), twin.work, false);
  }
}
