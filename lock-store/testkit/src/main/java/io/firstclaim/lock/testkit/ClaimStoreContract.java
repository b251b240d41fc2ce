package io.firstclaim.lock.testkit;

import static io.firstclaim.lock.testkit.Claimant.OTHER_PAYLOAD;
import static io.firstclaim.lock.testkit.Claimant.PAYLOAD;
import static io.firstclaim.lock.testkit.Claimant.granted;
import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Dead;
import io.firstclaim.lock.ClaimResult.Done;
import io.firstclaim.lock.ClaimResult.Granted;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimResult.Later;
import io.firstclaim.lock.ClaimResult.Mismatch;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.Fingerprint;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult.Lost;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The contract of every claim store: what it promises of claims, takeovers, steps and races. The
 * test of a store inherits it and says how to make one.
 */
public abstract class ClaimStoreContract extends OperationsContract {
  // First claim

  @Test
  void firstClaim_isGranted_withToken1AndAttempt1() {
    Claim claim = a.newClaim(ID);

    Granted granted = granted(a.store().claim(claim));

    assertThat(granted.takenFrom()).isNull();
    assertThat(granted.lease().withVersion(null))
        .isEqualTo(new Lease(ID, "a", 1, 1, PAYLOAD, claim.nonce(), claim.start(), LEASE));
  }

  @Test
  void grantedLease_countsFromTheClaimsStart_howeverLateItIsSent() {
    Claim claim = a.newClaim(ID);
    time.advance(Duration.ofSeconds(4));

    Lease lease = granted(a.store().claim(claim)).lease();

    assertThat(lease.remaining(a.time().now())).isEqualTo(Duration.ofSeconds(23));
    assertThat(storedState(ClaimState.Held.class).end())
        .as("what others see lasts at least as long")
        .isBetween(time.now().wall().plus(LEASE), time.now().wall().plus(LEASE).plus(tick()));
  }

  @Test
  void claimWithoutPayload_isGranted() {
    var noPayload = Claim.of(ID, Fingerprint.none(), time.now());

    assertThat(a.store().claim(noPayload)).isInstanceOf(Granted.class);
    assertThat(stored()).get().extracting(ClaimRecord::fingerprint).isEqualTo(Fingerprint.none());
  }

  // Payload

  @Test
  void otherPayload_isAMismatch_inEveryState() {
    Lease lease = a.acquire(ID);
    assertMismatch(ID);
    time.advance(HOUR);
    assertMismatch(ID);
    settled(a.store().release(lease, time.now().wall(), "try again"));
    assertMismatch(ID);
    settled(a.store().complete(a.acquire(ID), null));
    assertMismatch(ID);

    RecordId buried = RecordId.of("buried");
    settled(a.store().bury(a.acquire(buried), "cause"));
    assertMismatch(buried);
  }

  private void assertMismatch(RecordId id) {
    Optional<ClaimRecord> before = b.store().find(id);
    assertThat(b.store().claim(Claim.of(id, OTHER_PAYLOAD, time.now())))
        .isEqualTo(new Mismatch(PAYLOAD));
    assertThat(b.store().claim(Claim.of(id, Fingerprint.none(), time.now())))
        .isEqualTo(new Mismatch(PAYLOAD));
    assertThat(b.store().find(id)).isEqualTo(before);
  }

  // Repeated and delayed requests

  @Test
  void sameClaimSentTwice_isGrantedTwice_asOneAttempt() {
    Claim claim = a.newClaim(ID);
    Lease first = granted(a.store().claim(claim)).lease();
    time.advance(Duration.ofSeconds(10));

    Granted second = granted(a.store().claim(claim));

    assertThat(second.lease()).isEqualTo(first);
    assertThat(second.takenFrom()).isNull();
    assertThat(stored()).get().extracting(ClaimRecord::attempts).isEqualTo(1);
  }

  @Test
  void sameClaimSentAgain_afterItsLeaseIsOver_isStillTheSameGrant() {
    Claim claim = a.newClaim(ID);
    Lease first = granted(a.store().claim(claim)).lease();
    Optional<ClaimRecord> before = stored();
    time.advance(HOUR);

    Lease again = granted(a.store().claim(claim)).lease();

    assertThat(again).isEqualTo(first);
    assertThat(again.isOver(a.time().now())).isTrue();
    assertThat(stored()).isEqualTo(before);
  }

