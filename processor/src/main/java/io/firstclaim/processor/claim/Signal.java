package io.firstclaim.processor.claim;

import java.time.Instant;

/** What a waiting record is woken for. */
public sealed interface Signal {
  /** Its end was announced. */
  record Ended() implements Signal {}

  /** Its last attempt failed; the next one is due then. */
  record DueAt(Instant retryAt) implements Signal {}

  /** It is no longer this instance's business. */
  record Stop() implements Signal {}
}
