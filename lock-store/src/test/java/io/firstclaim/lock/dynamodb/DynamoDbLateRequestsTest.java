package io.firstclaim.lock.dynamodb;

import static io.firstclaim.lock.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.Claimant;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.ManualTime;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.SettleResult.Unknown;
import io.firstclaim.lock.Step;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.state.ClaimRecord;
import io.firstclaim.lock.state.ClaimState;
import io.firstclaim.stack.fault.Fault;
import io.firstclaim.stack.fault.FaultProxy;
import io.firstclaim.stack.fault.Match;
import io.firstclaim.stack.fault.Rule;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * Requests of {@code a} that arrive long after they were sent, the second copy of one that was
 * answered or the only one of one that was given up. What has happened meanwhile stays.
 */
class DynamoDbLateRequestsTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final RecordId ID = RecordId.of("order-4711");

  private final String namespace = "late-" + Nonce.random();
  private final ManualTime time = ManualTime.start();
  private final Recorder sent = new Recorder();
  private final Claimant b = new Claimant(LocalDynamoDb.store(settings("b"), time), time);
  private FaultProxy proxy;
  private DynamoDbClient client;
  private Claimant a;

  @BeforeEach
  void start() {
    proxy = FaultProxy.start(LocalDynamoDb.endpoint());
    client =
        LocalDynamoDb.intercepted(
                LocalDynamoDb.notRetrying(
                    LocalDynamoDb.timeless(LocalDynamoDb.builder(proxy.endpoint()))),
                sent)
            .build();
    a = new Claimant(LocalDynamoDb.store(client, settings("a"), time), time);
  }

  @AfterEach
  void stop() {
    client.close();
    proxy.close();
  }

  private ClaimSettings settings(String holder) {
    return new ClaimSettings(namespace, holder, LEASE, Duration.ofSeconds(1), Duration.ofDays(8));
  }

  private Optional<ClaimRecord> stored() {
    return b.store().find(ID);
  }

  private void assertChangesNothing(HttpRequest late) throws Exception {
    Optional<ClaimRecord> before = stored();
    assertThat(Recorder.arrive(late)).as("refused by its condition").isEqualTo(400);
    assertThat(stored()).isEqualTo(before);
  }

  @Test
  void claimThatArrivesAgain_changesNothing_whateverHasHappened() throws Exception {
    Lease lease = a.acquire(ID);
    HttpRequest claim = sent.last();
    assertChangesNothing(claim);

    time.advance(Duration.ofSeconds(10));
    lease = settled(a.store().renew(lease));
    assertChangesNothing(claim);

    settled(a.store().release(lease, time.now().wall().plusSeconds(5), "again"));
    assertChangesNothing(claim);

    time.advance(HOUR);
    assertChangesNothing(claim);

    lease = b.acquire(ID);
    assertChangesNothing(claim);

    time.advance(HOUR);
    assertChangesNothing(claim);

    settled(b.store().complete(lease, null));
    assertChangesNothing(claim);
  }

  @Test
  void claimThatArrivesAgain_afterAReleaseForAPastTime_isNotDue() throws Exception {
    Lease lease = a.acquire(ID);
    HttpRequest claim = sent.last();
    time.advance(Duration.ofSeconds(5));
    settled(a.store().release(lease, Instant.EPOCH, "stopping"));

    assertChangesNothing(claim);

    assertThat(b.acquire(ID).token()).as("nobody else was granted").isEqualTo(2);
  }

  @Test
  void claimThatArrivesOnlyNow_afterAnotherEndedIt_changesNothing() throws Exception {
    proxy.add(Rule.once(Match.any(), new Fault.Refuse()));
    Claim claim = a.newClaim(ID);
    assertThatThrownBy(() -> a.store().claim(claim)).isInstanceOf(StoreUnavailableException.class);
    HttpRequest late = sent.last();

    Lease lease = b.acquire(ID);
    assertChangesNothing(late);
    time.advance(HOUR);
    assertChangesNothing(late);
    settled(b.store().bury(lease, "poison"));
    assertChangesNothing(late);
  }

  @Test
  void claimThatArrivesOnlyNow_isFoundByItsRepetition() throws Exception {
    proxy.add(Rule.once(Match.any(), new Fault.Refuse()));
    Claim claim = a.newClaim(ID);
    assertThatThrownBy(() -> a.store().claim(claim)).isInstanceOf(StoreUnavailableException.class);
    time.advance(Duration.ofSeconds(3));

    assertThat(Recorder.arrive(sent.last())).isEqualTo(200);

    Lease lease = Claimant.granted(a.store().claim(claim)).lease();
    assertThat(lease.attempt()).isEqualTo(1);
    assertThat(lease.start()).isEqualTo(claim.start());
  }

  @Test
  void takeoverThatArrivesAgain_changesNothingOfTheNewLease() throws Exception {
    b.acquire(ID);
    time.advance(HOUR);
    Lease lease = a.acquire(ID);
    HttpRequest takeover = sent.last();

    assertChangesNothing(takeover);
    settled(a.store().renew(lease));
    assertChangesNothing(takeover);
    time.advance(HOUR);
    b.acquire(ID);
    assertChangesNothing(takeover);
  }

  @Test
  void takeoverAfterWatching_thatArrivesAfterARenewal_isRefused() throws Exception {
    var clockAhead = time.machine(HOUR);
    var ahead = new Claimant(LocalDynamoDb.store(settings("ahead"), clockAhead), clockAhead);
    Lease lease = ahead.acquire(ID);
    Held seen = a.heldOff(ID);
    time.advance(LEASE);
    proxy.add(Rule.once(Match.any(), new Fault.Refuse()));
    assertThatThrownBy(() -> a.claimAfter(seen, ID)).isInstanceOf(StoreUnavailableException.class);
    HttpRequest takeover = sent.last();

    settled(ahead.store().renew(lease));

    assertChangesNothing(takeover);
  }

  @ParameterizedTest
  @EnumSource
  void stepThatArrivesOnlyNow_afterATakeover_isRefused(Step step) throws Exception {
    Lease lease = a.acquire(ID);
    proxy.add(Rule.once(Match.any(), new Fault.Refuse()));
    assertThat(step.take(a.store(), lease)).isInstanceOf(Unknown.class);
    HttpRequest late = sent.last();
    time.advance(HOUR);

    Lease taken = b.acquire(ID);
    assertChangesNothing(late);
    taken = settled(b.store().renew(taken));
    assertChangesNothing(late);
    settled(b.store().release(taken, time.now().wall(), "again"));
    assertChangesNothing(late);
    settled(b.store().complete(b.acquire(ID), null));
    assertChangesNothing(late);
  }

  @ParameterizedTest
  @EnumSource
  void stepThatArrivesAgain_changesNothing(Step step) throws Exception {
    Lease lease = a.acquire(ID);
    settled(step.take(a.store(), lease));
    HttpRequest late = sent.last();

    assertChangesNothing(late);
    time.advance(Duration.ofDays(400));
    if (b.claim(ID) instanceof ClaimResult.Granted) {
      assertChangesNothing(late);
    }
  }

  /** Only one of two writes on one nonce can take: so a step is not undone by an earlier one. */
  @ParameterizedTest
  @EnumSource(names = {"COMPLETE", "BURY", "RELEASE"})
  void renewalThatArrivesOnlyNow_afterTheEnd_changesNothing(Step end) throws Exception {
    Lease lease = a.acquire(ID);
    proxy.add(Rule.once(Match.any(), new Fault.Refuse()));
    assertThat(a.store().renew(lease)).isInstanceOf(Unknown.class);
    HttpRequest late = sent.last();

    settled(end.take(a.store(), lease));

    assertChangesNothing(late);
  }

  /** A waiter must not count from before it saw the lease: the holder may have renewed since. */
  @Test
  void sighting_countsFromTheAnswer_notFromTheRequest() {
    Lease lease = b.acquire(ID);
    try (DynamoDbClient slow =
        LocalDynamoDb.intercepted(
                LocalDynamoDb.timeless(LocalDynamoDb.builder(LocalDynamoDb.endpoint())),
                new SlowNetwork(time, Duration.ofSeconds(4)))
            .build()) {
      var waiter = new Claimant(LocalDynamoDb.store(slow, settings("slow"), time), time);

      Held held = waiter.heldOff(ID);

      assertThat(held.sighting().firstSeen()).isEqualTo(time.now());
      assertThat(held.remaining()).isEqualTo(Duration.ofSeconds(27).plusNanos(1));
    }
    assertThat(lease.remaining(time.now())).isEqualTo(Duration.ofSeconds(26));
  }

  @Test
  void grantAndRenewal_countFromTheRequest_notFromTheAnswer() {
    try (DynamoDbClient slow =
        LocalDynamoDb.intercepted(
                LocalDynamoDb.timeless(LocalDynamoDb.builder(LocalDynamoDb.endpoint())),
                new SlowNetwork(time, Duration.ofSeconds(4)))
            .build()) {
      var holder = new Claimant(LocalDynamoDb.store(slow, settings("slow"), time), time);

      Lease lease = holder.acquire(ID);
      assertThat(lease.remaining(time.now())).isEqualTo(Duration.ofSeconds(26));

      Lease renewed = settled(holder.store().renew(lease));
      assertThat(renewed.remaining(time.now())).isEqualTo(Duration.ofSeconds(26));
    }
    ClaimState.Held held = (ClaimState.Held) stored().orElseThrow().state();
    assertThat(held.end()).isEqualTo(time.now().wall().plusSeconds(26));
  }
}
