package io.firstclaim.lock;

import java.time.Duration;

/**
 * A lease as a waiter first saw it. A live holder renews, and each renewal changes the nonce; so a
 * lease whose token and nonce have stayed the same for six fifths of its length, by the waiter's
 * own monotonic clock, is over, whatever any wall clock says. The fifth is for a monotonic clock
 * that time synchronisation lets run too fast: see {@link Lease}.
 *
 * @param token the token seen
 * @param nonce the nonce seen
 * @param firstSeen when the waiter first saw the two together
 * @param length the length of the lease seen
 */
public record Sighting(long token, Nonce nonce, Moment firstSeen, Duration length) {
  /** Whether the lease has been watched, unchanged, for long enough. */
  public boolean isOver(Moment now) {
    return !remaining(now).isPositive();
  }

  /** How much longer it must stay unchanged. */
  public Duration remaining(Moment now) {
    return length.multipliedBy(6).dividedBy(5).minus(now.since(firstSeen));
  }
}
