package io.firstclaim.lock;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A time-bound grant: until it ends, only its holder may work on the record. Immutable; a renewal
 * yields a new one.
 *
 * <p>Its life is counted on the holder's monotonic clock from before the claim was first sent, and
 * only nine tenths of it: so it ends for the holder before it ends for anybody else, even if time
 * synchronisation slews the holder's clock. The most is {@value #SLEW_PPM} ppm, chrony's default <a
 * href="https://chrony-project.org/doc/4.6/chrony.conf.html">maxslewrate</a>.
 *
 * @param id the record
 * @param holder who holds it
 * @param token rises by one with every grant of this ID; a sink that remembers the highest token it
 *     has seen can refuse a stale holder
 * @param attempt how many attempts on this ID there have been, this one included; the store counts
 *     them, so an attempt that killed its process counts too
 * @param counted whether the store counts this one already. The first grant of an ID counts at
 *     once; a later one when its work {@linkplain #counted(boolean) begins}, as a grant whose
 *     answer was lost may have reached nobody.
 * @param fingerprint of the payload
 * @param nonce of the write that made this grant or last renewed it
 * @param start before the first send of that write, on this machine's clocks
 * @param length how long the lease lasts for others
 * @param version the store's own name for that write, in stores whose steps are conditional on it;
 *     null in those whose steps are conditional on the nonce
 * @param onBehalfOf of what it is held, for those in whose way it is
 * @param resources the leases on what was {@linkplain Claim#resources() claimed with it}: they are
 *     renewed with this one, and free again once it is settled; losing one is losing all, but for a
 *     release or a burial, which ends what is left
 * @param redrive the redrive that last freed the record from its end, which every step keeps; null
 *     if none did
 */
public record Lease(
    RecordId id,
    String holder,
    long token,
    int attempt,
    boolean counted,
    Fingerprint fingerprint,
    Nonce nonce,
    Moment start,
    Duration length,
    @Nullable String version,
    @Nullable String onBehalfOf,
    List<Lease> resources,
    @Nullable RedriveId redrive) {

  /** By how many parts per million a clock may run too fast or too slow: one in twelve. */
  public static final int SLEW_PPM = 83_333;

  /** A lease without a version, which is counted. */
  public Lease(
      RecordId id,
      String holder,
      long token,
      int attempt,
      Fingerprint fingerprint,
      Nonce nonce,
      Moment start,
      Duration length) {
    this(
        id,
        holder,
        token,
        attempt,
        true,
        fingerprint,
        nonce,
        start,
        length,
        null,
        null,
        List.of(),
        null);
  }

  /** Keeps a copy of the resources. */
  public Lease {
    resources = List.copyOf(resources);
  }

  /** What is left of the lease for its holder; zero or negative once it is over. */
  public Duration remaining(Moment now) {
    long nanos =
        length.toNanos(); // the arithmetic of Duration goes through BigDecimal, which is slow
    return Duration.ofNanos(nanos - nanos / 10).minus(now.since(start));
  }

  /** Whether the holder must no longer act on it. */
  public boolean isOver(Moment now) {
    return !remaining(now).isPositive();
  }

  /**
   * How long it is at least until another may take it over, if it is not renewed; zero or negative
   * if one may have by now, or if that is {@linkplain #isDoubtful not known}. A tenth of it more
   * than its holder has, to stop what is still at work.
   */
  public Duration untilTakeover(Moment now) {
    return isDoubtful(now) ? Duration.ZERO : length.minus(now.since(start));
  }

  /**
   * Whether a third of it is over, and with it the time to renew it: two more tries then have the
   * rest.
   */
  public boolean isDueForRenewal(Moment now) {
    // In nanoseconds: a division of durations goes by BigDecimal, and every record comes by here.
    return now.since(start).toNanos() >= length.toNanos() / 3;
  }

  /**
   * Whether the machine's clocks {@linkplain Moment#hasLeaptSince have leapt} since its start: then
   * nobody knows how much of it is left, and its holder must not act before it is renewed.
   */
  public boolean isDoubtful(Moment now) {
    return now.hasLeaptSince(start);
  }

  /**
   * This lease after its next write, its life counted from {@code newStart}; a store that names its
   * writes adds the version.
   */
  public Lease renewed(Moment newStart) {
    return new Lease(
        id,
        holder,
        token,
        attempt,
        counted,
        fingerprint,
        nonce.next(),
        newStart,
        length,
        null,
        onBehalfOf,
        resources,
        redrive);
  }

  /** How many attempts the store has counted while this lease stands. */
  public int countedAttempts() {
    return counted ? attempt : attempt - 1;
  }

  /** This lease, its attempt counted or not: the next renewal writes that. */
  public Lease counted(boolean whether) {
    return withAttempt(attempt, whether);
  }

  /**
   * This lease with another number of attempts, which its end writes: one less for work that never
   * began, or that its own process cut short.
   */
  public Lease ofAttempt(int number) {
    return withAttempt(number, true);
  }

  private Lease withAttempt(int number, boolean whether) {
    return new Lease(
        id,
        holder,
        token,
        number,
        whether,
        fingerprint,
        nonce,
        start,
        length,
        version,
        onBehalfOf,
        resources,
        redrive);
  }

  /** This lease with the store's own name for its write. */
  public Lease withVersion(@Nullable String newVersion) {
    return new Lease(
        id,
        holder,
        token,
        attempt,
        counted,
        fingerprint,
        nonce,
        start,
        length,
        newVersion,
        onBehalfOf,
        resources,
        redrive);
  }

  /** This lease with the leases on what was claimed with it. */
  public Lease withResources(List<Lease> leases) {
    return new Lease(
        id,
        holder,
        token,
        attempt,
        counted,
        fingerprint,
        nonce,
        start,
        length,
        version,
        onBehalfOf,
        leases,
        redrive);
  }
}
