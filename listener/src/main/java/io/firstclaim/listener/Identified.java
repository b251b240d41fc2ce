package io.firstclaim.listener;

import io.firstclaim.lock.RecordId;

/** Under what a record is claimed. */
sealed interface Identified {
  /** Its own ID, in the name of its listener. */
  record Found(RecordId id) implements Identified {}

  /**
   * It has no ID: it is claimed under what stands in for one, and given up at once.
   *
   * @param cause why it has none
   */
  record Missing(RecordId standIn, String cause) implements Identified {}
}
