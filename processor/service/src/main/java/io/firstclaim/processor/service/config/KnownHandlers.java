package io.firstclaim.processor.service.config;

import java.util.List;

/** The user's handlers that were found. */
public interface KnownHandlers {
  /** Their names, for people. */
  List<String> names();

  /** Whether one has this name. */
  boolean has(String name);
}
