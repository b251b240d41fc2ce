package io.firstclaim.processor.audit.api;

/** What an audit is doing. */
public sealed interface AuditState {
  /**
   * It does not run.
   *
   * @param why in one line
   */
  record Off(String why) implements AuditState {}

  /**
   * It starts, or its partitions are being handed out.
   *
   * @param waitsFor in one line
   */
  record Starting(String waitsFor) implements AuditState {}

  /** It reads outcomes. */
  record Running() implements AuditState {}

  /**
   * It has failed again and again and does not run any more until the process starts anew.
   *
   * @param fault why, in one line
   */
  record Broken(String fault) implements AuditState {}
}
