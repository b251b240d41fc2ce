package io.firstclaim.lock.testkit.aws;

import static io.firstclaim.lock.testkit.Claimant.settled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstclaim.lock.Claim;
import io.firstclaim.lock.ClaimRecord;
import io.firstclaim.lock.ClaimResult;
import io.firstclaim.lock.ClaimResult.Held;
import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimState;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.Lease;
import io.firstclaim.lock.Nonce;
import io.firstclaim.lock.RecordId;
import io.firstclaim.lock.RedriveId;
import io.firstclaim.lock.SettleResult.Unknown;
import io.firstclaim.lock.StoreUnavailableException;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.Claimant;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.Step;
import io.firstclaim.lock.testkit.fault.Fault;
import io.firstclaim.lock.testkit.fault.FaultProxy;
import io.firstclaim.lock.testkit.fault.Match;
import io.firstclaim.lock.testkit.fault.Request;
import io.firstclaim.lock.testkit.fault.Rule;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/**
 * The contract of late requests: those of {@code a} arrive long after they were sent, as the second
 * copy of one that was answered, or the only copy of one that was given up. What happened meanwhile
 * stands.
 */
public abstract class LateRequestContract {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration MAX_SKEW = Duration.ofSeconds(1);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final RecordId ID = RecordId.of("order-4711");

  protected final ManualTime time = ManualTime.start();
  private final String namespace = "late-" + Nonce.random();
  private final List<AutoCloseable> open = new ArrayList<>();
  private FaultProxy proxy;
  private Recorder sent;
  private Claimant a;
  private Claimant b;

  protected abstract URI endpoint();

  /**
   * A store, in the time of this test, by a client that does not retry; it is closed by the test.
   */
  protected abstract ClaimStore store(
      URI endpoint, ExecutionInterceptor interceptor, ClaimSettings settings, TimeSource machine);

  /** The request that takes a lease over. */
  protected abstract Predicate<Request> takeover();

  /**
   * Whether a late request was applied; fails if anything but its condition kept it from being so.
   */
  protected abstract boolean took(HttpResponse<String> answer);

  /** The resolution of the clock that judges leases. */
  protected abstract Duration tick();

  /** Closes this when the test ends. */
  protected <T extends AutoCloseable> T opened(T client) {
    open.add(client);
    return client;
  }

