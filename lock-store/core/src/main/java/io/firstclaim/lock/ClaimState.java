package io.firstclaim.lock;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Where a claim stands. An ID that the store does not know is absent, which is not a state. */
public sealed interface ClaimState {
  /**
   * Somebody has a lease.
   *
   * @param holder who
   * @param length of the lease
   * @param end on the holder's wall clock
   * @param onBehalfOf of what it is held, where that is not the ID's own record: the text of the
   *     record that it was claimed with, or what the holder of a mutex said
   */
  record Held(String holder, Duration length, Instant end, @Nullable String onBehalfOf)
      implements ClaimState {
    /** Held on behalf of the ID's own record. */
    public Held(String holder, Duration length, Instant end) {
      this(holder, length, end, null);
    }
  }

  /**
   * Nobody has it; an attempt ended without a verdict.
   *
   * @param retryAt when the next attempt is due; {@link ClaimStore#AT_ONCE} if it always is
   * @param cause why the last one ended
   */
  record Free(Instant retryAt, String cause) implements ClaimState {}

  /**
   * Completed, for good.
   *
   * @param by who completed it
   * @param at when, on its wall clock
   * @param result stored with the completion
   */
  record Done(String by, Instant at, @Nullable String result) implements ClaimState {}

  /**
   * Given up, for good.
   *
   * @param by who gave it up
   * @param at when, on its wall clock
   * @param cause why
   */
  record Dead(String by, Instant at, String cause) implements ClaimState {}
}
