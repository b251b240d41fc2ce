package io.firstclaim.processor.service.admin;

/**
 * The threads on which requests of the admin API wait, as {@code application.properties} has them.
 * Requests that change something ask Kafka, which may be away, so those that only look have threads
 * of their own.
 */
final class AdminThreads {
  /** The threads of requests that only look. */
  static final String NAME = "admin";

  /** The threads of requests that change something, or try out what they would change. */
  static final String OF_ACTS = "acts";

  private AdminThreads() {}
}
