package io.firstclaim.processor.service.config;

import java.util.List;

/** The handlers of the user's that were found. */
public interface KnownHandlers {
  /** Their names, for people. */
  List<String> names();

  /** Whether one has this name. */
  boolean has(String name);
}
