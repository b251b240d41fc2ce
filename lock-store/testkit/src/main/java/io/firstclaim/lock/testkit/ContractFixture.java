package io.firstclaim.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;

/**
 * What the contract's tests start from: two claimants over one store, and their short words.
 * Holders {@code a} and {@code b} both have the right time; further machines are made by the test.
 */
public abstract class ContractFixture {
  static final Duration LEASE = Duration.ofSeconds(30);

  /** How long a lease must be watched, unchanged. */
  static final Duration WATCH = LEASE.multipliedBy(6).dividedBy(5);

  /** How long a holder counts on its lease. */
  static final Duration HOLD = LEASE.multipliedBy(9).dividedBy(10);

  static final Duration MAX_SKEW = Duration.ofSeconds(1);
  static final Duration RETENTION = Duration.ofDays(8);

  static final Duration MILLISECOND = Duration.ofMillis(1);
  static final Duration HOUR = Duration.ofHours(1);
  static final RecordId ID = RecordId.of("order-4711");

  final String namespace = "contract-" + Nonce.random();
  protected final ManualTime time = ManualTime.start();
  Claimant a;
  Claimant b;

  /** A store of this holder; all stores that one test asks for share what they keep. */
  protected abstract ClaimStore store(ClaimSettings settings, TimeSource time);

  /**
   * The resolution of the clock that judges leases, a whole fraction of a second: what is read back
   * or waited for may be later by less than this, and is never earlier.
   */
  protected Duration tick() {
    return MILLISECOND;
  }

  @BeforeEach
  void twoClaimants() {
    a = claimant("a", time);
    b = claimant("b", time.machine(Duration.ZERO));
  }

  Claimant claimant(String holder, TimeSource machine) {
    return claimant(namespace, holder, machine);
  }

  Claimant claimant(String space, String holder, TimeSource machine) {
    var settings = new ClaimSettings(space, holder, LEASE, MAX_SKEW, RETENTION);
    return new Claimant(store(settings, machine), machine);
  }

  Optional<ClaimRecord> stored() {
    return b.store().find(ID);
  }

  /** Asserts that this is stored, its times later by less than a tick. */
  void assertStored(RecordId id, ClaimRecord expected) {
    Comparator<Instant> lateByLessThanATick =
        (found, right) -> {
          Duration late = Duration.between(right, found);
          return late.isNegative() || late.compareTo(tick()) >= 0 ? found.compareTo(right) : 0;
        };
    assertThat(b.store().find(id).orElseThrow())
        .usingRecursiveComparison()
        .withStrictTypeChecking()
        .withComparatorForType(lateByLessThanATick, Instant.class)
        .isEqualTo(expected);
  }

  <S extends ClaimState> S storedState(Class<S> kind) {
    ClaimState state = stored().orElseThrow().state();
    return Optional.of(state).filter(kind::isInstance).map(kind::cast).orElseThrow();
  }
}
