package io.firstclaim.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimOperations;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveResult;
import io.firstclaim.lock.SettleResult;
import io.firstclaim.lock.SettleResult.Settled;
import io.firstclaim.lock.TimeSource;
import java.nio.charset.StandardCharsets;

/** One process that claims: its store, its clocks, and the short words of the tests. */
public record Claimant(ClaimStore store, TimeSource time) {
  public static final Fingerprint PAYLOAD =
      Fingerprint.of("payload".getBytes(StandardCharsets.UTF_8));
  public static final Fingerprint OTHER_PAYLOAD =
      Fingerprint.of("other payload".getBytes(StandardCharsets.UTF_8));

  /** What an operator may do, by the same store. */
  public ClaimOperations operations() {
    return (ClaimOperations) store;
  }

  public Claim newClaim(RecordId id) {
    return Claim.of(id, PAYLOAD, time.now());
  }

  public ClaimResult claim(RecordId id) {
    return store.claim(newClaim(id));
  }

  /** Claims with what an earlier attempt saw. */
  public ClaimResult claimAfter(Held held, RecordId id) {
    return store.claim(Claim.after(held, newClaim(id), time.now()));
  }

  /** Claims and must get it. */
  public Lease acquire(RecordId id) {
    return granted(claim(id)).lease();
  }

  /** Claims and must be held off. */
  public Held heldOff(RecordId id) {
    return held(claim(id));
  }

  /** The token of what this redrive has freed. */
  public static long freed(RedriveResult result) {
    assertThat(result).isInstanceOf(RedriveResult.Freed.class);
    return ((RedriveResult.Freed) result).token();
  }

  public static Granted granted(ClaimResult result) {
    assertThat(result).isInstanceOf(Granted.class);
    return (Granted) result;
  }

  public static Held held(ClaimResult result) {
    assertThat(result).isInstanceOf(Held.class);
    return (Held) result;
  }

  public static Lease settled(SettleResult result) {
    assertThat(result).isInstanceOf(Settled.class);
    return ((Settled) result).lease();
  }
}