  @Test
  void oldClaim_doesNotChangeWhatCameAfter() {
    Claim old = a.newClaim(ID);
    Lease lease = granted(a.store().claim(old)).lease();
    lease = settled(a.store().renew(lease));
    assertUnchangedBy(old, Held.class);

    settled(a.store().release(lease, time.now().wall().plusSeconds(5), "try again"));
    assertUnchangedBy(old, Later.class);

    time.advance(Duration.ofSeconds(6));
    Lease next = b.acquire(ID);
    assertUnchangedBy(old, Held.class);

    settled(b.store().complete(next, null));
    assertUnchangedBy(old, Done.class);
  }

  private void assertUnchangedBy(Claim old, Class<? extends ClaimResult> answer) {
    Optional<ClaimRecord> before = stored();
    assertThat(a.store().claim(old)).isInstanceOf(answer);
    assertThat(stored()).isEqualTo(before);
  }

  @ParameterizedTest
  @EnumSource
  void oldStep_doesNotChangeTheNextGrantOfTheSameHolder(Step step) {
    Lease old = a.acquire(ID);
    settled(a.store().release(old, time.now().wall(), "try again"));
    a.acquire(ID);
    Optional<ClaimRecord> before = stored();

    assertThat(step.take(a.store(), old)).isEqualTo(new Lost("a"));
    assertThat(stored()).isEqualTo(before);
  }

  @Test
  void everyWrite_hasANonceOfItsOwn() {
    List<Nonce> nonces = new ArrayList<>();
    Lease lease = a.acquire(ID);
    nonces.add(storedNonce());
    lease = settled(a.store().renew(lease));
    nonces.add(storedNonce());
    lease = settled(a.store().renew(lease));
    nonces.add(storedNonce());
    settled(a.store().release(lease, time.now().wall(), "try again"));
    nonces.add(storedNonce());
    lease = a.acquire(ID);
    nonces.add(storedNonce());
    settled(a.store().complete(lease, null));
    nonces.add(storedNonce());

    assertThat(nonces).doesNotHaveDuplicates();
  }

  // Two processes under one name

  @Test
  void twoProcessesWithOneName_areNotTakenForEachOther() {
    Claimant twin = claimant("a", time.machine(Duration.ZERO));
    Lease lease = a.acquire(ID);

    assertThat(twin.claim(ID)).isInstanceOf(Held.class);
    time.advance(HOUR);
    Lease taken = twin.acquire(ID);
    assertThat(taken.token()).isEqualTo(2);
    for (Step step : Step.values()) {
      assertThat(step.take(a.store(), lease)).isEqualTo(new Lost("a"));
    }
    settled(twin.store().complete(taken, null));
    assertThat(a.store().complete(lease, null)).isEqualTo(new Lost("a"));
  }

  // Hostile IDs

  @Test
  void hostileIds_areDistinct_andFoundAgain() {
    byte[] longest = new byte[RecordId.MAX_BYTES];
    Arrays.fill(longest, (byte) 0xff);
    byte[] almostLongest = longest.clone();
    almostLongest[RecordId.MAX_BYTES - 1] = (byte) 0xfe;
    List<RecordId> ids =
        List.of(
            RecordId.of(new byte[] {0}),
            RecordId.of(new byte[] {0, 0}),
            RecordId.of("../../etc/passwd"),
            RecordId.of("..%2f..%2fetc/passwd"),
            RecordId.of("a\r\nb: c"),
            RecordId.of("a%0D%0Ab: c"),
            RecordId.of("a\nb: c"),
            RecordId.of(new byte[] {(byte) 0xc3}),
            RecordId.of(new byte[] {(byte) 0xc4}),
            RecordId.of(new byte[] {(byte) 0xc0, (byte) 0xaf}),
            RecordId.of("/"),
            RecordId.of("\ufffd"),
            RecordId.of("\u00e9"),
            RecordId.of("e\u0301"),
            RecordId.of("A"),
            RecordId.of("a"),
            RecordId.of("a "),
            RecordId.of(" "),
            RecordId.of("pk = :x OR attribute_exists(pk)"),
            RecordId.of("\ud83d\udca3"),
            RecordId.of(longest),
            RecordId.of(almostLongest));

    for (int i = 0; i < ids.size(); i++) {
      Lease lease = a.acquire(ids.get(i));
      assertThat(lease.token()).as("%s is new", ids.get(i)).isEqualTo(1);
      settled(a.store().complete(lease, "result " + i));
    }

    for (int i = 0; i < ids.size(); i++) {
      assertThat(b.claim(ids.get(i)))
          .isInstanceOfSatisfying(
              Done.class, done -> assertThat(done.result()).startsWith("result "))
          .extracting(result -> ((Done) result).result())
          .isEqualTo("result " + i);
      assertThat(b.store().find(ids.get(i))).isPresent();
    }
  }

