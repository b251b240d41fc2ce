package io.firstclaim.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.UnreadableClaimException;
import io.firstclaim.lock.deduplicator.Deduplicator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The contract of a store in which others can write too: what is under a claim's key and is not a
 * claim is a fault that no repetition mends, for whoever meets it, and is left as it is.
 */
// A store that repeats what failed here would never end.
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class UnreadableClaimContract {
  private static final RecordId ID = RecordId.of("order-4711");

  protected final ManualTime time = ManualTime.start();
  private final ClaimSettings settings = ClaimSettings.of("unreadable-" + Nonce.random(), "a");
  private Claimant a;

  /** A store in the time of this test. */
  protected abstract ClaimStore store(ClaimSettings settings);

  /** Has something under this key of a claim, see {@link RecordId#key}, that is not a claim. */
  protected abstract void overwrite(String key);

  /** Whether that is still there as it was written. */
  protected abstract boolean isAsOverwritten(String key);

  @BeforeEach
  void claimant() {
    a = new Claimant(store(settings), time);
  }

  private String key() {
    return ID.key(settings.namespace());
  }

  private void assertFault(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(UnreadableClaimException.class)
        .hasMessageContaining(key())
        .hasMessageContaining(" is not a claim: ")
        .hasMessageContaining(". Its record waits until it is removed. ");
    assertThat(isAsOverwritten(key())).isTrue();
  }

  @Test
  void claimOfIt_andLookAtIt_areFaults_thatNameThePlaceAndTheRemedy() {
    overwrite(key());

    assertFault(() -> a.claim(ID));
    assertFault(() -> a.store().find(ID));
  }

  @Test
  void recordThatTouchesIt_isAFault_andLeavesNothingClaimed() {
    RecordId resource = RecordId.of("account-a").asResource();
    RecordId unreadable = RecordId.of("account-x").asResource();
    String key = unreadable.key(settings.namespace());
    overwrite(key);

    assertThatThrownBy(
            () -> a.store().claim(a.newClaim(ID).withResources(List.of(resource, unreadable))))
        .isInstanceOf(UnreadableClaimException.class)
        .hasMessageContaining(key);

    assertThat(isAsOverwritten(key)).isTrue();
    var b = new Claimant(store(ClaimSettings.of(settings.namespace(), "b")), time);
    Claim others = b.newClaim(RecordId.of("order-4712")).withResources(List.of(resource));
    assertThat(b.store().claim(others)).isInstanceOf(ClaimResult.Granted.class);
    assertThat(b.acquire(ID).attempt()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void stepThatMeetsIt_isAFault_thatNamesThePlaceAndTheRemedy(Step step) {
    Lease lease = a.acquire(ID);
    overwrite(key());

    assertFault(() -> step.take(a.store(), lease));
  }

  @Test
  void workWhoseEndMeetsIt_isRunOnce_andTheCallerIsToldAtOnce() {
    var runs = new AtomicInteger();
    Deduplicator deduplicator = Deduplicator.builder(a.store(), time).build();

    assertFault(
        () ->
            deduplicator.run(
                ID,
                Claimant.PAYLOAD,
                lease -> {
                  runs.incrementAndGet();
                  overwrite(key());
                  return "charged";
                }));
    assertThat(runs).hasValue(1);
    assertThat(time.elapsed()).isZero();
  }
}
