package io.firstclaim.lock.h2;

import static io.firstclaim.lock.testkit.Claimant.granted;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState.Held;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.store.StoreClock;
import io.firstclaim.lock.store.StoreMoment;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ManualTime;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Transactions of a machine that loses the store's time, and has it back, between two readings. */
class H2LeapTest {
  private static final int READINGS = 10;
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final RecordId ID = RecordId.of("order-4711");
  private static final RecordId X = RecordId.of("account-x").asResource();
  private static final RecordId Y = RecordId.of("account-y").asResource();

  private final ManualTime time = ManualTime.start();

  /** A clock that does not know the time in some of its readings. */
  private StoreClock clock(int from, int to) {
    return new StoreClock() {
      private int readings;

      @Override
      public StoreMoment now() {
        Moment now = time.now();
        boolean isKnown = readings < from || readings >= to;
        readings++;
        return isKnown ? StoreMoment.of(now) : StoreMoment.unknown(now);
      }
    };
  }

  private static ClaimSettings settings(String namespace) {
    return new ClaimSettings(namespace, "a", LEASE, Duration.ofSeconds(1), Duration.ofDays(8));
  }

  private Claim claim() {
    return Claim.of(ID, Claimant.PAYLOAD, time.now()).withResources(List.of(X, Y));
  }

  /** For all whiles that the clock may know nothing. */
  private void inEachWhile(Leap leap) {
    for (int from = 0; from < READINGS; from++) {
      for (int to = from + 1; to <= READINGS; to++) {
        ClaimSettings settings = settings("leaps-" + Nonce.random());
        ClaimStore calm = H2.store(settings, time);
        leap.happens(calm, H2.store(settings, clock(from, to)));
        for (RecordId id : List.of(ID, X, Y)) {
          calm.find(id)
              .map(found -> (Held) found.state())
              .ifPresent(held -> assertThat(held.end()).isEqualTo(time.now().wall().plus(LEASE)));
        }
      }
    }
  }

  private interface Leap {
    void happens(ClaimStore calm, ClaimStore leaping);
  }

  @Test
  void claim_writesNoTimeThatIsUnknown() {
    inEachWhile(
        (_, leaping) -> {
          try {
            var _ = leaping.claim(claim());
          } catch (StoreUnavailableException _) {
            // as it should be
          }
        });
  }

  @Test
  void renewal_writesNoTimeThatIsUnknown() {
    inEachWhile(
        (calm, leaping) -> {
          Lease lease = granted(calm.claim(claim())).lease();
          var _ = leaping.renew(lease);
        });
  }
}