  @BeforeEach
  void start() {
    proxy = opened(FaultProxy.start(endpoint()));
    sent = new Recorder(endpoint());
    a = claimant(proxy.endpoint(), sent, "a", time);
    b = claimant("b", time);
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : open.reversed()) {
      each.close();
    }
  }

  private Claimant claimant(String holder, TimeSource machine) {
    return claimant(endpoint(), new ExecutionInterceptor() {}, holder, machine);
  }

  private Claimant claimant(
      URI endpoint, ExecutionInterceptor interceptor, String holder, TimeSource machine) {
    var settings = new ClaimSettings(namespace, holder, LEASE, MAX_SKEW, Duration.ofDays(8));
    return new Claimant(store(endpoint, interceptor, settings, machine), machine);
  }

  private Optional<ClaimRecord> stored() {
    return b.store().find(ID);
  }

  private void assertChangesNothing(HttpRequest late) throws Exception {
    Optional<ClaimRecord> before = stored();
    assertThat(took(Recorder.arrive(late))).as("refused by its condition").isFalse();
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
    assertClaimThatArrivesAgainIsNotDue(time.now().wall().minus(HOUR));
  }

  @Test
  void claimThatArrivesAgain_afterAReleaseAtOnce_changesNothing() throws Exception {
    assertClaimThatArrivesAgainIsNotDue(ClaimStore.AT_ONCE);
  }

  private void assertClaimThatArrivesAgainIsNotDue(Instant retryAt) throws Exception {
    Lease lease = a.acquire(ID);
    HttpRequest claim = sent.last();
    time.advance(Duration.ofSeconds(5));
    settled(a.store().release(lease, retryAt, "stopping"));

    assertChangesNothing(claim);

    assertThat(b.acquire(ID).token()).as("nobody else was granted").isEqualTo(2);
  }

  /** Its sender's clock proves nothing: only who has seen the release may write over it. */
  @Test
  void claimThatArrivesOnlyNow_afterAReleaseAtOnceByAClockThatIsBehind_changesNothing()
      throws Exception {
    proxy.add(Rule.once(Match.any(), new Fault.Refuse()));
    assertThatThrownBy(() -> a.acquire(ID)).isInstanceOf(StoreUnavailableException.class);
    HttpRequest late = sent.last();
    Claimant behind = claimant("behind", time.machine(HOUR.negated()));

    settled(behind.store().release(behind.acquire(ID), ClaimStore.AT_ONCE, "stopping"));

    assertChangesNothing(late);
  }

  /** As where the store's time is known less well when the claim is given back than before. */
  @Test
  void claimThatArrivesAgain_afterAReleaseByAClockThatIsBehind_changesNothing() throws Exception {
    Lease lease = a.acquire(ID);
    HttpRequest claim = sent.last();
    TimeSource behind = time.machine(Duration.ofMillis(-900));
    ClaimStore store = claimant("a", behind).store();

    settled(store.release(lease, behind.now().wall().plusMillis(100), "again"));

    assertChangesNothing(claim);
  }

  @Test
  void claimThatArrivesAgain_inTheMillisecondOfItsRelease_isNotDue() throws Exception {
    Lease lease = a.acquire(ID);
    HttpRequest claim = sent.last();
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

    assertThat(took(Recorder.arrive(sent.last()))).isTrue();

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
    Claimant ahead = claimant("ahead", time.machine(HOUR));
    Lease lease = ahead.acquire(ID);
    Held seen = a.heldOff(ID);
    time.advance(LEASE.multipliedBy(6).dividedBy(5));
    proxy.add(Rule.once(takeover(), new Fault.Refuse()));
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

  /**
   * Only one of two writes on one nonce can be applied, so an earlier step cannot undo a later one.
   */
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

  @Test
  void redriveThatArrivesAgain_changesNothing_evenAfterAnotherDeath() throws Exception {
    settled(a.store().bury(a.acquire(ID), "poison"));
    Claimant.freed(a.operations().redrive(ID, Claimant.PAYLOAD, new RedriveId("redrive-1")));
    HttpRequest late = sent.last();

    assertChangesNothing(late);
    Lease lease = b.acquire(ID);
    assertChangesNothing(late);
    settled(b.store().bury(lease, "poison again"));
    assertChangesNothing(late);
  }

  @Test
  void redriveThatArrivesOnlyNow_afterAnotherRedriveAndItsEnd_changesNothing() throws Exception {
    settled(b.store().bury(b.acquire(ID), "poison"));
    proxy.add(Rule.once(LateRequestContract::isWrite, new Fault.Refuse()));
    assertThatThrownBy(
            () -> a.operations().redrive(ID, Claimant.PAYLOAD, new RedriveId("redrive-1")))
        .isInstanceOf(StoreUnavailableException.class);
    HttpRequest late = sent.last();

    Claimant.freed(b.operations().redrive(ID, Claimant.PAYLOAD, new RedriveId("redrive-2")));
    assertChangesNothing(late);
    settled(b.store().bury(b.acquire(ID), "poison again"));
    assertChangesNothing(late);
  }

  @Test
  void operatorsReleaseThatArrivesOnlyNow_changesNothingOfARenewedLease() throws Exception {
    Lease lease = b.acquire(ID);
    proxy.add(Rule.once(LateRequestContract::isWrite, new Fault.Refuse()));
    assertThatThrownBy(() -> a.operations().release(ID, "why"))
        .isInstanceOf(StoreUnavailableException.class);
    HttpRequest late = sent.last();

    lease = settled(b.store().renew(lease));
    assertChangesNothing(late);
    settled(b.store().complete(lease, null));
    assertChangesNothing(late);
  }

  /** Whether a request writes over what is there. */
  private static boolean isWrite(Request request) {
    return Match.operation("PutItem", "BatchExecuteStatement").test(request)
        || Match.header("If-Match").test(request);
  }

  /** A waiter must not count from before it saw the lease: the holder may have renewed since. */
  @Test
  void sighting_countsFromTheAnswer_notFromTheRequest() {
    Lease lease = b.acquire(ID);
    var waiter = claimant(endpoint(), new SlowNetwork(time, Duration.ofSeconds(4)), "waiter", time);

    Held held = waiter.heldOff(ID);

    assertThat(held.sighting().firstSeen()).isEqualTo(time.now());
    Duration left = LEASE.minus(time.now().since(lease.start())).plus(MAX_SKEW);
    assertThat(time.elapsed()).isGreaterThanOrEqualTo(Duration.ofSeconds(4));
    assertThat(held.remaining()).isBetween(left.plusNanos(1), left.plus(tick()));
  }

  @Test
  void grantAndRenewal_countFromTheRequest_notFromTheAnswer() {
    var holder = claimant(endpoint(), new SlowNetwork(time, Duration.ofSeconds(4)), "holder", time);

    Lease lease = holder.acquire(ID);
    assertThat(lease.remaining(time.now())).isEqualTo(Duration.ofSeconds(23));

    Lease renewed = settled(holder.store().renew(lease));
    assertThat(renewed.remaining(time.now())).isEqualTo(Duration.ofSeconds(23));
    ClaimState.Held held = (ClaimState.Held) stored().orElseThrow().state();
    Instant end = time.now().wall().plusSeconds(26);
    assertThat(held.end()).isBetween(end, end.plus(tick()));
  }
}
