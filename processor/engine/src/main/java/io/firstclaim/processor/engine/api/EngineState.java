package io.firstclaim.processor.engine.api;

import io.firstclaim.lock.Moment;
import java.util.Optional;

/** What an engine is doing at one moment: for health, metrics and people. */
public sealed interface EngineState {

  /**
   * No record is processed yet.
   *
   * @param waitsFor what the start waits for, as a noun, in one line
   */
  record Starting(String waitsFor) implements EngineState {}

  /**
   * Records are processed, or what is left of them while the engine stops.
   *
   * @param inFlight records that are being claimed or handled, or wait with a permit to be
   * @param parked records that wait for another holder, a retry, their head start or their turn
   * @param abandoned of those in flight, records whose handlers ignore being interrupted: the
   *     permit of each is lost until its handler comes back
   * @param bufferedBytes bytes of the records in memory: keys, values and headers
   * @param watermarkLag offsets between what is settled without a gap and what was polled, over all
   *     partitions
   * @param lastPoll when the broker was last polled
   * @param storeFault why no records are claimed: the lock store does not answer, or is another
   *     than the one the application uses; empty if all is well
   * @param otherStores how many other stores living instances of the application use
   * @param downstreamFault why records wait and only one tries now and then: what their handler
   *     takes them to is not there, or nearly all fail; empty otherwise
   * @param paused why an operator has it take no records; empty if it takes them
   * @param lifeFault why no records can be processed, or few, until the process is restarted; empty
   *     if they can
   */
  record Running(
      int inFlight,
      int parked,
      int abandoned,
      long bufferedBytes,
      long watermarkLag,
      Moment lastPoll,
      Optional<String> storeFault,
      int otherStores,
      Optional<String> downstreamFault,
      Optional<String> paused,
      Optional<String> lifeFault)
      implements EngineState {}

  /**
   * No record will be processed any more.
   *
   * @param fault why; empty if the engine was told to stop
   */
  record Ended(Optional<Throwable> fault) implements EngineState {}
}
