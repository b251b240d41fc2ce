package io.firstclaim.lock.mutex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.keeper.LeaseKeeper;
import io.firstclaim.lock.memory.MemoryClaimStore;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.fault.FaultyStore;
import io.firstclaim.lock.testkit.fault.FaultyStore.Fault;
import io.firstclaim.lock.testkit.fault.FaultyStore.Op;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A mutex that is given back where the JVM has no thread for that. */
class HeldMutexTest {
  private static final ClaimSettings SETTINGS = ClaimSettings.of("shop", "a");

  private final ManualTime time = ManualTime.start();
  private final FaultyStore store = new FaultyStore(new MemoryClaimStore(SETTINGS, time));
  private final List<HeldMutex> gone = new ArrayList<>();

  private ClaimResult claim() {
    return store.claim(Claim.ofMutex(RecordId.of("nightly"), time.now()));
  }

  @Test
  void mutexThatNoThreadGivesBack_isHeldNoLonger_andLeftToItsLease() {
    Lease lease = ((ClaimResult.Granted) claim()).lease();
    var held =
        new HeldMutex(
            store,
            time,
            new LeaseKeeper(store, time, true).keep(lease),
            Duration.ZERO,
            gone::add,
            _ -> {
              throw new OutOfMemoryError("no native thread, as the test asked for");
            });
    store.next(Op.RELEASE, Fault.LOST_REQUEST);

    assertThatCode(held::close).doesNotThrowAnyException();

    assertThat(gone).containsExactly(held);
    assertThat(held.isHeld()).isFalse();
    assertThat(claim()).isInstanceOf(ClaimResult.Held.class);
    time.advance(SETTINGS.lease().plus(SETTINGS.maxSkew()).plusNanos(1));
    assertThat(claim()).isInstanceOf(ClaimResult.Granted.class);
  }
}
