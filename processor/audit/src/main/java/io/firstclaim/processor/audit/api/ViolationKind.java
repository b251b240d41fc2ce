package io.firstclaim.processor.audit.api;

/** What must not have happened; the names are on the wire. */
public enum ViolationKind {
  /** One ID was completed under two tokens, or with two payloads, within the retention. */
  COMPLETED_TWICE,
  /**
   * A record was completed under a lease that was lost: its holder was told so, or another holder
   * was granted a higher token.
   */
  COMPLETED_BY_LOST_LEASE,
  /** A lower token came after a higher one, among TAKEN_OVER, COMPLETED and DEAD. */
  TOKEN_WENT_BACK
}
