package io.firstclaim.lock.store;

import static io.firstclaim.lock.testkit.Claimant.granted;
import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.StoreOperation;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.Soak;
import io.firstclaim.lock.testkit.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Several IDs that are claimed and given back one after the other, through a network that loses
 * requests and answers, and delivers requests late: whoever repeats what had no answer holds all of
 * them in the end, or none.
 */
class OneByOneTest {
  private static final int HISTORIES = Soak.times(3000, 100_000);
  private static final RecordId ID = RecordId.of("order-4711");
  private static final RecordId OTHER = RecordId.of("order-4712");
  private static final RecordId X = RecordId.of("account-x").asResource();
  private static final RecordId Y = RecordId.of("account-y").asResource();
  private static final RecordId Z = RecordId.of("account-z").asResource();

  /** What the claims are kept in, and the network before it. */
  private static final class Network implements ClaimRecords {
    private final Random random;
    private final ManualTime time;
    private final Map<RecordId, ClaimRecord> stored = new HashMap<>();
    private final List<Runnable> late = new ArrayList<>();
    private boolean isBad;

    Network(Random random, ManualTime time) {
      this.random = random;
      this.time = time;
    }

    @Override
    public Optional<Stored> read(RecordId id) {
      somethingLateArrives();
      if (isBad && random.nextInt(8) == 0) {
        throw new StoreUnavailableException("no answer to a read");
      }
      return Optional.ofNullable(stored(id));
    }

    private @Nullable Stored stored(RecordId id) {
      ClaimRecord claim = stored.get(id);
      return claim == null ? null : new Stored(claim, null, time.now());
    }

    @Override
    public Write write(
        StoreOperation op, RecordId id, ClaimRecord next, @Nullable Stored on, Moment now) {
      somethingLateArrives();
      switch (isBad ? random.nextInt(8) : 7) {
        case 0 -> throw new StoreUnavailableException("the request was lost");
        case 1 -> {
          var unused = applied(id, next, on);
          throw new StoreUnavailableException("the answer was lost");
        }
        case 2 -> {
          late.add(
              () -> {
                var unused = applied(id, next, on);
              });
          throw new StoreUnavailableException("the request is late");
        }
        default -> {}
      }
      return applied(id, next, on);
    }

    private Write applied(RecordId id, ClaimRecord next, @Nullable Stored on) {
      ClaimRecord found = stored.get(id);
      boolean isExpected =
          on == null ? found == null : found != null && found.isOfOneWriteWith(on.claim());
      if (!isExpected) {
        return new Write.Differs(stored(id));
      }
      stored.put(id, next);
      return new Write.Took(null);
    }

    private void somethingLateArrives() {
      if (!late.isEmpty() && random.nextInt(4) == 0) {
        late.remove(random.nextInt(late.size())).run();
      }
    }

    /** From now on every request is answered; first, all arrive that are late. */
    void mend() {
      isBad = false;
      late.forEach(Runnable::run);
      late.clear();
    }

    boolean isHeldBy(String holder, RecordId id) {
      ClaimRecord found = stored.get(id);
      return found != null
          && found.state() instanceof ClaimState.Held held
          && held.holder().equals(holder);
    }

    @Override
    public String identity() {
      return Nonce.random().toString();
    }
  }

  private final ManualTime time = ManualTime.start();

  private ClaimStore store(Network network, String holder) {
    var settings =
        new ClaimSettings(
            "several", holder, Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ofDays(8));
    return new DrivenClaimStore(network, settings, time);
  }

  private Claim claim(RecordId id, RecordId... resources) {
    return Claim.of(id, Claimant.PAYLOAD, time.now()).withResources(List.of(resources));
  }

  /** Sends the claim until it is answered, and lets another give back what is in its way. */
  private static ClaimResult answered(ClaimStore store, Claim claim, Runnable now) {
    while (true) {
      now.run();
      try {
        return store.claim(claim);
      } catch (StoreUnavailableException unused) {
        // sent again
      }
    }
  }

  @Test
  void claimSentUntilItIsAnswered_holdsAllOrNothing_whateverArrivesLate() {
    int grants = 0;
    for (int seed = 0; seed < HISTORIES; seed++) {
      var random = new Random(seed);
      var network = new Network(random, time);
      ClaimStore a = store(network, "a");
      ClaimStore b = store(network, "b");
      Lease inTheWay = granted(b.claim(claim(OTHER, Z))).lease();
      network.isBad = true;

      ClaimResult answer =
          answered(
              a,
              claim(ID, X, Y, Z),
              () -> {
                if (random.nextInt(4) == 0 && network.isHeldBy("b", OTHER)) {
                  network.isBad = false;
                  settled(b.release(inTheWay, ClaimStore.AT_ONCE, "given back"));
                  network.isBad = true;
                }
              });

      network.mend();
      if (answer instanceof ClaimResult.Granted(Lease lease, var unused)) {
        grants++;
        assertThat(a.renew(lease))
            .as("what was granted, history %d", seed)
            .isInstanceOf(SettleResult.Settled.class);
      } else {
        assertThat(answer).isInstanceOf(ClaimResult.Blocked.class);
        assertThat(List.of(ID, X, Y))
            .as("what was not claimed, history %d", seed)
            .noneMatch(id -> network.isHeldBy("a", id));
      }
    }
    assertThat(grants).isBetween(HISTORIES / 10, HISTORIES * 9 / 10);
  }

  @Test
  void endRepeatedUntilItIsAnswered_leavesNothingHeld() {
    for (int seed = 0; seed < HISTORIES; seed++) {
      var random = new Random(seed);
      var network = new Network(random, time);
      ClaimStore a = store(network, "a");
      Lease lease = granted(a.claim(claim(ID, X, Y, Z))).lease();
      Step step = List.of(Step.COMPLETE, Step.RELEASE, Step.BURY).get(seed % 3);
      network.isBad = true;

      SettleResult answer;
      do {
        answer = step.take(a, lease);
      } while (answer instanceof SettleResult.Unknown);

      network.mend();
      settled(answer);
      assertThat(List.of(ID, X, Y, Z))
          .as("after %s, history %d", step, seed)
          .noneMatch(id -> network.isHeldBy("a", id));
    }
  }

  /** Who waited for the record has it before the resource is known to be free. */
  @Test
  void releaseRepeatedUntilItIsAnswered_leavesNothingHeld_thoughAnotherHasTheRecordByThen() {
    int taken = 0;
    for (int seed = 0; seed < HISTORIES; seed++) {
      var network = new Network(new Random(seed), time);
      ClaimStore a = store(network, "a");
      ClaimStore b = store(network, "b");
      Lease lease = granted(a.claim(claim(ID, X))).lease();
      network.isBad = true;
      SettleResult answer = a.release(lease, ClaimStore.AT_ONCE, "given back");
      network.isBad = false;
      if (answer instanceof SettleResult.Unknown
          && b.claim(claim(ID)) instanceof ClaimResult.Granted) {
        taken++;
        assertThat(a.release(lease, ClaimStore.AT_ONCE, "given back"))
            .isEqualTo(new SettleResult.Lost("b"));

        network.mend();
        assertThat(network.isHeldBy("a", X)).as("history %d", seed).isFalse();
        assertThat(network.isHeldBy("b", ID)).as("history %d", seed).isTrue();
      }
    }
    assertThat(taken).isPositive();
  }
}
