package io.firstclaim.processor.service.admin;

/**
 * The threads that requests of the admin API wait on, see {@code application.properties}: whoever
 * only looks waits for nobody who changes something, which asks Kafka, and Kafka may be away.
 */
final class AdminThreads {
  /** Of those who look. */
  static final String NAME = "admin";

  /** Of those who change something, or try out what they would change. */
  static final String OF_ACTS = "acts";

  private AdminThreads() {}
}
