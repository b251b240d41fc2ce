package io.firstclaim.processor.engine.api;

/** What shadow mode says of a delivery: what would have become of it if records were handled. */
public enum ShadowFinding {
  /** The first of its ID: it would have been handled here. */
  FIRST,
  /** Another zone has done this very record: it would have been skipped, as every second zone's. */
  OTHER_ZONE,
  /** This zone has done this very record, and Kafka delivered it again: skipped, too. */
  REDELIVERED,
  /**
   * Another record of the topics has its ID and its payload: it would have been skipped as a
   * duplicate of that one.
   */
  DUPLICATE,
  /**
   * Another record has its ID, with another payload: two events share the ID, or one was changed.
   */
  MISMATCH,
  /** It has no ID, or none that can be claimed: it would have been a dead letter. */
  NO_ID
}
