package io.firstclaim.processor.service.config;

import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.service.handler.StatusMeanings;
import java.net.URI;
import java.time.Duration;

/** What to do with a record. */
public sealed interface Handling {
  /** It is logged. */
  record Log() implements Handling {}

  /**
   * It is posted.
   *
   * @param timeout how long to wait for an answer
   * @param meanings what statuses mean
   */
  record Http(URI url, Duration timeout, StatusMeanings meanings) implements Handling {
    /** Leaves out the URL, which may contain a password. */
    @Override
    public String toString() {
      return "Http[timeout=" + timeout + ", meanings=" + meanings + "]";
    }
  }

  /** It is published to the topic of this name. */
  record Topic(String name) implements Handling {}

  /** It is stored as a file of a dataset. */
  record Dataset(DatasetSettings settings) implements Handling {}

  /** Nothing: shadow mode calls no handler. */
  record None() implements Handling {}

  /** It is handed to the user's handler of this name. */
  record Bean(String name) implements Handling {}
}
