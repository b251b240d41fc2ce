package io.firstclaim.processor.service.admin;

/** The threads that requests of the admin API wait on, see {@code application.properties}. */
final class AdminThreads {
  static final String NAME = "admin";

  private AdminThreads() {}
}
