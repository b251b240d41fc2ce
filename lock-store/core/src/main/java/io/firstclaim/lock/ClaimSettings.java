package io.firstclaim.lock;

import java.time.Duration;
import java.util.Locale;

/**
 * What all claims of one store have in common.
 *
 * @param namespace separates applications that share a table or bucket
 * @param holder names this process to people; two processes with one name are still safe
 * @param lease how long a grant lasts
 * @param maxSkew declared bound of the differences between the clocks of the store's own machines,
 *     and of what no clock can show; at least 500 ms
 * @param retention how long DONE and DEAD are kept
 */
public record ClaimSettings(
    String namespace, String holder, Duration lease, Duration maxSkew, Duration retention) {

  /** The longest namespace or holder name, in characters. */
  private static final int MAX_NAME = 256;

  /** The lease of {@link #of}. */
  public static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);

  /** The skew bound of {@link #of}. */
  public static final Duration DEFAULT_MAX_SKEW = Duration.ofSeconds(1);

  /** The retention of {@link #of}. */
  public static final Duration DEFAULT_RETENTION = Duration.ofDays(15);

  /** The least skew bound, which includes the leaps of a machine's clock that go unnoticed. */
  public static final Duration LEAST_SKEW = Duration.ofMillis(500);

  /**
   * Checks the values against each other.
   *
   * @throws IllegalArgumentException if they cannot keep the protocol's promise; the message says
   *     which and what would be right
   */
  public ClaimSettings {
    requireName("namespace", namespace);
    requireName("holder", holder);
    if (maxSkew.compareTo(LEAST_SKEW) < 0) {
      throw new IllegalArgumentException(
          "max-skew %s is too short for what clocks may differ by; give %s or more"
              .formatted(text(maxSkew), text(LEAST_SKEW)));
    }
    if (lease.compareTo(shortestLease(maxSkew)) < 0) {
      throw new IllegalArgumentException(
          "lease %s is too short: renewing at a third of it, waiting a third of it for the store"
                  .formatted(text(lease))
              + " and a clock difference of %s need at least %s"
                  .formatted(text(maxSkew), text(shortestLease(maxSkew))));
    }
    if (retention.compareTo(lease) < 0) {
      throw new IllegalArgumentException(
          "retention %s is shorter than lease %s; give days"
              .formatted(text(retention), text(lease)));
    }
  }

  /** Claims with the default lease, skew bound and retention. */
  public static ClaimSettings of(String namespace, String holder) {
    return new ClaimSettings(namespace, holder, DEFAULT_LEASE, DEFAULT_MAX_SKEW, DEFAULT_RETENTION);
  }

  /** When a running lease is renewed: a third of it. */
  public Duration renewAfter() {
    return lease.dividedBy(3);
  }

  /**
   * How long one step may wait for the store, retries included: a third of the lease, at most 5 s.
   */
  public Duration storeTimeout() {
    Duration third = lease.dividedBy(3);
    Duration most = Duration.ofSeconds(5);
    return third.compareTo(most) < 0 ? third : most;
  }

  /** A third to renew, a third to wait for the store, the rest for the clocks. */
  private static Duration shortestLease(Duration maxSkew) {
    return maxSkew.multipliedBy(3);
  }

  private static void requireName(String what, String name) {
    if (name.isEmpty() || name.length() > MAX_NAME) {
      throw new IllegalArgumentException(
          "%s has %d characters; give 1 to %d".formatted(what, name.length(), MAX_NAME));
    }
  }

  /** A duration as it is written in settings: 30s, not PT30S. */
  private static String text(Duration duration) {
    return duration.toString().substring("PT".length()).toLowerCase(Locale.ROOT);
  }
}
