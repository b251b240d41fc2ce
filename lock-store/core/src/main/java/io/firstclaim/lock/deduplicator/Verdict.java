package io.firstclaim.lock.deduplicator;

import io.firstclaim.lock.Effects;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What to record of an attempt. */
public sealed interface Verdict {
  /**
   * It is done, for good.
   *
   * @param result kept with the claim and returned to whoever comes later
   * @param effects written with that, or not at all; null if there are none
   */
  record Complete(@Nullable String result, @Nullable Effects effects) implements Verdict {
    /** Done, with no effects. */
    public Complete(@Nullable String result) {
      this(result, null);
    }
  }

  /**
   * It is to be tried again, by anybody.
   *
   * @param retryAt when the next attempt is due, by this machine's clock, or {@link
   *     io.firstclaim.lock.ClaimStore#AT_ONCE}
   * @param attempts how many there have been; one less leaves this one uncounted
   * @param cause why this one ended
   */
  record Release(Instant retryAt, int attempts, String cause) implements Verdict {}

  /**
   * It is given up, for good.
   *
   * @param cause why
   */
  record Bury(String cause) implements Verdict {}

  /** Nothing is recorded: the lease runs out, then anybody may try again. */
  record Leave() implements Verdict {}
}
