package io.firstclaim.lock.store;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Moment;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import java.time.Duration;
import java.time.Instant;

/** Whatever numbers stand in a claim that a store reads, as anybody with its table can write it. */
class ProtocolFuzzTest {
  private static final RecordId ID = RecordId.of("order-1");
  private static final Moment NOW = new Moment(Instant.parse("2100-01-01T00:00:00Z"), 1_000_000);
  private static final StoreMoment AT = StoreMoment.of(NOW);
  private static final ClaimSettings SETTINGS = ClaimSettings.of("orders", "a/1");

  @FuzzTest(maxDuration = "10m")
  void anyStoredClaim_isDecidedOn(FuzzedDataProvider data) {
    ClaimRecord stored;
    try {
      stored = stored(data);
    } catch (IllegalArgumentException e) {
      return; // said not to be a claim
    }
    Claim claim = Claim.of(ID, Fingerprint.none(), NOW);
    Decision<ClaimResult> first = Protocol.decide(stored, new Command.Acquire(claim), AT, SETTINGS);
    if (first instanceof Decision.Unchanged<ClaimResult>(ClaimResult.Held held)) {
      // What the answer said is shown again, a lease later.
      Moment later = new Moment(NOW.wall().plusSeconds(60), NOW.ticks() + 60_000_000_000L);
      Decision<ClaimResult> _ =
          Protocol.decide(
              stored,
              new Command.Acquire(Claim.after(held, claim, later)),
              StoreMoment.of(later),
              SETTINGS);
    }
    if (first instanceof Decision.Update<ClaimResult>(var next, var granted)) {
      assertThat(next.token()).isGreaterThan(stored.token());
      assertThat(granted).isInstanceOf(ClaimResult.Granted.class);
    }
    Decision<?> _ =
        Protocol.decide(
            stored,
            new Command.Redrive(Fingerprint.none(), RedriveId.random(), null, Nonce.random()));
    Decision<?> _ =
        Protocol.decide(stored, new Command.TakeBack("by hand", Nonce.random()), stored);
    Lease lease =
        new Lease(
            ID,
            "a/1",
            stored.token(),
            stored.attempts(),
            stored.fingerprint(),
            stored.nonce(),
            NOW,
            Duration.ofSeconds(30));
    Decision<?> _ = Protocol.decide(stored, new Command.Renew(lease), AT, SETTINGS);
    var _ = Retirement.of(stored, ID, Duration.ofDays(30), "sweeper", NOW, SETTINGS);
  }

  private static ClaimRecord stored(FuzzedDataProvider data) {
    return new ClaimRecord(
            data.consumeLong(),
            data.consumeInt(),
            new Nonce(data.consumeLong(), data.consumeLong()),
            Fingerprint.none(),
            state(data),
            null)
        .requireRoom();
  }

  private static ClaimState state(FuzzedDataProvider data) {
    return switch (data.consumeInt(0, 3)) {
      case 0 ->
          new ClaimState.Held(
              "b/1",
              Duration.ofMillis(data.consumeLong()),
              Instant.ofEpochMilli(data.consumeLong()));
      case 1 -> new ClaimState.Free(Instant.ofEpochMilli(data.consumeLong()), "released");
      case 2 -> new ClaimState.Done("b/1", Instant.ofEpochMilli(data.consumeLong()), null);
      default -> new ClaimState.Dead("b/1", Instant.ofEpochMilli(data.consumeLong()), "broken");
    };
  }
}
