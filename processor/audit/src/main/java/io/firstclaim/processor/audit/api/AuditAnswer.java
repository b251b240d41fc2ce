package io.firstclaim.processor.audit.api;

/**
 * What an audit answers. Every instance of a zone keeps the records of some partitions of the
 * outcomes topic; that nothing is known of a record is only said by the one that keeps it.
 *
 * @param <T> what was asked for
 */
public sealed interface AuditAnswer<T> {
  /** The answer. */
  record Here<T>(T value) implements AuditAnswer<T> {}

  /** Another instance keeps it: ask there. */
  record Elsewhere<T>(Address address) implements AuditAnswer<T> {}

  /**
   * It cannot be said now: the audit is off, starts, restores its state or moves it.
   *
   * @param why in one line
   */
  record NotNow<T>(String why) implements AuditAnswer<T> {}
}
