package io.firstclaim.processor.engine.identity;

import io.firstclaim.lock.RecordId;

/** What is known of a record's identity. */
public sealed interface Identity {
  /**
   * The record has an ID.
   *
   * @param id the same in every zone and on every delivery
   */
  record Found(RecordId id) implements Identity {}

  /**
   * The record has no ID that can be used: it is not processed but becomes a dead letter.
   *
   * @param standIn names this delivery, {@code unidentified:<topic>:<partition>:<offset>}: the same
   *     in every zone, so that the zones agree on who writes the dead letter. No record has it as
   *     its ID.
   * @param cause what is wrong, in one printable line
   */
  record Missing(RecordId standIn, String cause) implements Identity {}
}
