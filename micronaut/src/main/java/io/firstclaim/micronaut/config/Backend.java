package io.firstclaim.micronaut.config;

import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.micronaut.config.FirstclaimSettings.BackendName;

/** Something that claims can be kept in, whose module is on the class path. */
interface Backend extends AutoCloseable {
  /** What it is called in the settings. */
  BackendName name();

  /** The store, after verifying that claims can rest on it; called once at most. */
  ClaimStore open(TimeSource time);

  /** Ends the connections. */
  @Override
  default void close() {}
}
