package io.firstclaim.processor.service.claims;

/** The threads that claims over HTTP wait on, see {@code application.properties}. */
final class ClaimThreads {
  static final String NAME = "claims";

  private ClaimThreads() {}
}