  @Test
  void hostileTexts_areStoredAsTheyAre() {
    String hostile = "a\u0000b\r\n\"'\\${x} \u202e \ud83d\udca3 </script>";
    settled(a.store().complete(a.acquire(ID), hostile));
    assertThat(storedState(ClaimState.Done.class).result()).isEqualTo(hostile);

    RecordId other = RecordId.of("other");
    settled(a.store().bury(a.acquire(other), ""));
    assertThat(((Dead) b.claim(other)).cause()).isEmpty();
  }

  // Namespaces

  @Test
  void namespaces_areSeparate() {
    Claimant elsewhere = claimant(namespace + "-2", "c", time);
    settled(a.store().complete(a.acquire(ID), "here"));

    assertThat(elsewhere.store().find(ID)).isEmpty();
    Lease lease = elsewhere.acquire(ID);

    assertThat(lease.token()).isEqualTo(1);
    settled(elsewhere.store().bury(lease, "there"));
    assertThat(b.claim(ID)).isInstanceOf(Done.class);
  }

  // Find

  @Test
  void find_showsWhatIsStored_inEveryState() {
    Instant now = time.now().wall();
    assertThat(stored()).isEmpty();

    Lease lease = a.acquire(ID);
    assertStored(
        ID,
        new ClaimRecord(
            1, 1, lease.nonce(), PAYLOAD, new ClaimState.Held("a", LEASE, now.plus(LEASE))));

    lease = settled(a.store().release(lease, now.plusSeconds(5), "HTTP 503"));
    assertStored(
        ID,
        new ClaimRecord(
            1, 1, lease.nonce(), PAYLOAD, new ClaimState.Free(now.plusSeconds(5), "HTTP 503")));

    time.advance(Duration.ofSeconds(6));
    lease = settled(b.store().complete(b.acquire(ID), "done"));
    assertStored(
        ID,
        new ClaimRecord(
            2, 2, lease.nonce(), PAYLOAD, new ClaimState.Done("b", now.plusSeconds(6), "done")));

    RecordId buried = RecordId.of("buried");
    lease = settled(a.store().bury(a.acquire(buried), "poison"));
    assertStored(
        buried,
        new ClaimRecord(
            1, 1, lease.nonce(), PAYLOAD, new ClaimState.Dead("a", now.plusSeconds(6), "poison")));
  }

  @Test
  void find_changesNothing() {
    RecordId unknown = RecordId.of("unknown".getBytes(StandardCharsets.UTF_8));
    assertThat(a.store().find(unknown)).isEmpty();
    assertThat(a.store().find(unknown)).isEmpty();
    assertThat(a.acquire(unknown).token()).isEqualTo(1);
  }

  @Test
  void identity_isOneForAllThatShareTheClaims_whateverTheirNamespace() {
    String identity = a.store().identity();

    assertThat(identity).matches("[0-9a-f]{32}");
    assertThat(a.store().identity()).isEqualTo(identity);
    assertThat(b.store().identity()).isEqualTo(identity);
    assertThat(claimant("another", "c", time).store().identity()).isEqualTo(identity);
  }

  private Nonce storedNonce() {
    return stored().orElseThrow().nonce();
  }
}
