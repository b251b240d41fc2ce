package io.firstclaim.processor.engine.outcome;

import io.firstclaim.processor.engine.api.Outcome;

/** Reads what was published, for tests of other rooms. */
public final class WireOutcome {
  private WireOutcome() {}

  /** The outcome in a message's value. */
  public static Outcome read(byte[] value) {
    return Outcome.ofJson(value).orElseThrow();
  }
}
